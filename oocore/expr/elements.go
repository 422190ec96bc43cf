package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

func init() {
	defineOne("signbit(x)", elements.Signbit)
	defineTwo("logaddexp(a, b)", elements.LogAddExp)
	defineTwo("nextafter(a, b)", elements.NextAfter)
	for _, name := range []string{"signbit", "logaddexp", "nextafter"} {
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: "a block"})
	}
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
