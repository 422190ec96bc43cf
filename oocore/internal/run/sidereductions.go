package run

import (
	"context"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// SideReductions are reductions to a float64 each, along all axes of arrays of the shape of one that is
// saved, which are computed in the pass that writes it.
type SideReductions struct {
	Of     []*graph.Node
	Values []float64 // nil where an earlier run has made the array
}

// beside computes the side reductions in the pass that writes the array.
func (s *SideReductions) beside(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		s.Values = make([]float64, len(s.Of))
		for i := range s.Values {
			j.env.SideReductions = append(j.env.SideReductions, dtype.Bytes(s.Values[i:i+1]))
		}
		j.onCommitted(func(_ context.Context, _ int, earlier bool) {
			if earlier {
				s.Values = nil
			}
		})
		return next(ctx, j)
	}
}
