package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// PeakToPeak is NumPy's ptp: the largest element along the axes less the smallest.
func PeakToPeak(site graph.Site, a op.Axes) (*graph.Node, error) {
	n := a.X
	m := &graph.Maker{Site: site}
	o := graph.ReduceOptions{Axes: a.Axes}
	n = m.Apply(kernel.Subtract, m.Reduce(kernel.Max, n, o), m.Reduce(kernel.Min, n, o))
	if m.Err != nil {
		return nil, graph.Reject(site, "ptp", m.Err)
	}
	return n, nil
}

// LogSumExp is the logarithm of the sum of exponentials, exp(x - max) where the maximum is finite, so
// that none overflows.
func LogSumExp(site graph.Site, a op.Reducing) (*graph.Node, error) {
	x, axes, keep := a.X, a.Axes, a.KeepDims
	m := &graph.Maker{Site: site}
	t := dtype.Promote(x.DType, dtype.Float32)
	if x.DType.Kind() < dtype.KindFloat {
		t = dtype.Float64
	}
	if t.Kind() == dtype.KindComplex {
		return nil, graph.Reject(site, "logsumexp", errors.New("takes real numbers"), x)
	}
	over, err := grid.Axes(axes, len(x.Shape))
	if err != nil {
		return nil, graph.Reject(site, "logsumexp", err, x)
	}
	o := graph.ReduceOptions{Axes: axes, KeepDims: true}
	wide := m.Cast(x, t)
	most := m.Reduce(kernel.Max, wide, o)
	most = m.Apply(kernel.Where, m.Apply(kernel.IsFinite, most), most, m.Number(0))
	sum := m.Reduce(kernel.Sum, m.Apply(kernel.Exp, m.Apply(kernel.Subtract, wide, most)), o)
	out := m.Apply(kernel.Add, m.Apply(kernel.Log, sum), most)
	if !keep && m.Err == nil {
		shape := []int{}
		for d, n := range x.Shape {
			if !slices.Contains(over, d) {
				shape = append(shape, n)
			}
		}
		out = m.Reshape(out, shape...)
	}
	if x.DType.Kind() >= dtype.KindFloat {
		out = m.Cast(out, x.DType)
	}
	if m.Err != nil {
		return nil, graph.Reject(site, "logsumexp", m.Err)
	}
	return out, nil
}

// Average is NumPy's average with weights: of the shape of the elements, or of the axes
// that are given, in their order. With keepDims reduced axes stay, with length one. Weights that sum to zero are an error when it is
// computed; with SkipNaN, where neither NaN nor its weight counts, the result is NaN there. One pass.
func Average(site graph.Site, a AverageArgs) (_ *graph.Node, err error) {
	n, weights, keepDims, axes, name := a.X, a.Weights, a.KeepDims, a.Axes, "average"
	if a.SkipNaN {
		name = "nanaverage"
	}
	defer graph.Named(&err, site, name, n, weights)
	m := &graph.Maker{Site: site}
	t := dtype.Promote(n.DType, weights.DType)
	if n.DType.Kind() < dtype.KindFloat {
		t = dtype.Promote(t, dtype.Float64)
	}
	weights, err = m.Weights(weights, n.Shape, axes)
	if err != nil {
		return nil, err
	}
	o := graph.ReduceOptions{Axes: axes, KeepDims: keepDims}
	if a.SkipNaN {
		o.Where = m.Apply(kernel.LogicalNot, m.Apply(kernel.IsNaN, n))
	}
	whole := m.Reduce(kernel.Sum, m.Cast(weights, t), o)
	sum := m.Reduce(kernel.Sum, m.Apply(kernel.Multiply, m.Cast(n, t), m.Cast(weights, t)), o)
	zero := m.Apply(kernel.Equal, whole, m.Number(0))
	mean := m.Apply(kernel.Divide, sum, whole)
	if a.SkipNaN {
		return m.Apply(kernel.Where, zero, m.Number(math.NaN()), mean), m.Err
	}
	return m.FailIf(zero, mean, "the weights sum to zero"), m.Err
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
	m := &graph.Maker{Site: site}
	c, err := cov(m, n, y, o)
	return graph.Result(site, "cov", c, err, n)
}

// variables are the rows of a matrix, of two operands' where there are so many.
func variables(m *graph.Maker, in []*graph.Node, columns bool) (*graph.Node, error) {
	t := dtype.Float64
	for _, n := range in {
		t = dtype.Promote(t, n.DType)
	}
	rows := make([]*graph.Node, len(in))
	for i, n := range in {
		n = m.Cast(n, t)
		switch len(in[i].Shape) {
		case 0, 1:
			n = m.Reshape(n, 1, grid.Size(in[i].Shape))
		case 2:
			if columns {
				n = m.Transpose(n)
			}
		default:
			return nil, fmt.Errorf("takes a matrix or a list, not an array of shape %s", grid.Format(in[i].Shape))
		}
		if m.Err != nil {
			return nil, m.Err
		}
		if i > 0 && n.Shape[1] != rows[0].Shape[1] {
			return nil, fmt.Errorf("%d observations meet %d", rows[0].Shape[1], n.Shape[1])
		}
		rows[i] = n
	}
	if len(rows) == 1 {
		return rows[0], nil
	}
	return shape.Concatenate(m.Site, 0, rows...)
}

func cov(m *graph.Maker, n, y *graph.Node, o CovOptions) (*graph.Node, error) {
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
	mean := m.Reduce(kernel.Mean, x, graph.ReduceOptions{Axes: []int{1}, KeepDims: true})
	// None left is a division by zero, as NumPy's, which gives infinities or NaN.
	divisor := m.Full(dtype.ValueOf(float64(max(observations-ddof, 0))))
	if w != nil {
		sum := m.Reduce(kernel.Sum, w, graph.ReduceOptions{})
		sum = m.FailIf(m.Apply(kernel.Equal, sum, m.Number(0)), sum, "the weights sum to zero")
		mean = m.Reduce(kernel.Sum, m.Apply(kernel.Multiply, x, w), graph.ReduceOptions{Axes: []int{1}, KeepDims: true})
		mean = m.Apply(kernel.Divide, mean, sum)
		lost := m.Number(float64(ddof))
		if o.AWeights != nil {
			squares := m.Reduce(kernel.Sum, m.Apply(kernel.Multiply, w, m.Cast(o.AWeights, dtype.Float64)), graph.ReduceOptions{})
			lost = m.Apply(kernel.Multiply, lost, m.Apply(kernel.Divide, squares, sum))
		}
		divisor = m.Apply(kernel.Maximum, m.Apply(kernel.Subtract, sum, lost), m.Number(0.0))
	}
	x = m.Apply(kernel.Subtract, x, mean)
	weighed := x
	if w != nil {
		weighed = m.Apply(kernel.Multiply, x, w)
	}
	other := m.Transpose(weighed)
	if m.Err == nil && x.DType.Kind() == dtype.KindComplex {
		other = m.Apply(kernel.Conjugate, other)
	}
	c := m.Make(func() (*graph.Node, error) { return graph.Product(m.Site, x, other) })
	c = m.Apply(kernel.Divide, c, divisor)
	if m.Err == nil && c.Shape[0] == 1 {
		c = m.Reshape(c)
	}
	return c, m.Err
}

// weights are those of the observations, both kinds in one, and nil where there are none.
func (o CovOptions) weights(m *graph.Maker, observations int) (w *graph.Node, err error) {
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
		below := m.Apply(kernel.Less, of.n, m.Number(0))
		n := m.FailIf(below, m.Cast(of.n, dtype.Float64), "a weight in "+of.name+" is below zero")
		if w != nil {
			n = m.Apply(kernel.Multiply, w, n)
		}
		w = n
	}
	return w, m.Err
}

// Corrcoef is NumPy's corrcoef: the covariances of variables by their standard
// deviations, from -1 to 1. Passes are those of Cov.
func Corrcoef(site graph.Site, a CorrcoefArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	c, err := cov(m, a.X, a.Y, CovOptions{Columns: a.Columns})
	if err != nil {
		return nil, graph.Reject(site, "corrcoef", err, a.X)
	}
	if len(c.Shape) == 0 {
		return m.Apply(kernel.Divide, c, c), m.Err
	}
	d := graph.Call(m, shape.Diagonal, shape.DiagonalArgs{X: c, Offset: 0, Axis: 0, Other: 1})
	d = m.Apply(kernel.Sqrt, m.Apply(kernel.Real, d))
	c = m.Apply(kernel.Divide, c, m.Reshape(d, -1, 1))
	c = m.Apply(kernel.Divide, c, d)
	if m.Err != nil {
		return nil, m.Err
	}
	clip := func(n *graph.Node) *graph.Node {
		return m.Make(func() (*graph.Node, error) { return graph.Clip(m.Site, n, m.Number(-1.0), m.Number(1.0)) })
	}
	if c.DType.Kind() != dtype.KindComplex {
		return clip(c), m.Err
	}
	i := m.Number(complex(0, 1))
	return m.Apply(kernel.Add, clip(m.Apply(kernel.Real, c)), m.Apply(kernel.Multiply, clip(m.Apply(kernel.Imag, c)), i)), m.Err
}
