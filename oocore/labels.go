package oocore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/label"
	"github.com/gonbext/gonbext/oocore/internal/output"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// labels computes labels of places. They are read also where a run is only planned, and by themselves: they are small.
func labels(ctx context.Context) op.Labels {
	return func(n *graph.Node) (any, error) {
		a, hidden := made(n, nil), set(func(s *settings) { s.Cell, s.PlanOnly = record.Unreported, false })
		if n.DType.Integer() {
			return Collect[int64](ctx, a.AsType(Int64), hidden)
		}
		return Collect[float64](ctx, a.AsType(Float64), hidden)
	}
}

// saveLabels saves the labels of an array that was saved in a group beside it, where they are not there yet; of one that is to be
// saved it only checks them. Labels that the group has and that differ are an error: its arrays share them.
func (a *Array) saveLabels(ctx context.Context, saved store.Info, check bool) error {
	n, err := a.expression()
	if err != nil {
		return err
	}
	for d := range n.Shape {
		at := storage.CoordinatePath(&saved, d)
		if at == "" || at == saved.Path || storage.Keeps(at, store.Details{Dims: saved.Details.Dims}) != nil {
			continue
		}
		c, err := label.Coordinate(n.Site, n, d, labels(ctx))
		if err != nil {
			return err
		}
		if c == nil {
			continue // without a look at the store
		}
		found, there, err := storage.Coordinate(ctx, &saved, d)
		if err != nil {
			return err
		}
		if there {
			if err = label.Differ(c, found, saved.Details.Dims[d], labels(ctx)); err == nil {
				continue
			} else if found.Path == at { // and not that of a group above
				return fmt.Errorf("%s has labels for %q, and those of the array are others: %w, or save to another group", at, saved.Details.Dims[d], err)
			}
		}
		if check {
			continue
		}
		if old, err := store.OpenContext(ctx, at); err == nil {
			if err := old.Close(); err != nil {
				return err
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			continue // the group has labels of a type that is not read: they stay
		}
		if _, err := made(c, nil).Save(ctx, at, DimNames(saved.Details.Dims[d]), internals{}.Cell(record.Unreported)); err != nil {
			return err
		}
	}
	return nil
}

// unsavedLabels returns the names of dimensions whose labels are not saved though the format saves the names: an array of Zarr that is
// in no group has no coordinates.
func unsavedLabels(out *compile.Output) (dims []string) {
	n, to := out.Root, store.Info{Path: out.Target.Path, Shape: out.Root.Shape, Details: out.Target.Details}
	if storage.Keeps(to.Path, store.Details{Dims: to.Details.Dims}) != nil {
		return nil
	}
	for d, name := range to.Details.Dims {
		if name == "" || storage.CoordinatePath(&to, d) != "" {
			continue
		}
		if c, err := label.Coordinate(n.Site, n, d, labels(context.Background())); err == nil && c != nil {
			dims = append(dims, name)
		}
	}
	return dims
}

// withLabels are an output and the labels of its dimensions that its file does not have yet. They are written together, where a file is written
// anew for each array that is added to it.
func (a *Array) withLabels(s *settings, site graph.Site, out compile.Output) ([]compile.Output, error) {
	all := []compile.Output{out}
	n, err := a.expression()
	if err != nil || s.Part() {
		return all, err
	}
	info := store.Info{Path: out.Target.Path, Shape: n.Shape, Details: out.Target.Details}
	for d := range n.Shape {
		at := storage.CoordinatePath(&info, d)
		if at == "" || at == info.Path || !storage.SharesFile(at, info.Path) || storage.Keeps(at, store.Details{Dims: info.Details.Dims}) != nil {
			continue
		}
		ctx := context.Background()
		c, err := label.Coordinate(n.Site, n, d, labels(ctx))
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		if _, there, err := storage.Coordinate(ctx, &info, d); there || err != nil {
			continue // which saveLabels looks at
		}
		of, err := settingsOf([]Option{DimNames(info.Details.Dims[d])})
		if err != nil {
			return nil, err
		}
		more, err := of.output(site, "save", made(c, nil), at)
		if err != nil {
			return nil, err
		}
		all = append(all, more)
	}
	if len(all) == 1 {
		return all, nil
	}
	return all, output.Together(all)
}

func (h *host) Labels(n *graph.Node) (any, error) { return labels(h.ctx)(n) }

// NearLabel is a label of which the nearest is meant: see Near.
type NearLabel struct{ label any }

// Near is, in [Array.Sel], the label that is nearest to a number or, as text, to a date; of two that are equally near, the first.
func Near(label any) NearLabel { return NearLabel{label} }

// Sel returns the part of an array whose labels are those that are given, as pairs of a dimension's name and a label:
//
//	x.Sel("time", "2001-03/2002-06", "lat", "60/30", "lon", oocore.Near(11.5))
//
// A label is a number, or a date as text, whose dimension is then gone; a date that says less than the labels do, such as a month
// among days, or a range "low/high", with both ends included and in the order of the labels, of which either end may be left out,
// whose dimension stays; [Near]; a name, or several in a []string or behind each other, "Oslo, Bergen"; or an array of labels. Labels are those of [Array.Coord], which are read when Sel is called. One
// that is not there is an error, which names the nearest; of a range that has none the part is empty.
func (a *Array) Sel(dimensionsAndLabels ...any) *Array {
	return build("sel", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if len(dimensionsAndLabels)%2 != 0 {
			return nil, graph.Reject(site, "sel", fmt.Errorf("it takes pairs of a dimension and a label, and not %d values", len(dimensionsAndLabels)), in[0])
		}
		var by []label.By
		for i := 0; i < len(dimensionsAndLabels); i += 2 {
			dim, ok := dimensionsAndLabels[i].(string)
			if !ok {
				return nil, graph.Reject(site, "sel", fmt.Errorf("a dimension is named by text, not by %v", dimensionsAndLabels[i]), in[0])
			}
			v, err := labelOf(dimensionsAndLabels[i+1])
			if err != nil {
				return nil, graph.Reject(site, "sel", fmt.Errorf("the label of %q: %w", dim, err), in[0])
			}
			by = append(by, label.By{Dim: dim, Label: v})
		}
		return label.Select(site, in[0], by, labels(context.Background()))
	}, a)
}

// labelOf is a label of the program.
func labelOf(v any) (out op.Value, err error) {
	switch v := v.(type) {
	case string:
		return op.String(v), nil
	case NearLabel:
		out, err = labelOf(v.label)
		return op.Value{Number: op.Near(out)}, err
	case []string:
		return op.Value{Number: v}, nil
	case *Array:
		out.Node, err = v.expression()
		return out, err
	}
	n, err := graph.Scalar(graph.Site{}, v)
	if err != nil {
		return out, err
	}
	if n.DType.Integer() {
		return op.Value{Number: n.Value.Int()}, nil
	}
	return op.Value{Number: n.Value.Float()}, nil
}

// Coord returns the labels of a dimension: an array of one dimension, as it is stored beside the array under the dimension's name,
// or as WithCoord gave it; of a slice its part of them. Operations keep the labels of axes that they keep. Where two arrays with
// different labels are put together, it is an error that says where they differ; so it is where there are none.
func (a *Array) Coord(dim string) *Array {
	return build("coord", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return label.Coord(site, in[0], dim, labels(context.Background()))
	}, a)
}

// WithCoord returns the array with labels of a dimension: an array of one dimension, a number for each place; nil takes them away.
// A dimension that has no name yet is the only one of the labels' length.
func (a *Array) WithCoord(dim string, labels *Array) *Array {
	if labels == nil {
		return door.One("with_coord", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
			return label.WithCoord(site, n, dim, nil)
		}, a)
	}
	return build("with_coord", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return label.WithCoord(site, in[0], dim, in[1])
	}, a, labels)
}

// SortBy returns the array in the order of the labels of a dimension, rising, or falling; equal ones stay in their order.
func (a *Array) SortBy(dim string, descending bool) *Array {
	return build("sortby", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return label.SortBy(site, label.SortByArgs{X: in[0], Dim: dim, Descending: descending, Read: labels(context.Background())})
	}, a)
}

// Reindex returns what stands at other labels of a dimension, an array of one dimension: NaN where the array has none that is equal, for which
// integers become float64.
func (a *Array) Reindex(dim string, to *Array) *Array {
	return build("reindex", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return label.Reindex(site, label.ReindexArgs{X: in[0], Dim: dim, Labels: in[1], Read: labels(context.Background())})
	}, a, to)
}

// Shift moves elements along a dimension to later places, or earlier ones for a negative number. Labels stay where they are, and NaN stands
// where nothing comes from, for which integers become float64.
func (a *Array) Shift(dim string, by int) *Array {
	return build("shift", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return label.Shift(site, label.ShiftArgs{X: in[0], Dim: dim, By: by})
	}, a)
}

// IdxMax returns the labels at which the largest elements along a dimension stand, the first of equals. NaN does not count; where there is
// nothing else the label is NaN, and of integers their least, as missing dates are.
func (a *Array) IdxMax(dim string) *Array { return a.extreme(dim, true) }

// IdxMin returns the labels at which the smallest elements along a dimension stand, as IdxMax.
func (a *Array) IdxMin(dim string) *Array { return a.extreme(dim, false) }

func (a *Array) extreme(dim string, largest bool) *Array {
	return build(map[bool]string{true: "idxmax", false: "idxmin"}[largest], func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return label.Extreme(site, label.ExtremeArgs{Max: largest, X: in[0], Dim: dim, Read: labels(context.Background())})
	}, a)
}
