package graph

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("reshape", Reorder{}, blockwise.Exact) }

// Reorder is a reshape whose elements do not lie as the result has them. Axes fall
// into groups that hold the same elements on both sides; what follows each other in a
// group of the result is, in the array, one box or a few: the end of a row, whole
// rows, the beginning of a row.
type Reorder struct {
	From, To []int
	Item     int // bytes of an element
}

// Requirements returns a box of the input as large as that of the result.
func (o Reorder) Requirements(box []int) blockwise.Requirements {
	reads := make([]int, len(o.From))
	scratch := 0
	for _, g := range groups(o.From, o.To) {
		run := grid.Size(box[g.to0:g.to1])
		if first := firstOfRun(box[g.to0:g.to1], o.To[g.to0:g.to1]); first > 0 {
			run = grid.Size(box[g.to0+first : g.to1])
		}
		row := 1
		for d := g.from1 - 1; d >= g.from0; d-- {
			reads[d] = max(min(run/row, o.From[d]), 1)
			row *= o.From[d]
		}
		// Parts of a group's run lie apart in the result where an axis before it is
		// longer than one. A smaller box may have parts where this one has none.
		if grid.Size(box[:g.to0]) > 1 && max(g.from1-g.from0, g.to1-g.to0) > 1 {
			scratch = grid.Size(box) * o.Item
		}
	}
	return blockwise.Requirements{Reads: [][]int{reads}, Scratch: int64(scratch), DisjointReads: true}
}

// firstOfRun is the first of the axes along which a box's elements follow each other
// without a gap in an array of the shape.
func firstOfRun(box, shape []int) int {
	d := len(box) - 1
	for d > 0 && box[d] == shape[d] {
		d--
	}
	return max(d, 0)
}

// Fill reads the boxes of the input that the elements of the result's box lie in.
func (o Reorder) Fill(ctx context.Context, t *blockwise.Task) error {
	all := groups(o.From, o.To)
	f := reordering{Reorder: o, t: t, groups: all, sizes: make([]int, len(all)), strides: make([]int, len(all)),
		counts: make([]int, len(all)), source: grid.Box{Start: make([]int, len(o.From)), Shape: make([]int, len(o.From))}}
	stride := 1
	for i := len(all) - 1; i >= 0; i-- {
		f.sizes[i] = grid.Size(t.Box.Shape[all[i].to0:all[i].to1])
		f.strides[i] = stride
		stride *= f.sizes[i]
	}
	return f.group(ctx, 0, 0)
}

// reordering fills one box.
type reordering struct {
	Reorder
	t       *blockwise.Task
	groups  []group
	sizes   []int // of each group's part of the result's box
	strides []int // of the groups in the box
	counts  []int // of each group's elements that are read next
	source  grid.Box
}

// group goes through the parts of the i-th group; those before it lie at a place of
// the result's box.
func (f *reordering) group(ctx context.Context, i, at int) error {
	if i == len(f.groups) {
		return f.read(ctx, at)
	}
	g := f.groups[i]
	shape, start, box := f.To[g.to0:g.to1], f.t.Box.Start[g.to0:g.to1], f.t.Box.Shape[g.to0:g.to1]
	first := firstOfRun(box, shape)
	run := grid.Size(box[first:])
	strides := grid.Strides(shape)
	index := make([]int, first) // of the run, in the box
	for n := range grid.Size(box[:first]) {
		from := 0
		for d := range shape {
			from += start[d] * strides[d]
			if d < first {
				from += index[d] * strides[d]
			}
		}
		if err := f.run(ctx, i, at+n*run*f.strides[i], g.from0, from, from+run); err != nil {
			return err
		}
		for d := first - 1; d >= 0; d-- {
			if index[d]++; index[d] < box[d] {
				break
			}
			index[d] = 0
		}
	}
	return nil
}

// run goes through the boxes of the input that the elements from a to b of the i-th
// group lie in, counted from the axis d on.
func (f *reordering) run(ctx context.Context, i, at, d, a, b int) error {
	g := f.groups[i]
	row := grid.Size(f.From[d+1 : g.from1])
	for a < b {
		f.source.Start[d], f.source.Shape[d] = a/row, 1
		end := min(b, (a/row+1)*row)
		if a%row == 0 && b-a >= row { // whole rows
			n := (b - a) / row
			f.source.Shape[d] = n
			for k := d + 1; k < g.from1; k++ {
				f.source.Start[k], f.source.Shape[k] = 0, f.From[k]
			}
			f.counts[i] = n * row
			if err := f.group(ctx, i+1, at); err != nil {
				return err
			}
			end = a + n*row
		} else if err := f.run(ctx, i, at, d+1, a%row, a%row+end-a); err != nil {
			return err
		}
		at += (end - a) * f.strides[i]
		a = end
	}
	return nil
}

// read brings the source box to its place in the result's.
func (f *reordering) read(ctx context.Context, at int) error {
	n := f.source.Size() * f.Item
	if grid.Dense(f.counts, f.sizes) {
		return f.t.In[0].Read(ctx, f.source, f.t.Dst[at*f.Item:at*f.Item+n])
	}
	if err := f.t.In[0].Read(ctx, f.source, f.t.Scratch[:n]); err != nil {
		return err
	}
	return f.t.Compute(func() error {
		kernel.Copy(f.Item, f.counts, f.t.Dst, at, f.strides, f.t.Scratch, 0, grid.Strides(f.counts))
		return nil
	})
}
