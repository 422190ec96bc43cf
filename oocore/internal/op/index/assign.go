package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() {
	blockwise.Register("set", Assigned{}, blockwise.Exact, blockwise.OnlyMoves, blockwise.KeepsAxes)
}

// Assigned is an array with other values in a region: along axis d at the Count[d]
// indices Start[d] + Step[d]·i.
type Assigned struct {
	Shape              []int
	Start, Step, Count []int
	Item               int // bytes of an element
}

// Requirements is the box of the array, and what of the region may lie in it.
func (o Assigned) Requirements(box []int) blockwise.Requirements {
	values := make([]int, len(box))
	direct, outer := true, 1
	for d, n := range box {
		values[d] = min((n+o.Step[d]-1)/o.Step[d], o.Count[d])
		direct = direct && o.Step[d] == 1 && (outer == 1 || o.Count[d] == o.Shape[d])
		outer *= n
	}
	need := blockwise.Requirements{Reads: [][]int{slices.Clone(box), values}, DisjointReads: true}
	if !direct {
		need.Scratch = int64(grid.Size(values) * o.Item)
	}
	return need
}

// Fill reads the array, unless the region covers the box, and over it the values.
func (o Assigned) Fill(ctx context.Context, t *blockwise.Task) error {
	dims := len(o.Shape)
	from := grid.Box{Start: make([]int, dims), Shape: make([]int, dims)}
	at := make([]int, dims) // of the first value in the box
	covers := true
	for d, step := range o.Step {
		low, high := t.Box.Start[d], t.Box.Start[d]+t.Box.Shape[d]
		first := max((low-o.Start[d]+step-1)/step, 0)
		if low <= o.Start[d] {
			first = 0
		}
		last := o.Count[d]
		if high <= o.Start[d] {
			last = 0
		} else {
			last = min(last, (high-1-o.Start[d])/step+1)
		}
		from.Start[d], from.Shape[d] = first, max(last-first, 0)
		at[d] = o.Start[d] + first*step - low
		covers = covers && from.Shape[d] == t.Box.Shape[d]
	}
	if !covers {
		if err := t.In[0].Read(ctx, t.Box, t.Dst); err != nil {
			return err
		}
	}
	n := from.Size() * o.Item
	if n == 0 {
		return nil
	}
	unit := !slices.ContainsFunc(o.Step, func(s int) bool { return s != 1 })
	if unit {
		return t.Place(ctx, 1, from, at, o.Item)
	}
	return t.ComputeFrom(ctx, 1, from, t.Scratch[:n], func() error {
		strides := grid.Strides(t.Box.Shape)
		for d := range strides {
			strides[d] *= o.Step[d]
		}
		kernel.Copy(o.Item, from.Shape, t.Dst, grid.Offset(at, grid.Entire(t.Box.Shape)), strides, t.Scratch, 0, grid.Strides(from.Shape))
		return nil
	})
}

// Set is the array with a region, as between NumPy's brackets, replaced by values,
// which broadcast to it and take the array's type: x[spec] = values of a new array.
func Set(site graph.Site, n *graph.Node, spec string, values *graph.Node) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "set", n, values)
	v, err := grid.ParseSlice(spec, n.Shape)
	if err != nil {
		return nil, err
	}
	if values, err = Fitting(site, values, n.DType); err != nil {
		return nil, err
	}
	// As NumPy's, values may have more axes before the region's, of length one.
	for len(values.Shape) > len(v.Shape) && values.Shape[0] == 1 {
		if values, err = graph.Squeeze(site, values, 0); err != nil {
			return nil, err
		}
	}
	if values, err = broadcast(site, values, v.Shape); err != nil {
		return nil, fmt.Errorf("values of shape %s do not broadcast to region %q of shape %s", grid.Format(values.Shape), spec, grid.Format(v.Shape))
	}
	if grid.Size(v.Shape) == 0 {
		return n, nil
	}
	dims := len(n.Shape)
	if dims == 0 {
		return graph.Reshape(site, values)
	}
	op := Assigned{Shape: n.Shape, Start: slices.Clone(v.Start), Step: slices.Clone(v.Step), Count: slices.Repeat([]int{1}, dims), Item: n.DType.Size()}
	whole := true
	backwards := grid.Identity(v.Shape)
	for d, a := range v.Axis {
		if a < 0 {
			op.Step[d] = 1
		} else if op.Count[d] = v.Shape[a]; op.Step[d] < 0 {
			op.Start[d] += op.Step[d] * (op.Count[d] - 1)
			op.Step[d] = -op.Step[d]
			backwards.Start[a], backwards.Step[a] = op.Count[d]-1, -1
		}
		if op.Count[d] == 1 {
			op.Step[d] = 1
		}
		whole = whole && op.Count[d] == n.Shape[d]
	}
	if !backwards.Plain(v.Shape) {
		if values, err = reversed(site, values, backwards); err != nil {
			return nil, err
		}
	}
	if values, err = graph.Reshape(site, values, op.Count...); err != nil {
		return nil, err
	}
	if whole {
		return values, nil
	}
	return graph.NewBlockwise(site, "set", op, n.Shape, n.DType, []*graph.Node{n, values}, fmt.Sprintf("%q", spec))
}

// reversed is values seen through a view that reverses axes.
func reversed(site graph.Site, n *graph.Node, v grid.View) (*graph.Node, error) {
	spec := ""
	for d := range v.Shape {
		if spec += ":, "; v.Step[d] < 0 {
			spec = spec[:len(spec)-2] + ":-1, "
		}
	}
	return graph.Slice(site, n, spec)
}

// Fitting is values in a type, as NumPy's assignment brings them there, but for a
// number that the type does not have, and for dropping imaginary parts.
func Fitting(site graph.Site, values *graph.Node, t dtype.Type) (*graph.Node, error) {
	if values.Weak {
		if _, err := values.Value.Weaken(t); err != nil {
			return nil, err
		}
		if _, ok := values.Value.Convert(t); !ok && t.Kind() < dtype.KindFloat && values.DType.Kind() == dtype.KindFloat {
			f := values.Value.Float()
			if f != f || f-f != 0 {
				return nil, fmt.Errorf("%v is no %s", values.Value, t)
			}
		}
	}
	out, err := graph.AsType(site, values, t)
	return out, graph.Unnamed(err)
}

// broadcast brings an array to a shape, without naming an operation where it cannot.
func broadcast(site graph.Site, n *graph.Node, shape []int) (*graph.Node, error) {
	if _, err := grid.BroadcastTo(n.Shape, shape); err != nil {
		return n, err
	}
	return graph.BroadcastTo(site, n, shape...)
}
