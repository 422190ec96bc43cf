package zarr

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/blob"
	"github.com/gonbext/gonbext/oocore/units"
)

// array is an open Zarr array.
type array struct {
	path   string
	bucket blob.Bucket
	meta   *meta
	entry  blob.Entry // of the metadata
	local  bool       // on this machine
	closed atomic.Bool
}

func newArray(path string, b blob.Bucket, m *meta, e blob.Entry) *array {
	return &array{path: path, bucket: b, meta: m, entry: e}
}

// Info describes the array. How many bytes it has only a listing would tell.
func (a *array) Info() store.Info {
	m := a.meta
	info := store.Info{
		Path: a.path, Format: fmt.Sprintf("zarr v%d", m.version),
		Shape: slices.Clone(m.shape), DType: m.dtype, Chunks: slices.Clone(m.chunks),
		Bytes: -1, Codec: m.pipeline.String(), ID: fileVersion(a.entry),
		Work: readWork(m),
		Details: store.Details{
			Fill: fillText(m.fill, m.dtype), Dims: slices.Clone(m.dims), Attributes: slices.Clone(m.attributes),
		},
	}
	if m.noFill {
		info.Details.Fill = ""
	}
	if len(m.shards) > 0 {
		info.Shards = slices.Clone(m.unit())
	}
	return info
}

func fileVersion(e blob.Entry) store.FileVersion {
	return store.FileVersion{Size: e.Size, Version: e.Version}
}

// fetches reports an array of an object store whose chunks are objects.
func (a *array) fetches() bool { return !a.local && len(a.meta.shards) == 0 }

// Read reads a region with memory of its own: that of decoding chunks whole, or
// where that is much, in pieces. It rejects chunks that take more than a gigabyte
// even so.
func (a *array) Read(ctx context.Context, dst []byte, r grid.Region) error {
	const much, most = 256 << 20, 1 << 30
	w := readWork(a.meta)
	size := w.Whole
	if size > much {
		size = w.Stream
	}
	if size > most {
		return a.readError(ctx, fmt.Errorf("decoding a chunk of shape %s takes %s at least: read it in a session that has them",
			grid.Format(a.meta.chunks), units.Exact(size)))
	}
	s, err := a.Session(make([]byte, size))
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Read(ctx, dst, r)
	return err
}

// Close makes further reads fail.
func (a *array) Close() error {
	a.closed.Store(true)
	return nil
}

// there returns an error when the metadata are no longer what was opened: a chunk
// that is not found is made of fill values, but not when the array is gone.
func (a *array) there(ctx context.Context) error {
	o, err := a.bucket.Open(ctx, a.entry.Key)
	if err != nil {
		return fmt.Errorf("%s: %w", a.entry.Key, plainError(err))
	}
	defer o.Close()
	if fileVersion(o.Entry()) != fileVersion(a.entry) {
		return fmt.Errorf("%s: %w", a.entry.Key, store.ErrChanged)
	}
	return nil
}

// readError names the array.
func (a *array) readError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &fs.PathError{Op: "read", Path: a.path, Err: err}
}
