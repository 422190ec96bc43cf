package expr

import (
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/group"
)

func init() {
	define(`groupby(x, labels, "mean", axis, groups, "ddof=1")`, 3, 6, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		ddof := 0.0
		if last := len(c.values) - 1; last > 2 && c.values[last].Text != nil {
			number, is := strings.CutPrefix(*c.values[last].Text, "ddof=")
			if ddof, err = strconv.ParseFloat(number, 64); !is || err != nil {
				return nil, c.fail(c.args[last].Pos(), "groupby does not take %q: %s", *c.values[last].Text, c.f.Usage)
			}
			c.values = c.values[:last]
		}
		n, err := c.ints(3)
		if err != nil {
			return nil, err
		}
		if c.values[2].Text == nil || len(n) > 2 {
			return nil, c.fail(c.args[2].Pos(), "groupby takes a reduction in double quotes, then an axis and a number of groups: %s", c.f.Usage)
		}
		n = defaults(n, 0, 0)
		l, err := group.New(c.site, in[0], in[1], n[0], n[1], c.run())
		if err != nil {
			return nil, err
		}
		return group.Reduce(c.site, group.Reduction(*c.values[2].Text), in[0], l, ddof)
	})
	document("groupby", Doc{NumPy: "x[labels == i].mean() for each i; pandas' groupby", Passes: "1, and 1 over the labels before it where groups are not given; a few where accumulators take up to 128 MiB; of more those of argsort over the labels, and elements are read in their order; 1 over the labels for counts", Working: "16 MiB of accumulators, of 8 to 24 bytes for each result, and 1 MiB"})
}
