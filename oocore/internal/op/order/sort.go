// Package order has the operations that compare elements: sorting of lines of any length,
// order statistics, the largest elements, distinct ones, and binary search.
//
// The order is NumPy's: numbers rise, NaN comes last, complex numbers go by their real
// and then by their imaginary part. Sorting is stable, and -0 comes before 0 where
// values are sorted, with which it is equal where positions are. A NaN that is sorted
// loses its payload.
package order

import (
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Sort is NumPy's sort along an axis, and also in falling order, which is that of the
// array API: of equal elements the first stays first.
//
// A line whose records fit into 16 MiB takes one pass; a longer one two that read and two
// that write. One of over 8 GiB of real elements is sorted in rows of up to 64 MiB, each in
// place, so that one merge takes it up to 32 GiB; beyond, and from 8 GiB for other records,
// there are two merges, or more.
func Sort(site graph.Site, a SortArgs) (*graph.Node, error) {
	return sorted(site, "sort", a.X, a.Axis, Sorting{Type: a.X.DType, Descending: a.Descending})
}

// Argsort is NumPy's argsort along an axis, stable: the positions of the elements in
// their order, as int64. Records are of 8 bytes, of 16 for elements of more than 4
// bytes, and of 32 for those of 16.
func Argsort(site graph.Site, a SortArgs) (*graph.Node, error) {
	return sorted(site, "argsort", a.X, a.Axis, Sorting{Type: a.X.DType, Positions: true, Descending: a.Descending})
}

func sorted(site graph.Site, name string, n *graph.Node, axis int, s Sorting) (*graph.Node, error) {
	n, axis, err := strong(site, name, n, axis)
	if err != nil {
		return nil, err
	}
	s.Type = n.DType
	length := n.Shape[axis]
	if grid.Size(n.Shape) == 0 {
		return graph.Full(site, dtype.FromInt(s.result(), 0), n.Shape...)
	}
	args := []string{strconv.Itoa(axis)}
	if s.Descending {
		args = append(args, "descending")
	}
	if lines := (Lines{Sorting: s, Shape: n.Shape, Axis: axis}); length <= newLine(length, s).Row && !lines.scattered() {
		return graph.NewBlockwise(site, name, lines, n.Shape, s.result(), []*graph.Node{n}, args...)
	}
	if length <= newLine(length, s).Row { // side by side, and back where they are read
		return along(site, n, axis, func(n *graph.Node) (*graph.Node, error) {
			lines := Lines{Sorting: s, Shape: n.Shape, Axis: len(n.Shape) - 1}
			return graph.NewBlockwise(site, name, lines, n.Shape, s.result(), []*graph.Node{n}, strconv.Itoa(lines.Axis))
		})
	}
	return along(site, n, axis, func(n *graph.Node) (*graph.Node, error) { return external(site, name, []*graph.Node{n}, s, args...) })
}

// strong gives a number of the program its type, and resolves the axis.
func strong(site graph.Site, name string, n *graph.Node, axis int) (*graph.Node, int, error) {
	axis, err := grid.Axis(axis, len(n.Shape))
	if err == nil {
		n, err = graph.AsType(site, n, n.DType)
	}
	if err != nil {
		return nil, 0, graph.Reject(site, name, err, n)
	}
	return n, axis, nil
}

// along is an operation on lines along the last axis, on those along any.
func along(site graph.Site, n *graph.Node, axis int, f func(n *graph.Node) (*graph.Node, error)) (*graph.Node, error) {
	there, back := toLast(len(n.Shape), axis)
	n, err := graph.Transpose(site, n, there...)
	if err != nil {
		return nil, err
	}
	if n, err = f(n); err != nil {
		return nil, err
	}
	return graph.Transpose(site, n, back...)
}

// toLast are the orders of axes that bring one to the end, and back.
func toLast(dims, axis int) (there, back []int) {
	for d := range dims {
		switch {
		case d < axis:
			there, back = append(there, d), append(back, d)
		case d == axis:
			back = append(back, dims-1)
		default:
			there, back = append(there, d), append(back, d-1)
		}
	}
	return append(there, axis), back
}
