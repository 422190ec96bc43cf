package zarr

import (
	"hash/maphash"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// BareChunks writes the chunks of a new array of another format, of which this package knows no more than shape, type and fill value. Each is
// encoded as a whole and put into a bucket by one call, under its key: c/1/0.
type BareChunks struct{ d *writeLayout }

// NewBareChunks checks an array, of whose chunks pipeline says how they are encoded.
func NewBareChunks(m store.Meta, pipeline func(chunk []int) (*codec.Pipeline, error)) (*BareChunks, error) {
	if err := checkShape(m.Shape, m.DType.Size()); err != nil {
		return nil, err
	}
	made := &meta{version: 3, shape: append([]int{}, m.Shape...), dtype: m.DType, keys: keyEncoding{separator: "/"}}
	err := made.setChunks(m.Chunks, nil)
	if err == nil {
		made.pipeline, err = pipeline(made.chunks)
	}
	if err == nil {
		made.fill, err = parseFillText(m.Details.Fill, m.DType)
	}
	if err != nil {
		return nil, err
	}
	d := newWriteLayout(made, true)
	d.bare = true
	return &BareChunks{d}, nil
}

// Layout is how the chunks lie.
func (b *BareChunks) Layout() store.Layout { return b.d.layout(b.d.all()) }

// Chunks returns the shape of a chunk.
func (b *BareChunks) Chunks() []int { return b.d.chunks }

// Fill returns the element that chunks which are not put consist of.
func (b *BareChunks) Fill() []byte { return b.d.meta.fill }

// Writer writes the chunks.
func (b *BareChunks) Writer(path string, ws *storage.StagingDir, bucket blob.Bucket, t Target) store.Writer {
	return &writer{base: base{path: path, ws: ws, target: t}, d: b.d, box: b.d.all(), bucket: bucket, elide: zero(b.Fill()), seed: maphash.MakeSeed()}
}

// ParseMarker reads the attribute of a marker of missing values, in any form that arrays of a type have it in.
var ParseMarker = parseMissing
