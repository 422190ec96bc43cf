package elements

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// made is a composition of real arrays, or of complex ones too, under a name.
func made(site graph.Site, name string, complexes bool, in []*graph.Node, f func(m *graph.Maker) *graph.Node) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	for _, n := range in {
		if n.DType.Kind() == dtype.KindComplex && !complexes {
			m.Err = errComplex
		}
	}
	var out *graph.Node
	if m.Err == nil {
		out = f(m)
	}
	if m.Err != nil {
		return nil, graph.Reject(site, name, m.Err, in...)
	}
	return out, nil
}

// floating brings elements to the float type that universal functions of floats have for
// them: that of their roots.
func floating(m *graph.Maker, n *graph.Node) *graph.Node {
	if root := m.Apply(kernel.Sqrt, n); root != nil {
		return m.Cast(n, root.DType)
	}
	return nil
}

// floatings is floating of two operands: in the type of arctan2.
func floatings(m *graph.Maker, a, b *graph.Node) (x, y *graph.Node) {
	if out := m.Apply(kernel.Arctan2, a, b); out != nil {
		return m.Cast(a, out.DType), m.Cast(b, out.DType)
	}
	return nil, nil
}

// constant is a number in the type of an array.
func constant(m *graph.Maker, n *graph.Node, v float64) *graph.Node {
	if n == nil {
		return nil
	}
	return m.Full(dtype.FromFloat(n.DType, v))
}

// Angle returns NumPy's angle, of complex numbers and of real ones, whose is 0 or pi.
func Angle(site graph.Site, a AngleArgs) (*graph.Node, error) {
	n, degrees := a.X, a.Deg
	return made(site, "angle", true, []*graph.Node{n}, func(m *graph.Maker) *graph.Node {
		var out *graph.Node
		if n.DType.Kind() == dtype.KindComplex {
			out = m.Apply(kernel.Arctan2, m.Apply(kernel.Imag, n), m.Apply(kernel.Real, n))
		} else {
			x := n
			if n.DType == dtype.Bool { // which meets a zero that is an integer
				x = m.Cast(n, dtype.Float64)
			}
			x = floating(m, x)
			out = m.Apply(kernel.Arctan2, constant(m, x, 0), x)
		}
		if degrees {
			out = m.Apply(kernel.Multiply, out, constant(m, out, 180/math.Pi))
		}
		return out
	})
}

// Radians returns NumPy's radians, or deg2rad.
func Radians(site graph.Site, a op.Unary) (*graph.Node, error) {
	return scaled(site, "radians", a.X, math.Pi/180)
}

// Degrees returns NumPy's degrees, or rad2deg.
func Degrees(site graph.Site, a op.Unary) (*graph.Node, error) {
	return scaled(site, "degrees", a.X, 180/math.Pi)
}

func scaled(site graph.Site, name string, n *graph.Node, by float64) (*graph.Node, error) {
	return made(site, name, false, []*graph.Node{n}, func(m *graph.Maker) *graph.Node {
		x := floating(m, n)
		return m.Apply(kernel.Multiply, x, constant(m, x, by))
	})
}

// Sinc returns NumPy's sinc: sin(pi·x)/(pi·x), and 1 of 0.
func Sinc(site graph.Site, a op.Unary) (*graph.Node, error) {
	n := a.X
	return made(site, "sinc", false, []*graph.Node{n}, func(m *graph.Maker) *graph.Node {
		x := n
		if n.DType.Kind() != dtype.KindFloat {
			x = m.Cast(n, dtype.Float64)
		}
		y := m.Apply(kernel.Multiply, x, constant(m, x, math.Pi))
		return m.Apply(kernel.Where, m.Apply(kernel.Equal, x, constant(m, x, 0)), constant(m, x, 1), m.Apply(kernel.Divide, m.Apply(kernel.Sin, y), y))
	})
}
