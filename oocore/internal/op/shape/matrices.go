package shape

import (
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Eye is a matrix of float64 with ones on a diagonal and zeros elsewhere, as NumPy's eye.
func Eye(site graph.Site, rows, columns, diagonal int) (*graph.Node, error) {
	return Named(site, "eye")(compared(site, kernel.Equal, rows, columns, diagonal))
}

// Tri is a matrix of float64 with ones on a diagonal and below it, as NumPy's tri.
func Tri(site graph.Site, a EyeArgs) (*graph.Node, error) {
	return Named(site, "tri")(compared(site, kernel.LessEqual, a.Rows, append(a.Columns, a.Rows)[0], a.Diagonal))
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
	m := &graph.Maker{Site: site}
	ones := m.Apply(op, count(m, 0, columns), m.Reshape(count(m, from, rows), rows, 1))
	return m.Cast(ones, dtype.Float64), m.Err
}

// count is so many integers from one on.
func count(m *graph.Maker, from, n int) *graph.Node {
	return m.Make(func() (*graph.Node, error) {
		return graph.Arange(m.Site, m.Number(from), m.Number(from+n), m.Number(1))
	})
}

// Indices is the index of each element of an array of some lengths, along each of its axes, as
// NumPy's indices.
func Indices(site graph.Site, a IndicesArgs) ([]*graph.Node, error) {
	lengths := a.Lengths
	if err := grid.Check(lengths, 8); err != nil {
		return nil, graph.Reject(site, "indices", err)
	}
	m := &graph.Maker{Site: site}
	in := make([]*graph.Node, len(lengths))
	for i, n := range lengths {
		in[i] = count(m, 0, n)
	}
	if m.Err != nil {
		return nil, m.Err
	}
	return Meshgrid(site, true, in...)
}

// Meshgrid is each array, as if flattened, along an axis of its own and constant along the
// others, as NumPy's meshgrid: with matrix, the i-th along axis i ("ij"), else the first two change
// places ("xy").
func Meshgrid(site graph.Site, matrix bool, in ...*graph.Node) ([]*graph.Node, error) {
	place := grid.UpTo(len(in))
	if !matrix && len(in) > 1 {
		place[0], place[1] = 1, 0
	}
	lengths := make([]int, len(in))
	for i, n := range in {
		lengths[place[i]] = grid.Size(n.Shape)
	}
	m := &graph.Maker{Site: site}
	out := make([]*graph.Node, len(in))
	for i, n := range in {
		line := slices.Repeat([]int{1}, len(in))
		line[place[i]] = lengths[place[i]]
		out[i] = m.BroadcastTo(m.Reshape(n, line...), lengths...)
	}
	if m.Err != nil {
		return nil, graph.Reject(site, "meshgrid", m.Err, in...)
	}
	return out, nil
}
