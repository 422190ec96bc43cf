package zarr

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/blob"
	"github.com/gonbext/gonbext/oocore/store/chunked"
)

// Chunks lists the chunks that are stored, with their encoded bytes.
func (a *array) Chunks(ctx context.Context, each func(index []int, bytes int64) error) error {
	return a.Fail(ctx, a.list(ctx, each))
}

func (a *array) list(ctx context.Context, each func(index []int, bytes int64) error) error {
	if a.Closed() {
		return store.ErrClosed
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
	if m.keys.v2 || len(m.shape) == 0 {
		return ""
	}
	return "c" + m.keys.separator
}

// Digest identifies the version of every stored object, metadata included. It is the
// sum of their hashes, so that it needs neither an order nor memory. Files that have
// changed within a tick of the clock are looked at again after it.
func (a *array) Digest(ctx context.Context) (string, error) {
	if a.Closed() {
		return "", a.Fail(ctx, store.ErrClosed)
	}
	for again := false; ; again = true {
		digest, newest, err := a.digest(ctx)
		wait, reliable := disk.Unsettled(newest)
		if err != nil || wait == 0 || again && !reliable { // a clock that is ahead may be so by hours
			return digest, err
		}
		time.Sleep(wait)
	}
}

func (a *array) digest(ctx context.Context) (digest string, newest time.Time, err error) {
	var sum [sha256.Size / 8]uint64
	var text []byte
	for e, err := range a.bucket.List(ctx, "") {
		if errors.Is(err, errors.ErrUnsupported) { // a web server: only the metadata's version is known
			return "", newest, nil
		}
		if err != nil {
			return "", newest, a.Fail(ctx, err)
		}
		if e.Changed.After(newest) {
			newest = e.Changed
		}
		text = appendEntry(text[:0], e)
		hash := sha256.Sum256(text)
		for i := range sum {
			sum[i] += binary.LittleEndian.Uint64(hash[8*i:])
		}
	}
	if err := ctx.Err(); err != nil {
		return "", newest, err
	}
	b := make([]byte, 0, sha256.Size)
	for _, s := range sum {
		b = binary.LittleEndian.AppendUint64(b, s)
	}
	return hex.EncodeToString(b), newest, nil
}

func appendEntry(b []byte, e blob.Entry) []byte {
	return fmt.Appendf(b, "%q %d %q", e.Key, e.Size, e.Version)
}
