package run

import (
	"context"
	"fmt"
)

// appended says of a failure that the array has grown all the same.
func appended(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		grown := false
		j.onCommitted(func(context.Context, int, bool) { grown = true })
		r, err := next(ctx, j)
		if err != nil && grown {
			err = fmt.Errorf("%s has grown and is complete: appending again would add the same elements twice: %w", j.Plan.Arrays[j.Plan.Output].Path, err)
		}
		return r, err
	}
}
