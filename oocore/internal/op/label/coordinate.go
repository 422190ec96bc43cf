// Package label is about the labels of dimensions: the coordinates of arrays as xarray has them.
//
// A coordinate is an array of one dimension that says what stands at each place along a dimension of others: stored beside an
// array under the dimension's name, or given by WithCoord. Nothing of it is opened or read until a label is asked for: what an
// expression's axes are follows from its nodes.
package label

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
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
		name := n.Op.String()
		switch n.Kind {
		case graph.Source:
			name = "open"
		case graph.Blockwise:
			name = n.Blocks.Name
		}
		if !n.Joins && !isStack(n) {
			continue
		}
		for d := range n.Shape {
			if _, err := places.along(n, d); !errors.Is(err, errUnread) {
				continue
			}
			if _, err := opened.along(n, d); err != nil {
				return graph.Reject(n.Site, name, err, n.In...)
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
	if c := line(f.site, info, d); c != nil { // also of a stack, if all its files have it
		return c, nil
	}
	if files, axis := storage.Parts(info); files != nil {
		return f.stacked(n, files, axis, d)
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
	return open(f.site, found)
}

// line are the labels that follow from the header of an array; nil where none do.
func line(site graph.Site, info *store.Info, d int) *graph.Node {
	if d >= len(info.Details.Dims) {
		return nil
	}
	l, ok := info.Details.Lines[info.Details.Dims[d]]
	if !ok {
		return nil
	}
	n := &graph.Node{Kind: graph.Iota, Shape: []int{info.Shape[d]}, DType: dtype.Float64, First: dtype.ValueOf(l.First), Delta: dtype.ValueOf(l.Step), Site: site}
	if l.Unit != "" {
		attributes, _ := json.Marshal(map[string]string{"units": l.Unit}) // which is text
		n.Details = &store.Details{Attributes: attributes}
	}
	return n
}

// isStack reports a stack of files, whose labels are to be the same.
func isStack(n *graph.Node) bool {
	if n.Kind != graph.Source {
		return false
	}
	files, _ := storage.Parts(&n.Stored.Info)
	return files != nil
}

// stacked are the labels of the files of a stack, which are the same in all of them.
func (f *finder) stacked(n *graph.Node, files []string, axis, d int) (*graph.Node, error) {
	names := n.Stored.Info.Details.Dims
	if d == axis || names == nil || names[d] == "" {
		return nil, nil
	}
	dim := names[d]
	if f.unopened {
		return nil, errUnread
	}
	if d > axis {
		d--
	}
	var of, from []*graph.Node
	for _, file := range files {
		one, err := openFile(f.site, file)
		if err != nil {
			return nil, err
		}
		c, err := f.stored(one, d)
		if err != nil || c == nil && of == nil { // frames without labels are not opened one by one
			return nil, err
		}
		of, from = append(of, c), append(from, one)
	}
	return f.alike(of, from, dim)
}

// openFile is a file's array.
func openFile(site graph.Site, path string) (*graph.Node, error) {
	a, err := storage.OpenContext(context.Background(), path)
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", inner.Path, inner.Err)
	}
	if err != nil {
		return nil, err
	}
	if err := a.Close(); err != nil {
		return nil, err
	}
	return graph.Open(site, a.Info(), "")
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
	var of, from []*graph.Node
	for _, in := range n.In {
		c, err := f.along(in, d)
		if err != nil {
			return nil, err
		}
		of, from = append(of, c), append(from, in)
	}
	c, err := f.alike(of, from, names[d])
	if !n.Joins && err != nil { // of neighbours, as within an operation
		return nil, nil
	}
	return c, err
}

// alike are the labels that arrays have which have any. Where they differ it is an error.
func (f *finder) alike(of, from []*graph.Node, dim string) (*graph.Node, error) {
	var labels, arrays []*graph.Node
	for i, c := range of {
		if c != nil && (labels == nil || !same(labels[0], c)) {
			labels, arrays = append(labels, c), append(arrays, from[i])
		}
	}
	if len(labels) < 2 {
		return slices.Concat(labels, []*graph.Node{nil})[0], nil
	}
	if err := f.compare(labels, arrays, dim); err != nil {
		return nil, err
	}
	return labels[0], nil
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
	case a.Kind == graph.Iota:
		return a.First == b.First && a.Delta == b.Delta
	case a.Kind == graph.View:
		return slices.Equal(a.View.Start, b.View.Start) && slices.Equal(a.View.Step, b.View.Step) && same(a.In[0], b.In[0])
	case a.Kind == graph.Cast:
		return same(a.In[0], b.In[0])
	}
	return false
}

// Differ returns the error of labels that differ from those that are stored for a dimension.
func Differ(c *graph.Node, stored storage.Labels, dim string, read op.Labels) error {
	s, err := open(c.Site, stored)
	if err != nil || same(c, s) {
		return err
	}
	return newFinder(c.Site, read).compare([]*graph.Node{c, s}, []*graph.Node{c, c}, dim)
}

// compare returns the error of labels that differ, of arrays.
func (f *finder) compare(labels, arrays []*graph.Node, dim string) error {
	all, err := f.valuesOf(labels)
	if err != nil {
		return err
	}
	x := all[0]
	for k, y := range all[1:] {
		if err := x.counts(y, dim); err != nil {
			return err
		}
		for i := range x.len() {
			if x.compare(i, y, i) != 0 {
				where := ""
				if a, b := fileOf(arrays[0]), fileOf(arrays[k+1]); a != b {
					where = fmt.Sprintf(", in %s and %s", a, b)
				}
				return fmt.Errorf("the labels along %q differ: %s and %s at place %d%s. Select the same of both first, or leave the labels out by WithCoord(%[1]q, nil)", dim, x.text(i), y.text(i), i, where)
			}
		}
	}
	return nil
}

// counts returns the error of dates of calendars that differ, and of texts and numbers.
func (v *values) counts(w *values, dim string) error {
	if v.isText && w.names == nil || w.isText && v.names == nil {
		return fmt.Errorf("the labels along %q are text on one side, and numbers on the other. Leave the labels out by WithCoord(%[1]q, nil)", dim)
	}
	if v.of != nil && w.of != nil && v.of.Calendar.Counts() != w.of.Calendar.Counts() {
		return fmt.Errorf("the dates along %q are of the calendars %s and %s. Leave the labels out by WithCoord(%[1]q, nil)", dim, v.of.Calendar, w.of.Calendar)
	}
	return nil
}

// fileOf is the path that an array is read from, or its title.
func fileOf(n *graph.Node) string {
	of := n
	for of.Kind != graph.Source && len(of.In) == 1 {
		of = of.In[0]
	}
	if of.Kind == graph.Source && !storage.InProcess(of.Stored.Info.Path) {
		return blob.Shown(of.Stored.Info.Path)
	}
	return n.String()
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
		return f.agreed(n, d)
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

// joined are the labels of arrays one after another. Dates that are counted from different ones are counted anew.
func (f *finder) joined(n *graph.Node, d int) (*graph.Node, error) {
	all, alike, others := make([]*graph.Node, len(n.In)), true, false // texts of other ones
	packing := func(c *graph.Node) []string { return cf.Packing("", cf.DetailsOf(c), c.DType, true) }
	for i, in := range n.In {
		c, err := f.along(in, d)
		if c == nil || err != nil {
			return nil, err
		}
		all[i] = c
		alike = alike && slices.Equal(packing(c), packing(all[0]))
		if !maps.Equal(cf.Flags(cf.DetailsOf(c)), cf.Flags(cf.DetailsOf(all[0]))) {
			if isText(c) && isText(all[0]) {
				alike, others = false, true
				continue
			}
			return nil, fmt.Errorf("the labels along %q stand for other names in %s than in %s", graph.DimNamesOf(n, f.names)[d], fileOf(in), fileOf(n.In[0]))
		}
	}
	if alike {
		return shape.Concatenate(f.site, 0, all...)
	}
	values, err := f.valuesOf(all)
	if err != nil {
		return nil, err
	}
	if others {
		var texts []string
		for _, v := range values {
			texts = append(texts, v.texts()...)
		}
		attributes, _ := cf.TextAttributes(cf.DetailsOf(all[0]))
		return textsNode(f.site, texts, attributes)
	}
	var dates []cf.Instant
	for i, v := range values {
		switch err := v.counts(values[0], graph.DimNamesOf(n, f.names)[d]); {
		case err != nil:
			return nil, err
		case (v.of == nil) != (values[0].of == nil):
			return nil, fmt.Errorf("the labels along %q are dates in some arrays, and numbers in others", graph.DimNamesOf(n, f.names)[d])
		}
		dates = append(dates, v.dates...)
		if all[i], _, err = f.decoded(all[i]); err != nil {
			return nil, err
		}
	}
	if values[0].of == nil {
		return shape.Concatenate(f.site, 0, all...)
	}
	return datesNode(&graph.Maker{Site: f.site}, dates, values[0].of.Calendar)
}

// datesNode are dates as an array, which says what its integers count.
func datesNode(m *graph.Maker, dates []cf.Instant, c cf.Calendar) (*graph.Node, error) {
	numbers, d, err := cf.Encode(dates, c)
	if err != nil {
		return nil, err
	}
	n := m.Bytes(dtype.Bytes(numbers), dtype.Int64, len(numbers))
	if m.Err != nil {
		return nil, m.Err
	}
	described := *n
	described.Details = &d
	return &described, nil
}

// open is a stored coordinate as an array.
func open(site graph.Site, c storage.Labels) (*graph.Node, error) {
	if c.Texts != nil {
		return textsNode(site, c.Texts, c.Details.Attributes)
	}
	return graph.Open(site, c.Info, "")
}

// textsNode are texts as an array of integers that stand for them.
func textsNode(site graph.Site, texts []string, attributes json.RawMessage) (*graph.Node, error) {
	numbers, d := cf.Texts(texts, attributes)
	n, err := graph.FromBytes(site, dtype.Bytes(numbers), dtype.Int64, len(numbers))
	if err != nil {
		return nil, err
	}
	n.Details = d
	return n, nil
}

// isText reports labels that are text.
func isText(c *graph.Node) bool {
	_, ok := cf.TextAttributes(cf.DetailsOf(c))
	return ok
}
