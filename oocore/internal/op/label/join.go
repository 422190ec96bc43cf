package label

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Files are arrays of files that are one after another along an axis.
type Files struct {
	Paths  []string
	Axis   int
	Dim    string // the name of the axis, which is Axis where it is ""
	Joined bool   // they have the axis, and may differ in length along it; else it is new
}

// Join returns the arrays of files as one. They are opened, and where they have labels along the axis that they are joined along,
// these are read, and say in which order the files follow each other; else the paths do. Numbers that are packed are decoded, each file's
// in its own way, as decode_cf does; so are dates that are counted from different ones. Labels of other dimensions are to be the same, which is
// looked at where the array is computed.
func Join(site graph.Site, a Files, read op.Labels) (*graph.Node, error) {
	all := make([]*graph.Node, len(a.Paths))
	for i, path := range a.Paths {
		var err error
		if all[i], err = openFile(site, path); err != nil {
			return nil, err
		}
	}
	packing := func(n *graph.Node, dates bool) []string {
		return cf.Packing("", cf.DetailsOf(n), n.DType, dates)
	}
	if slices.ContainsFunc(all, func(n *graph.Node) bool {
		return a.Joined && packing(n, false) != nil || !slices.Equal(packing(n, true), packing(all[0], true))
	}) {
		for i, n := range all {
			var err error
			if all[i], err = cf.Decode(site, cf.DecodeArgs{X: n}); err != nil {
				return nil, fmt.Errorf("%s: %w", fileOf(n), graph.Unnamed(err))
			}
		}
	}
	if !a.Joined {
		out, err := shape.BuildStack(site, shape.JoinArgs{In: all, Axis: a.Axis})
		if err != nil || a.Dim == "" {
			return out, err
		}
		return graph.NameAxes(out, slices.Insert(graph.AllAxes(all[0]), 0, graph.Axis{Of: nameOnly(a.Dim, len(all))})...), nil
	}
	axis, err := a.common(all)
	if err != nil {
		return nil, err
	}
	if all, err = inOrder(newFinder(site, read), all, axis); err != nil {
		return nil, err
	}
	return shape.BuildConcatenate(site, shape.JoinArgs{In: all, Axis: axis})
}

// common returns the axis along which arrays are joined, which all of them have at one place.
func (a Files) common(all []*graph.Node) (axis int, err error) {
	for i, n := range all {
		at := a.Axis
		if a.Dim != "" {
			at, err = n.NamedAxis(a.Dim)
		} else {
			at, err = grid.Axis(at, len(n.Shape))
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", fileOf(n), err)
		}
		if i == 0 {
			axis = at
		}
		others := func(n *graph.Node) []int { return slices.Delete(slices.Clone(n.Shape), at, at+1) }
		if at != axis || len(n.Shape) != len(all[0].Shape) || !slices.Equal(others(n), others(all[0])) {
			return 0, fmt.Errorf("%s has shape %s and %s %s: files that are joined along axis %d differ in that length alone", fileOf(n), grid.Format(n.Shape), fileOf(all[0]), grid.Format(all[0].Shape), axis)
		}
	}
	return axis, nil
}

// inOrder are arrays in the order of their labels along an axis; as they are where they have none.
func inOrder(f *finder, all []*graph.Node, axis int) ([]*graph.Node, error) {
	var labels []*graph.Node
	for _, n := range all {
		c, err := f.along(n, axis)
		if err != nil {
			return nil, err
		}
		if c != nil {
			labels = append(labels, c)
		}
	}
	if len(labels) == 0 {
		return all, nil
	}
	dim := all[0].DimNames()[axis]
	if len(labels) < len(all) {
		return nil, fmt.Errorf("%d of %d files have labels along %q: give all of them some, or join them by Concatenate", len(labels), len(all), dim)
	}
	read, err := f.valuesOf(labels)
	if err != nil {
		return nil, err
	}
	type part struct {
		of *graph.Node
		*values
	}
	var parts []part
	order := 0
	for i, v := range read {
		if err := v.counts(read[0], dim); err != nil {
			return nil, err
		}
		if (v.of == nil) != (read[0].of == nil) {
			return nil, fmt.Errorf("the labels along %q are dates in one of %s and %s, and numbers in the other", dim, fileOf(all[0]), fileOf(all[i]))
		}
		if v.len() == 0 {
			continue
		}
		if at := v.order(); v.len() > 1 && (at == 0 || order == -at) {
			return nil, fmt.Errorf("the labels along %q of %s neither rise nor fall as in the other files: %s. Join slices of them by Concatenate", dim, fileOf(all[i]), v.ends())
		} else if v.len() > 1 {
			order = at
		}
		parts = append(parts, part{all[i], v})
	}
	if len(parts) == 0 {
		return all, nil
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.compare(0, b.values, 0) })
	if order < 0 {
		slices.Reverse(parts)
	}
	sorted := []*graph.Node{parts[0].of}
	for i, p := range parts[1:] {
		before := parts[i]
		if c := before.compare(before.len()-1, p.values, 0); c == 0 || c < 0 == (order < 0) {
			return nil, fmt.Errorf("the labels along %q of %s and %s overlap: %s to %s, and %s to %s. Leave one out, or join slices of them by Concatenate", dim, fileOf(before.of), fileOf(p.of), before.text(0), before.text(before.len()-1), p.text(0), p.text(p.len()-1))
		}
		sorted = append(sorted, p.of)
	}
	return sorted, nil
}
