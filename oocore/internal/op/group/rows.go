package group

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "groupby", NumPy: "x[labels == i].mean() for each i; pandas' groupby",
		Passes: "1, and 1 over the labels before it where groups are not given; a few where accumulators take up to 128 MiB; of more those of argsort over the labels, and elements are read in their order; 1 over the labels for counts",
		Holds:  "16 MiB of accumulators, of 8 to 24 bytes for each result, and 1 MiB", Build: op.Build(grouped),
		Go: "Array.GroupBy"},
}

type groupedArgs struct {
	X, Labels *graph.Node
	Reduction string  `usage:"mean"`
	Axis      int     `default:"0"`
	Groups    int     `default:"0"`
	DDof      float64 `word:"1"`
	Run       op.Run
}

func grouped(site graph.Site, a groupedArgs) (*graph.Node, error) {
	run, x, labels, reduction, axis, groups, ddof := a.Run, a.X, a.Labels, a.Reduction, a.Axis, a.Groups, a.DDof
	l, err := New(site, x, labels, axis, groups, run)
	if err != nil {
		return nil, err
	}
	return Reduce(site, Reduction(reduction), x, l, ddof)
}
