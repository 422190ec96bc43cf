package shape

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Block is NumPy's block of lists of two depths: the arrays of each row follow each other
// along the last axis, and the rows along the one before. Those of fewer axes than two, or
// than others have, get more before their own.
func Block(site graph.Site, rows [][]*graph.Node) (*graph.Node, error) {
	dims := 2
	var all []*graph.Node
	for _, row := range rows {
		for _, n := range row {
			dims = max(dims, len(n.Shape))
			all = append(all, n)
		}
		if len(row) == 0 {
			return nil, graph.Reject(site, "block", errors.New("a row has no arrays"))
		}
	}
	if len(all) == 0 {
		return nil, graph.Reject(site, "block", errors.New("need at least one array"))
	}
	joined := make([]*graph.Node, len(rows))
	for i, row := range rows {
		wide := make([]*graph.Node, len(row))
		for k, n := range row {
			var err error
			if wide[k], err = graph.ExpandDims(site, n, grid.UpTo(dims-len(n.Shape))...); err != nil {
				return nil, err
			}
		}
		out, err := concatenate(site, -1, wide)
		if err != nil {
			return nil, graph.Reject(site, "block", err, all...)
		}
		joined[i] = out
	}
	out, err := concatenate(site, -2, joined)
	return graph.Result(site, "block", out, err, all...)
}
