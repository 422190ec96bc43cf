package window

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() {
	blockwise.Describe(Shown{}, blockwise.Exact, blockwise.OnlyMoves)
	blockwise.Describe(Inside{}, blockwise.Exact, blockwise.OnlyMoves)
}

// Shown is an array with the border of a window around it: what windows show, one after the
// other.
type Shown struct{ Window }

// place is a box of the result as one of the array, beyond whose edges it may reach, and the
// window that shows each element alone.
func (s Shown) place(box grid.Box) (Window, grid.Box) {
	w := s.Window
	w.Lo, w.Hi = make([]int, len(w.Shape)), make([]int, len(w.Shape))
	at := grid.Box{Start: slices.Clone(box.Start), Shape: box.Shape}
	for d, n := range s.Lo {
		at.Start[d] -= n
	}
	return w, at
}

// Requirements is what the box shows of the input.
func (s Shown) Requirements(box []int) blockwise.Requirements {
	w, _ := s.place(grid.Box{Start: make([]int, len(box)), Shape: box})
	return blockwise.Requirements{Reads: [][]int{w.Reads(box)}, Scratch: w.Bytes(box)}
}

// Fill reads what is inside of the input's edges to its place, and shows the rest.
func (s Shown) Fill(ctx context.Context, t *blockwise.Task) error {
	w, at := s.place(t.Box)
	inside := true
	for d, n := range w.Shape {
		inside = inside && at.Start[d] >= 0 && at.Start[d]+at.Shape[d] <= n
	}
	if inside {
		return t.In[0].Read(ctx, at, t.Dst)
	}
	seen, err := w.Read(ctx, t.In[0], at, t.Scratch)
	if err != nil {
		return err
	}
	return t.Compute(func() error { seen.Show(t.Dst, at); return nil })
}

// Join adds the border of another window on the same array where the two reach along different
// axes: then the border of what has been computed is computed of the border. A constant
// around the one is none around the other.
func (s Shown) Join(inner blockwise.Op) (blockwise.Op, bool) {
	o, ok := inner.(Shown)
	if !ok || s.Mode != o.Mode || s.Mode == Constant || s.DType != o.DType || !slices.Equal(s.Shape, o.Shape) {
		return nil, false
	}
	joined := s
	joined.Lo, joined.Hi = slices.Clone(s.Lo), slices.Clone(s.Hi)
	for d := range s.Lo {
		if s.Lo[d]+s.Hi[d] > 0 && o.Lo[d]+o.Hi[d] > 0 {
			return nil, false
		}
		joined.Lo[d], joined.Hi[d] = s.Lo[d]+o.Lo[d], s.Hi[d]+o.Hi[d]
	}
	return joined, true
}

// Of is the border of elements of another type.
func (s Shown) Of(t dtype.Type) (blockwise.Op, bool) {
	s.DType = t
	return s, s.Mode != Constant
}

// Formula begins a formula of what the window shows of each element of the first input.
func Formula(w Window) *blockwise.Formula {
	f := &blockwise.Formula{}
	f.Windows = append(f.Windows, blockwise.Window{Border: Shown{w}, Type: w.DType})
	see := &f.Windows[0]
	for d := range w.Shape {
		see.Axis, see.Step = append(see.Axis, d), append(see.Step, 1)
		see.Extent = append(see.Extent, w.Lo[d]+w.Hi[d]+1)
	}
	return f
}

// Inside is an array as it is: a border of nothing.
type Inside struct{}

// Of is a border of nothing.
func (Inside) Of(dtype.Type) (blockwise.Op, bool) { return Inside{}, true }

// Requirements is the box.
func (Inside) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}}
}

// Fill reads the box.
func (Inside) Fill(ctx context.Context, t *blockwise.Task) error {
	return t.In[0].Read(ctx, t.Box, t.Dst)
}
