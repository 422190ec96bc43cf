package pad

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("materialise", Materialise{}, blockwise.Exact, blockwise.KeepsAxes) }

// Materialise is an array that is computed once, in chunks of the given lengths, where what
// follows reads it several times.
type Materialise struct{ Lengths []int }

// Chunks are the lengths.
func (o Materialise) Chunks() []int { return o.Lengths }

// Requirements is the box itself.
func (o Materialise) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{slices.Clone(box)}, DisjointReads: true}
}

// Fill reads the box.
func (o Materialise) Fill(ctx context.Context, t *blockwise.Task) error {
	return t.In[0].Read(ctx, t.Box, t.Dst)
}

// kept computes an array once.
func kept(site graph.Site, n *graph.Node) (*graph.Node, error) {
	return graph.NewBlockwise(site, "edge", Materialise{grid.Auto(n.Shape, n.DType.Size(), 1<<20)}, n.Shape, n.DType, []*graph.Node{n})
}
