package storage

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/types"
)

// order says in which order the elements lie in a file, and the bytes of each.
type order struct {
	fortran bool
	big     bool // big-endian
	part    int  // bytes that have an order among them
}

// String returns "" for the order that elements have in memory.
func (o order) String() string {
	text := ""
	if o.fortran {
		text += " order=F"
	}
	if o.big {
		text += " big-endian"
	}
	return text
}

// convert writes elements in another order than that in memory, by parts that fit
// into a buffer and are as long in the file as can be.
func (w *part) convert(ctx context.Context, out *disk.File, src []byte, b types.Box) error {
	buffer := scratch.Get().(*[scratchBytes]byte)
	defer scratch.Put(buffer)
	shape, stride := slices.Clone(w.shape), grid.Strides(b.Shape)
	stored := types.Box{Start: slices.Clone(b.Start), Shape: slices.Clone(b.Shape)}
	if w.order.fortran {
		for _, axes := range [][]int{shape, stride, stored.Start, stored.Shape} {
			slices.Reverse(axes)
		}
	}
	for box := range stored.Split(grid.Auto(stored.Shape, w.itemsize, scratchBytes)) {
		l, err := strided.Of(shape, w.itemsize, box.Region())
		if err != nil {
			return err
		}
		l.Start += w.offset
		bytes := buffer[:l.Bytes()]
		at := 0
		for d, n := range stride {
			at += (box.Start[d] - stored.Start[d]) * n
		}
		kernel.Copy(w.itemsize, box.Shape, bytes, 0, grid.Strides(box.Shape), src, at, stride)
		if w.order.big {
			kernel.Swap(bytes, w.order.part)
		}
		if err := writeLayout(ctx, out, bytes, l); err != nil {
			return err
		}
	}
	return nil
}
