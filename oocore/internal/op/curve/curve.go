package curve

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
)

var errComplex = errors.New("takes real numbers")

// isComplex reports whether one of the arrays has complex numbers.
func isComplex(in ...*graph.Node) bool {
	return slices.ContainsFunc(in, func(n *graph.Node) bool { return n.DType.Kind() == dtype.KindComplex })
}

// floats is an array in floats, integers being float64.
func floats(m *graph.Maker, n *graph.Node) *graph.Node {
	if n.DType.Kind() < dtype.KindFloat {
		return m.Cast(n, dtype.Float64)
	}
	return m.Cast(n, n.DType)
}

// Interp is NumPy's interp: the line between the two points around each element. A place that is a point has its value, so that an
// infinite one elsewhere does not matter.
func Interp(site graph.Site, a InterpArgs) (*graph.Node, error) {
	x, xp, fp := a.X, a.XP, a.FP
	switch {
	case isComplex(x, xp):
		return nil, graph.Reject(site, "interp", errors.New("takes real places; values may be complex"), x, xp, fp)
	case len(xp.Shape) != 1 || !slices.Equal(xp.Shape, fp.Shape) || xp.Shape[0] == 0:
		return nil, graph.Reject(site, "interp", fmt.Errorf("takes points as two vectors of one length, not of shapes %s and %s", grid.Format(xp.Shape), grid.Format(fp.Shape)), x, xp, fp)
	}
	m := &graph.Maker{Site: site}
	wide := dtype.Float64
	if isComplex(fp) {
		wide = dtype.Complex128
	}
	x, xp, fp = m.Cast(x, dtype.Float64), m.Cast(xp, dtype.Float64), m.Cast(fp, wide)
	count, last := m.Make(func() (*graph.Node, error) { return order.SearchSorted(site, xp, x, true) }), xp.Shape[0]-1
	within := func(n *graph.Node) *graph.Node {
		return m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, n, m.Number(0)), m.Number(last))
	}
	low := within(m.Apply(kernel.Subtract, count, m.Number(1)))
	high := within(count)
	take := func(n, at *graph.Node) *graph.Node {
		return m.Make(func() (*graph.Node, error) { return index.Take(site, n, at, 0) })
	}
	x0, x1, y0, y1 := take(xp, low), take(xp, high), take(fp, low), take(fp, high)
	slope := m.Apply(kernel.Divide, m.Apply(kernel.Subtract, y1, y0), m.Apply(kernel.Subtract, x1, x0))
	line := func(x0, y0 *graph.Node) *graph.Node {
		return m.Apply(kernel.Add, m.Apply(kernel.Multiply, slope, m.Apply(kernel.Subtract, x, x0)), y0)
	}
	// Where one of both ends is infinite the line from the other may still be a number.
	y := line(x0, y0)
	y = m.Apply(kernel.Where, m.Apply(kernel.NotEqual, y, y), line(x1, y1), y)
	y = m.Apply(kernel.Where, m.Apply(kernel.LogicalAnd, m.Apply(kernel.NotEqual, y, y), m.Apply(kernel.Equal, y0, y1)), y0, y)
	y = m.Apply(kernel.Where, m.Apply(kernel.LogicalOr, m.Apply(kernel.Equal, x, x0), m.Apply(kernel.Equal, low, m.Number(last))), y0, y)
	y = m.Apply(kernel.Where, m.Apply(kernel.IsNaN, x), m.Cast(x, wide), y)
	left, right := a.Left, a.Right
	if left == nil {
		left = m.Slice(fp, "0")
	}
	if right == nil {
		right = m.Slice(fp, "%d", last)
	}
	first, end := m.Slice(xp, "0"), m.Slice(xp, "%d", last)
	y = m.Apply(kernel.Where, m.Apply(kernel.Less, x, first), left, y)
	return m.Result("interp", m.Apply(kernel.Where, m.Apply(kernel.Greater, x, end), right, y), a.X, a.XP, a.FP)
}

// neighbours are an array without its first part along an axis of a length, and without its last.
func neighbours(m *graph.Maker, n *graph.Node, axis, length int) (after, before *graph.Node) {
	return m.Part(n, axis, min(1, length), length), m.Part(n, axis, 0, max(length-1, 0))
}

// Trapezoid is NumPy's trapezoid.
func Trapezoid(site graph.Site, a TrapezoidArgs) (*graph.Node, error) {
	axis, err := grid.Axis(a.Axis, len(a.Y.Shape))
	if err != nil {
		return nil, graph.Reject(site, "trapezoid", err, a.Y)
	}
	m := &graph.Maker{Site: site}
	y := floats(m, a.Y)
	after, before := neighbours(m, y, axis, a.Y.Shape[axis])
	d := m.Number(a.DX)
	if a.X != nil {
		x := floats(m, a.X)
		if len(a.X.Shape) == 1 {
			if a.X.Shape[0] != a.Y.Shape[axis] {
				m.Fail(fmt.Errorf("%d places are not for %d elements along axis %d", a.X.Shape[0], a.Y.Shape[axis], axis))
			}
			right, left := neighbours(m, x, 0, a.X.Shape[0])
			d = m.Along(m.Apply(kernel.Subtract, right, left), axis, len(a.Y.Shape))
		} else if _, err := grid.Axis(axis, len(a.X.Shape)); !m.Fail(err) {
			right, left := neighbours(m, x, axis, a.X.Shape[axis])
			d = m.Apply(kernel.Subtract, right, left)
		}
	}
	pieces := m.Apply(kernel.Divide, m.Apply(kernel.Add, after, before), m.Number(2.0))
	if a.X != nil || a.DX != 1 {
		pieces = m.Apply(kernel.Multiply, d, pieces)
	}
	return m.Result("trapezoid", m.Reduce(kernel.Sum, pieces, graph.ReduceOptions{Axes: []int{axis}}), a.Y)
}

// most is how many coefficients a polynomial has at most: each is a step of what computes it.
const most = 64

// PolyVal is NumPy's polyval, by Horner's rule.
func PolyVal(site graph.Site, a PolyValArgs) (*graph.Node, error) {
	p, x := a.P, a.X
	if len(p.Shape) == 0 || p.Shape[0] > most {
		return nil, graph.Reject(site, "polyval", fmt.Errorf("takes up to %d coefficients along the first axis, not those of shape %s", most, grid.Format(p.Shape)), p, x)
	}
	m := &graph.Maker{Site: site}
	y := m.Apply(kernel.Multiply, x, m.Cast(m.Number(0), x.DType)) // in the type of x
	for i := range p.Shape[0] {
		c := m.Slice(p, "%d", i)
		if i == 0 {
			y = m.Apply(kernel.Add, y, c)
			continue
		}
		y = m.Apply(kernel.Add, m.Apply(kernel.Multiply, y, x), c)
	}
	return m.Result("polyval", y, p, x)
}
