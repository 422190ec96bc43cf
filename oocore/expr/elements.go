package expr

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/edit"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

func init() {
	defineOne("signbit(x)", elements.Signbit)
	defineTwo("logaddexp(a, b)", elements.LogAddExp)
	defineTwo("nextafter(a, b)", elements.NextAfter)
	defineOne("spacing(x)", elements.Spacing)
	defineTwo("ldexp(x, exponents)", elements.Ldexp)
	defineOne("i0(x)", elements.I0)
	defineParts(`frexp(x, "mantissa" or "exponent")`, []string{"mantissa", "exponent"}, func(c *call, x *graph.Node) ([]*graph.Node, error) {
		mantissa, exponent, err := elements.Frexp(c.site, x)
		return []*graph.Node{mantissa, exponent}, err
	})
	define("select(condition, x, condition, y..., otherwise)", 2, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(len(c.values))
		if err != nil {
			return nil, err
		}
		var conditions, choices []*graph.Node
		for i := 0; i+1 < len(in); i += 2 {
			conditions, choices = append(conditions, in[i]), append(choices, in[i+1])
		}
		var otherwise *graph.Node
		if len(in)%2 == 1 {
			otherwise = in[len(in)-1]
		}
		return elements.Select(c.site, conditions, choices, otherwise)
	})
	define("piecewise(x, condition, y, condition, z..., otherwise)", 3, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(len(c.values))
		if err != nil {
			return nil, err
		}
		var conditions, values []*graph.Node
		for i := 1; i < len(in); i += 2 {
			if i+1 == len(in) {
				values = append(values, in[i])
				break
			}
			conditions, values = append(conditions, in[i]), append(values, in[i+1])
		}
		return edit.Piecewise(c.site, in[0], conditions, values)
	})
	for name, value := range map[string]int{"zeros_like": 0, "ones_like": 1} {
		define(name+"(x)", 1, 1, onArray(func(c *call, x *graph.Node, _ []int) (*graph.Node, error) {
			return graph.Full(c.site, dtype.FromInt(x.DType, int64(value)), x.Shape...)
		}))
	}
	defineTwo("full_like(x, value)", elements.Filled)
	for _, name := range []string{"signbit", "logaddexp", "nextafter", "spacing", "ldexp", "i0", "frexp", "select", "piecewise", "zeros_like", "ones_like", "full_like"} {
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: "a block"})
	}
}

func init() {
	for name, f := range map[string]func(graph.Site, *graph.Node, *graph.Node, elements.Closeness) (*graph.Node, error){
		"isclose": elements.IsClose, "allclose": elements.AllClose,
	} {
		define(name+`(a, b, rtol, atol, "equal_nan")`, 2, 5, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(2)
			if err != nil {
				return nil, err
			}
			close := elements.Closeness{Relative: 1e-5, Absolute: 1e-8}
			for i := 2; i < len(c.values); i++ {
				text := c.values[i].Text
				switch {
				case text != nil && *text == "equal_nan" && i == len(c.values)-1:
					close.EqualNaN = true
				case i == 2:
					close.Relative, err = c.float(i)
				default:
					close.Absolute, err = c.float(i)
				}
				if err != nil {
					return nil, err
				}
			}
			return f(c.site, in[0], in[1], close)
		})
	}
	document("isclose", Doc{NumPy: "np.isclose", Passes: fused, Working: "a block"})
	document("allclose", Doc{NumPy: "np.allclose", Passes: "1", Working: "an accumulator"})
	define("nan_to_num(x, nan, posinf, neginf)", 1, 4, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		as := []float64{0, math.Inf(1), math.Inf(-1)}
		for i := 1; i < len(c.values); i++ {
			if as[i-1], err = c.float(i); err != nil {
				return nil, err
			}
		}
		return elements.NaNToNum(c.site, in[0], as[0], as[1], as[2])
	})
	document("nan_to_num", Doc{NumPy: "np.nan_to_num", Passes: fused, Working: "a block"})
}

// defineTwo adds a function of two arrays alone.
func defineTwo(usage string, f func(site graph.Site, a, b *graph.Node) (*graph.Node, error)) {
	define(usage, 2, 2, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		return f(c.site, in[0], in[1])
	})
}
