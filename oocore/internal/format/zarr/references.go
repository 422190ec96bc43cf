package zarr

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Opened is an open array, whose chunks are objects.
type Opened interface {
	storage.Prefetcher
	storage.Listed
	storage.Versioned
}

// OpenIn opens the array whose metadata and chunks are the objects of a bucket; path is what it is
// called, field one of records or "". The bucket is one in which nothing is replaced while it is open.
func OpenIn(ctx context.Context, path string, b blob.Bucket, field string) (Opened, error) {
	a, err := openField(ctx, path, path, b, field)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Blocks is an array of another format: its chunks are objects that begin with a head, by keys that are their indices from the last
// axis on, and chunks that are not stored are zeros.
type Blocks struct {
	Format        string // its name
	Shape, Chunks []int
	DType         dtype.Type
	Pipeline      *codec.Pipeline
	Dims          []string
	Attributes    json.RawMessage
	// Head reads the head of a chunk, and lets its source begin behind it.
	Head func(ctx context.Context, a *chunked.Array, chunk []int, at *chunked.Source) error
}

// OpenBlocks opens such an array, whose chunks are objects of a bucket. path is what it is called, and e the entry of its metadata.
func OpenBlocks(path string, b blob.Bucket, e blob.Entry, m *Blocks) Opened {
	return newArray(path, b, &meta{shape: m.Shape, chunks: m.Chunks, dtype: m.DType, pipeline: m.Pipeline, fill: make([]byte, m.DType.Size()), noFill: true,
		keys: keyEncoding{v2: true, reversed: true, separator: "/"}, dims: m.Dims, attributes: m.Attributes, blocks: m}, e)
}

// BucketIn is where the objects of an array lie that has a path in a store; "" is the store itself.
func BucketIn(root, inner string) (blob.Bucket, error) {
	if inner != "" && (!fs.ValidPath(inner) || path.Clean(inner) != inner) {
		return nil, fmt.Errorf("%q does not name an array in %s", inner, path.Base(root))
	}
	b, err := bucketAt(root)
	if err != nil || inner == "" {
		return b, err
	}
	return b.Join(inner + "/"), nil
}

func bucketAt(root string) (blob.Bucket, error) {
	if !strings.HasSuffix(root, zipSuffix) {
		return blob.At(root)
	}
	a, err := openArchive(context.Background(), root)
	if err != nil {
		return nil, err
	}
	return zipBucket{a, ""}, nil
}
