package shape

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// Eye is a matrix of float64 with ones on a diagonal and zeros elsewhere, as NumPy's eye.
func Eye(site graph.Site, rows, columns, diagonal int) (*graph.Node, error) {
	return Named(site, "eye")(compared(site, kernel.Equal, rows, columns, diagonal))
}

// Tri is a matrix of float64 with ones on a diagonal and below it, as NumPy's tri.
func Tri(site graph.Site, rows, columns, diagonal int) (*graph.Node, error) {
	return Named(site, "tri")(compared(site, kernel.LessEqual, rows, columns, diagonal))
}

// compared is 1 where the column compares with the row and the diagonal.
func compared(site graph.Site, op kernel.Op, rows, columns, diagonal int) (*graph.Node, error) {
	if rows < 0 || columns < 0 {
		return nil, errors.New("a number of rows or columns is negative")
	}
	if err := grid.Check([]int{rows, columns}, 8); err != nil {
		return nil, err
	}
	// Beyond the matrix all diagonals are alike, and sums with them stay in range.
	from := min(max(diagonal, -rows), columns)
	column, err := count(site, 0, columns)
	if err != nil {
		return nil, err
	}
	row, err := count(site, from, rows)
	if err != nil {
		return nil, err
	}
	if row, err = graph.Reshape(site, row, rows, 1); err != nil {
		return nil, err
	}
	ones, err := graph.Apply(site, op, column, row)
	if err != nil {
		return nil, err
	}
	return graph.AsType(site, ones, dtype.Float64)
}

// count is so many integers from one on.
func count(site graph.Site, from, n int) (*graph.Node, error) {
	var in [3]*graph.Node
	for i, v := range []int{from, from + n, 1} {
		var err error
		if in[i], err = graph.Scalar(site, v); err != nil {
			return nil, err
		}
	}
	return graph.Arange(site, in[0], in[1], in[2])
}

// Indices is the index of each element of an array of some lengths, along each of its axes, as
// NumPy's indices.
func Indices(site graph.Site, lengths []int) ([]*graph.Node, error) {
	if err := grid.Check(lengths, 8); err != nil {
		return nil, graph.Reject(site, "indices", err)
	}
	in := make([]*graph.Node, len(lengths))
	for i, n := range lengths {
		var err error
		if in[i], err = count(site, 0, n); err != nil {
			return nil, err
		}
	}
	return Meshgrid(site, true, in...)
}

// Meshgrid is each array, as if flattened, along an axis of its own and constant along the
// others, as NumPy's meshgrid: with matrix, the i-th along axis i ("ij"), else the first two change
// places ("xy").
func Meshgrid(site graph.Site, matrix bool, in ...*graph.Node) ([]*graph.Node, error) {
	place := upTo(len(in))
	if !matrix && len(in) > 1 {
		place[0], place[1] = 1, 0
	}
	lengths := make([]int, len(in))
	for i, n := range in {
		lengths[place[i]] = grid.Size(n.Shape)
	}
	out := make([]*graph.Node, len(in))
	for i, n := range in {
		line := make([]int, len(in))
		for d := range line {
			line[d] = 1
		}
		line[place[i]] = lengths[place[i]]
		var err error
		if out[i], err = graph.Reshape(site, n, line...); err == nil {
			out[i], err = graph.BroadcastTo(site, out[i], lengths...)
		}
		if err != nil {
			return nil, graph.Reject(site, "meshgrid", err, in...)
		}
	}
	return out, nil
}
