package compile

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// Arrays and chunks of any shape, seen through any view and stored in any chunks, are
// planned: in at most two passes, neither of which has more in flight than its budget.
func TestOddShapesArePlanned(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		dims := rapid.IntRange(1, 5).Draw(r, "dims")
		length := rapid.SampledFrom([]int{0, 1, 2, 7, 100, 4097, 70_000, 3_000_000})
		shape, chunks, out := make([]int, dims), make([]int, dims), make([]int, 0, dims)
		for d := range shape {
			shape[d] = length.Draw(r, "length")
			chunks[d] = rapid.SampledFrom([]int{1, 3, 64, 5000, 1 << 20, math.MaxInt32}).Draw(r, "chunk")
		}
		if grid.Check(shape, 8) != nil || grid.Size(shape) > 1<<42 {
			return
		}
		whole := int64(8)
		for d := range chunks {
			whole *= int64(min(chunks[d], max(shape[d], 1)))
		}
		info := store.Info{Path: "x.zarr", Shape: shape, DType: dtype.Float64, Chunks: chunks}
		if rapid.Bool().Draw(r, "coded") {
			info.Work = store.Work{Whole: whole, Stream: min(whole, 1<<20)}
		}
		if rapid.IntRange(0, 3).Draw(r, "plain") == 0 {
			info.Chunks, info.Work = nil, store.Work{}
		}
		x, err := graph.Open(graph.Site{}, info, "")
		if err != nil {
			r.Fatal(err)
		}
		spec := ""
		for range shape {
			spec += rapid.SampledFrom([]string{":", "::-1", "::3", "1:", "5:2:-2", "::-100"}).Draw(r, "slice") + ", "
		}
		if x, err = graph.Slice(graph.Site{}, x, spec); err != nil {
			r.Fatal(err)
		}
		axes := make([]int, dims)
		for i := range axes {
			axes[i] = i
		}
		if x, err = graph.Transpose(graph.Site{}, x, rapid.Permutation(axes).Draw(r, "axes")...); err != nil {
			r.Fatal(err)
		}
		target := Target{Path: rapid.SampledFrom([]string{"o.npy", "o.zarr"}).Draw(r, "to")}
		for range shape {
			out = append(out, rapid.SampledFrom([]int{1, 5, 1000, 1 << 19, math.MaxInt32}).Draw(r, "stored"))
		}
		if rapid.Bool().Draw(r, "chunks") {
			target.Chunks = out
		}
		p, err := sized(x, target, options(rapid.SampledFrom([]int64{64 << 20, 1 << 30, 1 << 40}).Draw(r, "budget")))
		if err != nil {
			if short := new(types.MemoryError); errors.As(err, &short) && short.Need <= 0 {
				r.Errorf("%v", err)
			}
			return
		}
		if len(p.Stages) > 2 || p.Peak.Host() > p.Arena {
			r.Errorf("%d stages take %d of %d bytes", len(p.Stages), p.Peak.Host(), p.Arena)
		}
		for i := range p.Stages {
			s := &p.Stages[i]
			for _, lengths := range [][]int{s.Grid.Chunks, s.Chunk, s.WriteTile, s.Tile, s.Block} {
				for d := range lengths {
					if lengths[d] < 1 {
						r.Errorf("stage %d has lengths %v", i, fmt.Sprint(lengths))
					}
				}
			}
		}
	})
}
