package elements

import (
	"errors"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Fabs returns NumPy's fabs: magnitudes, as floats.
func Fabs(site graph.Site, a op.Unary) (*graph.Node, error) {
	return made(site, "fabs", false, []*graph.Node{a.X}, func(m *graph.Maker) *graph.Node {
		return m.Apply(kernel.Absolute, floating(m, a.X))
	})
}

// Positive returns NumPy's positive: the elements, which are numbers.
func Positive(site graph.Site, a op.Unary) (*graph.Node, error) {
	n := a.X
	if n.DType == dtype.Bool {
		return nil, graph.Reject(site, "positive", errors.New("takes numbers, not bools: AsType first"), n)
	}
	return graph.AsType(site, n, n.DType)
}

// IsPosInf returns which elements are infinite and positive.
func IsPosInf(site graph.Site, a op.Unary) (*graph.Node, error) {
	return infiniteAnd(site, "isposinf", a.X, kernel.Greater)
}

// IsNegInf returns which elements are infinite and negative.
func IsNegInf(site graph.Site, a op.Unary) (*graph.Node, error) {
	return infiniteAnd(site, "isneginf", a.X, kernel.Less)
}

func infiniteAnd(site graph.Site, name string, n *graph.Node, sign kernel.Op) (*graph.Node, error) {
	return made(site, name, false, []*graph.Node{n}, func(m *graph.Maker) *graph.Node {
		return m.Apply(kernel.LogicalAnd, m.Apply(kernel.IsInf, n), m.Apply(sign, n, m.Number(0)))
	})
}

// IsReal returns which elements have no imaginary part.
func IsReal(site graph.Site, a op.Unary) (*graph.Node, error) {
	n := a.X
	return made(site, "isreal", true, []*graph.Node{n}, func(m *graph.Maker) *graph.Node {
		if n.DType.Kind() != dtype.KindComplex {
			return m.Full(dtype.ValueOf(true), n.Shape...)
		}
		return m.Apply(kernel.Equal, m.Apply(kernel.Imag, n), m.Number(0))
	})
}

// IsComplex returns which elements have an imaginary part.
func IsComplex(site graph.Site, a op.Unary) (*graph.Node, error) {
	real, err := IsReal(site, a)
	if err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.LogicalNot, real)
}

// Fmod returns NumPy's fmod, C's remainder: of the sign of the dividend.
func Fmod(site graph.Site, args op.Binary) (*graph.Node, error) {
	a, b := args.A, args.B
	return made(site, "fmod", false, []*graph.Node{a, b}, func(m *graph.Maker) *graph.Node {
		r := m.Apply(kernel.Remainder, a, b)
		if r == nil || r.DType.Kind() != dtype.KindInt && r.DType.Kind() != dtype.KindFloat {
			return r
		}
		a, b := m.Cast(a, r.DType), m.Cast(b, r.DType) // for abs makes a number of the program one that has a type
		if r.DType.Kind() == dtype.KindFloat {
			return m.Apply(kernel.Copysign, m.Apply(kernel.Remainder, m.Apply(kernel.Absolute, a), m.Apply(kernel.Absolute, b)), a)
		}
		zero := m.Number(0)
		apart := m.Apply(kernel.LogicalXor, m.Apply(kernel.Less, a, zero), m.Apply(kernel.Less, b, zero))
		apart = m.Apply(kernel.LogicalAnd, apart, m.Apply(kernel.NotEqual, r, zero))
		return m.Apply(kernel.Where, apart, m.Apply(kernel.Subtract, r, b), r)
	})
}

// FloatPower returns NumPy's float_power: a power in float64 or complex128.
func FloatPower(site graph.Site, args op.Binary) (*graph.Node, error) {
	a, b := args.A, args.B
	t := dtype.Float64
	if a.DType.Kind() == dtype.KindComplex || b.DType.Kind() == dtype.KindComplex {
		t = dtype.Complex128
	}
	m := &graph.Maker{Site: site}
	a, b = m.Cast(a, t), m.Cast(b, t)
	return m.Make(func() (*graph.Node, error) { return Power(site, a, b) }), m.Err
}

// Heaviside returns NumPy's heaviside: 0 below zero, b at zero, 1 above.
func Heaviside(site graph.Site, args op.Binary) (*graph.Node, error) {
	return made(site, "heaviside", false, []*graph.Node{args.A, args.B}, func(m *graph.Maker) *graph.Node {
		x, at := floatings(m, args.A, args.B)
		zero := constant(m, x, 0)
		out := m.Apply(kernel.Where, m.Apply(kernel.Less, x, zero), zero, constant(m, x, 1))
		out = m.Apply(kernel.Where, m.Apply(kernel.Equal, x, zero), at, out)
		return m.Apply(kernel.Where, m.Apply(kernel.IsNaN, x), x, out)
	})
}

// LogAddExp2 returns log2(2^a + 2^b), without overflow between.
func LogAddExp2(site graph.Site, args op.Binary) (*graph.Node, error) {
	return made(site, "logaddexp2", false, []*graph.Node{args.A, args.B}, func(m *graph.Maker) *graph.Node {
		x, y := floatings(m, args.A, args.B)
		most := m.Apply(kernel.Maximum, x, y)
		rest := m.Apply(kernel.Exp2, m.Apply(kernel.Negative, m.Apply(kernel.Absolute, m.Apply(kernel.Subtract, x, y))))
		rest = m.Apply(kernel.Multiply, m.Apply(kernel.Log1p, rest), constant(m, x, math.Log2E))
		same := m.Apply(kernel.Equal, x, y) // infinite ones have no difference
		return m.Apply(kernel.Where, same, m.Apply(kernel.Add, x, constant(m, x, 1)), m.Apply(kernel.Add, most, rest))
	})
}

// Modf returns NumPy's modf: fractional and integral parts, which both have the sign.
func Modf(site graph.Site, a op.Unary) (fraction, integral *graph.Node, err error) {
	n := a.X
	m := &graph.Maker{Site: site}
	if n.DType.Kind() == dtype.KindComplex {
		return nil, nil, graph.Reject(site, "modf", errComplex, n)
	}
	x := floating(m, n)
	integral = m.Apply(kernel.Trunc, x)
	fraction = m.Apply(kernel.Where, m.Apply(kernel.IsInf, x), constant(m, x, 0), m.Apply(kernel.Subtract, x, integral))
	return m.Apply(kernel.Copysign, fraction, x), integral, m.Err
}

// Choose returns NumPy's choose: of each element of n, an index, the element of that choice. An
// index that is out of range is an error of the run.
func Choose(site graph.Site, a ChooseArgs) (*graph.Node, error) {
	n, choices := a.X, a.Choices
	m := &graph.Maker{Site: site}
	switch {
	case n.DType.Kind() >= dtype.KindFloat:
		m.Err = fmt.Errorf("takes integers as indices, not %s", n.DType)
	case len(choices) == 0:
		m.Err = errors.New("there are no choices")
	}
	if m.Err != nil {
		return nil, graph.Reject(site, "choose", m.Err, n)
	}
	shapes := [][]int{n.Shape}
	for _, c := range choices {
		shapes = append(shapes, c.Shape)
	}
	shape, err := grid.Broadcast(shapes...)
	if err != nil {
		return nil, graph.Reject(site, "choose", err, append([]*graph.Node{n}, choices...)...)
	}
	at := m.BroadcastTo(m.Cast(n, dtype.Int64), shape...)
	out := m.Apply(kernel.LogicalOr, m.Apply(kernel.Less, at, m.Number(0)), m.Apply(kernel.GreaterEqual, at, m.Number(len(choices))))
	at = m.FailIf(out, at, fmt.Sprintf("an index is not from 0 to below %d", len(choices)))
	var conditions []*graph.Node
	for i := range len(choices) - 1 {
		conditions = append(conditions, m.Apply(kernel.Equal, at, m.Number(i)))
	}
	if len(conditions) == 0 { // the one choice, where the index says so
		conditions = append(conditions, m.Apply(kernel.Equal, at, m.Number(0)))
		choices = append(choices, choices[0])
	}
	if m.Err != nil {
		return nil, graph.Reject(site, "choose", m.Err, n)
	}
	last := len(choices) - 1
	return Select(site, conditions, choices[:last], choices[last])
}

// DivMod is NumPy's divmod: floor_divide and remainder.
func DivMod(site graph.Site, a op.Binary) (quotient, remainder *graph.Node, err error) {
	m := &graph.Maker{Site: site}
	quotient, remainder = m.Apply(kernel.FloorDivide, a.A, a.B), m.Apply(kernel.Remainder, a.A, a.B)
	return quotient, remainder, m.Err
}
