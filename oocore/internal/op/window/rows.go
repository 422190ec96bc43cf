package window

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "sliding_window_view", NumPy: "np.lib.stride_tricks.sliding_window_view", Holds: "what the windows of a box show", Build: op.Build(View), Examples: `sum(sliding_window_view(x, 9, "axes=0"), -1)`,
		Go: "(a *Array) SlidingWindows(lengths, axes []int)", Doc: `SlidingWindows returns all windows of the given lengths along axes, one for each, in axes of their own after the array's, as NumPy's sliding_window_view. What reads it sees each element as often as windows have it: Rolling reduces windows without.`},
	{Name: "rolling", NumPy: "of sliding_window_view(x, window, axis), its mean(-1)", Holds: "what the windows of a box show, and 16 bytes for each element of a window", Build: op.Build(BuildRolling), Examples: `rolling(x, "mean", 9, 0)`,
		Go: "(a *Array) Rolling(r Reduction, o RollingOptions) = a, r.String(), o.Window, o.Axis, o.DDof", Doc: `Rolling returns the Sum, Prod, Mean, Var, Std, Min or Max of each window along an axis, which is shorter by Window - 1: NumPy's reduction of sliding_window_view, without its axis of windows. It takes three operations an element whatever the window's length (van Herk, 1992), adds floats up in float64, and subtracts nothing that it has added.`},
}

// Arguments, by the operation.
type (
	ViewArgs struct {
		X       *graph.Node
		Windows []int `least:"1"`
		Axes    []int `word:"0, 1"`
	}
	RollingArgs struct {
		X         *graph.Node
		Reduction string `usage:"mean"`
		Window    int
		Axis      int     `default:"-1"`
		DDof      float64 `word:"1"`
	}
)

// BuildRolling reduces windows by the name of a reduction.
func BuildRolling(site graph.Site, a RollingArgs) (*graph.Node, error) {
	for _, r := range kernel.Reductions() {
		if r.Name == a.Reduction {
			return Reduce(site, r.Reduction, a.X, a.Window, a.Axis, a.DDof)
		}
	}
	return nil, graph.Reject(site, "rolling", errors.New("takes sum, prod, mean, var, std, min or max"), a.X)
}
