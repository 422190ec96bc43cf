package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/stats"
	"github.com/gonbext/gonbext/oocore/op/window"
)

// SlidingWindows returns all windows of the given lengths along axes, one for each, in axes of
// their own after the array's, as NumPy's sliding_window_view. What reads it sees each
// element as often as windows have it: Rolling reduces windows without.
func (a *Array) SlidingWindows(lengths, axes []int) *Array {
	return a.view("sliding_window_view", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return window.View(site, n, lengths, axes)
	})
}

// RollingOptions say which windows Rolling reduces.
type RollingOptions struct {
	Window int     // elements of one
	Axis   int     // that they go along
	DDof   float64 // of Var and Std: subtracted from the count, 1 for a sample's
}

// Rolling returns the Sum, Prod, Mean, Var, Std, Min or Max of each window along an axis, which
// is shorter by Window - 1: NumPy's reduction of sliding_window_view, without its axis of
// windows. It takes three operations an element whatever the window's length (van Herk,
// 1992), adds floats up in float64, and subtracts nothing that it has added. It is part of
// whatever reads it, and holds a window more of each line.
func (a *Array) Rolling(r Reduction, o RollingOptions) *Array {
	return a.view("rolling", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return window.Reduce(site, r, n, o.Window, o.Axis, o.DDof)
	})
}

// Coarsen reduces blocks of so many elements along each axis, of which factors has one, to one
// element each: dask.array's coarsen. With trim, elements at the end of an axis that fill no
// block are left out; else they are an error. One pass.
func (a *Array) Coarsen(r Reduction, trim bool, factors ...int) *Array {
	return a.view("coarsen", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return stats.Coarsen(site, r, n, factors, trim, 0)
	})
}
