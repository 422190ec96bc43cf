package blob

import (
	"context"
	"sync"
)

// clearing is how many objects Clear deletes at once.
const clearing = 16

// Clear deletes the objects of a bucket whose key is of a kind, some at once. It
// returns the first error, after which others may have been deleted.
func Clear(ctx context.Context, b Bucket, kind func(key string) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	keys := make(chan string)
	var wg sync.WaitGroup
	for range clearing {
		wg.Go(func() {
			for key := range keys {
				if err := b.Delete(ctx, key); err != nil {
					cancel(err)
				}
			}
		})
	}
	for e, err := range b.List(ctx, "") {
		if err != nil {
			cancel(err)
		}
		if ctx.Err() != nil {
			break
		}
		if e.Key != "" && kind(e.Key) {
			keys <- e.Key
		}
	}
	close(keys)
	wg.Wait()
	return context.Cause(ctx)
}
