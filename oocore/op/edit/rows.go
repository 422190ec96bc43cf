package edit

import (
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op"
	"github.com/gonbext/gonbext/oocore/op/index"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: "piecewise(x, condition, y, condition, z..., otherwise)", Build: pieces, Args: [2]int{3, -1}, Examples: "piecewise(x, x > 0.5, y)",
		Go: "Array.Piecewise"},
	{Usage: `set(x, "0:100, ::2", bools or indices, values, axis)`, NumPy: "x[...] = values", Passes: op.Fused + "; of a mask and a list of values those of cumsum over the mask, of indices those of argsort over them", Holds: op.Shown, Build: assigned, Args: [2]int{3, 4}, Examples: `set(x, "0:10", 0)`,
		Go: "Array.Set"},
	{Usage: `insert(x, index or "1, 4" or "2:8", values, axis)`, Holds: op.Shown, Build: inserted, Args: [2]int{3, 4},
		Go: "Array.Insert"},
	{Usage: `delete(x, index or "1, 4" or "2:8", axis)`, Holds: op.Shown, Build: deleted, Args: [2]int{2, 3},
		Go: "Array.Delete"},
}

// assigned is an array with values in a region, where a mask is true, or where indices along an
// axis point to.
func assigned(c *op.Call) (*graph.Node, error) {
	x, err := c.Node(0)
	if err != nil {
		return nil, err
	}
	values, err := c.Node(2)
	if err != nil {
		return nil, err
	}
	axis, err := c.Ints(3)
	if err != nil {
		return nil, err
	}
	at := c.Values[1]
	mask := at.Node != nil && at.Node.DType == dtype.Bool
	switch {
	case len(axis) > 0 && (at.Node == nil || mask):
		return nil, c.Fail(3, "only indices in an array are along an axis: %s", c.Usage)
	case at.Text != nil:
		return index.Set(c.Site, x, *at.Text, values)
	case mask:
		return SetMask(c.Site, x, at.Node, values)
	case at.Node != nil:
		return SetAt(c.Site, x, at.Node, values, append(axis, 0)[0])
	}
	return nil, c.Fail(1, "set takes the region as text in double quotes, a mask or an array of indices: %s", c.Usage)
}

func inserted(c *op.Call) (*graph.Node, error) {
	x, axis, err := along(c, 3)
	if err != nil {
		return nil, err
	}
	values, err := c.Node(2)
	if err != nil {
		return nil, err
	}
	if v, d, is, err := every(c, x, axis); is || err != nil {
		if err != nil {
			return nil, err
		}
		return InsertEvery(c.Site, x, v.Start[0], v.Step[0], v.Shape[0], values, d)
	}
	indices, alone, err := places(c)
	if err != nil {
		return nil, err
	}
	return Insert(c.Site, x, indices, alone, values, axis)
}

func deleted(c *op.Call) (*graph.Node, error) {
	x, axis, err := along(c, 2)
	if err != nil {
		return nil, err
	}
	if v, d, is, err := every(c, x, axis); is || err != nil {
		if err != nil {
			return nil, err
		}
		return DeleteEvery(c.Site, x, v.Start[0], v.Step[0], v.Shape[0], d)
	}
	indices, _, err := places(c)
	if err != nil {
		return nil, err
	}
	return Delete(c.Site, x, indices, axis)
}

// along is the first argument and the axis at a place; without one, the array as if flattened.
func along(c *op.Call, at int) (*graph.Node, int, error) {
	x, err := c.Node(0)
	if err != nil {
		return nil, 0, err
	}
	axis, err := c.Ints(at)
	if err != nil {
		return nil, 0, err
	}
	return shape.Along(c.Site, x, axis)
}

// every is the indices along an axis that a slice in the text of the second argument selects; is
// is false where there is none.
func every(c *op.Call, x *graph.Node, axis int) (v grid.View, d int, is bool, err error) {
	text := c.Values[1].Text
	if text == nil || !strings.Contains(*text, ":") {
		return v, 0, false, nil
	}
	if d, err = grid.Axis(axis, len(x.Shape)); err == nil {
		v, err = grid.ParseSlice(*text, x.Shape[d:d+1])
	}
	if err != nil {
		err = graph.Reject(c.Site, c.Name, err, x)
	}
	return v, d, true, err
}

// places are the indices of the second argument: one number, which alone says, several in text,
// or the elements of an array.
func places(c *op.Call) (indices []int, alone bool, err error) {
	switch v := c.Values[1]; {
	case v.Text != nil && strings.TrimSpace(*v.Text) == "":
		return nil, false, nil
	case v.Text != nil:
		indices, err = c.List(1, *v.Text)
		return indices, false, err
	case v.Node != nil:
		wide, err := index.Integers(c.Site, v.Node)
		if err != nil {
			return nil, false, graph.Reject(c.Site, c.Name, err, v.Node)
		}
		elements, err := c.Counter(1)(wide)
		for _, i := range elements {
			indices = append(indices, int(i))
		}
		return indices, len(v.Node.Shape) == 0, err
	}
	n, ok := c.Values[1].Number.(int64)
	if !ok {
		return nil, false, c.Fail(1, "%s takes an index here: %s", c.Name, c.Usage)
	}
	return []int{int(n)}, true, nil
}

// pieces reads a value after each condition, and perhaps one more.
func pieces(c *op.Call) (*graph.Node, error) {
	in, err := c.Nodes(len(c.Values))
	if err != nil {
		return nil, err
	}
	var conditions, values []*graph.Node
	for i := 1; i < len(in); i += 2 {
		if i+1 == len(in) {
			values = append(values, in[i])
			break
		}
		conditions, values = append(conditions, in[i]), append(values, in[i+1])
	}
	return Piecewise(c.Site, in[0], conditions, values)
}
