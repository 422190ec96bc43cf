package linalg

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/compose"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// LU is SciPy's lu: a = p·l·u, where p exchanges rows, l is lower triangular with ones on
// its diagonal and nothing above one in magnitude, and u is upper triangular. Of m × n
// elements and k the smaller length they are m × m, m × k and k × n. Matrices and stacks of
// them fit a task. One pass.
func LU(site graph.Site, n *graph.Node) (p, l, u *graph.Node, err error) {
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
	c := &compose.Maker{Site: site}
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
		rowsOf := complexEach(c, "lu_complex", n, rows, 2*cols+1)
		from := part(c, rowsOf, fmt.Sprintf("..., %d:", 2*cols))
		both = c.Make(func() (*graph.Node, error) {
			return shape.Concatenate(site, -1, pairs(c, part(c, rowsOf, fmt.Sprintf("..., :%d", 2*cols)), dtype.Complex128), c.Cast(from, dtype.Complex128))
		})
		err = c.Err
	} else {
		both, err = each(site, "lu", 0, dtype.Float64, []int{rows, cols + 1}, n)
	}
	if err != nil {
		return nil, nil, nil, graph.Reject(site, "lu", unwrap(err), n)
	}
	part := func(spec string, args ...any) *graph.Node {
		return c.Make(func() (*graph.Node, error) { return graph.Slice(site, both, fmt.Sprintf(spec, args...)) })
	}
	from := part("..., :, %d", cols) // the row that came to each place
	if isComplex(n) {
		from = c.Apply(kernel.Real, from)
	}
	row := c.Reshape(c.Arange(rows), rows, 1)
	p = c.Cast(c.Apply(kernel.Equal, c.Cast(row, dtype.Float64), c.ExpandDims(from, -2)), dt)
	lower := part("..., :, :%d", k)
	lower = c.Make(func() (*graph.Node, error) { return shape.Lower(site, lower, -1) })
	l = c.Cast(c.Apply(kernel.Add, lower, c.Make(func() (*graph.Node, error) { return shape.Eye(site, rows, k, 0) })), dt)
	upper := part("..., :%d, :%d", k, cols)
	u = c.Cast(c.Make(func() (*graph.Node, error) { return shape.Upper(site, upper, 0) }), dt)
	return named(p, n, ofRows, ofNone), named(l, n, ofNone, ofNone), named(u, n, ofNone, ofColumns), c.Err
}

// FullSVD is NumPy's svd with full matrices: u is m × m and vt n × n. Matrices and stacks of
// them fit a task, with u once more beside the result. One pass.
func FullSVD(site graph.Site, n *graph.Node) (u, s, vt *graph.Node, err error) {
	u, s, vt, err = fullSVD(site, n)
	if err != nil {
		return nil, nil, nil, graph.Reject(site, "svd", err, n)
	}
	return named(u, n, ofRows, ofNone), named(s, n, ofNone), named(vt, n, ofNone, ofColumns), nil
}

func fullSVD(site graph.Site, n *graph.Node) (u, s, vt *graph.Node, err error) {
	if isComplex(n) && grid.Size(n.Shape) > 0 {
		return complexSVD(site, n, true)
	}
	stack, m, err := stackOf(n)
	if err != nil {
		return nil, nil, nil, err
	}
	var dt, values dtype.Type
	if isComplex(n) {
		dt = complexResult(n)
		values = realPart(dt)
	} else if dt, err = resultType(n.DType); err != nil {
		return nil, nil, nil, err
	} else {
		values = dt
	}
	c := &compose.Maker{Site: site}
	if grid.Size(n.Shape) == 0 {
		one := func(k int) *graph.Node {
			eye := c.Make(func() (*graph.Node, error) { return shape.Eye(site, k, k, 0) })
			return c.BroadcastTo(c.Cast(eye, dt), append(slices.Clone(stack), k, k)...)
		}
		return one(m[0]), c.Full(dtype.FromInt(values, 0), append(slices.Clone(stack), min(m[0], m[1]))...), one(m[1]), c.Err
	}
	turned := func(n *graph.Node) *graph.Node {
		return c.Make(func() (*graph.Node, error) { return shape.Swap(site, n, -1, -2) })
	}
	if m[0] < m[1] {
		v, s, ut, err := fullSVD(site, turned(n))
		if err != nil {
			return nil, nil, nil, err
		}
		return turned(ut), s, turned(v), c.Err
	}
	all, err := each(site, "svd_full", 0, dt, []int{m[0] + 1 + m[1], m[0]}, n)
	if err != nil {
		return nil, nil, nil, err
	}
	part := func(spec string, args ...any) *graph.Node {
		return c.Make(func() (*graph.Node, error) { return graph.Slice(site, all, fmt.Sprintf(spec, args...)) })
	}
	return part("..., :%d, :", m[0]), part("..., %d, :%d", m[0], m[1]), part("..., %d:, :%d", m[0]+1, m[1]), c.Err
}
