package group

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// merged are the reductions of windows that are merged of blocks: see window.Rolling.
var merged = []kernel.Reduction{kernel.Sum, kernel.Prod, kernel.Mean, kernel.Var, kernel.Std, kernel.Min, kernel.Max}

// Rolling reduces each window along an axis, by the name of a reduction.
func Rolling(site graph.Site, a RollingArgs) (*graph.Node, error) {
	kind, _, ok := kindOf(a.Reduction)
	plain, skips := skipsNaN(a.Reduction, a.X.DType)
	if ok && plain == kind.String() && slices.Contains(merged, kind) && !skips {
		return window.Reduce(site, kind, a.X, a.Window, a.Axis, a.DDof)
	}
	out, err := rolling(&graph.Maker{Site: site}, a, plain, skips)
	return graph.Result(site, "rolling", out, graph.Unnamed(err), a.X)
}

func rolling(m *graph.Maker, a RollingArgs, plain string, skips bool) (*graph.Node, error) {
	at, err := grid.Axis(a.Axis, len(a.X.Shape))
	if err != nil {
		return nil, err
	}
	if a.DDof == 0 && skips {
		out, _, _ := skippingNaN(m, plain, a.X, 0, func(r string, n *graph.Node) *graph.Node {
			kind, _, _ := kindOf(r)
			return m.Make(func() (*graph.Node, error) { return window.Reduce(m.Site, kind, n, a.Window, at, 0) })
		})
		if out != nil {
			return out, m.Err
		}
	}
	windows := m.Make(func() (*graph.Node, error) {
		return window.View(m.Site, window.ViewArgs{X: a.X, Windows: []int{a.Window}, Axes: []int{at}})
	})
	return m.Make(func() (*graph.Node, error) { return Named(m.Site, a.Reduction, windows, []int{len(a.X.Shape)}, a.DDof) }), m.Err
}

// RollingArgs are the arguments of rolling.
type RollingArgs struct {
	X         *graph.Node
	Reduction string `usage:"mean"`
	Window    int
	Axis      int     `default:"-1"`
	DDof      float64 `word:"1"`
}

// noReduction is the error of what is no reduction here.
func noReduction(name string, more ...string) error {
	return fmt.Errorf("has no %q: use %s", name, names(more...))
}
