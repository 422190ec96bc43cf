package label

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "sel", NumPy: "xr.DataArray.sel", Holds: "the labels of the dimensions that are selected along", Build: op.ByHand(`x, "dim", label...`, 3, -1, selection), Go: "Array.Sel"},
	{Name: "near", NumPy: `xr.DataArray.sel(method="nearest")`, Build: op.ByHand("label", 1, 1, func(c *op.Call) (*graph.Node, error) { // which an expression takes for what it is: see package expr
		return nil, c.Fail(0, `near stands for a label: sel(x, "lat", near(48.1))`)
	}), Go: "Near"},
	{Name: "coord", NumPy: "xr.DataArray.coords[dim]", Build: op.ByHand(`x, "dim"`, 2, 2, coordinate), Go: "Array.Coord"},
	{Name: "sortby", NumPy: "xr.DataArray.sortby", Build: op.Build(SortBy), Go: "Array.SortBy"},
	{Name: "reindex", NumPy: "xr.DataArray.reindex", Build: op.Build(Reindex), Go: "Array.Reindex"},
	{Name: "shift", NumPy: "xr.DataArray.shift", Build: op.Build(Shift), Go: "Array.Shift"},
	{Name: "idxmax", NumPy: "xr.DataArray.idxmax", Passes: "1", Holds: "an accumulator for each result, or two", Build: op.Build(Extreme).With(ExtremeArgs{Max: true}), Go: "Array.IdxMax"},
	{Name: "idxmin", NumPy: "xr.DataArray.idxmin", Passes: "1", Holds: "an accumulator for each result, or two", Build: op.Build(Extreme).With(ExtremeArgs{}), Go: "Array.IdxMin"},
	{Name: "with_coord", NumPy: "xr.DataArray.assign_coords", Build: op.ByHand(`x, "dim", labels`, 3, 3, labelled), Go: "Array.WithCoord"},
}

// dimension is the name at a place of a call's arguments.
func dimension(c *op.Call, at int) (string, error) {
	if c.Values[at].Text == nil {
		return "", c.Fail(at, "%s takes the name of a dimension here, in double quotes: %s", c.Name, c.Usage)
	}
	return *c.Values[at].Text, nil
}

// along are the array and the dimension that a call begins with.
func along(c *op.Call) (n *graph.Node, dim string, err error) {
	if n, err = c.Node(0); err == nil {
		dim, err = dimension(c, 1)
	}
	return n, dim, err
}

func selection(c *op.Call) (*graph.Node, error) {
	n, err := c.Node(0)
	if err != nil {
		return nil, err
	}
	if len(c.Values)%2 == 0 {
		return nil, c.Fail(len(c.Values)-1, "sel takes a label after the name of each dimension: %s", c.Usage)
	}
	var by []By
	for at := 1; at < len(c.Values); at += 2 {
		dim, err := dimension(c, at)
		if err != nil {
			return nil, err
		}
		by = append(by, By{dim, c.Values[at+1]})
	}
	return Select(c.Site, n, by, c.Labels)
}

func coordinate(c *op.Call) (*graph.Node, error) {
	n, dim, err := along(c)
	if err != nil {
		return nil, err
	}
	return Coord(c.Site, n, dim, c.Labels)
}

// Coord returns the labels of a dimension.
func Coord(site graph.Site, n *graph.Node, dim string, read op.Labels) (*graph.Node, error) {
	c, _, err := coordinateOf(site, n, dim, read)
	if err != nil {
		return nil, graph.Reject(site, "coord", graph.Unnamed(err), n)
	}
	return c, nil
}

func noLabels(dim string) error {
	return fmt.Errorf("the dimension %q has no labels: Slice selects by place, and WithCoord gives labels", dim)
}

func labelled(c *op.Call) (*graph.Node, error) {
	n, dim, err := along(c)
	if err != nil {
		return nil, err
	}
	labels, err := c.Node(2)
	if err != nil {
		return nil, err
	}
	return WithCoord(c.Site, n, dim, labels)
}

// WithCoord returns an array with labels of a dimension, in place of those that it has. nil takes them away. An array whose
// dimensions have no names takes the name for the only one of the labels' length.
func WithCoord(site graph.Site, n *graph.Node, dim string, labels *graph.Node) (*graph.Node, error) {
	out, err := withCoord(n, dim, labels)
	if err != nil {
		return nil, graph.Reject(site, "with_coord", err, n)
	}
	return out, nil
}

func withCoord(n *graph.Node, dim string, labels *graph.Node) (*graph.Node, error) {
	d, err := n.NamedAxis(dim)
	if err != nil && labels != nil && dim != "" && len(labels.Shape) == 1 {
		d = slices.Index(n.Shape, labels.Shape[0])
		names := n.DimNames()
		if d >= 0 && !slices.Contains(n.Shape[d+1:], labels.Shape[0]) && (names == nil || names[d] == "") {
			err = nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case labels == nil: // the name alone
		labels = nameOnly(dim, n.Shape[d])
	case len(labels.Shape) != 1 || labels.Shape[0] != n.Shape[d]:
		return nil, fmt.Errorf("labels of shape %v are not one for each of the %d places along %q", labels.Shape, n.Shape[d], dim)
	}
	named := *labels
	named.Labels = dim
	after := graph.AllAxes(n)
	after[d] = graph.Axis{Of: &named}
	return graph.NameAxes(n, after...), nil
}

// nameOnly stands for labels of a dimension of a length, which has none.
func nameOnly(dim string, length int) *graph.Node {
	return &graph.Node{Kind: graph.Constant, Shape: []int{length + 1}, DType: dtype.Int64, Labels: dim}
}
