package linalg

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// MultiDot is NumPy's multi_dot: the product of matrices, in the order that takes the fewest multiplications. The first
// may be a vector that is a row, and the last one that is a column. (T. Cormen, C. Leiserson, R. Rivest and C. Stein,
// Introduction to Algorithms, 3rd edition, 15.2.)
func MultiDot(site graph.Site, a MultiDotArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	in, last := slices.Clone(a.Arrays), len(a.Arrays)-1
	shape := []int{}
	if last < 1 {
		m.Fail(fmt.Errorf("takes two arrays or more, not %d", len(in)))
	}
	for i, n := range in {
		if end := i == 0 || i == last; end && len(n.Shape) == 1 {
			in[i] = m.ExpandDims(n, min(i, 1))
		} else if end && len(n.Shape) == 2 {
			shape = append(shape, n.Shape[min(i, 1)])
		}
		switch n = in[i]; {
		case len(n.Shape) != 2:
			m.Fail(fmt.Errorf("takes matrices, and vectors at both ends, but array %d has the shape %s", i, grid.Format(n.Shape)))
		case m.Err == nil && i > 0 && in[i-1].Shape[1] != n.Shape[0]:
			m.Fail(fmt.Errorf("array %d has %d rows, and the one before %d columns", i, n.Shape[0], in[i-1].Shape[1]))
		}
	}
	if m.Err != nil {
		return nil, graph.Reject(site, "multi_dot", m.Err, a.Arrays...)
	}
	type run struct{ first, last int }
	cost, split := map[run]float64{}, map[run]int{} // of the products of runs of matrices
	for j := range in {
		for i := j - 1; i >= 0; i-- {
			for k := i; k < j; k++ {
				c := cost[run{i, k}] + cost[run{k + 1, j}] + float64(in[i].Shape[0])*float64(in[k].Shape[1])*float64(in[j].Shape[1])
				if k == i || c < cost[run{i, j}] {
					cost[run{i, j}], split[run{i, j}] = c, k
				}
			}
		}
	}
	var product func(r run) *graph.Node
	product = func(r run) *graph.Node {
		if r.first == r.last {
			return in[r.first]
		}
		k := split[r]
		return m.Product(product(run{r.first, k}), product(run{k + 1, r.last}))
	}
	return m.Reshape(product(run{0, last}), shape...), m.Err
}

// TensorSolve is NumPy's tensorsolve: x of tensordot(a, x, len(x.Shape)) = b, where axes of a, if any, are moved to its
// end first. a is a square matrix, with b's axes for its rows and x's for its columns.
func TensorSolve(site graph.Site, args TensorSolveArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	a, b := args.A, args.B
	order := grid.UpTo(len(a.Shape))
	for _, axis := range args.Axes {
		d, err := grid.Axis(axis, len(order))
		if err != nil {
			return nil, graph.Reject(site, "tensorsolve", err, a, b)
		}
		at := slices.Index(order, d)
		order = append(slices.Delete(order, at, at+1), d)
	}
	a = m.Transpose(a, order...)
	rows := min(len(b.Shape), len(a.Shape))
	size, of := grid.Size(a.Shape[:rows]), a.Shape[rows:]
	if other := grid.Size(of); other != size {
		m.Fail(fmt.Errorf("the first %d axes have %d elements, and the others %d: the matrix has to be square", rows, size, other))
	}
	x := m.Make(func() (*graph.Node, error) {
		x, err := Solve(site, m.Reshape(a, size, size), m.Reshape(b, -1))
		return x, graph.Unnamed(err)
	})
	return m.Result("tensorsolve", m.Reshape(x, of...), args.A, b)
}

// TensorInv is NumPy's tensorinv: the inverse for products along all of the last axes, those after the first ind.
func TensorInv(site graph.Site, args TensorInvArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	a, ind := args.A, args.Ind
	if ind < 1 {
		return nil, graph.Reject(site, "tensorinv", fmt.Errorf("takes a positive number of axes, not %d", ind), a)
	}
	first, last := a.Shape[:min(ind, len(a.Shape))], a.Shape[min(ind, len(a.Shape)):]
	rows, columns := grid.Size(first), grid.Size(last)
	if rows != columns {
		m.Fail(fmt.Errorf("the first %d axes have %d elements, and the others %d: the matrix has to be square", ind, rows, columns))
	}
	x := m.Make(func() (*graph.Node, error) {
		x, err := Inv(site, op.Unary{X: m.Reshape(a, rows, columns)})
		return x, graph.Unnamed(err)
	})
	return m.Result("tensorinv", m.Reshape(x, slices.Concat(last, first)...), a)
}
