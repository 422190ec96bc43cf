package linalg

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
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
	c, err := pca(site, n, k, random)
	if err != nil {
		return nil, graph.Reject(site, "pca", err, n)
	}
	c.Vectors, c.Scores = named(c.Vectors, n, ofNone, ofColumns), named(c.Scores, n, ofRows, ofNone)
	return c, nil
}

func pca(site graph.Site, n *graph.Node, k int, random *RandomOptions) (*Components, error) {
	dt, err := matrixOf(n)
	if err != nil {
		return nil, err
	}
	m := n.Shape[0]
	if m < 2 {
		return nil, fmt.Errorf("one observation, of shape %s, has no variance", grid.Format(n.Shape))
	}
	most := min(m, n.Shape[1])
	if k == 0 {
		k = most
	}
	if k < 1 || k > most {
		return nil, fmt.Errorf("a matrix of shape %s has 1 to %d components, not %d", grid.Format(n.Shape), most, k)
	}
	wide, err := graph.AsType(site, n, dtype.Float64)
	if err != nil {
		return nil, err
	}
	mean, err := graph.Aggregate(site, kernel.Mean, wide, graph.ReduceOptions{Axes: []int{0}})
	if err != nil {
		return nil, err
	}
	centred, err := graph.Apply(site, kernel.Subtract, wide, mean)
	if err != nil {
		return nil, err
	}
	var s, vt, total *graph.Node
	if random != nil {
		if _, s, vt, err = randomized(site, centred, k, *random); err != nil {
			return nil, err
		}
		if vt, err = signed(site, vt); err != nil {
			return nil, err
		}
		total, err = graph.Aggregate(site, kernel.Var, wide, graph.ReduceOptions{Axes: []int{0}, DDof: 1})
	} else {
		if _, s, vt, err = thin(site, centred); err != nil {
			return nil, err
		}
		total, err = variance(site, s, m)
	}
	if err != nil {
		return nil, err
	}
	c := &Components{}
	if total, err = graph.Aggregate(site, kernel.Sum, total, graph.ReduceOptions{}); err != nil {
		return nil, err
	}
	if s, err = graph.Slice(site, s, fmt.Sprintf(":%d", k)); err != nil {
		return nil, err
	}
	if vt, err = graph.Slice(site, vt, fmt.Sprintf(":%d", k)); err != nil {
		return nil, err
	}
	along, err := variance(site, s, m)
	if err != nil {
		return nil, err
	}
	share, err := graph.Apply(site, kernel.Divide, along, total)
	if err != nil {
		return nil, err
	}
	v, err := graph.Transpose(site, vt)
	if err != nil {
		return nil, err
	}
	scores, err := graph.Product(site, centred, v)
	if err != nil {
		return nil, err
	}
	for _, out := range []struct {
		to   **graph.Node
		from *graph.Node
	}{{&c.Mean, mean}, {&c.Vectors, vt}, {&c.Values, s}, {&c.Variance, along}, {&c.Explained, share}, {&c.Scores, scores}} {
		if *out.to, err = graph.AsType(site, out.from, dt); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// variance is that of m observations along components with these singular values.
func variance(site graph.Site, s *graph.Node, m int) (*graph.Node, error) {
	square, err := graph.Apply(site, kernel.Square, s)
	if err != nil {
		return nil, err
	}
	by, err := graph.Scalar(site, float64(m-1))
	if err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.Divide, square, by)
}

// signed is rows with the signs for which the largest element of each is positive.
func signed(site graph.Site, vt *graph.Node) (*graph.Node, error) {
	most, err := graph.Aggregate(site, kernel.Max, vt, graph.ReduceOptions{Axes: []int{1}, KeepDims: true})
	if err != nil {
		return nil, err
	}
	least, err := graph.Aggregate(site, kernel.Min, vt, graph.ReduceOptions{Axes: []int{1}, KeepDims: true})
	if err != nil {
		return nil, err
	}
	both, err := graph.Apply(site, kernel.Add, most, least)
	if err != nil {
		return nil, err
	}
	zero, err := graph.Scalar(site, 0.0)
	if err != nil {
		return nil, err
	}
	turn, err := graph.Apply(site, kernel.Less, both, zero)
	if err != nil {
		return nil, err
	}
	other, err := graph.Apply(site, kernel.Negative, vt)
	if err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.Where, turn, other, vt)
}
