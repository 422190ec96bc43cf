package blob

import (
	"cmp"
	"context"
	"iter"

	"golang.org/x/sync/errgroup"
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
	most, remove := 1, func(ctx context.Context, keys []string) error { return b.Delete(ctx, keys[0]) }
	if d, ok := b.(Deleter); ok {
		most, remove = MaxDelete, d.DeleteAll
	}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(clearing)
	var keys []string
	send := func() {
		batch := keys
		keys = nil
		group.Go(func() error { return remove(running, batch) })
	}
	for key := range all {
		if running.Err() != nil {
			break
		}
		if keys = append(keys, key); len(keys) == most {
			send()
		}
	}
	if len(keys) > 0 && running.Err() == nil {
		send()
	}
	err := group.Wait()
	return cmp.Or(context.Cause(ctx), err)
}
