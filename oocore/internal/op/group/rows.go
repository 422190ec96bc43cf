package group

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/label"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "groupby", NumPy: "x[labels == i].mean() for each i; pandas' groupby",
		Passes: "1, and 1 over the labels before it where groups are not given; a few where accumulators take up to 128 MiB; of more those of argsort over the labels, and elements are read in their order; 1 over the labels for counts; of medians, products and places those of the reduction over the elements in groups",
		Holds:  "16 MiB of accumulators, of 8 to 24 bytes for each result, and 1 MiB", Build: op.Build(grouped),
		Go: "Array.GroupBy"},
	{Name: "resample", NumPy: "xr.DataArray.resample", Passes: "as groupby", Holds: "as groupby", Build: op.Build(resampled), Go: "Array.Resample"},
	{Name: "coarsen", NumPy: "da.coarsen", Passes: "1", Holds: "an accumulator for each result", Build: op.Build(Coarsen), Examples: `coarsen(x, "sum", 2, 2)`,
		Go: "(a *Array) Coarsen(r Reduction, rest types.Remainder, factors ...int) = a, r.String(), factors, bool(rest)", Doc: `Coarsen reduces blocks of so many elements along each axis, of which factors has one, to one element each: dask.array's coarsen. Elements at the end of an axis that fill no block are left out with Trim; with Exact they are an error.`},
	{Name: "apply_over_axes", NumPy: "np.apply_over_axes(np.mean, x, axes)", Passes: "1, and 1 over what each reduction but the last leaves", Holds: "an accumulator for each result", Build: op.Build(ApplyOverAxes), Examples: `apply_over_axes(x, "sum", 1, 0)`,
		Go: "(a *Array) ApplyOverAxes(r Reduction, axes ...int) = a, r.String(), axes", Doc: `ApplyOverAxes reduces the array along one axis after the other, which all stay with the length one: NumPy's apply_over_axes.`},
	{Name: "rolling", NumPy: "of sliding_window_view(x, window, axis), its mean(-1)", Holds: "what the windows of a box show, and 16 bytes for each element of a window", Build: op.Build(Rolling), Examples: `rolling(x, "mean", 9, 0); rolling(log(x - 0.3), "nanmean", 9, 0, "min_periods=3")`,
		Go: "(a *Array) Rolling(r Reduction, o RollingOptions) = a, r.String(), o.Window, o.Axis, o.DDof, o.MinPeriods", Doc: `Rolling returns the Sum, Prod, Mean, Var, Std, Min or Max of each window along an axis, which is shorter by Window - 1: NumPy's reduction of sliding_window_view, without its axis of windows. It takes three operations an element whatever the window's length (van Herk, 1992), adds floats up in float64, and subtracts nothing that it has added. With MinPeriods windows are those of pandas and xarray: one ends at each element, NaN does not count, and where fewer than MinPeriods elements are no NaN the result is NaN.`},
}

type groupedArgs struct {
	X         *graph.Node
	Labels    op.Value
	Reduction string  `usage:"mean"`
	Axis      int     `default:"0"`
	Groups    int     `default:"0"`
	DDof      float64 `word:"1"`
	Broadcast bool
	Run       op.Run
	Read      op.Labels
}

func grouped(site graph.Site, a groupedArgs) (*graph.Node, error) {
	var l Labels
	var err error
	if by := a.Labels.Text; by != nil {
		g, fault := label.GroupBy(site, a.X, *by, a.Read)
		l, err = Of(site, "groupby", a.X, g, fault, *by)
	} else if a.Labels.Node == nil {
		err = a.Labels.Reject(`takes labels here: integers from 0 on, or in text what labels a dimension, such as "time.month"`)
	} else {
		l, err = New(site, a.X, a.Labels.Node, a.Axis, a.Groups, a.Run)
	}
	if err != nil {
		return nil, err
	}
	return reduced(site, a.X, l, a.Reduction, a.DDof, a.Broadcast)
}

// reduced is a reduction of groups, spread over their elements where that is asked for.
func reduced(site graph.Site, n *graph.Node, l Labels, reduction string, ddof float64, broadcast bool) (*graph.Node, error) {
	out, err := Reduce(site, reduction, n, l, ddof)
	if err != nil || !broadcast {
		return out, err
	}
	if reduction == "count" {
		return index.Take(site, out, l.Node, 0)
	}
	return Spread(site, out, n, l)
}

type resampledArgs struct {
	X         *graph.Node
	Dim       string  `usage:"time"`
	Every     string  `usage:"1M"`
	Reduction string  `usage:"mean"`
	DDof      float64 `word:"1"`
	Broadcast bool
	Read      op.Labels
}

func resampled(site graph.Site, a resampledArgs) (*graph.Node, error) {
	g, err := label.Resample(site, a.X, a.Dim, a.Every, a.Read)
	l, err := Of(site, "resample", a.X, g, err, a.Dim, a.Every)
	if err != nil {
		return nil, err
	}
	return reduced(site, a.X, l, a.Reduction, a.DDof, a.Broadcast)
}
