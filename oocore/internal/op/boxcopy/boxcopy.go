// Package boxcopy computes the offsets of parts of a box in its buffer, and reads elements
// into them.
package boxcopy

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Dense reports a part of a box whose elements follow each other in it.
func Dense(part, box []int) bool {
	outer := 1
	for d, n := range part {
		if outer > 1 && n != box[d] {
			return false
		}
		outer *= n
	}
	return true
}

// Offset is the place of an index in a box of the lengths, in elements.
func Offset(at, lengths []int) int {
	n := 0
	for d, i := range at {
		n = n*lengths[d] + i
	}
	return n
}

// Read reads a box of an input, of elements of item bytes, to a place of the same
// lengths in the task's box: through Scratch where that is in several pieces.
func Read(ctx context.Context, t *blockwise.Task, input int, from grid.Box, at []int, item int) error {
	n, to := from.Size()*item, Offset(at, t.Box.Shape)
	if Dense(from.Shape, t.Box.Shape) {
		return t.In[input].Read(ctx, from, t.Dst[to*item:to*item+n])
	}
	if err := t.In[input].Read(ctx, from, t.Scratch[:n]); err != nil {
		return err
	}
	return t.Compute(func() error {
		kernel.Copy(item, from.Shape, t.Dst, to, grid.Strides(t.Box.Shape), t.Scratch, 0, grid.Strides(from.Shape))
		return nil
	})
}
