// Package group reduces the elements along an axis in groups that labels say.
//
// A group's accumulators are held for all groups at once where they fit a task, and
// elements are read once; what was accumulated of parts of the axis is merged in their
// order. Where stored chunks lie beside each other across the axis, a task goes along all of it
// with the accumulators of one chunk's others, so that each chunk is decoded once. Accumulators
// that take a few times as much are held in as many passes. Of more, elements are put in the order
// of their labels, and each group is reduced by itself.
package group

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() {
	blockwise.Register("group_parts", Parts{})
	blockwise.Register("group_segments", Segments{})
	blockwise.Register("group_merge", Merge{})
	blockwise.Register("group_columns", Columns{})
}

const (
	// stateBytes are the most accumulators of a task.
	stateBytes = 16 << 20
	// partBytes are about the least elements of a part of the axis, so that parts have
	// more of them than of accumulators.
	partBytes = 32 << 20
	// mostPasses is how often elements are read before they are sorted instead.
	mostPasses = 8
	// tileBytes are the elements that are read at once.
	tileBytes = 1 << 20
)

// Grouping is a reduction in groups. Its accumulators are words of 64 bits, of which a
// sum, a smallest or a largest element has one, a complex sum two, and a variance three:
// a count, a mean and a sum of squares from it.
type Grouping struct {
	Kind   kernel.Reduction // Sum, Min, Max or Var
	Type   dtype.Type       // of elements: Int64, Uint64, Float64 or Complex128
	Shape  []int            // of the array
	Axis   int
	Groups int
	// Unsigned says that labels are the bits of uint64.
	Unsigned bool `json:",omitempty"`
	// Inside says that the others of a task lie in one stored chunk, or each read has whole ones.
	Inside bool `json:",omitempty"`
}

// words are those of one accumulator.
func (g Grouping) words() int {
	if g.Kind == kernel.Var {
		return 3
	}
	return g.Type.Size() / 8
}

// others are the lengths of the axes that stay.
func (g Grouping) others() []int {
	return append(slices.Clone(g.Shape[:g.Axis]), g.Shape[g.Axis+1:]...)
}

// states is the bytes of all accumulators.
func (g Grouping) states() float64 {
	return float64(g.Groups) * float64(grid.Size(g.others())) * float64(8*g.words())
}

// tile are the groups and others whose accumulators a task has: all others, as far as they
// fit, so that elements are read as they lie.
func (g Grouping) tile(bytes int) []int {
	box := grid.Auto(g.others(), 8*g.words(), bytes)
	groups := max(bytes/(8*g.words()*max(grid.Size(box), 1)), 1)
	return append([]int{min(groups, g.Groups)}, box...)
}

// read is the box of the array for some of the others and a range of the axis.
func (g Grouping) read(others grid.Box, from, n int) grid.Box {
	return grid.Box{
		Start: slices.Concat(others.Start[:g.Axis], []int{from}, others.Start[g.Axis:]),
		Shape: slices.Concat(others.Shape[:g.Axis], []int{n}, others.Shape[g.Axis:]),
	}
}

// step is how many places along the axis are read at once.
func (g Grouping) step(others []int, n int) int {
	return min(max(tileBytes/(g.Type.Size()*max(grid.Size(others), 1)), 1), n)
}

// clear sets accumulators to those of no elements.
func (g Grouping) clear(states []uint64) {
	var none uint64
	switch {
	case g.Kind == kernel.Min && g.Type == dtype.Int64:
		none = math.MaxInt64
	case g.Kind == kernel.Min && g.Type == dtype.Uint64:
		none = math.MaxUint64
	case g.Kind == kernel.Min:
		none = math.Float64bits(math.Inf(1))
	case g.Kind == kernel.Max && g.Type == dtype.Int64:
		none = 1 << 63
	case g.Kind == kernel.Max && g.Type == dtype.Float64:
		none = math.Float64bits(math.Inf(-1))
	}
	for i := range states {
		states[i] = none
	}
}

// add accumulates elements that lie together, each in an accumulator of its own.
func (g Grouping) add(states []uint64, x []byte) {
	bytes := dtype.Bytes(states)
	switch {
	case g.Kind == kernel.Var:
		s := dtype.Slice[float64](bytes)
		for i, v := range dtype.Slice[float64](x) {
			n, mean := s[3*i]+1, s[3*i+1]
			d := v - mean
			mean += d / n
			s[3*i], s[3*i+1] = n, mean
			s[3*i+2] += d * (v - mean)
		}
	case g.Type == dtype.Int64:
		accumulate(g.Kind, dtype.Slice[int64](bytes), dtype.Slice[int64](x))
	case g.Type == dtype.Uint64:
		accumulate(g.Kind, states, dtype.Slice[uint64](x))
	case g.Type == dtype.Float64:
		accumulate(g.Kind, dtype.Slice[float64](bytes), dtype.Slice[float64](x))
	default: // sums, of both parts alike
		accumulate(g.Kind, dtype.Slice[float64](bytes), dtype.Slice[float64](x))
	}
}

func accumulate[T int64 | uint64 | float64](kind kernel.Reduction, states, x []T) {
	states = states[:len(x)]
	switch kind {
	case kernel.Sum:
		for i, v := range x {
			states[i] += v
		}
	case kernel.Min: // NaN where there is one
		for i, v := range x {
			states[i] = min(states[i], v)
		}
	default:
		for i, v := range x {
			states[i] = max(states[i], v)
		}
	}
}

// Parts accumulates parts of the axis by themselves: its inputs are the array and the
// labels, its result has axes of the parts, the groups, the others and the words.
type Parts struct {
	Grouping
	Length int // of a part
}

func newParts(g Grouping) Parts {
	bytes := max(float64(partBytes), 16*g.states())
	row := float64(grid.Size(g.others())) * float64(g.Type.Size())
	return Parts{g, int(min(max(bytes/max(row, 1), 1), float64(max(g.Shape[g.Axis], 1))))}
}

func (o Parts) shape() []int {
	n := (o.Shape[o.Axis] + o.Length - 1) / o.Length
	return slices.Concat([]int{n, o.Groups}, o.others(), []int{o.words()})
}

// Chunks are one part's accumulators, as many as a task has.
func (o Parts) Chunks() []int {
	return slices.Concat([]int{1}, o.tile(stateBytes), []int{o.words()})
}

// Requirements is a tile of the elements, and their labels.
func (o Parts) Requirements(box []int) blockwise.Requirements {
	return o.along(box[2:len(box)-1], o.step(box[2:len(box)-1], o.Length), o.Length)
}

// along is what accumulating so many places takes, of which n are read at once.
func (g Grouping) along(others []int, n, length int) blockwise.Requirements {
	all := grid.Entire(others)
	read := g.read(all, 0, n).Shape
	need := blockwise.Requirements{Reads: [][]int{read, {n}}, Scratch: blockwise.Aligned(8*n) + blockwise.Aligned(grid.Size(read)*g.Type.Size())}
	if g.Inside {
		need.Spans = [][]int{g.read(all, 0, length).Shape, {length}}
	}
	return need
}

// Fill accumulates tile by tile.
func (o Parts) Fill(ctx context.Context, t *blockwise.Task) error {
	last := len(t.Box.Shape) - 1
	others := grid.Box{Start: t.Box.Start[2:last], Shape: t.Box.Shape[2:last]}
	states := dtype.Slice[uint64](t.Dst)
	o.clear(states)
	first := t.Box.Start[0] * o.Length
	return o.accumulate(ctx, t, others, first, min(first+o.Length, o.Shape[o.Axis]), o.step(others.Shape, o.Length),
		func(at int, labels []int64, x []byte) error {
			return o.addTile(states, others.Shape, t.Box.Start[1], t.Box.Shape[1], at, labels, x, 0, len(labels))
		})
}

// accumulate reads the places from first to before end, step by step, and calls add with each
// tile, which has the labels from place at on.
func (g Grouping) accumulate(ctx context.Context, t *blockwise.Task, others grid.Box, first, end, step int, add func(at int, labels []int64, x []byte) error) error {
	for at := first; at < end; at += step {
		n := min(step, end-at)
		labels := dtype.Slice[int64](t.Scratch[:8*n])
		if err := t.In[1].Read(ctx, grid.Box{Start: []int{at}, Shape: []int{n}}, t.Scratch[:8*n]); err != nil {
			return err
		}
		read := g.read(others, at, n)
		x := t.Scratch[blockwise.Aligned(8*step):][:read.Size()*g.Type.Size()]
		if err := t.ComputeFrom(ctx, 0, read, x, func() error { return add(at, labels, x) }); err != nil {
			return err
		}
	}
	return nil
}

// addTile adds the places of a tile from one to before another to accumulators of count groups
// from low on.
func (g Grouping) addTile(states []uint64, others []int, low, count, at int, labels []int64, x []byte, from, to int) error {
	for i, l := range labels[from:to] {
		if l < 0 || l >= int64(g.Groups) {
			if g.Unsigned {
				return fmt.Errorf("label %d at position %d is out of bounds for %d groups, which are numbered from 0", uint64(l), at+from+i, g.Groups)
			}
			return fmt.Errorf("label %d at position %d is out of bounds for %d groups, which are numbered from 0", l, at+from+i, g.Groups)
		}
	}
	row, inner := grid.Size(others)*g.words(), grid.Size(others[g.Axis:])
	bytes := inner * g.Type.Size()
	for outer := range grid.Size(others[:g.Axis]) {
		for i := from; i < to; i++ {
			if k := int(labels[i]) - low; k >= 0 && k < count {
				g.add(states[k*row+outer*inner*g.words():][:inner*g.words()], x[(outer*len(labels)+i)*bytes:][:bytes])
			}
		}
	}
	return nil
}

// Segments accumulates groups whose elements follow each other along the axis: its inputs
// are the array in the order of its labels, and the place at which each group begins, with
// the end after the last; its result is that of Parts, of one part.
type Segments struct{ Grouping }

// Chunks are the accumulators of neighbouring groups.
func (o Segments) Chunks() []int {
	return slices.Concat([]int{1}, o.tile(stateBytes/4), []int{o.words()})
}

// Requirements is a tile of the elements, and where groups begin.
func (o Segments) Requirements(box []int) blockwise.Requirements {
	others := box[2 : len(box)-1]
	read := o.read(grid.Entire(others), 0, o.step(others, o.Shape[o.Axis])).Shape
	return blockwise.Requirements{Reads: [][]int{read, {box[1] + 1}}, DisjointReads: true,
		Scratch: blockwise.Aligned(8*(box[1]+1)) + int64(grid.Size(read)*o.Type.Size())}
}

// Fill accumulates group after group.
func (o Segments) Fill(ctx context.Context, t *blockwise.Task) error {
	last := len(t.Box.Shape) - 1
	others := grid.Box{Start: t.Box.Start[2:last], Shape: t.Box.Shape[2:last]}
	states := dtype.Slice[uint64](t.Dst)
	o.clear(states)
	count := t.Box.Shape[1]
	begins := t.Scratch[:8*(count+1)]
	if err := t.In[1].Read(ctx, grid.Box{Start: []int{t.Box.Start[1]}, Shape: []int{count + 1}}, begins); err != nil {
		return err
	}
	places := dtype.Slice[int64](begins)
	step := o.step(others.Shape, o.Shape[o.Axis])
	row := others.Size() * o.words()
	inner := grid.Size(others.Shape[o.Axis:])
	bytes := inner * o.Type.Size()
	g := 0
	for at := int(places[0]); at < int(places[count]); at += step {
		n := min(step, int(places[count])-at)
		read := o.read(others, at, n)
		x := t.Scratch[blockwise.Aligned(8*(count+1)):][:read.Size()*o.Type.Size()]
		if err := t.ComputeFrom(ctx, 0, read, x, func() error {
			for i := range n {
				for int(places[g+1]) <= at+i {
					g++
				}
				for outer := range grid.Size(others.Shape[:o.Axis]) {
					o.add(states[g*row+outer*inner*o.words():][:inner*o.words()], x[(outer*n+i)*bytes:][:bytes])
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Merge merges the accumulators of parts in their order, and gives the groups' results.
type Merge struct {
	Grouping
	Parts int
	DDof  float64
}

// Requirements is the accumulators of all parts.
func (o Merge) Requirements(box []int) blockwise.Requirements {
	read := slices.Concat([]int{o.Parts}, box, []int{o.words()})
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: int64(grid.Size(read) * 8), DisjointReads: true}
}

// Fill merges the box's accumulators.
func (o Merge) Fill(ctx context.Context, t *blockwise.Task) error {
	read := grid.Box{Start: slices.Concat([]int{0}, t.Box.Start, []int{0}), Shape: slices.Concat([]int{o.Parts}, t.Box.Shape, []int{o.words()})}
	bytes := t.Scratch[:read.Size()*8]
	return t.ComputeFrom(ctx, 0, read, bytes, func() error {
		n := t.Box.Size() * o.words()
		all := dtype.Slice[uint64](bytes)
		for p := 1; p < o.Parts; p++ {
			o.merge(all[:n], all[p*n:][:n])
		}
		o.finish(t.Dst, all[:n], o.DDof)
		return nil
	})
}

// merge adds the accumulators of a part to those of the parts before it.
func (g Grouping) merge(states, part []uint64) {
	if g.Kind == kernel.Var {
		mergeMoments(dtype.Slice[float64](dtype.Bytes(states)), dtype.Slice[float64](dtype.Bytes(part)))
		return
	}
	g.add(states, dtype.Bytes(part))
}

// finish puts the results of accumulators into dst, which may be where they are.
func (g Grouping) finish(dst []byte, states []uint64, ddof float64) {
	bytes := dtype.Bytes(states)
	if g.Kind != kernel.Var {
		copy(dst, bytes)
		return
	}
	out := dtype.Slice[float64](dst)
	for i := range out {
		s := dtype.Slice[float64](bytes)[3*i:]
		out[i] = s[2] / max(s[0]-ddof, 0)
		if s[0] == 0 {
			out[i] = math.NaN()
		}
	}
}

// mergeMoments adds counts, means and sums of squares as T. Chan, G. Golub and R. LeVeque do,
// Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, Stanford 1979.
func mergeMoments(a, b []float64) {
	for i := 0; i < len(a); i += 3 {
		na, nb := a[i], b[i]
		if nb == 0 {
			continue
		}
		d := b[i+1] - a[i+1]
		a[i] = na + nb
		a[i+1] += d * nb / (na + nb)
		a[i+2] += b[i+2] + d*d*na*nb/(na+nb)
	}
}
