package run

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/types"
)

// Pool is a budget of the process that runs share.
type Pool struct {
	Limit int64
	runs  budget.Pool
}

// shared waits until what the run takes fits beside other runs.
func shared(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		share := j.share
		if j.allocate != nil { // what is returned lies in Go's heap
			share.Heap += int64(grid.Size(j.Roots[0].Shape) * j.Roots[0].DType.Size())
		}
		release, err := j.pool.Take(ctx, share)
		if err != nil {
			if busy, ok := errors.AsType[*budget.BusyError](err); ok {
				err = &types.BusyError{Op: j.Plan.Title, Bytes: busy.Bytes, Taken: busy.Taken, Active: busy.Active, Limit: busy.Budget}
			}
			if held, ok := errors.AsType[*budget.LoopsError](err); ok {
				err = besideLoops(j.Plan.Title, j.Plan.Need, j.overhead, share.Budget, held.Loops)
			}
			return Result{End: &record.End{Status: record.Cancelled}, recorded: true}, err
		}
		defer release()
		return next(ctx, j)
	}
}

// besideLoops is the error of a run that needs a budget by itself, and has what loops leave.
// Each of these takes about half of what it finds, and the program's own memory grows meanwhile.
func besideLoops(op string, need, overhead, limit int64, loops budget.Loops) error {
	foreseen := max(overhead, budget.Foreseen(limit))
	need = foreseen + max(need-overhead+loops.Bytes, (need-overhead)<<loops.N)
	return &types.MemoryError{Op: op, Need: size.WholeMiB(need), Limit: limit, Held: loops.Bytes, Holder: loops.Name}
}
