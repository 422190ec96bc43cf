package stats

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
)

// HistogramOptions are the less common arguments of histograms.
type HistogramOptions struct {
	Weights *graph.Node // of the elements; nil: each counts one
	Density bool        // the counts by their sum and the bins' sizes
}

// Histogram is NumPy's: how many elements lie in each bin, and the bins' edges. One
// pass, and one before it for the range of the elements where that is not given.
//
// Elements are compared with the edges in the type that both promote to. Weights that
// are floats are added in float64 with what rounding loses, integers exactly; the result
// has their type.
func Histogram(site graph.Site, n *graph.Node, b Bins, o HistogramOptions) (counts, edges *graph.Node, err error) {
	counts, all, err := histogram(site, []*graph.Node{n}, nil, []Bins{b}, o, false)
	if err != nil {
		return nil, nil, graph.Reject(site, "histogram", err, n)
	}
	return counts, all[0], nil
}

// Histogram2D is NumPy's histogram2d: how many points lie in each bin of two
// coordinates, as float64, and the edges of the bins of each.
func Histogram2D(site graph.Site, x, y *graph.Node, bx, by Bins, o HistogramOptions) (counts *graph.Node, edges []*graph.Node, err error) {
	if counts, edges, err = histogram(site, []*graph.Node{x, y}, nil, []Bins{bx, by}, o, true); err != nil {
		return nil, nil, graph.Reject(site, "histogram2d", err, x, y)
	}
	return counts, edges, nil
}

// HistogramDD is NumPy's histogramdd: how many rows of a matrix, each a point, lie in each
// bin of its columns, the coordinates. Bins are those of each column, or one for all.
func HistogramDD(site graph.Site, sample *graph.Node, bins []Bins, o HistogramOptions) (counts *graph.Node, edges []*graph.Node, err error) {
	columns, err := coordinates(site, sample)
	if err == nil {
		if len(bins) == 1 {
			bins = slices.Repeat(bins, len(columns))
		}
		if len(bins) != len(columns) {
			err = fmt.Errorf("bins of %d coordinates are given for %d columns", len(bins), len(columns))
		}
	}
	if err == nil {
		counts, edges, err = histogram(site, columns, sample, bins, o, true)
	}
	if err != nil {
		return nil, nil, graph.Reject(site, "histogramdd", err, sample)
	}
	return counts, edges, nil
}

// coordinates are the columns of a matrix.
func coordinates(site graph.Site, sample *graph.Node) (columns []*graph.Node, err error) {
	if len(sample.Shape) != 2 || sample.Shape[1] == 0 {
		return nil, fmt.Errorf("takes points as the rows of a matrix, not shape %s", grid.Format(sample.Shape))
	}
	if sample.Shape[1] > grid.MaxDims {
		return nil, fmt.Errorf("counts points of at most %d coordinates, not %d", grid.MaxDims, sample.Shape[1])
	}
	for i := range sample.Shape[1] {
		n, err := graph.Slice(site, sample, fmt.Sprintf(":, %d", i))
		if err != nil {
			return nil, err
		}
		columns = append(columns, n)
	}
	return columns, nil
}

// histogram counts points of several coordinates, which are also the columns of one array
// where there is one, that is then read instead. wide says that it is NumPy's
// histogramdd, whose counts are float64, as are the edges of a range.
func histogram(site graph.Site, in []*graph.Node, points *graph.Node, bins []Bins, o HistogramOptions, wide bool) (counts *graph.Node, edges []*graph.Node, err error) {
	m := &graph.Maker{Site: site}
	t := dtype.Bool
	for i, n := range in {
		if n.DType.Kind() == dtype.KindComplex {
			return nil, nil, fmt.Errorf("takes real numbers, not %s", n.DType)
		}
		if err := bins[i].check(); err != nil {
			return nil, nil, err
		}
		if !slices.Equal(n.Shape, in[0].Shape) {
			return nil, nil, fmt.Errorf("shapes %s and %s of the coordinates differ", grid.Format(in[0].Shape), grid.Format(n.Shape))
		}
		t = dtype.Promote(t, n.DType)
	}
	weights := o.Weights
	if weights != nil && !slices.Equal(weights.Shape, in[0].Shape) {
		return nil, nil, fmt.Errorf("weights of shape %s are not those of elements of shape %s", grid.Format(weights.Shape), grid.Format(in[0].Shape))
	}
	if weights != nil && wide {
		weights = m.Cast(weights, dtype.Float64)
	}
	cast := func(n *graph.Node) *graph.Node {
		n = m.Cast(n, t)
		if t == dtype.Bool { // as NumPy, which takes bools as numbers
			n = m.Cast(n, dtype.Uint8)
		}
		return n
	}
	extreme := func(i int) func(kernel.Reduction) *graph.Node {
		return func(kind kernel.Reduction) *graph.Node { return m.Reduce(kind, in[i], graph.ReduceOptions{}) }
	}
	if points != nil {
		points = cast(points)
		extreme = extremes(m, points)
	}
	c := Count{Points: points != nil}
	for i, n := range in {
		n = cast(n)
		in[i] = n
		if m.Err != nil {
			return nil, nil, m.Err
		}
		e := bins[i].edges(m, n, extreme(i), wide)
		if m.Err != nil {
			return nil, nil, m.Err
		}
		if e.DType.Kind() == dtype.KindComplex {
			return nil, nil, fmt.Errorf("edges are real numbers, not %s", e.DType)
		}
		edges = append(edges, e)
		c.Bins = append(c.Bins, e.Shape[0]-1)
		c.Even = append(c.Even, bins[i].Edges == nil)
	}
	if grid.Check(c.Bins, 8) != nil {
		return nil, nil, fmt.Errorf("%v bins of %d coordinates are more than can be counted", c.Bins, len(c.Bins))
	}
	if points != nil {
		in = []*graph.Node{points}
	}
	if counts, err = c.weighed(m, "histogram", in, edges, weights); err != nil {
		return nil, nil, err
	}
	counts = m.Reshape(counts, c.Bins...)
	if wide {
		counts = m.Cast(counts, dtype.Float64)
	}
	if o.Density {
		counts = density(m, counts, edges, wide)
	}
	return counts, edges, m.Err
}

// extremes are the least and the largest element of each column of points, of all by one
// pass.
func extremes(m *graph.Maker, points *graph.Node) func(i int) func(kernel.Reduction) *graph.Node {
	all := map[kernel.Reduction]*graph.Node{}
	return func(i int) func(kernel.Reduction) *graph.Node {
		return func(kind kernel.Reduction) *graph.Node {
			if all[kind] == nil {
				all[kind] = m.Reduce(kind, points, graph.ReduceOptions{Axes: []int{0}})
			}
			return m.Make(func() (*graph.Node, error) { return graph.Slice(m.Site, all[kind], strconv.Itoa(i)) })
		}
	}
}

// density is the counts by the bins' sizes and their sum, in NumPy's order.
func density(m *graph.Maker, counts *graph.Node, edges []*graph.Node, wide bool) *graph.Node {
	sum := m.Reduce(kernel.Sum, counts, graph.ReduceOptions{})
	for d, e := range edges {
		size := m.Make(func() (*graph.Node, error) { return scan.Diff(m.Site, e, 1, 0) })
		if !wide {
			size = m.Cast(size, dtype.Float64)
		}
		shape := slices.Repeat([]int{1}, len(edges))
		shape[d] = -1
		if len(edges) > 1 {
			size = m.Reshape(size, shape...)
		}
		counts = m.Apply(kernel.Divide, counts, size)
	}
	return m.Apply(kernel.Divide, counts, sum)
}

// weighed is the count of elements, which are all of one shape.
func (c Count) weighed(m *graph.Maker, name string, elements, edges []*graph.Node, weights *graph.Node) (*graph.Node, error) {
	result := dtype.Int64
	var parts []*graph.Node // of the weights: complex ones are counted as two
	if weights != nil {
		result = weights.DType
		switch result.Kind() {
		case dtype.KindBool:
			return nil, errors.New("weights are numbers, not bools: AsType first, or leave out those that do not count")
		case dtype.KindComplex:
			parts = []*graph.Node{m.Cast(m.Apply(kernel.Real, weights), dtype.Float64), m.Cast(m.Apply(kernel.Imag, weights), dtype.Float64)}
			c.Weights = dtype.Float64
		case dtype.KindFloat:
			parts = []*graph.Node{m.Cast(weights, dtype.Float64)}
			c.Weights = dtype.Float64
		default: // those of uint64 too, which wrap alike
			parts = []*graph.Node{m.Cast(weights, dtype.Int64)}
			c.Weights = dtype.Int64
		}
	}
	if m.Err != nil {
		return nil, m.Err
	}
	if grid.Size(elements[0].Shape) == 0 || c.bins() == 0 {
		return graph.Full(m.Site, dtype.FromInt(result, 0), c.bins())
	}
	c.Type = comparing(elements, edges)
	var in []*graph.Node
	flat := func(n *graph.Node) *graph.Node {
		if len(elements[0].Shape) == 0 {
			n = m.Reshape(n, 1)
		}
		return n
	}
	for _, n := range elements {
		in = append(in, flat(m.Cast(n, c.Type)))
	}
	for _, e := range edges {
		in = append(in, m.Cast(e, c.Type))
	}
	if m.Err != nil {
		return nil, m.Err
	}
	if c.Shape = in[0].Shape; c.Points {
		c.Shape = c.Shape[:1]
	}
	c.Numbers = len(edges) == 0
	if weights == nil {
		return c.node(m.Site, name, in)
	}
	var sums []*graph.Node
	for _, w := range parts {
		w = flat(w)
		sums = append(sums, m.Make(func() (*graph.Node, error) { return c.node(m.Site, name, append(slices.Clone(in), w)) }))
	}
	if len(sums) == 2 {
		i := m.Number(complex(0, 1))
		sums[0] = m.Apply(kernel.Add, sums[0], m.Apply(kernel.Multiply, sums[1], i))
	}
	return m.Cast(sums[0], result), m.Err
}

// comparing is the type in which elements and edges are compared.
func comparing(elements, edges []*graph.Node) dtype.Type {
	t := dtype.Bool
	for _, n := range append(slices.Clone(elements), edges...) {
		t = dtype.Promote(t, n.DType)
	}
	switch {
	case t == dtype.Float64:
		return t
	case t.Kind() == dtype.KindFloat:
		return dtype.Float32
	case t.Kind() == dtype.KindInt:
		return dtype.Int64
	}
	return dtype.Uint64
}
