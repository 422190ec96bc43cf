package stats

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/scan"
)

// NaN is NumPy's nansum, nanprod, nanmin, nanmax, nanmean, nanvar, nanstd, nanargmin and
// nanargmax: the reduction of the elements that are not NaN. What has none of them is 0
// for a sum, 1 for a product, and NaN else; the place of an extreme there is an error
// when it is computed. One pass; two for a variance, which takes the mean first.
func NaN(site graph.Site, kind kernel.Reduction, n *graph.Node, o graph.ReduceOptions) (*graph.Node, error) {
	m := &maker{site: site}
	out, err := m.skip(kind, n, o)
	if err != nil {
		return nil, graph.Refuse(site, "nan"+kind.String(), err, n)
	}
	return out, nil
}

func (m *maker) skip(kind kernel.Reduction, n *graph.Node, o graph.ReduceOptions) (*graph.Node, error) {
	if kind > kernel.ArgMax {
		return nil, fmt.Errorf("is no reduction: any, all and count_nonzero take NaN as true")
	}
	place := kind == kernel.ArgMin || kind == kernel.ArgMax
	if n.DType.Kind() < dtype.KindFloat || place && o.Where != nil { // which is refused there
		return graph.Aggregate(m.site, kind, n, o)
	}
	out := m.apply(kernel.IsNaN, n) // what does not count
	if o.Where != nil {
		out = m.apply(kernel.LogicalOr, out, m.apply(kernel.LogicalNot, o.Where))
	}
	along := graph.ReduceOptions{Axes: o.Axes, KeepDims: o.KeepDims}
	switch kind {
	case kernel.Sum, kernel.Prod, kernel.Mean:
		o.Where = m.apply(kernel.LogicalNot, out)
		return m.reduce(kind, n, o), m.err
	case kernel.Var, kernel.Std:
		o.Where = m.apply(kernel.LogicalNot, out)
		some := m.reduce(kernel.CountNonzero, o.Where, along)
		n = m.reduce(kind, n, o)
		if m.err != nil {
			return nil, m.err
		}
		// Too few give NaN here, and infinity in var.
		few := m.apply(kernel.LessEqual, some, m.number(o.DDof))
		return m.apply(kernel.Where, few, m.number(math.NaN()), n), m.err
	}
	if n.DType.Kind() == dtype.KindComplex {
		return nil, fmt.Errorf("takes real numbers, not %s", n.DType)
	}
	if f, ok := o.Initial.(float64); ok && f != f && grid.Size(n.Shape) > 0 { // does not count either
		o.Initial = nil
	}
	last := math.Inf(-1) // what no element comes after
	if kind == kernel.Min || kind == kernel.ArgMin {
		last = math.Inf(1)
	}
	o.Where = nil
	n = m.reduce(kind, m.apply(kernel.Where, out, m.number(last), n), o)
	if o.Initial != nil { // is what there is where there are only NaN
		return n, m.err
	}
	none := m.reduce(kernel.All, out, along)
	if !place {
		return m.apply(kernel.Where, none, m.number(math.NaN()), n), m.err
	}
	return m.unless(none, n, "there are only NaN, of which none is the smallest or the largest"), m.err
}

// NaNCumulative is NumPy's nancumsum, or nancumprod where product says so: NaN counts as
// zero, or one. Passes are those of scan.Cumulative.
func NaNCumulative(site graph.Site, name string, product bool, n *graph.Node, axes ...int) (*graph.Node, error) {
	m := &maker{site: site}
	if n.DType.Kind() >= dtype.KindFloat {
		neutral := 0
		if product {
			neutral = 1
		}
		n = m.apply(kernel.Where, m.apply(kernel.IsNaN, n), m.number(neutral), n)
	}
	return m.make(func() (*graph.Node, error) { return scan.Cumulative(site, name, product, n, axes...) }), m.err
}
