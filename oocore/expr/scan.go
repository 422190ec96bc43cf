package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/scan"
)

func init() {
	for name, product := range map[string]bool{"cumsum": false, "cumprod": true} {
		define(name+"(x, axis)", 1, 2, onArray(func(c *call, x *graph.Node, axis []int) (*graph.Node, error) {
			return scan.Cumulative(c.site, name, product, x, axis...)
		}))
		document(name, Doc{NumPy: "np." + name, Passes: "2 that read, 1 where lines are short", Working: "256 KiB"})
	}
	for name, product := range map[string]bool{"cumulative_sum": false, "cumulative_prod": true} {
		define(name+`(x, axis, "initial")`, 1, 3, func(c *call) (*graph.Node, error) {
			x, axis, text, err := c.mixed(1)
			if err == nil && (len(axis) > 1 || len(text) > 1 || len(text) == 1 && text[0] != "initial") {
				err = c.fail(c.args[1].Pos(), `%s takes an axis and "initial": %s`, name, c.f.Usage)
			}
			if err != nil {
				return nil, err
			}
			return scan.Along(c.site, name, product, x, len(text) > 0, axis...)
		})
		document(name, Doc{NumPy: "np." + name, Passes: "2 that read, 1 where lines are short", Working: "256 KiB"})
	}
	define("diff(x, times, axis)", 1, 3, onArray(func(c *call, x *graph.Node, ints []int) (*graph.Node, error) {
		times, axis := 1, -1
		if len(ints) > 0 {
			times = ints[0]
		}
		if len(ints) > 1 {
			axis = ints[1]
		}
		return scan.Diff(c.site, x, times, axis)
	}))
	define("gradient(x, spacing, axis)", 1, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		spacing, axis := 1.0, 0
		if len(c.values) > 1 {
			if spacing, err = c.float(1); err != nil {
				return nil, err
			}
		}
		if len(c.values) > 2 {
			n, err := c.ints(2)
			if err != nil {
				return nil, err
			}
			axis = n[0]
		} else if len(in[0].Shape) > 1 {
			return nil, c.fail(c.args[0].Pos(), "gradient of %d dimensions takes an axis: %s", len(in[0].Shape), c.f.Usage)
		}
		return scan.Gradient(c.site, in[0], spacing, axis)
	})
	document("gradient", Doc{NumPy: "np.gradient(x, spacing, axis=axis)", Passes: fused, Working: part})
	document("diff", Doc{NumPy: "np.diff", Passes: fused, Working: "a block"})
}
