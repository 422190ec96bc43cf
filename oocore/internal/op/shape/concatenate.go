package shape

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

func init() {
	blockwise.Register("concat", Concat{}, blockwise.Exact, blockwise.OnlyMoves, blockwise.Joins, blockwise.KeepsAxes)
}

// Concat is arrays after each other along an axis.
type Concat struct {
	Axis  int
	Parts [][]int // the inputs' shapes
	Item  int     // bytes of an element
}

// Requirements is a part of the box of each input.
func (o Concat) Requirements(box []int) blockwise.Requirements {
	need := blockwise.Requirements{DisjointReads: true}
	for _, shape := range o.Parts {
		reads := slices.Clone(box)
		reads[o.Axis] = min(box[o.Axis], max(shape[o.Axis], 1))
		need.Reads = append(need.Reads, reads)
		if lead(box, o.Axis) > 1 {
			need.Scratch = max(need.Scratch, int64(grid.Size(reads)*o.Item))
		}
	}
	return need
}

// Fill reads the parts of the inputs that lie in the box.
func (o Concat) Fill(ctx context.Context, t *blockwise.Task) error {
	first, last := t.Box.Start[o.Axis], t.Box.Start[o.Axis]+t.Box.Shape[o.Axis]
	begin := 0
	for i, shape := range o.Parts {
		end := begin + shape[o.Axis]
		if low, high := max(first, begin), min(last, end); low < high {
			from := grid.Box{Start: slices.Clone(t.Box.Start), Shape: slices.Clone(t.Box.Shape)}
			from.Start[o.Axis], from.Shape[o.Axis] = low-begin, high-low
			at := make([]int, len(shape))
			at[o.Axis] = low - first
			if err := t.Place(ctx, i, from, at, o.Item); err != nil {
				return err
			}
		}
		begin = end
	}
	return nil
}

// Concatenate puts arrays after each other along an axis, as NumPy's concatenate. All
// other lengths are equal; types promote.
func Concatenate(site graph.Site, axis int, in ...*graph.Node) (*graph.Node, error) {
	n, err := concatenate(site, axis, in)
	return graph.Result(site, "concatenate", n, err, in...)
}

func concatenate(site graph.Site, axis int, in []*graph.Node) (*graph.Node, error) {
	if len(in) == 0 {
		return nil, errors.New("need at least one array")
	}
	dims := len(in[0].Shape)
	if dims == 0 {
		return nil, errors.New("arrays of no dimensions have no axis to follow each other along: use stack")
	}
	at, err := grid.Axis(axis, dims)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(in[0].Shape)
	shape[at] = 0
	for _, n := range in {
		if len(n.Shape) != dims {
			return nil, fmt.Errorf("shapes %s and %s have different numbers of dimensions", grid.Format(in[0].Shape), grid.Format(n.Shape))
		}
		for d := range shape {
			if d != at && n.Shape[d] != shape[d] {
				return nil, fmt.Errorf("shapes %s and %s differ along axis %d, and only axis %d may differ", grid.Format(in[0].Shape), grid.Format(n.Shape), d, at)
			}
		}
		shape[at] += n.Shape[at]
	}
	op := Concat{Axis: at}
	var parts []*graph.Node
	t := Common(in)
	for _, n := range in {
		if n, err = graph.AsType(site, n, t); err != nil {
			return nil, err
		}
		if n.Shape[at] > 0 {
			parts, op.Parts = append(parts, n), append(op.Parts, n.Shape)
		}
	}
	op.Item = t.Size()
	switch {
	case grid.Size(shape) == 0:
		return Empty(site, t, shape), nil
	case len(parts) == 1:
		return parts[0], nil
	}
	return graph.NewBlockwise(site, "concatenate", op, shape, t, parts, strconv.Itoa(axis))
}

// Common is the type that arrays meet in, NumPy's result_type.
func Common(in []*graph.Node) dtype.Type {
	types := make([]dtype.Type, len(in))
	for i, n := range in {
		types[i] = n.DType
	}
	return dtype.PromoteAll(types...)
}

// Empty is an array without elements; of zeros, if it has some.
func Empty(site graph.Site, t dtype.Type, shape []int) *graph.Node {
	return &graph.Node{Kind: graph.Constant, Shape: shape, DType: t, Value: dtype.FromInt(t, 0), Site: site}
}

// Stack puts arrays of one shape after each other along a new axis, at its place in the
// result, as NumPy's stack.
func Stack(site graph.Site, axis int, in ...*graph.Node) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "stack", in...)
	if len(in) == 0 {
		return nil, errors.New("need at least one array")
	}
	at, err := grid.Axis(axis, len(in[0].Shape)+1)
	if err != nil {
		return nil, err
	}
	wide := make([]*graph.Node, len(in))
	for i, n := range in {
		if !slices.Equal(n.Shape, in[0].Shape) {
			return nil, fmt.Errorf("shapes %s and %s differ, and all must be the same", grid.Format(in[0].Shape), grid.Format(n.Shape))
		}
		if wide[i], err = graph.ExpandDims(site, n, at); err != nil {
			return nil, err
		}
	}
	return concatenate(site, at, wide)
}

// mostParts is how many arrays one is cut into at the most: each is a node of the graph.
const mostParts = 1 << 16

// checkParts rejects more arrays than can be held.
func checkParts(n int) error {
	if n > mostParts {
		return fmt.Errorf("%d parts are too many, %d are possible: slice those that are needed", n, mostParts)
	}
	return nil
}

// Split cuts an array along an axis into so many parts of equal length, as NumPy's
// split.
func Split(site graph.Site, a SplitArgs) ([]*graph.Node, error) {
	n, sections, axis := a.X, a.Sections, a.Axis
	at, err := grid.Axis(axis, len(n.Shape))
	if err == nil && sections < 1 {
		err = fmt.Errorf("%d sections: give 1 or more", sections)
	}
	if err == nil {
		err = checkParts(sections)
	}
	if err == nil && n.Shape[at]%sections != 0 {
		err = fmt.Errorf("axis %d of length %d does not divide into %d equal parts: say where to cut", at, n.Shape[at], sections)
	}
	if err != nil {
		return nil, graph.Reject(site, "split", err, n)
	}
	cuts := make([]int, sections-1)
	for i := range cuts {
		cuts[i] = (i + 1) * (n.Shape[at] / sections)
	}
	return SplitAt(site, n, cuts, at)
}

// SplitAt cuts an array along an axis before the given indices, which may be negative,
// as NumPy's split does with a list.
func SplitAt(site graph.Site, n *graph.Node, cuts []int, axis int) ([]*graph.Node, error) {
	at, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, graph.Reject(site, "split", err, n)
	}
	m := &graph.Maker{Site: site}
	var parts []*graph.Node
	begin := 0
	for _, end := range append(slices.Clone(cuts), n.Shape[at]) {
		parts, begin = append(parts, m.Part(n, at, begin, end)), end
	}
	return parts, m.Err
}

// Unstack is the parts of length one along an axis, without it.
func Unstack(site graph.Site, a op.Numbered) ([]*graph.Node, error) {
	n := a.X
	at, err := grid.Axis(a.N, len(n.Shape))
	if err == nil {
		err = checkParts(n.Shape[at])
	}
	if err != nil {
		return nil, graph.Reject(site, "unstack", err, n)
	}
	parts := make([]*graph.Node, n.Shape[at])
	for i := range parts {
		if parts[i], err = graph.Slice(site, n, before(at)+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// before are the ranges of the axes before one, in a slice.
func before(axis int) string { return strings.Repeat(":, ", axis) }

// Block is NumPy's block of lists of two depths: the arrays of each row follow each other
// along the last axis, and the rows along the one before. Those of fewer axes than two, or
// than others have, get more before their own.
func Block(site graph.Site, rows [][]*graph.Node) (*graph.Node, error) {
	dims := 2
	var all []*graph.Node
	for _, row := range rows {
		for _, n := range row {
			dims = max(dims, len(n.Shape))
			all = append(all, n)
		}
		if len(row) == 0 {
			return nil, graph.Reject(site, "block", errors.New("a row has no arrays"))
		}
	}
	if len(all) == 0 {
		return nil, graph.Reject(site, "block", errors.New("need at least one array"))
	}
	joined := make([]*graph.Node, len(rows))
	for i, row := range rows {
		wide := make([]*graph.Node, len(row))
		for k, n := range row {
			var err error
			if wide[k], err = graph.ExpandDims(site, n, grid.UpTo(dims-len(n.Shape))...); err != nil {
				return nil, err
			}
		}
		out, err := concatenate(site, -1, wide)
		if err != nil {
			return nil, graph.Reject(site, "block", err, all...)
		}
		joined[i] = out
	}
	out, err := concatenate(site, -2, joined)
	return graph.Result(site, "block", out, err, all...)
}
