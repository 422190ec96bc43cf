package shape

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Lower is the array with zeros above a diagonal of its last two axes, as NumPy's tril;
// diagonal 0 is the main one, and positive ones are above it.
func Lower(site graph.Site, a op.Shifted) (*graph.Node, error) {
	return triangle(site, "tril", a.X, Triangle{Diagonal: a.Offset})
}

// Upper is the array with zeros below a diagonal, as NumPy's triu.
func Upper(site graph.Site, a op.Shifted) (*graph.Node, error) {
	return triangle(site, "triu", a.X, Triangle{Diagonal: a.Offset, Upper: true})
}

func triangle(site graph.Site, name string, n *graph.Node, op Triangle) (*graph.Node, error) {
	shape := n.Shape
	switch len(shape) {
	case 0:
		return nil, graph.Reject(site, name, errors.New("takes one dimension or more"), n)
	case 1: // as NumPy: a vector is each row of a square
		wide, err := graph.BroadcastTo(site, n, shape[0], shape[0])
		if err != nil {
			return nil, err
		}
		n, shape = wide, wide.Shape
	}
	if grid.Size(shape) == 0 {
		return n, nil
	}
	// Beyond the array all diagonals are alike, and sums with them stay in range.
	far := shape[len(shape)-2] + shape[len(shape)-1]
	op.Diagonal, op.Item = min(max(op.Diagonal, -far), far), n.DType.Size()
	return graph.NewBlockwise(site, name, op, shape, n.DType, []*graph.Node{n}, strconv.Itoa(op.Diagonal))
}

// Diag is a matrix with a vector on a diagonal and zeros elsewhere, or the diagonal of
// a matrix, as NumPy's diag.
func Diag(site graph.Site, a op.Shifted) (*graph.Node, error) {
	n, offset := a.X, a.Offset
	switch len(n.Shape) {
	case 2:
		return Diagonal(site, DiagonalArgs{X: n, Offset: offset, Axis: 0, Other: 1})
	case 1:
	default:
		return nil, graph.Reject(site, "diag", fmt.Errorf("takes one dimension or two, not %d", len(n.Shape)), n)
	}
	size := n.Shape[0] + max(offset, -offset)
	if size < 0 || size < n.Shape[0] {
		return nil, graph.Reject(site, "diag", fmt.Errorf("diagonal %d is too far away", offset), n)
	}
	if err := grid.Check([]int{size, size}, n.DType.Size()); err != nil {
		return nil, graph.Reject(site, "diag", err, n)
	}
	if n.Shape[0] == 0 { // nothing but zeros
		return Empty(site, n.DType, []int{size, size}), nil
	}
	op := DiagEmbed{Row: max(-offset, 0), Column: max(offset, 0), Len: n.Shape[0], Item: n.DType.Size()}
	return graph.NewBlockwise(site, "diag", op, []int{size, size}, n.DType, []*graph.Node{n}, strconv.Itoa(offset))
}

// Trace is the sum of a diagonal, as NumPy's trace, in a type, or that of sums where it is
// dtype.Invalid.
func Trace(site graph.Site, a TraceArgs) (*graph.Node, error) {
	d, err := Diagonal(site, a.DiagonalArgs)
	if err != nil {
		return nil, err
	}
	return graph.Aggregate(site, kernel.Sum, d, graph.ReduceOptions{Axes: []int{-1}, DType: a.DType})
}

// Diagonal is a diagonal of the plane of two axes, which become one, the last, as
// NumPy's diagonal: that of the elements whose place along the second is more by
// offset.
func Diagonal(site graph.Site, of DiagonalArgs) (*graph.Node, error) {
	n, offset, axis, other := of.X, of.Offset, of.Axis, of.Other
	dims := len(n.Shape)
	if dims < 2 {
		return nil, graph.Reject(site, "diagonal", fmt.Errorf("takes two dimensions or more, not %d", dims), n)
	}
	a, err := grid.Axis(axis, dims)
	b := 0
	if err == nil {
		b, err = grid.Axis(other, dims)
	}
	if err == nil && a == b {
		err = fmt.Errorf("axis %d is named twice", axis)
	}
	if err != nil {
		return nil, graph.Reject(site, "diagonal", err, n)
	}
	last, err := Move(site, MoveArgs{X: n, Axes: []int{a, b}, Places: []int{dims - 2, dims - 1}})
	if err != nil {
		return nil, err
	}
	rows, columns := last.Shape[dims-2], last.Shape[dims-1]
	item := n.DType.Size()
	op := Diagonals{Item: item, Cell: side(item), Outer: grid.Auto(last.Shape[:dims-2], item*side(item)*side(item), 1<<20)}
	op.Row, op.Column = max(-offset, 0), max(offset, 0)
	length := max(min(rows-op.Row, columns-op.Column), 0)
	shape := append(slices.Clone(last.Shape[:dims-2]), length)
	if grid.Size(shape) == 0 {
		return Empty(site, n.DType, shape), nil
	}
	args := []string{strconv.Itoa(offset), strconv.Itoa(axis), strconv.Itoa(other)}
	return graph.NewBlockwise(site, "diagonal", op, shape, n.DType, []*graph.Node{last}, args...)
}

func init() { blockwise.Register("triangle", Triangle{}, blockwise.OnlyMoves, blockwise.KeepsAxes) }

// Triangle is an array with zeros on one side of a diagonal of its last two axes.
type Triangle struct {
	Diagonal int
	Upper    bool // what is kept
	Item     int  // bytes of an element
}

// Requirements is the box itself.
func (o Triangle) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{slices.Clone(box)}, DisjointReads: true}
}

// kept are the columns of a row that are kept, of those from a first one on.
func (o Triangle) kept(row, column, columns int) (from, to int) {
	at := row + o.Diagonal - column // the diagonal's
	if o.Upper {
		return min(max(at, 0), columns), columns
	}
	return 0, min(max(at+1, 0), columns)
}

// Fill reads the box, unless it is all zeros.
func (o Triangle) Fill(ctx context.Context, t *blockwise.Task) error {
	last := len(t.Box.Shape) - 1
	row, column := t.Box.Start[last-1], t.Box.Start[last]
	rows, columns := t.Box.Shape[last-1], t.Box.Shape[last]
	some, all := false, true
	for _, r := range []int{row, row + rows - 1} {
		from, to := o.kept(r, column, columns)
		some, all = some || from < to, all && to-from == columns
	}
	if !some {
		return t.Compute(func() error { clear(t.Dst); return nil })
	}
	if err := t.In[0].Read(ctx, t.Box, t.Dst); err != nil || all {
		return err
	}
	return t.Compute(func() error {
		for i := range grid.Size(t.Box.Shape[:last]) {
			from, to := o.kept(row+i%rows, column, columns)
			line := t.Dst[i*columns*o.Item : (i+1)*columns*o.Item]
			clear(line[:from*o.Item])
			clear(line[to*o.Item:])
		}
		return nil
	})
}
