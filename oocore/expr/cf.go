package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/cf"
)

func init() {
	define(`decode_cf(x, "ns")`, 1, 2, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		unit := ""
		if len(c.values) > 1 {
			if c.values[1].Text == nil {
				return nil, c.fail(c.args[1].Pos(), `decode_cf takes "s", "ms", "us" or "ns" here: %s`, c.f.Usage)
			}
			unit = *c.values[1].Text
		}
		return cf.Decode(c.site, in[0], unit)
	})
	document("decode_cf", Doc{NumPy: "xr.decode_cf; dates as integers", Passes: fused, Working: "a block"})
}
