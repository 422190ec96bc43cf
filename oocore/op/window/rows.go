package window

import (
	"errors"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: `sliding_window_view(x, windows...1, "axes=0, 1")`, NumPy: "np.lib.stride_tricks.sliding_window_view", Holds: "what the windows of a box show", Build: View, Examples: `sliding_window_view(x, 9, "axes=0")`,
		Go: "Array.SlidingWindows"},
	{Usage: `rolling(x, "mean", window, axis=-1, "ddof=1")`, NumPy: "of sliding_window_view(x, window, axis), its mean(-1)", Holds: "what the windows of a box show, and 16 bytes for each element of a window", Build: rolling, Examples: `rolling(x, "mean", 9, 0)`,
		Go: "Array.Rolling"},
}

func rolling(site graph.Site, x *graph.Node, name string, window, axis int, ddof float64) (*graph.Node, error) {
	for _, r := range kernel.Reductions() {
		if r.Name == name {
			return Reduce(site, r.Reduction, x, window, axis, ddof)
		}
	}
	return nil, graph.Reject(site, "rolling", errors.New("takes sum, prod, mean, var, std, min or max"), x)
}
