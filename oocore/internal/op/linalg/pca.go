package linalg

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Components are the principal components of observations, which are the rows of a
// matrix.
type Components struct {
	Mean      *graph.Node // n
	Vectors   *graph.Node // k × n: a component a row, the largest element positive
	Values    *graph.Node // k singular values of the centred matrix, falling
	Variance  *graph.Node // k: along each component, with m-1 as divisor
	Explained *graph.Node // k: share of the whole variance
	Scores    *graph.Node // m × k: the observations in the components
}

// PCA takes the k components of the largest variance (0: all). random approximates them
// by RandomizedSVD.
func PCA(site graph.Site, n *graph.Node, k int, random *RandomOptions) (*Components, error) {
	m := &graph.Maker{Site: site}
	c := pca(m, n, k, random)
	if m.Err != nil {
		return nil, graph.Reject(site, "pca", m.Err, n)
	}
	c.Vectors, c.Scores = named(c.Vectors, n, ofNone, ofColumns), named(c.Scores, n, ofRows, ofNone)
	return c, nil
}

func pca(m *graph.Maker, n *graph.Node, k int, random *RandomOptions) *Components {
	dt, err := matrixOf(n)
	if m.Fail(err) {
		return nil
	}
	rows := n.Shape[0]
	if rows < 2 {
		m.Fail(fmt.Errorf("one observation, of shape %s, has no variance", grid.Format(n.Shape)))
		return nil
	}
	most := min(rows, n.Shape[1])
	if k == 0 {
		k = most
	}
	if k < 1 || k > most {
		m.Fail(fmt.Errorf("a matrix of shape %s has 1 to %d components, not %d", grid.Format(n.Shape), most, k))
		return nil
	}
	wide := m.Cast(n, dtype.Float64)
	mean := m.Reduce(kernel.Mean, wide, graph.ReduceOptions{Axes: []int{0}})
	centred := m.Apply(kernel.Subtract, wide, mean)
	var s, vt, total *graph.Node
	if random != nil {
		_, s, vt = randomized(m, centred, k, *random)
		vt = signed(m, vt)
		total = m.Reduce(kernel.Var, wide, graph.ReduceOptions{Axes: []int{0}, DDof: 1})
	} else {
		_, s, vt = thin(m, centred)
		total = variance(m, s, rows)
	}
	total = m.Reduce(kernel.Sum, total, graph.ReduceOptions{})
	s, vt = m.Slice(s, ":%d", k), m.Slice(vt, ":%d", k)
	along := variance(m, s, rows)
	share := m.Apply(kernel.Divide, along, total)
	scores := m.Product(centred, m.Transpose(vt))
	return &Components{m.Cast(mean, dt), m.Cast(vt, dt), m.Cast(s, dt), m.Cast(along, dt), m.Cast(share, dt), m.Cast(scores, dt)}
}

// variance is that of observations, which are so many rows, along components with these singular
// values.
func variance(m *graph.Maker, s *graph.Node, rows int) *graph.Node {
	return m.Apply(kernel.Divide, m.Apply(kernel.Square, s), m.Number(float64(rows-1)))
}

// signed is rows with the signs for which the largest element of each is positive.
func signed(m *graph.Maker, vt *graph.Node) *graph.Node {
	o := graph.ReduceOptions{Axes: []int{1}, KeepDims: true}
	both := m.Apply(kernel.Add, m.Reduce(kernel.Max, vt, o), m.Reduce(kernel.Min, vt, o))
	return m.Apply(kernel.Where, m.Apply(kernel.Less, both, m.Number(0.0)), m.Apply(kernel.Negative, vt), vt)
}
