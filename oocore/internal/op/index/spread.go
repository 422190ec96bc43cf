package index

import (
	"context"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

func init() { blockwise.Register("spread", Spread{}, blockwise.Exact, blockwise.OnlyMoves) }

// Spread is the indices 0, 1, 2 … each so often that its last place is before the end
// that the input has for it.
type Spread struct {
	Count int // indices
}

// Requirements is some ends at a time.
func (o Spread) Requirements([]int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{{endsAtOnce}}, DisjointReads: true}
}

// Fill writes index after index.
func (o Spread) Fill(ctx context.Context, t *blockwise.Task) error {
	e := ends{in: t.In[0], n: o.Count}
	low := int64(t.Box.Start[0])
	i, err := e.search(ctx, low)
	if err != nil {
		return err
	}
	out := dtype.Slice[int64](t.Dst)
	for at := 0; at < len(out); i++ {
		end, err := e.at(ctx, i)
		if err != nil {
			return err
		}
		for stop := int(min(end-low, int64(len(out)))); at < stop; at++ {
			out[at] = int64(i)
		}
	}
	return nil
}

// RepeatEach has each element along an axis so many times after another as its own
// count says, as NumPy's repeat with a list of counts; a list of one is for all.
func RepeatEach(site graph.Site, n *graph.Node, counts []int, axis int) (*graph.Node, error) {
	at, err := grid.Axis(axis, len(n.Shape))
	if err == nil && len(counts) == 1 {
		return shape.Repeat(site, n, counts[0], at)
	}
	if err == nil && len(counts) != n.Shape[at] {
		err = fmt.Errorf("%d counts are not for axis %d of length %d: give one for each element", len(counts), at, n.Shape[at])
	}
	ends, total := make([]int64, len(counts)), int64(0)
	for i, c := range counts {
		if err == nil && c < 0 {
			err = fmt.Errorf("%d times are fewer than none", c)
		}
		if err == nil && int64(c) > math.MaxInt64-total {
			err = fmt.Errorf("the counts' sum is more than 63 bits count")
		}
		total += int64(c)
		ends[i] = total
	}
	if err != nil {
		return nil, graph.Reject(site, "repeat", err, n)
	}
	indices := empty(site, dtype.Int64, []int{0})
	if total > 0 {
		last, err := graph.FromBytes(site, dtype.Bytes(ends), dtype.Int64, len(ends))
		if err == nil {
			indices, err = graph.NewBlockwise(site, "spread", Spread{Count: len(counts)}, []int{int(total)}, dtype.Int64, []*graph.Node{last})
		}
		if err != nil {
			return nil, err
		}
	}
	return Take(site, n, indices, at)
}
