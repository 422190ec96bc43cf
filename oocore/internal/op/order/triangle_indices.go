package order

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
)

// TriangleIndices are the rows and the columns of a triangle's elements in C order, as NumPy's
// tril_indices, or with upper its triu_indices. Their number follows from the lengths, and
// the row of each is found among the numbers of elements up to each row.
func TriangleIndices(site graph.Site, a TriangleArgs) ([]*graph.Node, error) {
	m := &graph.Maker{Site: site}
	out, err := triangleIndices(m, a.Rows, a.Columns, a.Diagonal, a.Upper)
	if err != nil {
		return nil, graph.Reject(site, map[bool]string{false: "tril_indices", true: "triu_indices"}[a.Upper], err)
	}
	return out, nil
}

func triangleIndices(m *graph.Maker, rows, columns, diagonal int, upper bool) ([]*graph.Node, error) {
	if rows < 0 || columns < 0 {
		return nil, errors.New("a number of rows or columns is negative")
	}
	if err := grid.Check([]int{rows, columns}, 8); err != nil {
		return nil, err
	}
	// Beyond the matrix all diagonals are alike, and sums with them stay in range.
	first := min(max(diagonal, -rows-1), columns+1)
	if !upper {
		first++ // behind the diagonal
	}
	count := below(rows, columns, first)
	if upper {
		count = rows*columns - count
	}
	if count == 0 {
		none := m.Full(dtype.ValueOf(int64(0)), 0)
		return []*graph.Node{none, none}, m.Err
	}
	// The column at which each row passes the diagonal, and how many elements of it count.
	border := m.Apply(kernel.Add, m.Arange(rows), m.Number(first))
	border = m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, border, m.Number(0)), m.Number(columns))
	length := border
	if upper {
		length = m.Apply(kernel.Subtract, m.Number(columns), border)
	}
	ends := m.Make(func() (*graph.Node, error) { return scan.Cumulative(m.Site, "cumsum", false, length, 0) })
	place := m.Arange(count)
	row := m.Make(func() (*graph.Node, error) { return SearchSorted(m.Site, ends, place, true) })
	begin := m.Apply(kernel.Subtract, ends, length) // the place of the row's first element
	if upper {
		begin = m.Apply(kernel.Subtract, begin, border)
	}
	before := m.Make(func() (*graph.Node, error) { return index.Take(m.Site, begin, row, 0) })
	return []*graph.Node{row, m.Apply(kernel.Subtract, place, before)}, m.Err
}

// below is how many elements of a matrix have a column below their row plus a number.
func below(rows, columns, first int) int {
	rising := min(max(-first, 0), rows)           // the first row that has some
	full := min(max(columns-first, rising), rows) // the first that has all
	n := full - rising
	return n*(rising+first) + n*(n-1)/2 + (rows-full)*columns
}
