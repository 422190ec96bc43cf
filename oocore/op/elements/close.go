package elements

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// Closeness says how close numbers are that count as equal: |a-b| is at most
// Absolute + Relative·|b|.
type Closeness struct {
	Relative, Absolute float64
	EqualNaN           bool // NaN is close to NaN
}

// IsClose is which elements of a are close to b's, as NumPy's isclose. Infinite ones are
// close to those alone that are equal.
func IsClose(site graph.Site, a, b *graph.Node, c Closeness) (*graph.Node, error) {
	out, err := isClose(site, a, b, c)
	if err != nil {
		return nil, graph.Reject(site, "isclose", err, a, b)
	}
	return out, nil
}

func isClose(site graph.Site, a, b *graph.Node, c Closeness) (*graph.Node, error) {
	var err error
	if b.DType.Kind() < dtype.KindFloat {
		if b, err = graph.AsType(site, b, dtype.Float64); err != nil {
			return nil, err
		}
	}
	apply := func(op kernel.Op, in ...*graph.Node) *graph.Node {
		if err != nil {
			return nil
		}
		var n *graph.Node
		n, err = graph.Apply(site, op, in...)
		return n
	}
	number := func(v float64) *graph.Node {
		if err != nil {
			return nil
		}
		var n *graph.Node
		n, err = graph.Scalar(site, v)
		return n
	}
	distance := apply(kernel.Absolute, apply(kernel.Subtract, a, b))
	most := apply(kernel.Add, number(c.Absolute), apply(kernel.Multiply, number(c.Relative), apply(kernel.Absolute, b)))
	near := apply(kernel.LogicalAnd, apply(kernel.LessEqual, distance, most), apply(kernel.IsFinite, b))
	near = apply(kernel.LogicalOr, near, apply(kernel.Equal, a, b))
	if c.EqualNaN {
		near = apply(kernel.LogicalOr, near, apply(kernel.LogicalAnd, apply(kernel.IsNaN, a), apply(kernel.IsNaN, b)))
	}
	return near, err
}

// AllClose is whether all elements of a are close to b's, as NumPy's allclose.
func AllClose(site graph.Site, a, b *graph.Node, c Closeness) (*graph.Node, error) {
	near, err := isClose(site, a, b, c)
	if err != nil {
		return nil, graph.Reject(site, "allclose", err, a, b)
	}
	return graph.Aggregate(site, kernel.All, near, graph.ReduceOptions{})
}

// NaNToNum is NumPy's nan_to_num: of NaN nan, of infinities high and low, which are the
// type's largest and smallest finite number where they are infinite themselves.
func NaNToNum(site graph.Site, n *graph.Node, nan, high, low float64) (*graph.Node, error) {
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
	value := func(v float64) *graph.Node {
		return &graph.Node{Kind: graph.Constant, Shape: []int{}, DType: n.DType, Value: dtype.FromFloat(n.DType, v), Site: site}
	}
	zero := value(0)
	out := n
	infinite, err := graph.Apply(site, kernel.IsInf, n)
	if err != nil {
		return nil, err
	}
	positive, err := graph.Apply(site, kernel.Greater, n, zero)
	if err != nil {
		return nil, err
	}
	bound, err := graph.Apply(site, kernel.Where, positive, value(high), value(low))
	if err != nil {
		return nil, err
	}
	if out, err = graph.Apply(site, kernel.Where, infinite, bound, out); err != nil {
		return nil, err
	}
	isNaN, err := graph.Apply(site, kernel.IsNaN, n)
	if err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.Where, isNaN, value(nan), out)
}
