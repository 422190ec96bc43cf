package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
)

// resumable continues what an earlier run of the same has left, unless it is to begin anew, and leaves what it has
// done to a later one.
func resumable(fresh bool) Layer {
	return func(next Runner) Runner {
		return func(ctx context.Context, j *Job) (Result, error) {
			c, err := checkpoint.New(j.Plan.Plan, j.print, fresh)
			if err != nil {
				return Result{}, err
			}
			if c.Reason == "" && !c.Resumes() && !fresh {
				c.Reason = j.reason
			}
			if c.Elsewhere() && !j.elsewhere {
				err = fmt.Errorf("%s is being computed on a cluster: wait for it, or end that with gonbext jobs cancel", j.output())
				return Result{}, errors.Join(err, c.Close(true))
			}
			j.env.Checkpoint = c
			if !j.elsewhere { // where its stages are runs of their own, and one to their user
				j.describe = append(j.describe, c.Describe)
			}
			r, err := next(ctx, j)
			if !r.attempted {
				err = errors.Join(err, c.Close(c.Resumable()))
			}
			if errors.Is(err, checkpoint.ErrLeftOut) {
				j.earlier, j.env.Earlier = nil, nil
				return resumable(true)(next)(ctx, j)
			}
			return r, err
		}
	}
}
