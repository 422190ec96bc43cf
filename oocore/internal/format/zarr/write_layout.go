package zarr

import (
	"bytes"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	// stageBytes is the buffer in which a streamed chunk is put together where what
	// is written has gaps: beyond the array's edge, and around a region.
	stageBytes = 64 << 10
	// appendBytes is the buffer in which the chunks of a shard are gathered: the
	// shortest write that bypasses the page cache.
	appendBytes = 1 << 20
)

// writeLayout is how the chunks of an array that is written lie and are encoded. It
// does not change.
type writeLayout struct {
	*meta
	chunked grid.Grid // of what is encoded by itself
	units   grid.Grid // of objects: the same where there are no shards
	item    int       // bytes of an element
	random  bool      // what was written of an object can be replaced
	bare    bool      // chunks are encoded and stored as a whole
}

func newWriteLayout(m *meta, random bool) *writeLayout {
	return &writeLayout{
		meta: m, chunked: grid.Grid{Shape: m.shape, Chunks: m.chunks}, units: m.objects(),
		item: m.dtype.Size(), random: random,
	}
}

// shard is how chunks lie in an object, nil where each is its own.
func (d *writeLayout) shard() *shardLevel {
	if len(d.shards) == 0 {
		return nil
	}
	return &d.shards[0]
}

// all is the box of the whole array.
func (d *writeLayout) all() grid.Box {
	return grid.Box{Start: make([]int, len(d.shape)), Shape: d.shape}
}

// straight reports that encoded elements follow each other in C order.
func (d *writeLayout) straight() bool {
	for i, axis := range d.pipeline.Order() {
		if i != axis {
			return false
		}
	}
	return true
}

// streamed reports that a chunk can be encoded piece by piece: its elements come
// in the order in which they are stored, and where its codec goes back to its
// head at the end the store lets it.
func (d *writeLayout) streamed() bool {
	return d.straight() && (d.random || !d.pipeline.Patches())
}

// cuts reports that a box has parts of chunks: what else is in them has to be
// filled in, or kept.
func (d *writeLayout) cuts(b grid.Box) bool {
	for axis, n := range d.chunks {
		if b.Start[axis]%n != 0 || (b.Start[axis]+b.Shape[axis])%n != 0 {
			return true
		}
	}
	return false
}

// keeps reports that a box has parts of units of which the rest is kept.
func (d *writeLayout) keeps(b grid.Box) bool {
	for axis, n := range d.unit() {
		end := b.Start[axis] + b.Shape[axis]
		if b.Start[axis]%n != 0 || end%n != 0 && end != d.shape[axis] {
			return true
		}
	}
	return false
}

// writeMemory is what a session divides the caller's buffer into.
type writeMemory struct {
	encoder []byte
	decoder []byte // of chunks that are kept in part
	chunk   []byte // a decoded chunk, where one has to be put together
	stage   []byte // the same for a piece of one
	buffer  []byte // the end of a shard
	index   []byte // of a shard
	old     []byte // the index of a shard that is kept in part
}

// divide says how a session that writes a box uses its memory, whole chunks at a
// time or pieces of them. Without memory it counts.
func (d *writeLayout) divide(work []byte, box grid.Box, whole bool) (m writeMemory, size int64) {
	take := func(n int64) []byte {
		from := size
		size += (n + 63) &^ 63
		if work == nil {
			return nil
		}
		return work[from : from+n : from+n]
	}
	encode, decode := d.pipeline.EncodeWork(), d.pipeline.DecodeWork()
	cuts, keeps := d.cuts(box), d.keeps(box)
	if d.shard() != nil { // first, where the caller's memory begins with a page
		m.buffer = take(appendBytes)
	}
	if whole {
		m.encoder = take(encode.Whole)
		// Rows of a chunk are encoded as a stream where that takes no more memory.
		if cuts || d.bare || !d.straight() || encode.Stream > encode.Whole {
			m.chunk = take(d.meta.chunkBytes())
		}
		if keeps && cuts {
			m.decoder = take(decode.Whole)
		}
	} else {
		m.encoder = take(encode.Stream)
		if cuts {
			m.stage = take(stageBytes)
		}
		if keeps && cuts {
			m.decoder = take(decode.Stream)
		}
	}
	if l := d.shard(); l != nil {
		m.index = take(l.indexBytes())
		if keeps {
			m.old = take(l.indexBytes())
		}
	}
	return m, size
}

// work is the memory of a session that writes a box.
func (d *writeLayout) work(box grid.Box) store.Work {
	var w store.Work
	_, w.Whole = d.divide(nil, box, true)
	_, w.Stream = d.divide(nil, box, false)
	if !d.streamed() || d.bare || w.Stream > w.Whole {
		w.Stream = w.Whole
	}
	w.Heap = d.pipeline.EncodeWork().Heap
	if d.keeps(box) && d.cuts(box) {
		w.Heap += d.pipeline.DecodeWork().Heap
	}
	switch {
	case d.random:
	case d.shard() != nil:
		w.Heap += blob.UploadHeap
	default:
		w.Encoded = d.pipeline.MaxEncoded()
		if w.Stream < w.Whole { // a chunk that was encoded whole is put from there
			w.StreamHeap = blob.UploadHeap
		}
	}
	return w
}

// repeat fills p with copies of one element.
func repeat(p, element []byte) {
	if zero(element) {
		clear(p)
		return
	}
	for n := copy(p, element); n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}

// zero reports that all bytes are 0.
func zero(p []byte) bool {
	return len(p) == 0 || p[0] == 0 && bytes.Equal(p[1:], p[:len(p)-1])
}

// equal reports that two boxes are the same.
func equal(a, b grid.Box) bool {
	return slices.Equal(a.Start, b.Start) && slices.Equal(a.Shape, b.Shape)
}

// chunkBox is a chunk of a grid, by its index, with what of it lies beyond the edge.
func chunkBox(index, chunks []int) grid.Box {
	start := make([]int, len(index))
	for i, n := range index {
		start[i] = n * chunks[i]
	}
	return grid.Box{Start: start, Shape: chunks}
}
