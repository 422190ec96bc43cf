package zarr

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// maxIndexBytes is the most of a shard's index that is kept in memory. A larger one
// is read a window at a time, and its checksum not verified.
const maxIndexBytes = 1 << 20

// indexMemory is a session's memory for the index of one level of shards.
type indexMemory struct {
	entries []byte
	sorted  []byte // the numbers of the parts, for finding those that overlap
}

// indexWork is how much of it is needed.
func indexWork(l *shardLevel) (entries, sorted int64) {
	if n := l.indexBytes(); n <= maxIndexBytes {
		return n, int64(l.parts()) * 4
	}
	return maxIndexBytes, 0
}

// shardIndex is the index of a shard, or a window of it: what a session knows of
// the shard that it read last.
type shardIndex struct {
	level  *shardLevel
	memory indexMemory
	base   int64 // of the shard in its object; -1 for none
	first  int   // part that memory begins with
	count  int
}

func newShardIndex(l *shardLevel, memory indexMemory) shardIndex {
	return shardIndex{level: l, memory: memory, base: -1}
}

// forget makes the next lookup read again.
func (x *shardIndex) forget() { x.base = -1 }

// lookup is where in the shard a part lies; found is false where it is not stored.
func (x *shardIndex) lookup(ctx context.Context, shard *source, part int) (at, size int64, found bool, err error) {
	if x.base != shard.base || part < x.first || part >= x.first+x.count {
		x.forget()
		if err := x.load(ctx, shard, part); err != nil {
			return 0, 0, false, err
		}
		x.base = shard.base
	}
	at, size, found = x.level.index.partAt(x.memory.entries, part-x.first)
	return at, size, found, nil
}

// load reads the index, or the window of it with a part.
func (x *shardIndex) load(ctx context.Context, shard *source, part int) error {
	all := x.level.indexBytes()
	if shard.size < all {
		return fmt.Errorf("it has %d bytes, its index alone has %d", shard.size, all)
	}
	at := shard.size - all
	if x.level.index.atStart {
		at = 0
	}
	p := x.memory.entries
	if int64(len(p)) == all {
		x.first, x.count = 0, x.level.parts()
	} else {
		window := len(p) / entryBytes
		x.first = part / window * window
		x.count = min(window, x.level.parts()-x.first)
		p, at = p[:x.count*entryBytes], at+int64(x.first)*entryBytes
	}
	if err := shard.ReadAt(ctx, p, at); err != nil {
		return fmt.Errorf("its index: %w", plainError(err))
	}
	if err := x.check(p, shard.size); err != nil {
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
	if ordered || len(x.memory.sorted) == 0 { // of a window nothing is known of the parts beside it
		return nil
	}
	return x.checkOverlap(p)
}

func (x *shardIndex) checkOverlap(p []byte) error {
	f := x.level.index
	parts := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x.memory.sorted))), x.count)[:0]
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
