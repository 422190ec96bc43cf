package run

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/types"
)

// Dry is an algorithm whose runs are planned and not made.
type Dry struct {
	budget  int64              // that the algorithm is to think it has
	count   int                // of elements, at the most, where it follows from values
	counted bool               // it was asked for
	naming  bool               // the budget is too small, and one that will do is looked for
	most    *types.MemoryError // of the run that needs the most; nil where there was none
}

// Counts returns what a run has counted of a node, or where it was only planned, what others are planned with in its place.
func (o *Options) Counts(n *graph.Node, counted []int64) []int64 {
	if o.Dry == nil || n.Blocks == nil {
		return counted
	}
	if c, ok := n.Blocks.Op.(interface{ Foreseen(most int) []int64 }); ok {
		o.Dry.counted = true
		return c.Foreseen(o.Dry.count)
	}
	return counted
}

func (d *Dry) note(short *types.MemoryError) {
	if d.most == nil || short.Need > d.most.Need {
		d.most = short
	}
}

// dry makes nothing and says nothing of it: what is returned is zero.
func dry(Runner) Runner {
	return func(_ context.Context, j *Job) (Result, error) {
		if j.allocate != nil {
			j.allocate(grid.Size(j.Roots[0].Shape))
		}
		return Result{Foreseen: j.storedInfos()}, nil
	}
}
