package zarr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	// chunkTarget is the default size of chunks.
	chunkTarget = 4 << 20
	// defaultCodec is that of new arrays without one in their options.
	defaultCodec = "zstd:1"
)

// layout is how create would lay an array out. Of a region it reads the metadata of
// the array that is there.
func layout(path string, m store.Meta) (store.Layout, error) {
	if m.Grow {
		grown, err := growing(context.Background(), path, m)
		if err != nil {
			return store.Layout{}, err
		}
		return newWriteLayout(grown.meta, true).layout(*m.Region), nil
	}
	if m.Region != nil {
		found, _, err := existing(context.Background(), path, m)
		if err != nil {
			return store.Layout{}, err
		}
		return newWriteLayout(found, true).layout(*m.Region), nil
	}
	made, err := newMeta(m)
	if err != nil {
		return store.Layout{}, err
	}
	d := newWriteLayout(made, blob.PlaceOf(path).Random)
	if d.open() {
		l := d.layout(d.all())
		l.Open, l.Work = true, store.Work{Heap: gatherBytes}
		return l, nil
	}
	return d.layout(d.all()), nil
}

func (d *writeLayout) layout(box grid.Box) store.Layout {
	l := store.Layout{Unit: slices.Clone(d.unit()), Work: d.work(box), Codec: d.pipeline.String()}
	if d.shard() != nil {
		l.Chunk = slices.Clone(d.chunks)
	}
	return l
}

// open reports chunks of a new array that can be filled in place.
func (d *writeLayout) open() bool { return d.random && d.pipeline.Plain() && d.shard() == nil }

// create begins a new array of version 3, or the writing of a region of one that is
// there, of either version.
//
// On this machine a new array is made in the staging folder and is put under its name in
// one move when it is whole, with the groups above it that are missing; what was
// there is exchanged for it. In an object store its chunks are put under keys that
// the array which was there does not use, then its metadata in a single put, and
// then the old chunks are deleted.
func create(path string, m store.Meta) (store.Writer, error) {
	ctx := context.Background()
	if m.Grow {
		return createGrown(ctx, path, m)
	}
	if m.Region != nil {
		return createRegion(ctx, path, m)
	}
	made, err := newMeta(m)
	if err != nil {
		return nil, err
	}
	made.nameDims(ctx, path, m.Details.ChosenDims)
	n := newArrayTarget{ws: storage.StagingDirOf(m), made: made}
	var t interface {
		Target
		publisher
	}
	place := blob.PlaceOf(path)
	if zipped(path) {
		t, err = newZipTarget(path, n)
	} else {
		bucket, failed := bucketOf(path)
		switch err = failed; {
		case err != nil:
		case place.Replace:
			t, err = newLocalTarget(path, n)
		default:
			t = &remoteTarget{newArrayTarget: n, bucket: bucket}
		}
	}
	if err == nil {
		err = t.begin(ctx, path, m.Resume)
	}
	if err != nil {
		return nil, err
	}
	d, chunks := newWriteLayout(made, place.Random), t.chunks()
	if d.open() && place.Files {
		return newOpenWriter(path, storage.StagingDirOf(m), t, d, chunks.String()), nil
	}
	return &writer{base: base{path: path, ws: storage.StagingDirOf(m), target: t}, d: d, box: d.all(), bucket: chunks, elide: zero(made.fill), seed: maphash.MakeSeed()}, nil
}

// newArrayTarget is what folders of this machine and object stores have in common where a new array is made.
type newArrayTarget struct {
	ws      *storage.StagingDir
	made    *meta
	copies  consolidatedGroups
	resumes bool // with what an earlier writer left
	inPlace bool // the array is, or may be, under its name
}

// publisher is the folder or the object store in which a new array comes to be.
type publisher interface {
	// begin takes the array, and removes what an earlier run has left, or resumes that.
	begin(ctx context.Context, name string, resume bool) error
	// chunks is where the chunks go.
	chunks() blob.Bucket
	// prepare makes sure that all chunks are there and this run's, and makes the groups that are missing.
	prepare(ctx context.Context, text []byte) error
	// publish puts the array with its metadata under its name, in one step.
	publish(ctx context.Context, text []byte) error
	// clean removes what is of no use any more.
	clean(ctx context.Context) error
}

func (t *newArrayTarget) Resumed() bool { return t.resumes }

// publishIn puts an array, whose chunks are durable, under its name, once it is out of the consolidated metadata above it.
func (t *newArrayTarget) publishIn(ctx context.Context, to publisher) (err error) {
	text := t.made.encodeV3()
	if !t.inPlace {
		if err := to.prepare(ctx, text); err != nil {
			return err
		}
		err = t.copies.remove(ctx, text)
	}
	if err == nil {
		err = to.publish(ctx, text)
	}
	if err != nil {
		if !t.inPlace {
			t.copies.restore(context.WithoutCancel(ctx))
		}
		return err
	}
	if err := t.copies.add(ctx, text); err != nil {
		return err
	}
	return to.clean(ctx)
}

// newMeta is the metadata of a new array.
func newMeta(m store.Meta) (*meta, error) {
	if !m.DType.Known() {
		return nil, errors.New("no dtype is given")
	}
	if err := checkShape(m.Shape, m.DType.Size()); err != nil {
		return nil, err
	}
	made := &meta{version: 3, shape: append([]int{}, m.Shape...), dtype: m.DType, keys: keyEncoding{separator: "/"}}
	if err := made.setChunks(m.Chunks, m.Shards); err != nil {
		return nil, err
	}
	text := m.Codec
	if text == "" {
		text = defaultCodec
	}
	var err error
	if made.pipeline, err = codec.Parse(text, made.chunks, m.DType); err != nil {
		return nil, err
	}
	return made, made.setDetails(m.Details)
}

// setChunks lays out chunks and shards.
func (m *meta) setChunks(chunks, shards []int) error {
	dims := len(m.shape)
	if shards != nil {
		if err := checkChunk(shards, dims, m.dtype.Size()); err != nil {
			return fmt.Errorf("shards: %w", err)
		}
		if chunks == nil {
			chunks = dividing(shards, m.dtype)
		}
	}
	if chunks == nil {
		chunks = grid.Auto(m.shape, m.dtype.Size(), chunkTarget)
		for axis := range chunks {
			chunks[axis] = min(chunks[axis], math.MaxInt32)
		}
	}
	if err := checkChunk(chunks, dims, m.dtype.Size()); err != nil {
		return fmt.Errorf("chunks: %w", err)
	}
	for axis := range shards {
		if shards[axis]%chunks[axis] != 0 {
			return fmt.Errorf("shards %s are not whole numbers of chunks %s", grid.Format(shards), grid.Format(chunks))
		}
	}
	// What is longer than the array would only be padding.
	m.chunks = slices.Clone(chunks)
	for axis, n := range m.shape {
		m.chunks[axis] = min(m.chunks[axis], max(n, 1))
	}
	if shards == nil {
		return nil
	}
	l := shardLevel{shape: slices.Clone(shards), inner: m.chunks, index: shardIndexEncoding{crc: true}}
	for axis, n := range m.shape {
		cover := (max(n, 1) + m.chunks[axis] - 1) / m.chunks[axis] * m.chunks[axis]
		l.shape[axis] = min(l.shape[axis]/m.chunks[axis]*m.chunks[axis], cover)
	}
	parts := make([]int, dims)
	for axis := range parts {
		parts[axis] = l.count(axis)
	}
	if grid.Check(parts, 2*entryBytes) != nil {
		return fmt.Errorf("shards %s of chunks %s have more parts than can be counted", grid.Format(l.shape), grid.Format(m.chunks))
	}
	m.shards = []shardLevel{l}
	return nil
}

// dividing are chunks of about a quarter of the usual size that divide shards.
func dividing(shards []int, t dtype.Type) []int {
	chunks := grid.Auto(shards, t.Size(), chunkTarget/4)
	for axis := range chunks {
		for shards[axis]%chunks[axis] != 0 {
			chunks[axis]--
		}
	}
	return chunks
}

// Changes says what attributes become that the format does not hold as they are.
func (format) Changes(_ string, d store.Details) map[string]string {
	changed := map[string]string{}
	for name, t := range d.AttributeTypes {
		switch name {
		case "scale_factor", "add_offset":
			if t != dtype.Float64 && t != dtype.Int64 {
				changed[name] = "numbers by whose types xarray decodes, and which have none there"
			}
		case "least_significant_digit":
			changed[name] = "what of NetCDF xarray has in encoding"
		}
	}
	return changed
}

// setDetails takes over dimension names, attributes and fill value.
func (m *meta) setDetails(d store.Details) (err error) {
	if m.fill, err = parseFillText(d.Fill, m.dtype); err != nil {
		return fmt.Errorf("fill value: %w", err)
	}
	m.noFill = d.Fill == ""
	if d.Dims != nil && len(d.Dims) != len(m.shape) {
		return fmt.Errorf("%d dimension names for %d dimensions", len(d.Dims), len(m.shape))
	}
	m.dims = slices.Clone(d.Dims)
	if len(d.Attributes) > 0 {
		var o object
		if err := json.Unmarshal(d.Attributes, &o); err != nil {
			return errors.New("attributes: they are not a JSON object")
		}
		m.attributes = slices.Clone(d.Attributes)
	}
	m.setMissing(d.Marks)
	return nil
}
