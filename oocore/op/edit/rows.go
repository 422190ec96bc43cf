package edit

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: "piecewise(x, condition, y, condition, z..., otherwise)", Build: pieces, Args: [2]int{3, -1}, Examples: "piecewise(x, x > 0.5, y)",
		Go: "Array.Piecewise"},
}

// pieces reads a value after each condition, and perhaps one more.
func pieces(c *op.Call) (*graph.Node, error) {
	in, err := c.Nodes(len(c.Values))
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
	return Piecewise(c.Site, in[0], conditions, values)
}
