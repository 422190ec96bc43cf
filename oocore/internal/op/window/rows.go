package window

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: `sliding_window_view(x, windows...1, "axes=0, 1")`, NumPy: "np.lib.stride_tricks.sliding_window_view", Holds: "what the windows of a box show", Build: View, Examples: `sum(sliding_window_view(x, 9, "axes=0"), -1)`,
		Go: "(a *Array) SlidingWindows(lengths, axes []int)", Doc: `SlidingWindows returns all windows of the given lengths along axes, one for each, in axes of their own after the array's, as NumPy's sliding_window_view. What reads it sees each element as often as windows have it: Rolling reduces windows without.`},
	{Usage: `rolling(x, "mean", window, axis=-1, "ddof=1")`, NumPy: "of sliding_window_view(x, window, axis), its mean(-1)", Holds: "what the windows of a box show, and 16 bytes for each element of a window", Build: rolling, Examples: `rolling(x, "mean", 9, 0)`,
		Go: "(a *Array) Rolling(r Reduction, o RollingOptions) = a, r.String(), o.Window, o.Axis, o.DDof", Doc: `Rolling returns the Sum, Prod, Mean, Var, Std, Min or Max of each window along an axis, which is shorter by Window - 1: NumPy's reduction of sliding_window_view, without its axis of windows. It takes three operations an element whatever the window's length (van Herk, 1992), adds floats up in float64, and subtracts nothing that it has added.`},
}

func rolling(site graph.Site, x *graph.Node, name string, window, axis int, ddof float64) (*graph.Node, error) {
	for _, r := range kernel.Reductions() {
		if r.Name == name {
			return Reduce(site, r.Reduction, x, window, axis, ddof)
		}
	}
	return nil, graph.Reject(site, "rolling", errors.New("takes sum, prod, mean, var, std, min or max"), x)
}
