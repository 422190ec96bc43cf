package oocore

import (
	"cmp"
	"context"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/group"
	"github.com/gonbext/gonbext/oocore/internal/op/label"
)

// Groups are the elements of an array along an axis, in groups to be reduced. In results the axis
// of the groups replaces the one that was labelled. A group without elements has a sum and a count
// of zero, and NaN for other reductions; for integers these are an error when it is computed.
//
// One pass reads the array where the accumulators, of 8 bytes for each result and 24 of
// Var, fit 16 MiB; up to eight passes do where they take up to 128 MiB. Of more the labels
// are sorted, with the passes of Argsort, and elements are read in that order. Count reads only the
// labels; First and Last also read one element of each group.
type Groups struct {
	array  *Array
	labels group.Labels
}

// GroupOptions are the arguments of GroupBy.
type GroupOptions struct {
	Axis   int // that the labels go along
	Groups int // how many there are; 0: one more than the largest label
}

// GroupBy puts the elements along an axis in groups: labels are integers from 0 on, one for
// each place along the axis. Their largest gives the number of groups where the options do
// not: GroupBy then finds it in one pass over the labels, within the context and the run's
// options. A label that is negative, or beyond the groups, is an error.
func (a *Array) GroupBy(ctx context.Context, labels *Array, o GroupOptions, opts ...Option) *Groups {
	var l group.Labels
	whole := build("groupby", func(site graph.Site, in []*graph.Node) (_ *graph.Node, err error) {
		l, err = group.New(site, in[0], in[1], o.Axis, o.Groups, counter(ctx, "groupby", opts))
		return in[0], err
	}, a, labels)
	return &Groups{whole, l}
}

// Err returns why there are no groups, or nil. Each reduction carries the same error.
func (g *Groups) Err() error { return g.orMissing().array.Err() }

// orMissing returns g, or for nil the groups of no array.
func (g *Groups) orMissing() *Groups { return cmp.Or(g, &Groups{}) }

// GroupByLabel puts the elements along a dimension in groups by its labels: by equal ones, "lat", or by a field of dates,
// "time.month", year, day, hour, minute, second, dayofyear, dayofweek, quarter or season. Groups are labelled by what they have in
// common, and sorted by it; seasons are named DJF, JJA, MAM and
// SON, so that Sel("season", "JJA") selects one, and are stored as integers with their names (CF's flags). Labels are read when it is called.
func (a *Array) GroupByLabel(by string) *Groups {
	return a.groups("groupby", []string{by}, func(site graph.Site, n *graph.Node) (label.Groups, error) {
		return label.GroupBy(site, n, by, labels(context.Background()))
	})
}

// Resample puts the elements along a dimension whose labels are dates in groups by the period that they are in, from the first
// date's to the last one's without gaps: "1M" or "MS" months, "Q" quarters, "Y" years, "W" weeks, "10D" days, "6h", "30min", "1s",
// as pandas writes them. Years, quarters, months and weeks are labelled by their last day, or with S behind them, "YS", by their
// first; days and less by their start.
func (a *Array) Resample(dim, every string) *Groups {
	return a.groups("resample", []string{dim, every}, func(site graph.Site, n *graph.Node) (label.Groups, error) {
		return label.Resample(site, n, dim, every, labels(context.Background()))
	})
}

func (a *Array) groups(op string, args []string, of func(site graph.Site, n *graph.Node) (label.Groups, error)) *Groups {
	var l group.Labels
	whole := build(op, func(site graph.Site, in []*graph.Node) (_ *graph.Node, err error) {
		g, err := of(site, in[0])
		l, err = group.Of(site, op, in[0], g, err, args...)
		return in[0], err
	}, a)
	return &Groups{whole, l}
}

// Reduce reduces each group by the name of a reduction, of those that NumPy has along an axis: "sum", "std", "median", "any",
// "argmax", and "nanmean" and others that skip NaN; "count", "first" and "last" too. ddof is var's and std's. Those that have no
// method of their own take the elements of groups of one size together, and sort what they need to: groups of up to 256 sizes.
func (g *Groups) Reduce(reduction string, ddof float64) *Array { return g.reduce(reduction, ddof) }

// Spread has what groups were reduced to in the place of each of their elements, in the array's own shape, so that anomalies are
// x.Sub(g.Spread(g.Mean())).
func (g *Groups) Spread(reduced *Array) *Array {
	g = g.orMissing()
	return build("groupby", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return group.Spread(site, in[0], in[1], g.labels)
	}, reduced, g.array)
}

func (g *Groups) reduce(r string, ddof float64) *Array {
	g = g.orMissing()
	return door.One("groupby", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return group.Reduce(site, r, n, g.labels, ddof)
	}, g.array)
}

// Sum returns the sum of each group, in the type of Array.Sum.
func (g *Groups) Sum() *Array { return g.reduce("sum", 0) }

// Mean returns the mean of each group, in the type of Array.Mean.
func (g *Groups) Mean() *Array { return g.reduce("mean", 0) }

// Var returns the variance of each group, divided by its number of elements less ddof. For
// complex numbers it is an error.
func (g *Groups) Var(ddof float64) *Array { return g.reduce("var", ddof) }

// Min returns the smallest element of each group, or NaN where the group has one.
func (g *Groups) Min() *Array { return g.reduce("min", 0) }

// Max returns the largest element of each group, or NaN where the group has one.
func (g *Groups) Max() *Array { return g.reduce("max", 0) }

// Count returns how many places along the axis each group has, as int64: a list.
func (g *Groups) Count() *Array { return g.reduce("count", 0) }

// First returns the first element of each group along the axis.
func (g *Groups) First() *Array { return g.reduce("first", 0) }

// Last returns the last element of each group along the axis.
func (g *Groups) Last() *Array { return g.reduce("last", 0) }
