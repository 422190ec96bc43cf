package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Temporary arrays of a run lie in blocks, so that what is written in rows can be
// read in columns: one file, in which each block of Meta.Chunks is one run, at its
// number in the grid times the size of a whole block. Without chunks there is one
// block.

// CreateBlocks begins a temporary array in a staging folder. It is whole when ws.Join(name)
// exists. Boxes of any form may be written at once; those that cover the rows of blocks
// are fastest. Elements that are gathered from several places go through a buffer of
// 1 MiB for each call.
func CreateBlocks(ws *StagingDir, name string, m store.Meta) (store.Writer, error) {
	path := ws.Join(name)
	if err := grid.Check(m.Shape, m.DType.Size()); err != nil {
		return nil, PathError("create", path, err)
	}
	l := blocksOf(m)
	m.StagingDir = ws
	w := &blockWriter{newFlatWriter(path, m, 0), l}
	w.finish = func(context.Context) error { return nil }
	id := fmt.Sprintf("blocks %v %v %s", m.Shape, l.grid.Chunks, m.DType)
	if _, err := w.begin(path, l.bytes(), id, m); err != nil {
		return nil, PathError("create", path, err)
	}
	return w, nil
}

// OpenBlocks opens what CreateBlocks wrote of the same Meta. Elements that are
// read to several places go through a buffer of 1 MiB for each call.
func OpenBlocks(ws *StagingDir, name string, m store.Meta) (store.Array, error) {
	return openBlocks(ws, name, m)
}

// OpenUnfinishedBlocks opens what a writer of CreateBlocks has made durable so far. The
// values of the other elements are undefined.
func OpenUnfinishedBlocks(ws *StagingDir, name string, m store.Meta) (store.Array, error) {
	return openBlocks(ws, name+unfinishedExt, m)
}

func openBlocks(ws *StagingDir, name string, m store.Meta) (store.Array, error) {
	path := ws.Join(name)
	l := blocksOf(m)
	a, err := OpenExtent(context.Background(), path, path, "blocks", func(_ io.ReaderAt, size int64) (store.Extent, error) {
		if size != l.bytes() {
			return store.Extent{}, fmt.Errorf("the file has %d bytes, its blocks %d", size, l.bytes())
		}
		return store.Extent{Shape: m.Shape, DType: m.DType}, nil
	})
	if err != nil || l.grid.Len() <= 1 {
		return a, err
	}
	of := a.(*Flat)
	of.info.Chunks = slices.Clone(l.grid.Chunks)
	return &blocks{of, l}, nil
}

// blockLayout computes where blocks lie.
type blockLayout struct {
	grid     grid.Grid
	itemsize int
}

func blocksOf(m store.Meta) blockLayout {
	g := grid.Whole(m.Shape)
	for i := range m.Chunks {
		g.Chunks[i] = max(min(m.Chunks[i], m.Shape[i]), 1)
	}
	return blockLayout{g, m.DType.Size()}
}

// BlocksBytes returns the size of the file that CreateBlocks makes.
func BlocksBytes(m store.Meta) int64 { return blocksOf(m).bytes() }

// BlocksHeap returns what one call takes of Go's heap to read or write a box of an array in blocks, where boxes form a grid
// that begins with the first one: a buffer, unless the overlap of a box and a block is always one run of the box.
func BlocksHeap(m store.Meta, first types.Box) int64 {
	if len(first.Shape) != len(m.Shape) || len(first.Start) != len(m.Shape) {
		return 0
	}
	chunks, outer := blocksOf(m).grid.Chunks, true
	for d, n := range first.Shape {
		if cut := chunks[d] < m.Shape[d] && (chunks[d]%n != 0 || first.Start[d]%n != 0); cut && !outer {
			return scratchBytes
		}
		outer = outer && n == 1
	}
	return 0
}

func (l blockLayout) blockBytes() int64 {
	return int64(grid.Size(l.grid.Chunks)) * int64(l.itemsize)
}

// bytes returns the size of the file. Only the last block may be cut off.
func (l blockLayout) bytes() int64 {
	n := l.grid.Len()
	if n == 0 {
		return 0
	}
	return int64(n-1)*l.blockBytes() + int64(l.grid.Box(n-1).Size()*l.itemsize)
}

// overlap is the part of a region that lies in one block.
type overlap struct {
	block types.Box
	at    int64 // of the block, in the file
	from  []int // of the overlap, in the region
	count []int
}

// overlaps goes through the blocks that a region touches, in the file's order along
// axes on which it goes forwards.
func (l blockLayout) overlaps(r types.Region) iter.Seq[overlap] {
	dims := len(r.Count)
	return func(yield func(overlap) bool) {
		at := make([]int, dims)    // the overlap's first element, in the region
		count := make([]int, dims) // and how many elements it has
		var axis func(d, block int) bool
		axis = func(d, block int) bool {
			if d == dims {
				return yield(overlap{l.grid.Box(block), int64(block) * l.blockBytes(), at, count})
			}
			chunk := l.grid.Chunks[d]
			for at[d] = 0; at[d] < r.Count[d]; at[d] += count[d] {
				x := r.Start[d] + at[d]*r.Step[d]
				n := x / chunk
				room := min((n+1)*chunk, l.grid.Shape[d]) - 1 - x
				if r.Step[d] < 0 {
					room = x - n*chunk
				}
				count[d] = min(room/max(r.Step[d], -r.Step[d])+1, r.Count[d]-at[d])
				if !axis(d+1, block*l.grid.Count(d)+n) {
					return false
				}
			}
			return true
		}
		axis(0, 0)
	}
}

// layout returns where the part [from, from+count) of a region lies in the file.
func (l blockLayout) layout(r types.Region, p overlap, from, count []int) (strided.Layout, error) {
	start := make([]int, len(from))
	for d := range start {
		start[d] = r.Start[d] + from[d]*r.Step[d] - p.block.Start[d]
	}
	s, err := strided.Of(p.block.Shape, l.itemsize, types.Region{Start: start, Count: count, Step: r.Step})
	s.Start += p.at
	return s, err
}

// slabs cuts an overlap into boxes, each of them one run of it, that fit into
// the buffer. They are in the region's coordinates.
func (l blockLayout) slabs(p overlap) iter.Seq[types.Box] {
	whole := types.Box{Start: p.from, Shape: p.count}
	return whole.Split(grid.Auto(p.count, l.itemsize, scratchBytes))
}

// scratchBytes is the size of the buffer for elements that lie apart in memory and together in
// the file.
const scratchBytes = 1 << 20

// scratch are buffers that begin at a page, for direct writes.
var scratch = sync.Pool{New: func() any {
	b := make([]byte, scratchBytes+disk.Page)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (disk.Page - 1)
	return (*[scratchBytes]byte)(b[skip:])
}}

// blockWriter is a flatWriter whose elements lie in blocks.
type blockWriter struct {
	*flatWriter
	layout blockLayout
}

func (w *blockWriter) Write(ctx context.Context, src []byte, b types.Box) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return AccessError(ctx, "write", w.path, w.write(ctx, src, b))
}

func (w *blockWriter) write(ctx context.Context, src []byte, b types.Box) error {
	if w.closed {
		return fs.ErrClosed
	}
	r := b.Region()
	if _, err := strided.ForBox(w.shape, w.itemsize, b, len(src)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || len(src) == 0 {
		return err
	}
	g := gatherer{out: w.out}
	defer g.close()
	for p := range w.layout.overlaps(r) {
		if err := w.writeOverlap(ctx, &g, src, b.Shape, r, p); err != nil {
			return err
		}
	}
	return g.flush(ctx)
}

// writeOverlap writes the part of a box that lies in one block.
func (w *blockWriter) writeOverlap(ctx context.Context, g *gatherer, src []byte, shape []int, r types.Region, p overlap) error {
	box := grid.Entire(shape)
	if grid.Dense(p.count, shape) {
		l, err := w.layout.layout(r, p, p.from, p.count)
		if err != nil {
			return err
		}
		return g.straight(ctx, src[grid.Offset(p.from, box)*w.itemsize:], l)
	}
	for part := range w.layout.slabs(p) {
		l, err := w.layout.layout(r, p, part.Start, part.Shape)
		if err != nil {
			return err
		}
		dst, err := g.room(ctx, l)
		if err != nil {
			return err
		}
		strided.Copy(w.itemsize, part, dst, part, src, box)
	}
	return nil
}

// gatherer collects elements in a buffer for as long as they lie one behind the
// other in the file.
type gatherer struct {
	out    *disk.File
	buffer *[scratchBytes]byte
	layout strided.Layout // of what is in the buffer
	held   int            // bytes
}

func (g *gatherer) close() {
	if g.buffer != nil {
		scratch.Put(g.buffer)
	}
}

// room makes room for the elements of a layout, which the caller fills in.
func (g *gatherer) room(ctx context.Context, l strided.Layout) ([]byte, error) {
	if g.buffer == nil {
		g.buffer = scratch.Get().(*[scratchBytes]byte)
	}
	n := l.Bytes()
	if g.held > 0 && len(l.Axes) == 0 && len(g.layout.Axes) == 0 &&
		l.Start == g.layout.Start+int64(g.held) && g.held+n <= scratchBytes {
		g.layout.Run += n
	} else {
		if err := g.flush(ctx); err != nil {
			return nil, err
		}
		g.layout = l
	}
	g.held += n
	return g.buffer[g.held-n : g.held], nil
}

func (g *gatherer) flush(ctx context.Context) error {
	if g.held == 0 {
		return nil
	}
	held := g.held
	g.held = 0
	return writeLayout(ctx, g.out, g.buffer[:held], g.layout)
}

// straight writes elements that lie together in memory.
func (g *gatherer) straight(ctx context.Context, src []byte, l strided.Layout) error {
	return errors.Join(g.flush(ctx), writeLayout(ctx, g.out, src[:l.Bytes()], l))
}

// blocks is a flat array whose elements lie in blocks.
type blocks struct {
	flat   *Flat
	layout blockLayout
}

func (a *blocks) Info() store.Info {
	info := a.flat.Info()
	info.Chunks = slices.Clone(info.Chunks)
	return info
}

func (a *blocks) Close() error { return a.flat.Close() }

func (a *blocks) Read(ctx context.Context, dst []byte, r types.Region) error {
	return AccessError(ctx, "read", a.flat.info.Path, a.read(ctx, dst, r))
}

func (a *blocks) read(ctx context.Context, dst []byte, r types.Region) error {
	if _, err := strided.ForRegion(a.flat.info.Shape, a.layout.itemsize, r, len(dst)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	h := a.flat.shared
	h.mu.RLock()
	defer h.mu.RUnlock()
	if err := h.check(); err != nil || len(dst) == 0 {
		return err
	}
	for p := range a.layout.overlaps(r) {
		if err := a.readOverlap(ctx, dst, r, p); err != nil {
			return err
		}
	}
	return nil
}

// WillRead asks the disk for the first run of the part of the region that lies in the first block.
func (a *blocks) WillRead(r types.Region) {
	if _, err := strided.Of(a.flat.info.Shape, a.layout.itemsize, r); err != nil {
		return
	}
	for p := range a.layout.overlaps(r) {
		if l, err := a.layout.layout(r, p, p.from, p.count); err == nil {
			a.flat.shared.willRead(l)
		}
		return
	}
}

// readOverlap reads the part of a region that lies in one block.
func (a *blocks) readOverlap(ctx context.Context, dst []byte, r types.Region, p overlap) error {
	h, size := a.flat.shared, a.layout.itemsize
	box := grid.Entire(r.Count)
	if grid.Dense(p.count, r.Count) {
		l, err := a.layout.layout(r, p, p.from, p.count)
		if err != nil {
			return err
		}
		return h.fill(ctx, dst[grid.Offset(p.from, box)*size:][:l.Bytes()], l)
	}
	buffer := scratch.Get().(*[scratchBytes]byte)
	defer scratch.Put(buffer)
	for part := range a.layout.slabs(p) {
		l, err := a.layout.layout(r, p, part.Start, part.Shape)
		if err != nil {
			return err
		}
		if err := h.fill(ctx, buffer[:l.Bytes()], l); err != nil {
			return err
		}
		strided.Copy(size, part, dst, box, buffer[:], part)
	}
	return nil
}
