package stats

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
)

// NaN is NumPy's nansum, nanprod, nanmin, nanmax, nanmean, nanvar, nanstd, nanargmin and
// nanargmax: the reduction of the elements that are not NaN. What has none of them is 0
// for a sum, 1 for a product, and NaN else; the place of an extreme there is an error
// when it is computed. One pass; two for a variance, which takes the mean first.
func NaN(site graph.Site, kind kernel.Reduction, n *graph.Node, o graph.ReduceOptions) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "nan"+kind.String(), n)
	m := &graph.Maker{Site: site}
	if family := kind.Row().Family; family == kernel.Truth || family == kernel.Count {
		return nil, fmt.Errorf("is no reduction: any, all and count_nonzero take NaN as true")
	}
	place := kind == kernel.ArgMin || kind == kernel.ArgMax
	if n.DType.Kind() < dtype.KindFloat || place && o.Where != nil { // which is rejected there
		return graph.Aggregate(m.Site, kind, n, o)
	}
	out := m.Apply(kernel.IsNaN, n) // what does not count
	if o.Where != nil {
		out = m.Apply(kernel.LogicalOr, out, m.Apply(kernel.LogicalNot, o.Where))
	}
	along := graph.ReduceOptions{Axes: o.Axes, NoAxes: o.NoAxes, KeepDims: o.KeepDims}
	switch kind {
	case kernel.Sum, kernel.Prod, kernel.Mean:
		o.Where = m.Apply(kernel.LogicalNot, out)
		return m.Reduce(kind, n, o), m.Err
	case kernel.Var, kernel.Std:
		o.Where = m.Apply(kernel.LogicalNot, out)
		some := m.Reduce(kernel.CountNonzero, o.Where, along)
		n = m.Reduce(kind, n, o)
		if m.Err != nil {
			return nil, m.Err
		}
		if o.DType.Known() && o.DType.Integer() { // which have no NaN
			return n, nil
		}
		// Too few give NaN here, and infinity in var.
		few := m.Apply(kernel.LessEqual, some, m.Number(o.DDof))
		return m.Apply(kernel.Where, few, m.Number(math.NaN()), n), m.Err
	}
	if n.DType.Kind() == dtype.KindComplex && (place || o.Initial != nil) {
		return nil, fmt.Errorf("takes real numbers here, not %s", n.DType)
	}
	if f, ok := o.Initial.(float64); ok && f != f && grid.Size(n.Shape) > 0 { // does not count either
		o.Initial = nil
	}
	end := math.Inf(-1) // what no element comes after
	if kind == kernel.Min || kind == kernel.ArgMin {
		end = math.Inf(1)
	}
	last := m.Number(end)
	if n.DType.Kind() == dtype.KindComplex {
		last = m.Full(dtype.FromComplex(n.DType, complex(end, end)))
	}
	o.Where = nil
	n = m.Reduce(kind, m.Apply(kernel.Where, out, last, n), o)
	if o.Initial != nil { // is what there is where there are only NaN
		return n, m.Err
	}
	none := m.Reduce(kernel.All, out, along)
	if !place {
		nan := m.Number(math.NaN())
		if m.Err == nil && n.DType.Kind() == dtype.KindComplex {
			nan = m.Full(dtype.FromComplex(n.DType, complex(math.NaN(), math.NaN())))
		}
		return m.Apply(kernel.Where, none, nan, n), m.Err
	}
	return m.FailIf(none, n, "there are only NaN, of which none is the smallest or the largest"), m.Err
}

// NaNCumulative is NumPy's nancumsum, or nancumprod where product says so: NaN counts as
// zero, or one. Passes are those of scan.Cumulative.
func NaNCumulative(site graph.Site, a scan.CumulativeArgs) (*graph.Node, error) {
	name, product, n, axes := a.Name, a.Product, a.X, a.Axis
	m := &graph.Maker{Site: site}
	if n.DType.Kind() >= dtype.KindFloat {
		neutral := 0
		if product {
			neutral = 1
		}
		n = m.Apply(kernel.Where, m.Apply(kernel.IsNaN, n), m.Number(neutral), n)
	}
	return m.Make(func() (*graph.Node, error) { return scan.Cumulative(site, name, product, n, axes...) }), m.Err
}
