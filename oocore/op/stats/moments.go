package stats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// PeakToPeak is NumPy's ptp: the largest element along the axes less the smallest.
func PeakToPeak(site graph.Site, n *graph.Node, axes ...int) (*graph.Node, error) {
	m := &maker{site: site}
	o := graph.ReduceOptions{Axes: axes}
	n = m.apply(kernel.Subtract, m.reduce(kernel.Max, n, o), m.reduce(kernel.Min, n, o))
	if m.err != nil {
		return nil, graph.Refuse(site, "ptp", m.err)
	}
	return n, nil
}

// Average is NumPy's average with weights: of the shape of the elements, or of the axes
// that are given, in their order. Weights that sum to zero are an error when it is
// computed. One pass.
func Average(site graph.Site, n, weights *graph.Node, axes ...int) (*graph.Node, error) {
	m := &maker{site: site}
	out, err := average(m, n, weights, axes)
	if err != nil {
		return nil, graph.Refuse(site, "average", err, n, weights)
	}
	return out, nil
}

func average(m *maker, n, weights *graph.Node, axes []int) (*graph.Node, error) {
	t := dtype.Promote(n.DType, weights.DType)
	if n.DType.Kind() < dtype.KindFloat {
		t = dtype.Promote(t, dtype.Float64)
	}
	if !slices.Equal(weights.Shape, n.Shape) {
		if len(axes) == 0 {
			return nil, fmt.Errorf("weights of shape %s are not those of elements of shape %s: give the axes that they are along", grid.Format(weights.Shape), grid.Format(n.Shape))
		}
		if _, err := grid.Axes(axes, len(n.Shape)); err != nil {
			return nil, err
		}
		// The weights' axes in the order of the elements' ones.
		order := make([]int, len(axes))
		var lengths []int
		wide := slices.Repeat([]int{1}, len(n.Shape))
		axes = slices.Clone(axes)
		for i, a := range axes {
			axes[i], _ = grid.Axis(a, len(n.Shape))
			order[i] = i
			lengths = append(lengths, n.Shape[axes[i]])
			wide[axes[i]] = n.Shape[axes[i]]
		}
		if !slices.Equal(weights.Shape, lengths) {
			return nil, fmt.Errorf("weights of shape %s are not those of axes of lengths %s", grid.Format(weights.Shape), grid.Format(lengths))
		}
		slices.SortFunc(order, func(i, k int) int { return axes[i] - axes[k] })
		weights = m.reshape(m.transpose(weights, order...), wide...)
		weights = m.make(func() (*graph.Node, error) { return graph.BroadcastTo(m.site, weights, n.Shape...) })
	}
	o := graph.ReduceOptions{Axes: axes}
	whole := m.reduce(kernel.Sum, m.cast(weights, t), o)
	sum := m.reduce(kernel.Sum, m.apply(kernel.Multiply, m.cast(n, t), m.cast(weights, t)), o)
	zero := m.apply(kernel.Equal, whole, m.number(0))
	return m.unless(zero, m.apply(kernel.Divide, sum, whole), "the weights sum to zero"), m.err
}

// CovOptions are the less common arguments of covariances.
type CovOptions struct {
	Columns bool // variables are columns, and observations rows: NumPy's rowvar=False
	Bias    bool // the number of observations is the divisor, not one less
	DDof    int  // other than 0: what is subtracted from that number instead

	FWeights, AWeights *graph.Node // how often each observation was made, and how much it counts; nil: once
}

// Cov is NumPy's cov: the covariances of variables, in float64 or complex128. y, which
// may be nil, has more variables of the same observations.
//
// One pass takes the means, and the product of the centred matrix with itself those of
// a product.
func Cov(site graph.Site, n, y *graph.Node, o CovOptions) (*graph.Node, error) {
	m := &maker{site: site}
	c, err := cov(m, n, y, o)
	if err != nil {
		return nil, graph.Refuse(site, "cov", err, n)
	}
	return c, nil
}

// variables are the rows of a matrix, of two operands' where there are so many.
func variables(m *maker, in []*graph.Node, columns bool) (*graph.Node, error) {
	t := dtype.Float64
	for _, n := range in {
		t = dtype.Promote(t, n.DType)
	}
	rows := make([]*graph.Node, len(in))
	for i, n := range in {
		n = m.cast(n, t)
		switch len(in[i].Shape) {
		case 0, 1:
			n = m.reshape(n, 1, grid.Size(in[i].Shape))
		case 2:
			if columns {
				n = m.transpose(n)
			}
		default:
			return nil, fmt.Errorf("takes a matrix or a list, not an array of shape %s", grid.Format(in[i].Shape))
		}
		if m.err != nil {
			return nil, m.err
		}
		if i > 0 && n.Shape[1] != rows[0].Shape[1] {
			return nil, fmt.Errorf("%d observations meet %d", rows[0].Shape[1], n.Shape[1])
		}
		rows[i] = n
	}
	if len(rows) == 1 {
		return rows[0], nil
	}
	return shape.Concatenate(m.site, 0, rows...)
}

func cov(m *maker, n, y *graph.Node, o CovOptions) (*graph.Node, error) {
	in := []*graph.Node{n}
	if y != nil {
		in = append(in, y)
	}
	x, err := variables(m, in, o.Columns)
	if err != nil {
		return nil, err
	}
	ddof := 1
	switch {
	case o.DDof != 0:
		ddof = o.DDof
	case o.Bias:
		ddof = 0
	}
	observations := x.Shape[1]
	if observations == 0 {
		return nil, errors.New("there are no observations")
	}
	w, err := o.weights(m, observations)
	if err != nil {
		return nil, err
	}
	mean := m.reduce(kernel.Mean, x, graph.ReduceOptions{Axes: []int{1}, KeepDims: true})
	// None left is a division by zero, as NumPy's, which gives infinities or NaN.
	divisor := m.full(dtype.ValueOf(float64(max(observations-ddof, 0))))
	if w != nil {
		sum := m.reduce(kernel.Sum, w, graph.ReduceOptions{})
		sum = m.unless(m.apply(kernel.Equal, sum, m.number(0)), sum, "the weights sum to zero")
		mean = m.reduce(kernel.Sum, m.apply(kernel.Multiply, x, w), graph.ReduceOptions{Axes: []int{1}, KeepDims: true})
		mean = m.apply(kernel.Divide, mean, sum)
		lost := m.number(float64(ddof))
		if o.AWeights != nil {
			squares := m.reduce(kernel.Sum, m.apply(kernel.Multiply, w, m.cast(o.AWeights, dtype.Float64)), graph.ReduceOptions{})
			lost = m.apply(kernel.Multiply, lost, m.apply(kernel.Divide, squares, sum))
		}
		divisor = m.apply(kernel.Maximum, m.apply(kernel.Subtract, sum, lost), m.number(0.0))
	}
	x = m.apply(kernel.Subtract, x, mean)
	weighed := x
	if w != nil {
		weighed = m.apply(kernel.Multiply, x, w)
	}
	other := m.transpose(weighed)
	if m.err == nil && x.DType.Kind() == dtype.KindComplex {
		other = m.apply(kernel.Conjugate, other)
	}
	c := m.make(func() (*graph.Node, error) { return graph.Product(m.site, x, other) })
	c = m.apply(kernel.Divide, c, divisor)
	if m.err == nil && c.Shape[0] == 1 {
		c = m.reshape(c)
	}
	return c, m.err
}

// weights are those of the observations, both kinds in one, and nil where there are none.
func (o CovOptions) weights(m *maker, observations int) (w *graph.Node, err error) {
	for _, of := range []struct {
		name string
		n    *graph.Node
	}{{"fweights", o.FWeights}, {"aweights", o.AWeights}} {
		switch {
		case of.n == nil:
			continue
		case !slices.Equal(of.n.Shape, []int{observations}):
			return nil, fmt.Errorf("%s of shape %s are not those of %d observations", of.name, grid.Format(of.n.Shape), observations)
		case of.name == "fweights" && !of.n.DType.Integer():
			return nil, fmt.Errorf("fweights are integers, not %s: give others as aweights", of.n.DType)
		case of.n.DType.Kind() == dtype.KindComplex:
			return nil, fmt.Errorf("aweights are real numbers, not %s", of.n.DType)
		}
		below := m.apply(kernel.Less, of.n, m.number(0))
		n := m.unless(below, m.cast(of.n, dtype.Float64), "a weight in "+of.name+" is below zero")
		if w != nil {
			n = m.apply(kernel.Multiply, w, n)
		}
		w = n
	}
	return w, m.err
}

// Corrcoef is NumPy's corrcoef: the covariances of variables by their standard
// deviations, from -1 to 1. Passes are those of Cov.
func Corrcoef(site graph.Site, n, y *graph.Node, columns bool) (*graph.Node, error) {
	m := &maker{site: site}
	c, err := cov(m, n, y, CovOptions{Columns: columns})
	if err != nil {
		return nil, graph.Refuse(site, "corrcoef", err, n)
	}
	if len(c.Shape) == 0 {
		return m.apply(kernel.Divide, c, c), m.err
	}
	d := m.make(func() (*graph.Node, error) { return shape.Diagonal(m.site, c, 0, 0, 1) })
	d = m.apply(kernel.Sqrt, m.apply(kernel.Real, d))
	c = m.apply(kernel.Divide, c, m.reshape(d, -1, 1))
	c = m.apply(kernel.Divide, c, d)
	if m.err != nil {
		return nil, m.err
	}
	clip := func(n *graph.Node) *graph.Node {
		return m.make(func() (*graph.Node, error) { return graph.Clip(m.site, n, m.number(-1.0), m.number(1.0)) })
	}
	if c.DType.Kind() != dtype.KindComplex {
		return clip(c), m.err
	}
	i := m.number(complex(0, 1))
	return m.apply(kernel.Add, clip(m.apply(kernel.Real, c)), m.apply(kernel.Multiply, clip(m.apply(kernel.Imag, c)), i)), m.err
}
