package zarr

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/zeebo/xxh3"
)

// Chunks lists the chunks that are stored, with their encoded bytes.
func (a *array) Chunks(ctx context.Context, each func(index []int, bytes int64) error) error {
	return a.Fail(ctx, a.list(ctx, each))
}

func (a *array) list(ctx context.Context, each func(index []int, bytes int64) error) error {
	if a.Closed() {
		return fs.ErrClosed
	}
	m := a.meta
	index := make([]int, len(m.shape))
	for e, err := range a.bucket.List(ctx, m.keyPrefix()) {
		if err != nil {
			return err
		}
		if !m.parseKey(e.Key, index) {
			continue
		}
		if len(m.shards) == 0 {
			err = each(slices.Clone(index), e.Size)
		} else {
			err = a.listShard(ctx, e.Key, index, each)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// listShard lists the chunks of one shard.
func (a *array) listShard(ctx context.Context, key string, unit []int, each func(index []int, bytes int64) error) error {
	o, err := a.bucket.Open(ctx, key)
	if err != nil {
		return err
	}
	defer o.Close()
	start := make([]int, len(unit))
	for d, n := range unit {
		start[d] = n * a.meta.unit()[d]
	}
	return a.listParts(ctx, chunked.Source{Object: o, Kind: "shard", Key: key, Bytes: o.Entry().Size, Read: new(int64)}, start, 0, each)
}

// listParts lists the chunks of a shard of some level, whose first element is start.
func (a *array) listParts(ctx context.Context, shard chunked.Source, start []int, depth int, each func(index []int, bytes int64) error) error {
	m := a.meta
	l := &m.shards[depth]
	x, _ := newShardIndex(l, make([]byte, indexBytes(m.shards[depth:depth+1])))
	place := make([]int, len(start))
parts:
	for i := range l.parts() {
		at, size, found, err := x.lookup(ctx, &shard, i)
		if err != nil {
			return shard.Fault(ctx, err)
		}
		if !found {
			continue
		}
		l.part(i, place)
		for d := range place {
			if place[d] = start[d] + place[d]*l.inner[d]; place[d] >= m.shape[d] {
				continue parts
			}
		}
		if depth < len(m.shards)-1 {
			inner := shard
			inner.Base, inner.Bytes = shard.Base+at, size
			err = a.listParts(ctx, inner, slices.Clone(place), depth+1, each)
		} else {
			index := make([]int, len(place))
			for d := range place {
				index[d] = place[d] / m.chunks[d]
			}
			err = each(index, size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keyPrefix begins the keys of all objects of the array.
func (m *meta) keyPrefix() string {
	if m.keys.v2 || m.keyed() == 0 {
		return ""
	}
	return "c" + m.keys.separator
}

// Units is the grid of the objects that chunks lie in; the whole array of a rectilinear one.
func (a *array) Units() grid.Grid {
	if a.meta.runs != nil {
		return grid.Whole(a.meta.shape)
	}
	return a.meta.objects()
}

// Versions tells the version of each object. Number -1 is what the metadata say, but for the shape; where they are not
// Zarr's, the version of all that is no chunk.
func (a *array) Versions(ctx context.Context, each func(unit int, version uint64)) error {
	index, rest, prefix := make([]int, len(a.meta.shape)), a.meta.rest, a.meta.keyPrefix()
	if rest == 0 {
		prefix = ""
	}
	for e, err := range a.bucket.List(ctx, prefix) {
		if err != nil {
			return a.Fail(ctx, err)
		}
		switch {
		case a.meta.parseKey(e.Key, index) && a.meta.runs == nil:
			each(a.meta.number(index), chunked.VersionOf(e))
		case a.meta.runs != nil || a.meta.rest == 0 && e.Key != ownerKey:
			rest += chunked.VersionOf(e)
		}
	}
	each(-1, rest+xxh3.Hash(a.meta.attributes))
	return ctx.Err()
}

// Digest identifies the version of every stored object, metadata included.
func (a *array) Digest(ctx context.Context) (string, error) {
	return a.Array.Digest(ctx, withoutOwner{a.bucket})
}

// Digest is that of an array in an object store, before it is opened.
func (format) Digest(ctx context.Context, path string) (string, error) {
	if _, _, ok := CutPart(path); ok { // its folder is known once it is open
		return "", errors.ErrUnsupported
	}
	b, err := bucketOf(path)
	if err != nil {
		return "", err
	}
	a := &array{bucket: b}
	a.Path = path
	return a.Digest(ctx)
}

// withoutOwner is an array's bucket without the object of the run that writes it, which is no part of it.
type withoutOwner struct{ blob.Bucket }

func (b withoutOwner) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		for e, err := range b.Bucket.List(ctx, prefix) {
			if e.Key != ownerKey && !yield(e, err) {
				return
			}
		}
	}
}
