// Package label is about the labels of dimensions: the coordinates of arrays as xarray has them.
//
// A coordinate is an array of one dimension that says what stands at each place along a dimension of others: stored beside an
// array under the dimension's name, or given by WithCoord. Nothing of it is opened or read until a label is asked for: what an
// expression's axes are follows from its nodes.
package label

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// finder finds coordinates.
type finder struct {
	site  graph.Site
	read  op.Labels
	known map[axis]*graph.Node
	names map[*graph.Node][]string
	// unopened leaves stored labels where they are: an array stands for them that has their place alone.
	unopened bool
}

type axis struct {
	of *graph.Node
	d  int
}

func newFinder(site graph.Site, read op.Labels) *finder {
	return &finder{site: site, read: read, known: map[axis]*graph.Node{}, names: map[*graph.Node][]string{}}
}

// Check returns the error of arrays that a program has put together and whose labels differ. Labels that are stored in one place are
// not looked at.
func Check(root *graph.Node, read op.Labels) error {
	places, opened := newFinder(root.Site, nil), newFinder(root.Site, read)
	places.unopened = true
	for n := range graph.Nodes(root) {
		if !n.Joins {
			continue
		}
		for d := range n.Shape {
			if _, err := places.along(n, d); !errors.Is(err, errUnread) {
				continue
			}
			if _, err := opened.along(n, d); err != nil {
				return graph.Reject(n.Site, n.Op.String(), err, n.In...)
			}
		}
	}
	return nil
}

// Coordinate returns the labels along an axis of an array, or nil where there are none. The error is of a file, or of two arrays
// that were put together and have different labels; read is called where that does not follow from where they are stored.
func Coordinate(site graph.Site, n *graph.Node, d int, read op.Labels) (*graph.Node, error) {
	return newFinder(site, read).along(n, d)
}

func (f *finder) along(n *graph.Node, d int) (c *graph.Node, err error) {
	if c, ok := f.known[axis{n, d}]; ok {
		return c, nil
	}
	c, err = f.find(n, d)
	if err == nil && c != nil && c.Shape[0] != n.Shape[d] {
		c = nil
	}
	f.known[axis{n, d}] = c
	return c, err
}

func (f *finder) find(n *graph.Node, d int) (*graph.Node, error) {
	switch kind := n.Kind; {
	case n.Labels != "":
		return n, nil
	case len(n.NamedAfter) == len(n.Shape):
		of := n.NamedAfter[d]
		if of.Of == nil {
			return nil, nil
		}
		c, err := f.along(of.Of, of.Index)
		return f.taken(c, of.At, err)
	case kind == graph.Source:
		return f.stored(n, d)
	case kind == graph.Cast:
		return f.along(n.In[0], d)
	case kind == graph.Elementwise:
		return f.agreed(n, d)
	case kind == graph.View:
		at := slices.Index(n.View.Axis, d)
		if at < 0 {
			return nil, nil
		}
		c, err := f.along(n.In[0], at)
		if c == nil || err != nil {
			return nil, err
		}
		return graph.Along(c, n.View, at), nil
	case kind == graph.Reduce:
		for at := range n.In[0].Shape {
			if slices.Contains(n.Fold.Axes, at) {
				d++
			} else if at == d {
				break
			}
		}
		return f.along(n.In[0], d)
	case kind == graph.MatMul:
		side := 0
		if d == len(n.Shape)-1 {
			side = 1
		}
		of := d - len(n.Shape) + len(n.In[side].Shape)
		if of < n.Summed || n.In[side].Shape[of] != n.Shape[d] {
			return nil, nil
		}
		return f.along(n.In[side], of)
	case kind == graph.Blockwise && len(n.In) > 0:
		return f.blockwise(n, d)
	}
	return nil, nil
}

// stored is the coordinate of a stored array, which is itself where it is one.
func (f *finder) stored(n *graph.Node, d int) (*graph.Node, error) {
	info := &n.Stored.Info
	if !slices.Equal(info.Shape, n.Shape) {
		return nil, nil
	}
	if f.unopened {
		if at := storage.CoordinatePath(info, d); at != "" {
			return &graph.Node{Kind: graph.Source, Shape: []int{n.Shape[d]}, DType: dtype.Int64, Stored: &graph.Stored{Info: store.Info{Path: at}}}, nil
		}
		return nil, nil
	}
	found, ok, err := storage.Coordinate(context.Background(), info, d)
	if !ok || err != nil || len(n.Shape) == 1 && found.Path == info.Path {
		if ok && err == nil {
			return n, nil
		}
		return nil, err
	}
	return graph.Open(f.site, found, "")
}

// taken are the labels at some places.
func (f *finder) taken(c, at *graph.Node, err error) (*graph.Node, error) {
	if c == nil || at == nil || err != nil {
		return c, err
	}
	return index.Take(f.site, c, at, 0)
}

// agreed are the labels that the inputs of an operation have which have any.
func (f *finder) agreed(n *graph.Node, d int) (*graph.Node, error) {
	names := graph.DimNamesOf(n, f.names)
	if names == nil || names[d] == "" { // those of the inputs contradict each other, or have none
		return nil, nil
	}
	var of *graph.Node
	for _, in := range n.In {
		c, err := f.along(in, d)
		if err != nil {
			return nil, err
		}
		switch {
		case of == nil:
			of = c
		case c == nil || same(of, c):
		case !n.Joins && f.unopened:
			return nil, nil
		default:
			if err := f.compare(of, c, names[d]); n.Joins && err != nil {
				return nil, err
			} else if err != nil { // of neighbours, as within an operation
				return nil, nil
			}
		}
	}
	return of, nil
}

// same reports that labels are stored in one place, or made alike of what is.
func same(a, b *graph.Node) bool {
	switch {
	case a == b:
		return true
	case a.Kind != b.Kind || a.DType != b.DType || a.Labels != b.Labels || !slices.Equal(a.Shape, b.Shape):
		return false
	case a.Kind == graph.Source:
		return a.Stored.Info.Path == b.Stored.Info.Path && a.Stored.Info.ID.Equal(b.Stored.Info.ID)
	case a.Kind == graph.View:
		return slices.Equal(a.View.Start, b.View.Start) && slices.Equal(a.View.Step, b.View.Step) && same(a.In[0], b.In[0])
	case a.Kind == graph.Cast:
		return same(a.In[0], b.In[0])
	}
	return false
}

// Differ returns the error of labels that differ from those that are stored for a dimension.
func Differ(c *graph.Node, stored store.Info, dim string, read op.Labels) error {
	s, err := graph.Open(c.Site, stored, "")
	if err != nil || same(c, s) {
		return err
	}
	return newFinder(c.Site, read).compare(c, s, dim)
}

// compare returns the error of labels that differ.
func (f *finder) compare(a, b *graph.Node, dim string) error {
	x, err := f.values(a)
	if err != nil {
		return err
	}
	y, err := f.values(b)
	if err != nil {
		return err
	}
	if x.of != nil && y.of != nil && x.of.Calendar.Counts() != y.of.Calendar.Counts() {
		return fmt.Errorf("the dates along %q are of the calendars %s and %s. Leave the labels out by WithCoord(%[1]q, nil)", dim, x.of.Calendar, y.of.Calendar)
	}
	for i := range x.len() {
		if x.compare(i, y, i) != 0 {
			return fmt.Errorf("the labels along %q differ: %s and %s at place %d. Select the same of both first, or leave the labels out by WithCoord(%[1]q, nil)", dim, x.text(i), y.text(i), i)
		}
	}
	return nil
}

// blockwise are the labels of an operation of boxes, by what it says of its axes.
func (f *finder) blockwise(n *graph.Node, d int) (*graph.Node, error) {
	op := n.Blocks.Op
	switch o := op.(type) {
	case index.Gather:
		if d == o.Axis && o.Dims == 1 {
			c, err := f.along(n.In[0], d)
			return f.taken(c, n.In[1], err)
		}
	case shape.Concat:
		if d == o.Axis {
			return f.joined(n, d)
		}
	}
	if o, ok := op.(blockwise.AxisMover); ok && o.Moves(d) {
		return nil, nil
	}
	if o, ok := op.(blockwise.AxisKeeper); ok {
		kept := o.KeptAxes()
		if d >= len(kept) || kept[d] < 0 || kept[d] >= len(n.In[0].Shape) {
			return nil, nil
		}
		return f.along(n.In[0], kept[d])
	}
	if !blockwise.Has(op, blockwise.KeepsAxes) || d >= len(n.In[0].Shape) {
		return nil, nil
	}
	return f.along(n.In[0], d)
}

// joined are the labels of arrays one after another.
func (f *finder) joined(n *graph.Node, d int) (*graph.Node, error) {
	all := make([]*graph.Node, len(n.In))
	for i, in := range n.In {
		c, err := f.along(in, d)
		if c == nil || err != nil {
			return nil, err
		}
		all[i] = c
	}
	return shape.Concatenate(f.site, 0, all...)
}
