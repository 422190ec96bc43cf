package linalg

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// LU is SciPy's lu: a = p·l·u, where p exchanges rows, l is lower triangular with ones on
// its diagonal and nothing above one in magnitude, and u is upper triangular. Of m × n
// elements and k the smaller length they are m × m, m × k and k × n. Matrices and stacks of
// them fit a task. One pass.
func LU(site graph.Site, a op.Unary) (p, l, u *graph.Node, err error) {
	n := a.X
	stack, shapeOf, err := stackOf(n)
	var dt dtype.Type
	switch {
	case err != nil:
	case isComplex(n):
		dt = complexResult(n)
	default:
		dt, err = resultType(n.DType)
	}
	if err != nil {
		return nil, nil, nil, graph.Reject(site, "lu", err, n)
	}
	rows, cols := shapeOf[0], shapeOf[1]
	k := min(rows, cols)
	c := &graph.Maker{Site: site}
	if grid.Size(stack) == 0 || k == 0 {
		full := func(m, n int) *graph.Node {
			return c.Full(dtype.FromInt(dt, 0), append(slices.Clone(stack), m, n)...)
		}
		p, l, u = full(rows, rows), full(rows, k), full(k, cols)
		if rows > 0 { // nothing is exchanged
			p = c.BroadcastTo(c.Cast(c.Make(func() (*graph.Node, error) { return shape.Eye(site, rows, rows, 0) }), dt), p.Shape...)
		}
		return named(p, n, ofRows, ofNone), l, named(u, n, ofNone, ofColumns), c.Err
	}
	var both *graph.Node
	if isComplex(n) {
		all := complexEach(c, "lu_complex", n, rows, 2*cols+1)
		parts, from := pairs(c, c.Slice(all, "..., :%d", 2*cols), dtype.Complex128), c.Cast(c.Slice(all, "..., %d:", 2*cols), dtype.Complex128)
		both = c.Make(func() (*graph.Node, error) { return shape.Concatenate(site, -1, parts, from) })
	} else {
		both = each(c, "lu", 0, dtype.Float64, []int{rows, cols + 1}, n)
	}
	if c.Err != nil {
		return nil, nil, nil, graph.Reject(site, "lu", graph.Unnamed(c.Err), n)
	}
	from := c.Slice(both, "..., :, %d", cols) // the row that came to each place
	if isComplex(n) {
		from = c.Apply(kernel.Real, from)
	}
	row := c.Reshape(c.Arange(rows), rows, 1)
	p = c.Cast(c.Apply(kernel.Equal, c.Cast(row, dtype.Float64), c.ExpandDims(from, -2)), dt)
	lower := c.Slice(both, "..., :, :%d", k)
	lower = graph.Call(c, shape.Lower, op.Shifted{X: lower, Offset: -1})
	l = c.Cast(c.Apply(kernel.Add, lower, c.Make(func() (*graph.Node, error) { return shape.Eye(site, rows, k, 0) })), dt)
	upper := c.Slice(both, "..., :%d, :%d", k, cols)
	u = c.Cast(graph.Call(c, shape.Upper, op.Shifted{X: upper, Offset: 0}), dt)
	return named(p, n, ofRows, ofNone), named(l, n, ofNone, ofNone), named(u, n, ofNone, ofColumns), c.Err
}

func fullSVD(m *graph.Maker, n *graph.Node) (u, s, vt *graph.Node) {
	if m.Err != nil {
		return
	}
	if isComplex(n) && grid.Size(n.Shape) > 0 {
		return complexSVD(m, n, true)
	}
	stack, size, err := stackOf(n)
	if m.Fail(err) {
		return
	}
	dt, values, err := typesOf(n)
	if m.Fail(err) {
		return
	}
	if grid.Size(n.Shape) == 0 {
		one := func(k int) *graph.Node {
			eye := m.Make(func() (*graph.Node, error) { return shape.Eye(m.Site, k, k, 0) })
			return m.BroadcastTo(m.Cast(eye, dt), append(slices.Clone(stack), k, k)...)
		}
		return one(size[0]), m.Full(dtype.FromInt(values, 0), append(slices.Clone(stack), min(size[0], size[1]))...), one(size[1])
	}
	if size[0] < size[1] {
		v, s, ut := fullSVD(m, swapped(m, n))
		return swapped(m, ut), s, swapped(m, v)
	}
	all := each(m, "svd_full", 0, dt, []int{size[0] + 1 + size[1], size[0]}, n)
	return m.Slice(all, "..., :%d, :", size[0]), m.Slice(all, "..., %d, :%d", size[0], size[1]), m.Slice(all, "..., %d:, :%d", size[0]+1, size[1])
}
