package filter

import (
	"context"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

// tileElems is about how many elements a tile has with its border: few enough to stay
// in a core's own cache in float64, with what is made of them. Where that is mostly
// border it is up to mostElems.
const (
	tileElems = 32 << 10
	mostElems = 1 << 20
)

// longRow is how long the last axis of a tile is before others grow: loops over rows
// have something to do for each call.
const longRow = 256

// tileOf returns the lengths of the tiles that a box is cut into for computing. They do not depend
// on the box, so that the memory for a tile does not grow with it.
func tileOf(w *window.Window) []int {
	tile := make([]int, len(w.Shape))
	size, room := 1, 1
	halo := func(d int) int { return w.Lo[d] + w.Hi[d] }
	for d, n := range w.Shape {
		room = min(room*max(3*halo(d), 1), mostElems)
		tile[d] = max(min(n, halo(d)/4), 1)
		if d == len(w.Shape)-1 {
			tile[d] = max(min(n, max(longRow, halo(d))), 1)
		}
		size *= tile[d] + halo(d)
	}
	room = max(room, tileElems)
	for {
		best, most := -1, 0.0
		for d, n := range w.Shape {
			grown := size / (tile[d] + halo(d)) * (min(2*tile[d], n) + halo(d))
			// What most lessens the share of the border goes first, then the inner axes.
			if waste := float64(halo(d)) / float64(tile[d]); tile[d] < n && grown <= room && (best < 0 || waste >= most) {
				best, most = d, waste
			}
		}
		if best < 0 {
			return tile
		}
		size /= tile[best] + halo(best)
		tile[best] = min(2*tile[best], w.Shape[best])
		size *= tile[best] + halo(best)
	}
}

// clipped is the tile for boxes of at most the given lengths.
func clipped(tile, box []int) []int {
	out := make([]int, len(tile))
	for d := range out {
		out[d] = max(min(tile[d], box[d]), 1)
	}
	return out
}

// elements are the numbers of some elements that a tile has, with its border and
// without. A complex one is two numbers.
func elements(w *window.Window, tile []int) (with, without int) {
	return grid.Size(w.Lengths(tile)), grid.Size(tile)
}

// need is what a box takes: the input, a tile with its border and without, and what
// work takes of memory for a tile.
func need(w *window.Window, box []int, work func(m *blockwise.ScratchLayout, tile []int)) blockwise.Requirements {
	var m blockwise.ScratchLayout
	tile := clipped(tileOf(w), box)
	m.Take(int(w.Bytes(box)))
	with, without := elements(w, tile)
	m.Take(with * w.DType.Size())
	m.Take(without * w.DType.Size())
	work(&m, tile)
	return blockwise.Requirements{Reads: [][]int{w.Reads(box)}, Scratch: m.Size()}
}

// fill computes a box tile by tile: work is given memory once and returns what sets the
// elements of dst, a tile, from src, the tile with its border.
func fill(ctx context.Context, w *window.Window, t *blockwise.Task, work func(m *blockwise.ScratchLayout, tile []int) func(dst, src []byte, tile []int)) error {
	m := t.ScratchLayout()
	tile := clipped(tileOf(w), t.Box.Shape)
	s, err := w.Read(ctx, t.In[0], t.Box, m.Take(int(w.Bytes(t.Box.Shape))))
	if err != nil {
		return err
	}
	size := w.DType.Size()
	with, without := elements(w, tile)
	src, dst := m.Take(with*size), m.Take(without*size)
	compute := work(m, tile)
	return t.Compute(func() error {
		for part := range t.Box.Split(tile) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			s.Show(src, part)
			compute(dst, src, part.Shape)
			strided.Copy(size, part, t.Dst, t.Box, dst, part)
		}
		return nil
	})
}

// rows are the runs of elements that follow each other in a tile with its border and
// without: n of them, from the given places on. Axes after the last one with a border
// are part of a run, and inner is how many elements they have.
type rows struct {
	shape  []int // of the loops over rows
	stride []int // in the tile with its border, of those
	n      int
	inner  int
}

func rowsOf(w *window.Window, tile []int) rows {
	with := w.Lengths(tile)
	last := len(tile) - 1
	inner := 1
	for ; last >= 0 && w.Lo[last]+w.Hi[last] == 0; last-- {
		inner *= tile[last]
	}
	if last < 0 {
		return rows{n: inner, inner: 1}
	}
	return rows{shape: tile[:last], stride: grid.Strides(with)[:last], n: tile[last] * inner, inner: inner}
}

// all iterates over the rows: where each begins with its border, and without.
func (r rows) all() func(yield func(src, dst int) bool) {
	return func(yield func(src, dst int) bool) {
		dst := 0
		for at := range window.Counting(r.shape) {
			src := 0
			for d, i := range at {
				src += i * r.stride[d]
			}
			if !yield(src, dst) {
				return
			}
			dst += r.n
		}
	}
}

// offsets are how far the elements of the window lie from the first one, in C order, in
// a tile with its border.
func offsetsOf(w *window.Window, tile []int) []int {
	strides := grid.Strides(w.Lengths(tile))
	sizes := make([]int, len(tile))
	for d := range sizes {
		sizes[d] = w.Lo[d] + w.Hi[d] + 1
	}
	out := make([]int, 0, grid.Size(sizes))
	for at := range window.Counting(sizes) {
		off := 0
		for d, i := range at {
			off += i * strides[d]
		}
		out = append(out, off)
	}
	return out
}

// parts are the real type that elements are made of, and how many of it.
func parts(t dtype.Type) (dtype.Type, int) {
	switch t {
	case dtype.Complex64:
		return dtype.Float32, 2
	case dtype.Complex128:
		return dtype.Float64, 2
	}
	return t, 1
}

// cast is the loop that converts elements; there is one for any two types.
func cast(from, to dtype.Type) func(n int, dst, src []byte) {
	f, _ := kernel.Cast(from, to)
	return func(n int, dst, src []byte) { f(n, dst, src, nil, nil) }
}
