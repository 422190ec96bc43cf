package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

func init() {
	for name, f := range map[string]func(graph.Site, *graph.Node) (*graph.Node, error){
		"fabs": elements.Fabs, "positive": elements.Positive, "radians": elements.Radians, "degrees": elements.Degrees, "sinc": elements.Sinc,
		"isposinf": elements.IsPosInf, "isneginf": elements.IsNegInf, "isreal": elements.IsReal, "iscomplex": elements.IsComplex,
	} {
		defineOne(name+"(x)", f)
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: "a block"})
	}
	alias("deg2rad", "radians")
	alias("around", "round")
	alias("fix", "trunc")
	alias("empty", "zeros")
	alias("empty_like", "zeros_like")
	alias("isnull", "isnan")
	alias("rad2deg", "degrees")
	for name, f := range map[string]func(site graph.Site, a, b *graph.Node) (*graph.Node, error){
		"fmod": elements.Fmod, "float_power": elements.FloatPower, "heaviside": elements.Heaviside, "logaddexp2": elements.LogAddExp2,
	} {
		defineTwo(name+"(a, b)", f)
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: "a block"})
	}
	define(`angle(x, "deg")`, 1, 2, func(c *call) (*graph.Node, error) {
		degrees := c.option("deg")
		if len(c.values) > 1 {
			return nil, c.fail(c.args[1].Pos(), `angle takes "deg" here, or nothing: %s`, c.f.Usage)
		}
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		return elements.Angle(c.site, in[0], degrees)
	})
	document("angle", Doc{NumPy: "np.angle", Passes: fused, Working: "a block"})
	defineParts(`modf(x, "fraction" or "integral")`, []string{"fraction", "integral"}, func(c *call, x *graph.Node) ([]*graph.Node, error) {
		fraction, integral, err := elements.Modf(c.site, x)
		return []*graph.Node{fraction, integral}, err
	})
	document("modf", Doc{NumPy: "np.modf", Passes: fused, Working: "a block"})
	define("choose(x, a, b...)", 2, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(len(c.values))
		if err != nil {
			return nil, err
		}
		return elements.Choose(c.site, in[0], in[1:])
	})
	document("choose", Doc{NumPy: "np.choose", Passes: fused, Working: "a block"})
}
