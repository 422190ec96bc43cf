package zarr

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// array is an open Zarr array.
type array struct {
	chunked.Array
	bucket blob.Bucket
	meta   *meta
	entry  blob.Entry // of the metadata
}

func newArray(path string, b blob.Bucket, m *meta, e blob.Entry) *array {
	a := &array{bucket: b, meta: m, entry: e}
	a.Path, a.Shape, a.Chunk, a.DType, a.Pipeline, a.Fill = path, m.shape, m.chunks, m.dtype, m.pipeline, m.fill
	a.Runs = m.runs
	if len(m.shards) > 0 {
		a.Shard, a.IndexBytes, a.MoreIndexBytes = m.unit(), indexBytes(m.shards), m.moreIndexBytes()
	}
	a.NewIndex = a.newIndex
	return a
}

// Info describes the array. How many bytes it has only a listing would tell.
func (a *array) Info() store.Info {
	m := a.meta
	info := store.Info{
		Path: a.Path, Format: fmt.Sprintf("zarr v%d", m.version),
		Shape: slices.Clone(m.shape), DType: m.dtype, Chunks: slices.Clone(m.chunks), Open: m.pipeline.Plain() && len(m.shards) == 0,
		Bytes: -1, Codec: m.pipeline.String(), ID: fileVersion(a.entry),
		Work: a.Work(),
		Details: store.Details{
			Fill: fillText(m.fill, m.dtype), Dims: slices.Clone(m.dims), Attributes: slices.Clone(m.attributes),
		},
	}
	if m.blocks != nil {
		info.Format, info.Open = m.blocks.Format, false
	}
	if m.runs != nil {
		info.Format += ", a rectilinear grid"
	}
	if m.noFill {
		info.Details.Fill = ""
	}
	if a.fetches() {
		info.Work.Encoded = m.pipeline.MaxEncoded()
	}
	if len(m.shards) > 0 {
		info.Shards, info.IndexBytes = slices.Clone(m.unit()), m.allIndexBytes()
	}
	return info
}

// fetches reports that chunks are objects of an object store, which one request reads.
func (a *array) fetches() bool {
	return !a.bucket.Can().Files && len(a.meta.shards) == 0 && a.meta.blocks == nil
}

func fileVersion(e blob.Entry) store.FileVersion {
	return store.FileVersion{Size: e.Size, Version: e.Version}
}

// there returns an error when the metadata are no longer what was opened: a chunk
// that is not found is made of fill values, but not when the array is gone.
func (a *array) there(ctx context.Context) error {
	o, err := a.bucket.Open(ctx, a.entry.Key)
	if err != nil {
		return a.gone(err)
	}
	defer o.Close()
	return a.gone(a.same(o.Entry()))
}

// same rejects metadata that are not those that were opened.
func (a *array) same(now blob.Entry) error {
	if fileVersion(now) != fileVersion(a.entry) {
		return store.ErrChanged
	}
	return nil
}

// gone names the metadata in an error.
func (a *array) gone(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", a.entry.Key, storage.Plain(err))
}
