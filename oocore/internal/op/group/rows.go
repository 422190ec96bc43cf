package group

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: `groupby(x, labels, "mean", axis=0, groups=0, "ddof=1")`, NumPy: "x[labels == i].mean() for each i; pandas' groupby",
		Passes: "1, and 1 over the labels before it where groups are not given; a few where accumulators take up to 128 MiB; of more those of argsort over the labels, and elements are read in their order; 1 over the labels for counts",
		Holds:  "16 MiB of accumulators, of 8 to 24 bytes for each result, and 1 MiB", Build: grouped,
		Go: "Array.GroupBy"},
}

func grouped(site graph.Site, run op.Run, x, labels *graph.Node, reduction string, axis, groups int, ddof float64) (*graph.Node, error) {
	l, err := New(site, x, labels, axis, groups, run)
	if err != nil {
		return nil, err
	}
	return Reduce(site, Reduction(reduction), x, l, ddof)
}
