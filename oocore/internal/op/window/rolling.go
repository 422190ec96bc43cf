package window

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("rolling", Rolling{}, blockwise.KeepsAxes, blockwise.KeepsReads) }

// Rolling reduces each window along an axis, with three operations an element whatever
// the window's length: M. van Herk, A fast algorithm for local minimum and maximum filters
// on rectangular and octagonal kernels, Pattern Recognition Letters 13, 1992, which goes
// for all that can be merged. A window is the end of one block of its length and the
// beginning of the next; both are merged from what blocks have one element after the
// other. So nothing is subtracted that was added before, and what is not a number is in
// those windows alone that see it.
type Rolling struct {
	Kind   kernel.Reduction // Sum, Prod, Min, Max, or Var
	Type   dtype.Type       // Int64, Uint64, Float64 or Complex128
	Axis   int
	Window int
	DDof   float64
}

func (o Rolling) reads(box []int) []int {
	reads := slices.Clone(box)
	reads[o.Axis] += o.Window - 1
	return reads
}

// Requirements is what the windows of a box show, and the ends of a block.
func (o Rolling) Requirements(box []int) blockwise.Requirements {
	reads := o.reads(box)
	return blockwise.Requirements{Reads: [][]int{reads}, Scratch: blockwise.Aligned(grid.Size(reads)*o.Type.Size()) + blockwise.Aligned(16*o.Window)}
}

// Fill reduces line by line.
func (o Rolling) Fill(ctx context.Context, t *blockwise.Task) error {
	read := grid.Box{Start: t.Box.Start, Shape: o.reads(t.Box.Shape)}
	bytes := read.Size() * o.Type.Size()
	in := t.Scratch[:bytes]
	if err := t.In[0].Read(ctx, read, in); err != nil {
		return err
	}
	ends := t.Scratch[blockwise.Aligned(bytes):][:16*o.Window]
	return t.Compute(func() error {
		switch {
		case o.Kind == kernel.Var:
			roll(o, t, in, ends, moments{o.DDof})
		case o.Type == dtype.Int64:
			roll(o, t, in, ends, merged[int64]{mergeOf[int64](o.Kind)})
		case o.Type == dtype.Uint64:
			roll(o, t, in, ends, merged[uint64]{mergeOf[uint64](o.Kind)})
		case o.Type == dtype.Float64:
			roll(o, t, in, ends, merged[float64]{floatMerge(o.Kind)})
		default:
			roll(o, t, in, ends, merged[complex128]{complexMerge(o.Kind)})
		}
		return nil
	})
}

// merger reduces elements of type T by states of type S.
type merger[T, S any] interface {
	lift(T) S
	merge(a S, countA int, b S, countB int) S
	result(s S, count int) T
}

// roll reduces the windows of a box. Blocks begin at multiples of the window's length in
// the whole array, so that an element has the same bits in whatever box.
func roll[T, S dtype.Element](o Rolling, t *blockwise.Task, in, ends []byte, m merger[T, S]) {
	src, dst, after := dtype.Slice[T](in), dtype.Slice[T](t.Dst), dtype.Slice[S](ends)
	inner := grid.Size(t.Box.Shape[o.Axis+1:])
	n, start := t.Box.Shape[o.Axis], t.Box.Start[o.Axis]
	for outer := range grid.Size(t.Box.Shape[:o.Axis]) {
		for k := range inner {
			x := src[outer*(n+o.Window-1)*inner+k:]
			y := dst[outer*n*inner+k:]
			for i := 0; i < n; {
				// The windows that begin in one block: those from i to before next.
				next := ((start+i)/o.Window+1)*o.Window - start
				var s S
				for at := next - 1; at >= i; at-- {
					if v := m.lift(x[at*inner]); at == next-1 {
						s = v
					} else {
						s = m.merge(v, 1, s, next-1-at)
					}
					after[at-i] = s
				}
				var before S
				for at := i; at < min(next, n); at++ {
					whole, left := after[at-i], next-at
					if rest := o.Window - left; rest > 0 {
						// from next to before at+window
						first, count := next, 0
						if at > i {
							first, count = at+o.Window-1, rest-1
						}
						for p := first; p < at+o.Window; p++ {
							v := m.lift(x[p*inner])
							if count == 0 {
								before = v
							} else {
								before = m.merge(before, count, v, 1)
							}
							count++
						}
						whole = m.merge(whole, left, before, rest)
					}
					y[at*inner] = m.result(whole, o.Window)
				}
				i = next
			}
		}
	}
}

// merged is of elements that are their own states.
type merged[T any] struct{ of func(a, b T) T }

//lint:ignore U1000 merger calls it
func (m merged[T]) lift(x T) T { return x }

//lint:ignore U1000 merger calls it
func (m merged[T]) merge(a T, _ int, b T, _ int) T { return m.of(a, b) }

//lint:ignore U1000 merger calls it
func (m merged[T]) result(s T, _ int) T { return s }

func mergeOf[T int64 | uint64](kind kernel.Reduction) func(a, b T) T {
	switch kind {
	case kernel.Sum:
		return func(a, b T) T { return a + b }
	case kernel.Prod:
		return func(a, b T) T { return a * b }
	case kernel.Min:
		return func(a, b T) T { return min(a, b) }
	}
	return func(a, b T) T { return max(a, b) }
}

func floatMerge(kind kernel.Reduction) func(a, b float64) float64 {
	switch kind {
	case kernel.Sum:
		return func(a, b float64) float64 { return a + b }
	case kernel.Prod:
		return func(a, b float64) float64 { return a * b }
	case kernel.Min: // the bits of kernel.Minimum, of zeros and NaN too, as in the formula
		return func(a, b float64) float64 {
			if a < b || a != a {
				return a
			}
			return b
		}
	}
	return func(a, b float64) float64 {
		if a > b || a != a {
			return a
		}
		return b
	}
}

func complexMerge(kind kernel.Reduction) func(a, b complex128) complex128 {
	if kind == kernel.Prod {
		return func(a, b complex128) complex128 { return a * b }
	}
	return func(a, b complex128) complex128 { return a + b }
}

// moments are means and sums of squares from them, merged as T. Chan, G. Golub and R.
// LeVeque do, Updating Formulae and a Pairwise Algorithm for Computing Sample Variances,
// Stanford 1979. They are the two parts of a complex number.
type moments struct{ ddof float64 }

func (moments) lift(x float64) complex128 {
	return complex(x, x-x) // NaN of what is not finite
}

func (moments) merge(a complex128, countA int, b complex128, countB int) complex128 {
	na, nb := float64(countA), float64(countB)
	d := real(b) - real(a)
	return complex(real(a)+d*nb/(na+nb), imag(a)+imag(b)+d*d*na*nb/(na+nb))
}

func (m moments) result(s complex128, count int) float64 {
	return imag(s) / max(float64(count)-m.ddof, 0)
}

// Reduce is a reduction of each window along an axis, whose length it shortens by what
// the window reaches: of NumPy's sliding_window_view along that axis, the sum, product,
// mean, variance, standard deviation, minimum or maximum. Floats are added up in float64.
// It is part of whatever reads it.
func Reduce(site graph.Site, kind kernel.Reduction, n *graph.Node, window, axis int, ddof float64) (*graph.Node, error) {
	out, err := reduce(site, kind, n, window, axis, ddof)
	if err != nil {
		return nil, graph.Reject(site, "rolling", err, n)
	}
	at, _ := grid.Axis(axis, len(n.Shape)) // which was checked
	m := &graph.Maker{Site: site}
	out = m.Like(out, m.Part(n, at, window-1, n.Shape[at])) // the labels of each window's last element, as xarray's
	return graph.WriteAs(out, "rolling", []*graph.Node{n}, strconv.Quote(kind.String()), strconv.Itoa(window), strconv.Itoa(axis)), m.Err
}

func reduce(site graph.Site, kind kernel.Reduction, n *graph.Node, window, axis int, ddof float64) (*graph.Node, error) {
	at, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, err
	}
	if err := graph.CheckDDof(ddof); err != nil {
		return nil, err
	}
	op := Rolling{Kind: kind, Axis: at, Window: window, DDof: ddof}
	switch kind {
	case kernel.Sum, kernel.Prod, kernel.Min, kernel.Max, kernel.Var:
	case kernel.Mean:
		op.Kind = kernel.Sum
	case kernel.Std:
		op.Kind = kernel.Var
	default:
		return nil, fmt.Errorf("has no %s: sum, prod, mean, var, std, min and max are there", kind)
	}
	if ddof != 0 && op.Kind != kernel.Var {
		return nil, errors.New("has no use for a ddof, which is var's and std's")
	}
	m := &graph.Maker{Site: site}
	from, to := n.DType, kind.Result(n.DType)
	switch {
	case from.Kind() == dtype.KindComplex && op.Kind == kernel.Var:
		return variance(m, kind, n, window, axis, ddof)
	case from.Kind() == dtype.KindComplex && (kind == kernel.Min || kind == kernel.Max):
		return nil, fmt.Errorf("%s takes real numbers, not %s", kind, from)
	case from.Kind() == dtype.KindComplex:
		op.Type = dtype.Complex128
	case op.Kind == kernel.Var || kind == kernel.Mean || from.Kind() == dtype.KindFloat:
		op.Type = dtype.Float64
	case from.Kind() == dtype.KindInt || from == dtype.Bool && op.Kind.Row().Family == kernel.Total:
		op.Type = dtype.Int64
	default:
		op.Type = dtype.Uint64
	}
	shape := slices.Clone(n.Shape)
	if shape[at], err = windows(n.Shape[at], window, at); err != nil {
		return nil, err
	}
	if grid.Size(shape) == 0 {
		return m.Full(dtype.FromInt(to, 0), shape...), m.Err
	}
	out := m.Cast(n, op.Type)
	out = m.Blockwise("rolling", op, shape, op.Type, []*graph.Node{out}, fmt.Sprintf("%q", kind), fmt.Sprint(window), fmt.Sprint(axis))
	switch kind {
	case kernel.Mean:
		out = m.Apply(kernel.Divide, out, m.Number(float64(window)))
	case kernel.Std:
		out = m.Apply(kernel.Sqrt, out)
	}
	return m.Cast(out, to), m.Err
}

// variance is that of complex numbers: those of both parts together.
func variance(m *graph.Maker, kind kernel.Reduction, n *graph.Node, window, axis int, ddof float64) (*graph.Node, error) {
	to := kind.Result(n.DType)
	n = m.Cast(n, dtype.Complex128)
	var parts [2]*graph.Node
	for i, op := range []kernel.Op{kernel.Real, kernel.Imag} {
		parts[i] = m.Apply(op, n)
		parts[i] = m.Make(func() (*graph.Node, error) { return reduce(m.Site, kernel.Var, parts[i], window, axis, ddof) })
	}
	out := m.Apply(kernel.Add, parts[0], parts[1])
	if kind == kernel.Std {
		out = m.Apply(kernel.Sqrt, out)
	}
	return m.Cast(out, to), m.Err
}

// Formula reduces integers, least and greatest elements from the first element to the last, and
// floats as Fill does. Variances have none.
func (o Rolling) Formula(shape []int) *blockwise.Formula {
	ops := map[kernel.Reduction]kernel.Op{kernel.Sum: kernel.Add, kernel.Prod: kernel.Multiply, kernel.Min: kernel.Minimum, kernel.Max: kernel.Maximum}
	op, ok := ops[o.Kind]
	split := o.Type == dtype.Float64 && o.Kind.Row().Family == kernel.Total
	if !ok || o.Type.Kind() == dtype.KindComplex || o.Window > blockwise.MaxTerms/2 || split && o.Window > blockwise.MaxTerms/8 {
		return nil
	}
	f := &blockwise.Formula{Windows: []blockwise.Window{{Border: Inside{}, Type: o.Type}}}
	see := &f.Windows[0]
	for range shape {
		see.Axis, see.Step, see.Extent = append(see.Axis, len(see.Axis)), append(see.Step, 1), append(see.Extent, 1)
	}
	see.Extent[o.Axis] = o.Window
	x := make([]int, o.Window)
	for i := range x {
		at := make([]int, len(shape))
		at[o.Axis] = i
		x[i] = f.Tap(0, at...)
	}
	if split {
		f.Result = o.split(f, op, x, shape)
		return f
	}
	f.Result = x[0]
	for _, v := range x[1:] {
		f.Result = f.Apply(op, f.Result, v)
	}
	return f
}

// split merges a window's end of one block, from its last element to the first, with its
// beginning of the next one. Where the block ends follows from the element's place.
func (o Rolling) split(f *blockwise.Formula, op kernel.Op, x []int, shape []int) int {
	number := func(n int) int { return f.Constant(dtype.FromInt(dtype.Uint64, int64(n))) }
	place := f.Position()
	if inner := grid.Size(shape[o.Axis+1:]); inner > 1 {
		place = f.Apply(kernel.FloorDivide, place, number(inner))
	}
	if o.Axis > 0 {
		place = f.Apply(kernel.Remainder, place, number(shape[o.Axis]))
	}
	place = f.Apply(kernel.Remainder, place, number(o.Window)) // in its block
	at := make([]int, o.Window)
	for i := range at {
		at[i] = f.Apply(kernel.Equal, place, number(i))
	}
	last := o.Window - 1
	end := x[last]
	for i := last - 1; i >= 0; i-- { // of what lies beyond the block nothing is left
		end = f.Apply(kernel.Where, at[last-i], x[i], f.Apply(op, x[i], end))
	}
	if last == 0 {
		return end
	}
	next := x[1]
	for i := 2; i <= last; i++ {
		next = f.Apply(kernel.Where, at[o.Window-i], x[i], f.Apply(op, next, x[i]))
	}
	return f.Apply(kernel.Where, at[0], end, f.Apply(op, end, next))
}
