package expr

import (
	"slices"

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
	define(`diff(x, times, axis, "prepend", p, "append", a)`, 1, 7, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		words := 1
		for words < len(c.values) && c.values[words].text == nil {
			words++
		}
		ends, err := c.ends(words, "prepend", "append")
		if err != nil {
			return nil, err
		}
		c.values = c.values[:words]
		ints, err := c.ints(1)
		if err != nil {
			return nil, err
		}
		if len(ints) > 2 {
			return nil, c.fail(c.args[3].Pos(), "diff takes a number of times and an axis: %s", c.f.Usage)
		}
		n := defaults(ints, 1, -1)
		if n[0] == 0 {
			return in[0], nil
		}
		x, err := scan.Extended(c.site, in[0], ends[0], ends[1], n[1])
		if err != nil {
			return nil, err
		}
		return scan.Diff(c.site, x, n[0], n[1])
	})
	define(`ediff1d(x, "to_begin", b, "to_end", e)`, 1, 5, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		ends, err := c.ends(1, "to_begin", "to_end")
		if err != nil {
			return nil, err
		}
		return scan.EDiff1D(c.site, in[0], ends[0], ends[1])
	})
	document("ediff1d", Doc{NumPy: "np.ediff1d", Passes: fused, Working: part})
	define(`gradient(x, spacing or coordinates, axis, "edge_order=2")`, 1, 4, func(c *call) (*graph.Node, error) {
		edgeOrder := 1
		if c.option("edge_order=2") {
			edgeOrder = 2
		} else {
			c.option("edge_order=1")
		}
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		spacing, axis := 1.0, 0
		var coordinates *graph.Node
		if len(c.values) > 1 {
			if node := c.values[1].node; node != nil && len(node.Shape) > 0 {
				coordinates = node
			} else if spacing, err = c.float(1); err != nil {
				return nil, err
			}
		}
		if len(c.values) > 2 {
			n, err := c.ints(2)
			if err != nil {
				return nil, err
			}
			if axis = n[0]; len(n) > 1 {
				return nil, c.fail(c.args[3].Pos(), "gradient takes one axis: %s", c.f.Usage)
			}
		} else if len(in[0].Shape) > 1 {
			return nil, c.fail(c.args[0].Pos(), "gradient of %d dimensions takes an axis: %s", len(in[0].Shape), c.f.Usage)
		}
		if coordinates != nil {
			return scan.GradientAt(c.site, in[0], coordinates, axis, edgeOrder)
		}
		return scan.Gradient(c.site, in[0], spacing, axis, edgeOrder)
	})
	document("gradient", Doc{NumPy: "np.gradient(x, spacing, axis=axis)", Passes: fused, Working: part})
	document("diff", Doc{NumPy: "np.diff", Passes: fused, Working: "a block"})
}

// ends are what two words, from a place on, say to put before and after; nil for none.
func (c *call) ends(from int, before, after string) (ends [2]*graph.Node, err error) {
	for at := from; at < len(c.values); at += 2 {
		i := slices.Index([]string{before, after}, text(c.values[at]))
		if i < 0 || at+1 == len(c.values) || ends[i] != nil {
			return ends, c.fail(c.args[at].Pos(), "%s does not take this here: %s", c.f.Name, c.f.Usage)
		}
		if ends[i], err = c.node(c.values[at+1], c.args[at+1]); err != nil {
			return ends, err
		}
	}
	return ends, nil
}

// text is that of an argument; "" where it is none.
func text(v value) string {
	if v.text == nil {
		return ""
	}
	return *v.text
}
