package scan

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("gradient", Slopes{}, blockwise.Exact, blockwise.KeepsAxes) }

// Slopes are the slopes along an axis of floats or complex numbers that are Spacing apart:
// the difference of both neighbours over twice the spacing, and at the ends the slope of the
// line through two elements or of the parabola through three. Each step is rounded to the
// type.
type Slopes struct {
	Shape     []int
	Type      dtype.Type
	Axis      int
	Spacing   dtype.Value // a float64, which may be no number
	EdgeOrder int         // 1 or 2
}

// Requirements is the box with its neighbours along the axis.
func (s Slopes) Requirements(box []int) blockwise.Requirements {
	reads := slices.Clone(box)
	reads[s.Axis] = min(box[s.Axis]+2, s.Shape[s.Axis])
	var m blockwise.ScratchLayout
	m.Take(grid.Size(reads) * s.Type.Size())
	s.steps(&m)
	return blockwise.Requirements{Reads: [][]int{reads}, Scratch: m.Size()}
}

// Fill computes the rows along the axis that have two neighbours together, and the ends.
func (s Slopes) Fill(ctx context.Context, t *blockwise.Task) error {
	length, from := s.Shape[s.Axis], t.Box.Start[s.Axis]
	to := from + t.Box.Shape[s.Axis]
	first, end := max(from-1, 0), min(to+1, length) // of the rows that are read
	if from == 0 {
		end = max(end, min(3, length))
	}
	if to == length {
		first = min(first, max(length-3, 0))
	}
	read := grid.Box{Start: slices.Clone(t.Box.Start), Shape: slices.Clone(t.Box.Shape)}
	read.Start[s.Axis], read.Shape[s.Axis] = first, end-first
	m := t.ScratchLayout()
	in := m.Take(read.Size() * s.Type.Size())
	if err := t.In[0].Read(ctx, read, in); err != nil {
		return err
	}
	c := s.steps(m)
	return t.Compute(func() error {
		row := grid.Size(t.Box.Shape[s.Axis+1:]) * s.Type.Size()
		for range grid.Size(t.Box.Shape[:s.Axis]) {
			c.line(t.Dst, in, row, first, from, to)
			in, t.Dst = in[(end-first)*row:], t.Dst[(to-from)*row:]
		}
		return nil
	})
}

// numbers are those that slopes are divided by or, at the ends, weighed by: twice the spacing
// and the spacing, or the weights of the first three elements and of the last three.
func (s Slopes) numbers() []float64 {
	h := s.Spacing.Float()
	if s.EdgeOrder == 1 {
		return []float64{2 * h, h}
	}
	return []float64{2 * h, -1.5 / h, 2 / h, -0.5 / h, 0.5 / h, -2 / h, 1.5 / h}
}

// slopeElems is how many elements are computed at once.
const slopeElems = 1024

// slopeSteps computes slopes operation by operation. Elements of 16 bits are computed in
// float32 and rounded after each.
type slopeSteps struct {
	Slopes
	a, b, short                     []byte   // slopeElems elements each
	by                              [][]byte // numbers, each as often
	add, subtract, multiply, divide kernel.Func
	widen, narrow                   kernel.Func
}

func (s Slopes) steps(m *blockwise.ScratchLayout) *slopeSteps {
	c := &slopeSteps{Slopes: s}
	wide := s.Type
	if wide.Short() {
		wide = dtype.Float32
	}
	c.widen, _ = kernel.Cast(s.Type, wide)
	c.narrow, _ = kernel.Cast(wide, s.Type)
	for op, f := range map[kernel.Op]*kernel.Func{kernel.Add: &c.add, kernel.Subtract: &c.subtract, kernel.Multiply: &c.multiply, kernel.Divide: &c.divide} {
		*f, _ = kernel.Lookup(op, wide)
	}
	size := slopeElems * wide.Size()
	c.a, c.b, c.short = m.Take(size), m.Take(size), m.Take(size)
	for _, v := range s.numbers() {
		x := m.Take(size)
		c.by = append(c.by, x)
		if x == nil {
			continue // it is only counted
		}
		dtype.FromFloat(s.Type, v).Put(c.short)
		c.widen(1, x, c.short, nil, nil)
		for done := wide.Size(); done < len(x); done *= 2 {
			copy(x[done:], x[:done])
		}
	}
	return c
}

// line computes the rows [from, to) of a line to dst; in has its rows from first on.
func (c *slopeSteps) line(dst, in []byte, row, first, from, to int) {
	length := c.Shape[c.Axis]
	x := func(i int) []byte { return in[(i-first)*row:] }
	if low, high := max(from, 1), min(to, length-1); low < high {
		c.over(dst[(low-from)*row:][:(high-low)*row], x(low+1), x(low-1), c.by[0])
	}
	for i, end := range [2]int{0, length - 1} {
		if end < from || end >= to {
			continue
		}
		out := dst[(end-from)*row:][:row]
		if c.EdgeOrder == 1 {
			c.over(out, x(max(end, 1)), x(max(end, 1)-1), c.by[1])
		} else {
			c.weighed(out, x(i*(length-3)), row, c.by[1+3*i:][:3])
		}
	}
}

// over is the difference of elements over a distance.
func (c *slopeSteps) over(dst, after, before, distance []byte) {
	c.blocks(dst, func(x []byte, at, n int) {
		c.apply(c.subtract, n, x, c.wide(n, c.a, after[at:]), c.wide(n, c.b, before[at:]))
		c.apply(c.divide, n, x, x, distance)
	})
}

// weighed is the sum of three rows by their weights.
func (c *slopeSteps) weighed(dst, x []byte, row int, weights [][]byte) {
	c.blocks(dst, func(sum []byte, at, n int) {
		c.apply(c.multiply, n, sum, c.wide(n, c.a, x[at:]), weights[0])
		for i := 1; i < 3; i++ {
			c.apply(c.multiply, n, c.b, c.wide(n, c.b, x[i*row+at:]), weights[i])
			c.apply(c.add, n, sum, sum, c.b)
		}
	})
}

// blocks goes through dst: f computes n elements, from a place in bytes on, to its first
// argument.
func (c *slopeSteps) blocks(dst []byte, f func(to []byte, at, n int)) {
	size := c.Type.Size()
	for at := 0; at < len(dst); at += slopeElems * size {
		n := min(slopeElems, (len(dst)-at)/size)
		if !c.Type.Short() {
			f(dst[at:], at, n)
			continue
		}
		f(c.a, at, n)
		c.narrow(n, dst[at:], c.a, nil, nil)
	}
}

// wide is n elements as they are computed in: in place, or in memory for those of 16 bits.
func (c *slopeSteps) wide(n int, memory, x []byte) []byte {
	if !c.Type.Short() {
		return x
	}
	c.widen(n, memory, x, nil, nil)
	return memory
}

// apply sets n elements of x to an operation on others.
func (c *slopeSteps) apply(f kernel.Func, n int, x, a, b []byte) {
	f(n, x, a, b, nil)
	if c.Type.Short() {
		c.narrow(n, c.short, x, nil, nil)
		c.widen(n, x, c.short, nil, nil)
	}
}

// Formula takes the slopes of all places from a window with the nearest elements around the
// array, and chooses by the place.
func (s Slopes) Formula(shape []int) *blockwise.Formula {
	if s.Type.Kind() == dtype.KindComplex {
		return nil
	}
	lo := make([]int, len(shape))
	lo[s.Axis] = s.EdgeOrder
	w, err := window.Around(shape, s.Type, lo, lo, window.Border{Mode: window.Nearest})
	if err != nil {
		return nil
	}
	f := window.Formula(w)
	wide := s.Type
	if wide.Short() {
		wide = dtype.Float32
	}
	round := func(x int) int { return f.Cast(f.Cast(x, s.Type), wide) }
	apply := func(op kernel.Op, a, b int) int { return round(f.Apply(op, a, b)) }
	var by []int
	for _, v := range s.numbers() {
		by = append(by, f.Cast(f.Constant(dtype.FromFloat(s.Type, v)), wide))
	}
	x := func(i int) int { // i elements further along the axis
		at := make([]int, len(shape))
		at[s.Axis] = s.EdgeOrder + i
		return f.Cast(f.Tap(0, at...), wide)
	}
	inner := grid.Size(shape[s.Axis+1:])
	place := f.Position()
	number := func(n int) int { return f.Constant(dtype.FromInt(dtype.Uint64, int64(n))) }
	if s.Axis > 0 {
		place = f.Apply(kernel.Remainder, place, number(inner*shape[s.Axis]))
	}
	first, last := f.Apply(kernel.Less, place, number(inner)), f.Apply(kernel.GreaterEqual, place, number(inner*(shape[s.Axis]-1)))
	difference := apply(kernel.Subtract, x(1), x(-1))
	if s.EdgeOrder == 1 {
		distance := f.Apply(kernel.Where, first, by[1], f.Apply(kernel.Where, last, by[1], by[0]))
		f.Result = f.Cast(apply(kernel.Divide, difference, distance), s.Type)
		return f
	}
	weighed := func(from int, weights []int) int {
		sum := apply(kernel.Multiply, x(from), weights[0])
		for i := 1; i < 3; i++ {
			sum = apply(kernel.Add, sum, apply(kernel.Multiply, x(from+i), weights[i]))
		}
		return sum
	}
	slope := f.Apply(kernel.Where, last, weighed(-2, by[4:]), apply(kernel.Divide, difference, by[0]))
	f.Result = f.Cast(f.Apply(kernel.Where, first, weighed(0, by[1:4]), slope), s.Type)
	return f
}
