package elements

import (
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Closeness says how close numbers are that count as equal: |a-b| is at most
// Absolute + Relative·|b|.
type Closeness struct {
	Relative float64 `usage:"rtol" default:"1e-5"`
	Absolute float64 `usage:"atol" default:"1e-8"`
	EqualNaN bool    `usage:"equal_nan"` // NaN is close to NaN
}

// IsClose is which elements of a are close to b's, as NumPy's isclose. Infinite ones are
// close to those alone that are equal.
func IsClose(site graph.Site, args CloseArgs) (*graph.Node, error) {
	out, err := isClose(site, args.A, args.B, args.Closeness)
	return graph.Result(site, "isclose", out, err, args.A, args.B)
}

func isClose(site graph.Site, a, b *graph.Node, c Closeness) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	if b.DType.Kind() < dtype.KindFloat {
		b = m.Cast(b, dtype.Float64)
	}
	distance := m.Apply(kernel.Absolute, m.Apply(kernel.Subtract, a, b))
	most := m.Apply(kernel.Add, m.Number(c.Absolute), m.Apply(kernel.Multiply, m.Number(c.Relative), m.Apply(kernel.Absolute, b)))
	near := m.Apply(kernel.LogicalAnd, m.Apply(kernel.LessEqual, distance, most), m.Apply(kernel.IsFinite, b))
	near = m.Apply(kernel.LogicalOr, near, m.Apply(kernel.Equal, a, b))
	if c.EqualNaN {
		near = m.Apply(kernel.LogicalOr, near, m.Apply(kernel.LogicalAnd, m.Apply(kernel.IsNaN, a), m.Apply(kernel.IsNaN, b)))
	}
	return near, m.Err
}

// AllClose is whether all elements of a are close to b's, as NumPy's allclose.
func AllClose(site graph.Site, args CloseArgs) (*graph.Node, error) {
	near, err := isClose(site, args.A, args.B, args.Closeness)
	if err != nil {
		return nil, graph.Reject(site, "allclose", err, args.A, args.B)
	}
	return graph.Aggregate(site, kernel.All, near, graph.ReduceOptions{})
}

// ArrayEqual is NumPy's array_equal: arrays of other shapes are not equal, and no error.
func ArrayEqual(site graph.Site, args EqualArgs) (*graph.Node, error) {
	a, b, m := args.A, args.B, &graph.Maker{Site: site}
	if !slices.Equal(a.Shape, b.Shape) {
		return m.Full(dtype.ValueOf(false)), m.Err
	}
	same := m.Apply(kernel.Equal, a, b)
	if args.EqualNaN && a.DType.Kind() >= dtype.KindFloat && b.DType.Kind() >= dtype.KindFloat {
		same = m.Apply(kernel.LogicalOr, same, m.Apply(kernel.LogicalAnd, m.Apply(kernel.IsNaN, a), m.Apply(kernel.IsNaN, b)))
	}
	return m.Result("array_equal", m.Reduce(kernel.All, same, graph.ReduceOptions{}), a, b)
}

// NaNToNum is NumPy's nan_to_num: of NaN nan, of infinities high and low, which are the
// type's largest and smallest finite number where they are infinite themselves.
func NaNToNum(site graph.Site, a NaNToNumArgs) (*graph.Node, error) {
	n, nan, high, low := a.X, a.NaN, a.PosInf, a.NegInf
	if n.DType.Kind() < dtype.KindFloat {
		return n, nil
	}
	if n.DType.Kind() == dtype.KindComplex {
		return nil, graph.Reject(site, "nan_to_num", errComplex, n)
	}
	most := map[dtype.Type]float64{dtype.Float16: 65504, dtype.BFloat16: 0x1.fep127, dtype.Float32: math.MaxFloat32, dtype.Float64: math.MaxFloat64}[n.DType]
	if math.IsInf(high, 1) {
		high = most
	}
	if math.IsInf(low, -1) {
		low = -most
	}
	m := &graph.Maker{Site: site}
	value := func(v float64) *graph.Node { return m.Full(dtype.FromFloat(n.DType, v)) }
	bound := m.Apply(kernel.Where, m.Apply(kernel.Greater, n, value(0)), value(high), value(low))
	out := m.Apply(kernel.Where, m.Apply(kernel.IsInf, n), bound, n)
	return m.Apply(kernel.Where, m.Apply(kernel.IsNaN, n), value(nan), out), m.Err
}
