package vm

import (
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// fill brings a load's elements into a register where they do not already lie as
// the domain does.
type fill struct {
	size   int
	data   []byte
	origin int   // of the tile's first element: an index into data, or a generator's position
	stride []int // by domain axis: in data, or in a generator's positions
	dense  []int // strides of the destination; scratch
	last   span  // what the register holds, where that depends on the last axis alone
	rows   bool  // it does
}

// span is the range of the last axis and the number of rows that a register holds.
type span struct{ start, length, rows int }

func (f *fill) init(l *plan.Load) {
	f.size = l.Type.Size()
	f.stride = make([]int, len(l.View.Shape))
	f.dense = make([]int, len(l.View.Shape))
	if l.Kind != plan.LoadIota && l.Kind != plan.LoadRandom {
		return
	}
	strides := grid.Strides(l.Shape)
	for d, a := range l.View.Axis {
		f.origin += l.View.Start[d] * strides[d]
		if a >= 0 {
			f.stride[a] += l.View.Step[d] * strides[d]
		}
	}
}

// tile takes a new tile's elements.
func (f *fill) tile(l *plan.Load, box grid.Box, data []byte) {
	f.data, f.origin, f.last = data, 0, span{}
	for a := range f.stride {
		f.stride[a] = 0
	}
	stride := 1
	for d := len(l.View.Axis) - 1; d >= 0; d-- {
		if a := l.View.Axis[d]; a >= 0 {
			f.stride[a] += stride
			stride *= box.Shape[a]
		}
	}
	f.rows = true
	for a := 0; a < len(f.stride)-1; a++ {
		f.rows = f.rows && f.stride[a] == 0
	}
}

// window takes the elements of a tap of a new tile from what its load holds.
func (f *fill) window(l, base *plan.Load, box grid.Box, data []byte) {
	f.data, f.origin, f.last, f.rows = data, 0, span{}, false
	for a := range f.stride {
		f.stride[a] = 0
	}
	for d, stride := range grid.Strides(base.Held(box.Shape)) {
		f.origin += l.At[d] * stride
		if a := l.View.Axis[d]; a >= 0 {
			f.stride[a] += stride * l.View.Step[d]
		}
	}
}

// array copies a block out of the tile's elements, in the domain's order.
func (f *fill) array(dst []byte, tile, b grid.Box) {
	at := f.origin
	n := 1
	for a := len(b.Shape) - 1; a >= 0; a-- {
		at += (b.Start[a] - tile.Start[a]) * f.stride[a]
		f.dense[a] = n
		n *= b.Shape[a]
	}
	if f.rows && len(b.Shape) > 0 {
		// Every row is alike: what the register holds from the block before is right.
		last := len(b.Shape) - 1
		now := span{b.Start[last], b.Shape[last], n / max(b.Shape[last], 1)}
		if now.start == f.last.start && now.length == f.last.length && now.rows <= f.last.rows {
			return
		}
		f.last = now
	}
	kernel.Copy(f.size, b.Shape, dst, 0, f.dense, f.data, at, f.stride)
}

// generate computes a generator's elements for a block: in one call where its
// positions follow each other, else row by row or one by one.
func (f *fill) generate(l *plan.Load, dst []byte, b grid.Box) {
	dims := len(b.Shape)
	at := f.origin
	for a := range dims {
		at += b.Start[a] * f.stride[a]
	}
	// run is how many elements of the block have consecutive positions; axes before
	// inner are walked.
	run, inner := 1, dims
	for inner > 0 && (f.stride[inner-1] == run || b.Shape[inner-1] == 1) {
		inner--
		run *= b.Shape[inner]
	}
	index := make([]int, inner)
	for off := 0; ; off += run {
		f.call(l, dst[off*f.size:], run, at)
		a := inner - 1
		for ; a >= 0; a-- {
			index[a]++
			at += f.stride[a]
			if index[a] < b.Shape[a] {
				break
			}
			at -= index[a] * f.stride[a]
			index[a] = 0
		}
		if a < 0 {
			return
		}
	}
}

func (f *fill) call(l *plan.Load, dst []byte, n, at int) {
	if l.Kind == plan.LoadIota {
		kernel.Iota(n, dst, l.Value, l.Delta, int64(at))
	} else {
		kernel.Random(n, dst, l.Type, l.Seed, int64(at))
	}
}
