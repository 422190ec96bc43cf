package stats

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Moment is SciPy's moment about the mean: the mean of the power of what elements are from
// their mean. Integers are computed in float64. Two passes, the mean first.
func Moment(site graph.Site, a MomentArgs) (*graph.Node, error) {
	n, order, o := a.X, a.Order, graph.ReduceOptions{Axes: a.Axes, KeepDims: a.KeepDims}
	if order < 0 {
		return nil, graph.Reject(site, "moment", fmt.Errorf("the order %d is negative", order), n)
	}
	m := &graph.Maker{Site: site}
	if n.DType.Kind() < dtype.KindFloat {
		n = m.Cast(n, dtype.Float64)
	}
	along := o
	along.KeepDims = true
	from := m.Apply(kernel.Subtract, n, m.Reduce(kernel.Mean, n, along))
	out := m.Reduce(kernel.Mean, m.Apply(kernel.Power, from, m.Number(order)), o)
	if m.Err != nil {
		return nil, graph.Reject(site, "moment", m.Err, n)
	}
	if order < 2 { // exactly
		return m.BroadcastTo(m.Full(dtype.FromInt(out.DType, int64(1-order))), out.Shape...), m.Err
	}
	return out, nil
}

// Skew is scipy.stats' skew: the third moment over the second's power of 3/2.
func Skew(site graph.Site, a op.Reducing) (*graph.Node, error) { return shapeOf(site, "skew", a, 3, 0) }

// Kurtosis is scipy.stats' kurtosis, of Fisher: the fourth moment over the square of the second, less 3.
func Kurtosis(site graph.Site, a op.Reducing) (*graph.Node, error) {
	return shapeOf(site, "kurtosis", a, 4, 3)
}

// shapeOf is a moment over the second's power of half its order, less what a normal distribution has. Where the
// elements differ by rounding alone it is NaN, as there.
func shapeOf(site graph.Site, name string, a op.Reducing, order int, less float64) (*graph.Node, error) {
	m, x := &graph.Maker{Site: site}, a.X
	if x.DType.Kind() < dtype.KindFloat {
		x = m.Cast(x, dtype.Float64)
	}
	if x.DType.Kind() == dtype.KindComplex {
		return nil, graph.Reject(site, name, fmt.Errorf("takes real numbers"), x)
	}
	o := graph.ReduceOptions{Axes: a.Axes, KeepDims: a.KeepDims}
	along := o
	along.KeepDims = true
	from := m.Apply(kernel.Subtract, x, m.Reduce(kernel.Mean, x, along))
	square := m.Apply(kernel.Square, from)
	power := m.Apply(kernel.Square, square)
	if order == 3 {
		power = m.Apply(kernel.Multiply, square, from)
	}
	second, high := m.Reduce(kernel.Mean, square, o), m.Reduce(kernel.Mean, power, o)
	below := m.Apply(kernel.Square, second)
	if order == 3 {
		below = m.Apply(kernel.Multiply, second, m.Apply(kernel.Sqrt, second))
	}
	eps := map[dtype.Type]float64{dtype.Float16: 0x1p-10, dtype.BFloat16: 0x1p-7, dtype.Float32: 0x1p-23}[x.DType]
	if eps == 0 {
		eps = 0x1p-52
	}
	least := m.Apply(kernel.Square, m.Apply(kernel.Multiply, m.Reduce(kernel.Mean, x, o), m.Number(eps)))
	out := m.Apply(kernel.Subtract, m.Apply(kernel.Divide, high, below), m.Number(less))
	out = m.Apply(kernel.Where, m.Apply(kernel.LessEqual, second, least), m.Number(math.NaN()), out)
	return m.Result(name, m.Cast(out, x.DType), a.X)
}

// ZScore is scipy.stats' zscore: how many standard deviations elements are from their mean. Where they are all equal
// it is NaN.
func ZScore(site graph.Site, a ZScoreArgs) (*graph.Node, error) {
	m, x := &graph.Maker{Site: site}, a.X
	if x.DType.Kind() < dtype.KindFloat {
		x = m.Cast(x, dtype.Float64)
	}
	if x.DType.Kind() == dtype.KindComplex {
		return nil, graph.Reject(site, "zscore", fmt.Errorf("takes real numbers"), x)
	}
	o := graph.ReduceOptions{Axes: a.Axes, KeepDims: true, DDof: a.DDof}
	mean := m.Reduce(kernel.Mean, x, graph.ReduceOptions{Axes: a.Axes, KeepDims: true})
	flat := graph.ReduceOptions{Axes: a.Axes, KeepDims: true}
	equal := m.Apply(kernel.Equal, m.Reduce(kernel.Min, x, flat), m.Reduce(kernel.Max, x, flat))
	out := m.Apply(kernel.Divide, m.Apply(kernel.Subtract, x, mean), m.Reduce(kernel.Std, x, o))
	return m.Result("zscore", m.Apply(kernel.Where, equal, m.Number(math.NaN()), out), a.X)
}
