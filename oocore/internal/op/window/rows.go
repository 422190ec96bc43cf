package window

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "sliding_window_view", NumPy: "np.lib.stride_tricks.sliding_window_view", Holds: "what the windows of a box show", Build: op.Build(View), Examples: `sum(sliding_window_view(x, 9, "axes=0"), -1)`,
		Go: "(a *Array) SlidingWindows(lengths, axes []int)", Doc: `SlidingWindows returns all windows of the given lengths along axes, one for each, in axes of their own after the array's, as NumPy's sliding_window_view. What reads it sees each element as often as windows have it: Rolling reduces windows without.`},
}

// ViewArgs are the arguments of sliding_window_view.
type ViewArgs struct {
	X       *graph.Node
	Windows []int `least:"1"`
	Axes    []int `word:"0, 1"`
}
