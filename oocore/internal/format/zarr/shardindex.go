package zarr

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

const (
	// maxIndexBytes is the most that a session keeps of indexes. One that is larger is read a
	// window at a time, and its checksum not verified.
	maxIndexBytes = 1 << 20
	// maxIndexes is how many it keeps at the most, since each takes some of Go's heap.
	maxIndexes = 64
)

// indexMemory returns the memory that a session needs for the index of a shard: for its
// entries, and for the numbers of the parts, by which those that overlap are found.
func (l *shardLevel) indexMemory() (entries, sorted int64) {
	if n := l.indexBytes(); n <= maxIndexBytes {
		return n, int64(l.parts()) * 4
	}
	return maxIndexBytes, 0
}

// shardIndex is the index of a shard, or a window of it.
type shardIndex struct {
	level   *shardLevel
	entries []byte
	sorted  []byte // shared by all of a level
	object  int    // number of the object that it was read from, of this size and version
	size    int64
	version string
	base    int64 // of the shard in its object; -1 for none
	first   int   // part that entries begin with
	count   int
}

// newShardIndex takes what it needs from memory, which is aligned, and returns the rest.
func newShardIndex(l *shardLevel, memory []byte) (shardIndex, []byte) {
	e, s := l.indexMemory()
	sorted := align(e)
	end := align(sorted + s)
	return shardIndex{level: l, entries: memory[:e:e], sorted: memory[sorted : sorted+s], base: -1}, memory[end:]
}

// another is an index of the same level, with entries of its own from memory, and returns the rest.
func (x *shardIndex) another(memory []byte) (shardIndex, []byte) {
	e := int64(len(x.entries))
	return shardIndex{level: x.level, entries: memory[:e:e], sorted: x.sorted, base: -1}, memory[align(e):]
}

// indexBytes is the memory of the indexes of a chunk's shards.
func indexBytes(levels []shardLevel) (n int64) {
	for i := range levels {
		e, s := levels[i].indexMemory()
		n += align(align(e) + s)
	}
	return n
}

// allIndexBytes is what the indexes of all shards have, as far as that can be counted.
func (m *meta) allIndexBytes() int64 {
	n, shards := 0.0, float64(m.objects().Len())
	for i := range m.shards {
		n += shards * float64(m.shards[i].indexBytes())
		shards *= float64(m.shards[i].parts())
	}
	return int64(min(n, 1<<62))
}

// moreIndexBytes is the memory with which a session keeps the indexes of several objects. A
// region that ends within shards goes through a row of them, as does the one after it, which
// finds their indexes read if they are no more than these.
func (m *meta) moreIndexBytes() int64 {
	e, _ := m.shards[0].indexMemory()
	row, across := 1, false
	for d, length := range m.unit() {
		if across {
			row = min(row*m.objects().Count(d), maxIndexes)
		}
		across = across || length > m.chunks[d]
	}
	return max(min(int64(row), maxIndexBytes/align(e))-1, 0) * align(e)
}

func align(n int64) int64 { return (n + 63) &^ 63 }

// setObject makes it that of an object, which it may have been read from before.
func (x *shardIndex) setObject(number int, e blob.Entry) {
	known := e.Version != "" && e.Settles == 0 && x.object == number && x.size == e.Size && x.version == e.Version
	if !known {
		x.forget()
	}
	x.object, x.size, x.version = number, e.Size, e.Version
}

// ahead is the memory for the index of an object's shard and where that lies in the object, counted from its
// end where it is negative; nil where the index is known, or too long to be kept.
func (x *shardIndex) ahead(object int) ([]byte, int64) {
	all := x.level.indexBytes()
	if x.base >= 0 && x.object == object || int64(len(x.entries)) != all {
		return nil, 0
	}
	x.forget()
	if x.level.index.atStart {
		return x.entries, 0
	}
	return x.entries, -all
}

// came takes the index that was read as its object was opened. What is wrong with it the next
// lookup finds, which reads it again.
func (x *shardIndex) came() bool {
	if x.size < x.level.indexBytes() {
		return false
	}
	x.first, x.count = 0, x.level.parts()
	if x.check(x.entries, x.size) == nil {
		x.base = 0
	}
	return true
}

// forget makes the next lookup read again.
func (x *shardIndex) forget() { x.base = -1 }

// lookup is where in the shard a part lies; found is false where it is not stored.
func (x *shardIndex) lookup(ctx context.Context, shard *chunked.Source, part int) (at, size int64, found bool, err error) {
	if x.base != shard.Base || part < x.first || part >= x.first+x.count {
		x.forget()
		if err := x.load(ctx, shard, part); err != nil {
			return 0, 0, false, err
		}
		x.base = shard.Base
	}
	at, size, found = x.level.index.partAt(x.entries, part-x.first)
	return at, size, found, nil
}

// load reads the index, or the window of it with a part.
func (x *shardIndex) load(ctx context.Context, shard *chunked.Source, part int) error {
	all := x.level.indexBytes()
	if shard.Bytes < all {
		return fmt.Errorf("it has %d bytes, its index alone has %d", shard.Bytes, all)
	}
	at := shard.Bytes - all
	if x.level.index.atStart {
		at = 0
	}
	p := x.entries
	if int64(len(p)) == all {
		x.first, x.count = 0, x.level.parts()
	} else {
		window := len(p) / entryBytes
		x.first = part / window * window
		x.count = min(window, x.level.parts()-x.first)
		p, at = p[:x.count*entryBytes], at+int64(x.first)*entryBytes
	}
	if err := shard.ReadAt(ctx, p, at); err != nil {
		return fmt.Errorf("its index: %w", storage.Plain(err))
	}
	if err := x.check(p, shard.Bytes); err != nil {
		return fmt.Errorf("its index %w", err)
	}
	return nil
}

// check rejects an index with a wrong checksum, or parts that lie outside of the
// shard, in its index or over each other.
func (x *shardIndex) check(p []byte, shard int64) error {
	l := x.level
	if n := x.count * entryBytes; len(p) > n && binary.LittleEndian.Uint32(p[n:]) != l.index.sum(p[:n]) {
		return errors.New("does not have its crc32c: the file is damaged")
	}
	low, high := int64(0), shard-l.indexBytes()
	if l.index.atStart {
		low, high = l.indexBytes(), shard
	}
	end, ordered := int64(0), true
	for i := range x.count {
		at, n, ok := l.index.partAt(p, i)
		if !ok {
			continue
		}
		if at < low || n < 0 || n > high || at > high-n {
			return fmt.Errorf("says that part %d lies at %d with %d bytes, outside of the bytes %d to %d that parts can have",
				x.first+i, uint64(at), uint64(n), low, high)
		}
		ordered = ordered && at >= end
		end = at + n
	}
	if ordered || len(x.sorted) == 0 { // of a window nothing is known of the parts beside it
		return nil
	}
	return x.checkOverlap(p)
}

func (x *shardIndex) checkOverlap(p []byte) error {
	f := x.level.index
	parts := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x.sorted))), x.count)[:0]
	for i := range x.count {
		if _, _, ok := f.partAt(p, i); ok {
			parts = append(parts, uint32(i))
		}
	}
	slices.SortFunc(parts, func(i, j uint32) int {
		a, _, _ := f.partAt(p, int(i))
		b, _, _ := f.partAt(p, int(j))
		return cmp.Compare(a, b)
	})
	for i := 1; i < len(parts); i++ {
		at, n, _ := f.partAt(p, int(parts[i-1]))
		if next, _, _ := f.partAt(p, int(parts[i])); next < at+n {
			return fmt.Errorf("says that parts %d and %d overlap", parts[i-1], parts[i])
		}
	}
	return nil
}
