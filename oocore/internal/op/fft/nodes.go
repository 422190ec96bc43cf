package fft

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Along is NumPy's fft, ifft, rfft or irfft along an axis. The lines are cut, or
// continued with zeros, to length (0: their own; of irfft 2·(lines-1)). norm is
// "backward" ("": the inverse divides by the length), "ortho" or "forward".
//
// float16 and float32 give complex64, and complex64 itself; other types complex128. irfft
// gives float16 of float16, float32 of others of these, else float64.
// One pass; a box of lines, once in the input's type and once in the result's, and at
// least three times a line's complex128 are in memory.
func Along(site graph.Site, kind Kind, n *graph.Node, length, axis int, norm string) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, string(kind), n)
	axis, err = grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, err
	}
	if length == 0 {
		if length = n.Shape[axis]; kind == RealInverse {
			length = 2 * (length - 1)
		}
	}
	if length < 1 {
		return nil, fmt.Errorf("axis %d of shape %s gives lines of %d elements: at least one is needed", axis, grid.Format(n.Shape), length)
	}
	if length > math.MaxInt32 {
		return nil, fmt.Errorf("lines of %d elements are too long: at most %d", length, math.MaxInt32)
	}
	scale, err := scaling(kind, norm, length)
	if err != nil {
		return nil, err
	}
	from, err := computed(kind, n.DType)
	if err != nil {
		return nil, err
	}
	to := dtype.Complex128
	if from == dtype.Float32 || from == dtype.Complex64 {
		to = dtype.Complex64
	}
	shape := slices.Clone(n.Shape)
	shape[axis] = length
	switch kind {
	case RealForward:
		shape[axis] = length/2 + 1
	case RealInverse:
		to = map[dtype.Type]dtype.Type{dtype.Complex64: dtype.Float32, dtype.Complex128: dtype.Float64}[to]
	}
	given := n.DType
	if n, err = graph.AsType(site, n, from); err != nil {
		return nil, err
	}
	op := Lines{Kind: kind, Axis: axis, N: length, Scale: scale, From: from, To: to, In: n.Shape, Out: shape}
	args := []string{fmt.Sprint(length), fmt.Sprint(axis)}
	if norm != "" && norm != "backward" {
		args = append(args, fmt.Sprintf("%q", norm))
	}
	out, err := graph.NewBlockwise(site, string(kind), op, shape, to, []*graph.Node{n}, args...)
	if err == nil && kind == RealInverse && given == dtype.Float16 { // as in NumPy
		return graph.AsType(site, out, given)
	}
	return out, err
}

// computed is the type in which lines are read.
func computed(kind Kind, t dtype.Type) (dtype.Type, error) {
	single := t.Short() || t == dtype.Float32 || t == dtype.Complex64
	switch {
	case kind == RealForward && t.Kind() == dtype.KindComplex:
		return 0, fmt.Errorf("takes real numbers, not %s: fft takes complex ones", t)
	case kind == RealInverse || t.Kind() == dtype.KindComplex:
		if single {
			return dtype.Complex64, nil
		}
		return dtype.Complex128, nil
	case single:
		return dtype.Float32, nil
	}
	return dtype.Float64, nil
}

// scaling is what results are multiplied by.
func scaling(kind Kind, norm string, n int) (float64, error) {
	inverse := kind == Inverse || kind == RealInverse
	switch norm {
	case "", "backward":
		if inverse {
			return 1 / float64(n), nil
		}
		return 1, nil
	case "forward":
		if inverse {
			return 1, nil
		}
		return 1 / float64(n), nil
	case "ortho":
		return 1 / math.Sqrt(float64(n)), nil
	}
	return 0, fmt.Errorf("the norm %q is unknown: use \"backward\", \"ortho\" or \"forward\"", norm)
}

// Over is NumPy's fftn, ifftn, rfftn or irfftn: transforms along one axis after the
// other, the last first (of irfftn last). No axes are as many last ones as there are
// lengths, or all; no lengths are the axes' own. Each axis is a pass.
func Over(site graph.Site, kind Kind, n *graph.Node, lengths, axes []int, norm string) (*graph.Node, error) {
	axes, lengths, err := places(n.Shape, lengths, axes)
	if err != nil {
		return nil, graph.Reject(site, string(kind)+"n", err, n)
	}
	order := grid.UpTo(len(axes))
	simple := kind
	last := len(axes) - 1
	if kind != RealInverse {
		slices.Reverse(order)
	}
	switch kind {
	case RealForward:
		simple = Forward
	case RealInverse:
		simple = Inverse
	}
	for _, i := range order {
		with := simple
		if i == last {
			with = kind
		}
		if n, err = Along(site, with, n, lengths[i], axes[i], norm); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// places resolves the arguments of a transform over axes.
func places(shape, lengths, axes []int) ([]int, []int, error) {
	if len(axes) == 0 {
		count := len(shape)
		if len(lengths) > 0 {
			count = len(lengths)
		}
		if count > len(shape) {
			return nil, nil, fmt.Errorf("%d lengths for the %d axes of shape %s", count, len(shape), grid.Format(shape))
		}
		for d := len(shape) - count; d < len(shape); d++ {
			axes = append(axes, d)
		}
	}
	if len(axes) == 0 {
		return nil, nil, errors.New("a scalar has no axes to transform along")
	}
	if len(lengths) == 0 {
		lengths = make([]int, len(axes))
	}
	if len(lengths) != len(axes) {
		return nil, nil, fmt.Errorf("%d lengths for %d axes", len(lengths), len(axes))
	}
	if _, err := grid.Axes(axes, len(shape)); err != nil {
		return nil, nil, err
	}
	return axes, lengths, nil
}

// Hermitian is NumPy's hfft: the real spectrum of a signal of which the first half is
// given, as the other is its conjugate. length is that of the result.
func Hermitian(site graph.Site, n *graph.Node, length, axis int, norm string) (*graph.Node, error) {
	return hermitian("hfft", n, func(n *graph.Node) (*graph.Node, error) {
		n, err := graph.Apply(site, kernel.Conjugate, n)
		if err != nil {
			return nil, err
		}
		return Along(site, RealInverse, n, length, axis, opposite(norm))
	})
}

// InverseHermitian is NumPy's ihfft: the first half of the signal whose spectrum is
// real.
func InverseHermitian(site graph.Site, n *graph.Node, length, axis int, norm string) (*graph.Node, error) {
	return hermitian("ihfft", n, func(n *graph.Node) (*graph.Node, error) {
		n, err := Along(site, RealForward, n, length, axis, opposite(norm))
		if err != nil {
			return nil, err
		}
		return graph.Apply(site, kernel.Conjugate, n)
	})
}

func hermitian(name string, n *graph.Node, f func(*graph.Node) (*graph.Node, error)) (*graph.Node, error) {
	out, err := f(n)
	var rejected *graph.Error
	if errors.As(err, &rejected) {
		rejected.Op = name
	}
	return out, err
}

// opposite swaps the roles of forward and inverse.
func opposite(norm string) string {
	switch norm {
	case "", "backward":
		return "forward"
	case "forward":
		return "backward"
	}
	return norm
}

// Frequencies is NumPy's fftfreq: those of the n coefficients of a signal that is
// sampled every d, in cycles by the unit of d, float64; computed where it is read.
func Frequencies(site graph.Site, a FreqArgs) (*graph.Node, error) {
	n := a.N
	return frequencies(site, "fftfreq", n, n, (n-1)/2+1, a.D)
}

// RealFrequencies is NumPy's rfftfreq: those of the n/2+1 coefficients that rfft gives.
func RealFrequencies(site graph.Site, a FreqArgs) (*graph.Node, error) {
	n := a.N
	return frequencies(site, "rfftfreq", n, n/2+1, n/2+1, a.D)
}

// frequencies are count of them, of which the first ones, so many, are not negative.
func frequencies(site graph.Site, name string, n, count, first int, d float64) (*graph.Node, error) {
	if n < 1 {
		return nil, graph.Reject(site, name, fmt.Errorf("a transform has at least one element, not %d", n))
	}
	m := &graph.Maker{Site: site}
	at := m.Arange(count)
	if first < count {
		number := func(v int) *graph.Node { return m.Full(dtype.ValueOf(int64(v))) }
		at = m.Apply(kernel.Where, m.Apply(kernel.Less, at, number(first)), at, m.Apply(kernel.Subtract, at, number(n)))
	}
	return m.Apply(kernel.Multiply, at, m.Number(1/(float64(n)*d))), m.Err
}

// Shift is NumPy's fftshift: the coefficient of frequency zero in the middle of each
// axis; no axes are all. It is part of whatever reads it.
func Shift(site graph.Site, a op.Axes) (*graph.Node, error) {
	return shift(site, "fftshift", a.X, a.Axes, func(length int) int { return length / 2 })
}

// InverseShift is NumPy's ifftshift: back again.
func InverseShift(site graph.Site, a op.Axes) (*graph.Node, error) {
	return shift(site, "ifftshift", a.X, a.Axes, func(length int) int { return -(length / 2) })
}

func shift(site graph.Site, name string, n *graph.Node, axes []int, by func(length int) int) (*graph.Node, error) {
	axes, err := grid.Axes(axes, len(n.Shape))
	if err != nil {
		return nil, graph.Reject(site, name, err, n)
	}
	if len(axes) == 0 {
		return n, nil
	}
	shifts := make([]int, len(axes))
	for i, a := range axes {
		shifts[i] = by(n.Shape[a])
	}
	return shape.Roll(site, n, shifts, slices.Clone(axes))
}

// Transform is the forward transform of lines of one length, for operations of other
// packages that transform within a box.
type Transform struct{ t *transform }

// TablesSize is how many elements the tables of a line of length n take.
func TablesSize(n int) int {
	_, tables := size(n)
	return tables
}

// NewTransform fills its tables into memory of the given size. work has two lines.
func NewTransform(n int, tables, work []complex128) Transform {
	return Transform{newTransform(n, tables, work)}
}

// Run transforms lines lines in x, where element k of line j lies at k·lines+j, and
// returns x or y: where the result is.
func (t Transform) Run(x, y []complex128, lines int) []complex128 {
	out, _ := t.t.run(nil, x, y, lines) // cannot fail without steps
	return out
}
