package group

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/pad"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// merged are the reductions of windows that are merged of blocks: see window.Rolling.
var merged = []kernel.Reduction{kernel.Sum, kernel.Prod, kernel.Mean, kernel.Var, kernel.Std, kernel.Min, kernel.Max}

// Rolling reduces each window along an axis, by the name of a reduction.
func Rolling(site graph.Site, a RollingArgs) (*graph.Node, error) {
	if a.MinPeriods != 0 {
		m := &graph.Maker{Site: site}
		out, err := atEach(m, a)
		return graph.Result(site, "rolling", out, graph.Unnamed(err), a.X)
	}
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
	windows := graph.Call(m, window.View, window.ViewArgs{X: a.X, Windows: []int{a.Window}, Axes: []int{at}})
	out := m.Make(func() (*graph.Node, error) { return Named(m.Site, a.Reduction, windows, []int{len(a.X.Shape)}, a.DDof) })
	return m.Like(out, m.Part(a.X, at, a.Window-1, a.X.Shape[at])), m.Err
}

// skipped are the reductions that windows with min_periods take.
var skipped = []string{"sum", "prod", "mean", "var", "std", "min", "max", "median"}

// atEach reduces the windows that end at each element, of those elements in them that are not NaN: pandas' and
// xarray's rolling with min_periods. NaN in front makes the first windows whole. Types without NaN become float64.
func atEach(m *graph.Maker, a RollingArgs) (*graph.Node, error) {
	x := a.X
	axis, err := grid.Axis(a.Axis, len(x.Shape))
	plain := strings.TrimPrefix(a.Reduction, "nan")
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(skipped, plain):
		return nil, fmt.Errorf("min_periods counts what is not NaN in a window, and takes %s, not %q", strings.Join(skipped, ", "), a.Reduction)
	case a.Window < 1:
		return nil, fmt.Errorf("a window of %d elements is below one", a.Window)
	case a.MinPeriods < 1 || a.MinPeriods > a.Window:
		return nil, fmt.Errorf("min_periods=%d is not from 1 to the window's %d elements", a.MinPeriods, a.Window)
	case x.Shape[axis] > 0:
		a.Window = min(a.Window, x.Shape[axis]) // a longer one shows no more
	}
	if x.DType.Kind() < dtype.KindFloat {
		x = m.Cast(x, dtype.Float64)
	}
	if grid.Size(x.Shape) == 0 {
		return x, m.Err
	}
	widths := make([][2]int, len(x.Shape))
	widths[axis][0] = a.Window - 1
	padded := m.Make(func() (*graph.Node, error) {
		return pad.Array(m.Site, x, widths, pad.Padding{Values: [][2]any{{math.NaN(), math.NaN()}}})
	})
	least := a.MinPeriods
	a.X, a.Axis, a.Reduction, a.MinPeriods = padded, axis, "nan"+plain, 0
	out := m.Make(func() (*graph.Node, error) { return Rolling(m.Site, a) })
	present := m.Cast(m.Apply(kernel.LogicalNot, m.Apply(kernel.IsNaN, padded)), dtype.Float64)
	count := m.Make(func() (*graph.Node, error) { return window.Reduce(m.Site, kernel.Sum, present, a.Window, axis, 0) })
	out = m.Apply(kernel.Where, m.Apply(kernel.Less, count, m.Number(float64(least))), m.Number(math.NaN()), out)
	args := []string{strconv.Quote(plain), strconv.Itoa(a.Window), strconv.Itoa(axis), strconv.Quote(fmt.Sprint("min_periods=", least))}
	return graph.WriteAs(m.Like(out, x), "rolling", []*graph.Node{x}, args...), m.Err
}

// RollingArgs are the arguments of rolling. MinPeriods of 0 is none: windows that lie within the axis.
type RollingArgs struct {
	X          *graph.Node
	Reduction  string `usage:"mean"`
	Window     int
	Axis       int     `default:"-1"`
	DDof       float64 `word:"1"`
	MinPeriods int     `usage:"min_periods" word:"3"`
}

// noReduction is the error of what is no reduction here.
func noReduction(name string, more ...string) error {
	return fmt.Errorf("has no %q: use %s", name, names(more...))
}
