package run

import (
	"context"
	"errors"
)

// cancellable returns errors as Ended has them.
func cancellable(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		r, err := next(ctx, j)
		return r, Ended(ctx, err)
	}
}

// Ended returns the error of a run. Where the context has ended, it wraps the context's error too.
func Ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return &endedError{err, ctx.Err()}
}

// endedError reads as the cause for which a context was ended.
type endedError struct {
	error
	by error // context.Canceled or context.DeadlineExceeded
}

func (e *endedError) Unwrap() []error { return []error{e.error, e.by} }
