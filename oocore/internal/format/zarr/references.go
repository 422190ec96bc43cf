package zarr

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
)

// Opened is an open array, whose chunks are objects.
type Opened interface {
	store.Coded
	store.Listed
}

// OpenIn opens the array whose metadata and chunks are the objects of a bucket; path is what it is
// called. The bucket is one in which nothing is replaced while it is open.
func OpenIn(ctx context.Context, path string, b blob.Bucket) (Opened, error) {
	a, err := openIn(ctx, path, b)
	if err != nil {
		return nil, err
	}
	return a, nil
}
