package blob

import (
	"context"
	"iter"
	"sync"
)

const (
	// clearing is how many requests of Clear are under way at once.
	clearing = 16
	// MaxDelete is how many objects DeleteAll takes.
	MaxDelete = 1000
)

// Deleter is a Bucket that deletes up to MaxDelete objects by one request. None of
// them is there after it returned nil.
type Deleter interface {
	DeleteAll(ctx context.Context, keys []string) error
}

// Clear deletes the objects of a bucket whose key is of a kind, some at once. It
// returns the first error, after which others may have been deleted.
func Clear(ctx context.Context, b Bucket, kind func(key string) bool) error {
	var listing error
	err := DeleteKeys(ctx, b, func(yield func(string) bool) {
		for e, err := range b.List(ctx, "") {
			if listing = err; err != nil || e.Key != "" && kind(e.Key) && !yield(e.Key) {
				return
			}
		}
	})
	if listing != nil {
		return listing
	}
	return err
}

// DeleteKeys deletes objects, some at once. It returns the first error, after which
// others may have been deleted.
func DeleteKeys(ctx context.Context, b Bucket, all iter.Seq[string]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	most, remove := 1, func(ctx context.Context, keys []string) error { return b.Delete(ctx, keys[0]) }
	if d, ok := b.(Deleter); ok {
		most, remove = MaxDelete, d.DeleteAll
	}
	batches := make(chan []string)
	var wg sync.WaitGroup
	for range clearing {
		wg.Go(func() {
			for keys := range batches {
				if err := remove(ctx, keys); err != nil {
					cancel(err)
				}
			}
		})
	}
	var keys []string
	for key := range all {
		if ctx.Err() != nil {
			break
		}
		if keys = append(keys, key); len(keys) == most {
			batches <- keys
			keys = nil
		}
	}
	if len(keys) > 0 && ctx.Err() == nil {
		batches <- keys
	}
	close(batches)
	wg.Wait()
	return context.Cause(ctx)
}
