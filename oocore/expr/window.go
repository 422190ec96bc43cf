package expr

import (
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/window"
)

func init() {
	define(`sliding_window_view(x, windows..., "axes=0, 1")`, 2, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		var axes []int
		last := len(c.values) - 1
		if list, is := strings.CutPrefix(text(c.values[last]), "axes="); is {
			if axes, err = c.list(last, list); err != nil {
				return nil, err
			}
			c.values = c.values[:last]
		}
		lengths, err := c.ints(1)
		if err != nil {
			return nil, err
		}
		return window.View(c.site, in[0], lengths, axes)
	})
	document("sliding_window_view", Doc{NumPy: "np.lib.stride_tricks.sliding_window_view", Passes: fused, Working: "what the windows of a box show"})
	define(`rolling(x, "mean", window, axis, "ddof=1")`, 3, 5, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		ddof := 0.0
		if last := len(c.values) - 1; last > 1 && c.values[last].Text != nil {
			number, is := strings.CutPrefix(*c.values[last].Text, "ddof=")
			if ddof, err = strconv.ParseFloat(number, 64); !is || err != nil {
				return nil, c.fail(c.args[last].Pos(), "rolling does not take %q: %s", *c.values[last].Text, c.f.Usage)
			}
			c.values = c.values[:last]
		}
		n, err := c.ints(2)
		if err != nil {
			return nil, err
		}
		if len(n) == 0 || len(n) > 2 {
			return nil, c.fail(c.args[0].Pos(), "rolling takes a window and an axis: %s", c.f.Usage)
		}
		n = defaults(n, 1, -1)
		for kind := kernel.Sum; kind <= kernel.CountNonzero; kind++ {
			if kind.String() == text(c.values[1]) {
				return window.Reduce(c.site, kind, in[0], n[0], n[1], ddof)
			}
		}
		return nil, c.fail(c.args[1].Pos(), "rolling takes sum, prod, mean, var, std, min or max here: %s", c.f.Usage)
	})
	document("rolling", Doc{NumPy: "of sliding_window_view(x, window, axis), its mean(-1)", Passes: fused, Working: "what the windows of a box show, and 16 bytes for each element of a window"})
}
