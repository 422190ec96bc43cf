package plan

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Tiles of copies into shards are whole chunks side by side, no wider than the shard or the room,
// and none where a shard's first chunk is cut.
func TestCopiesIntoShardsReadChunksSideBySide(t *testing.T) {
	copies := &Program{Loads: []Load{{Kind: LoadArray}}, Out: []int{0}}
	if !copies.Plain() {
		t.Fatal("the program is no copy")
	}
	for _, c := range []struct {
		shard, chunk, offset []int
		room                 int
		want                 []int // nil for a chunk
	}{
		{[]int{4, 1024, 1024}, []int{1, 256, 256}, nil, 1 << 20, []int{1, 256, 1024}},
		{[]int{4, 1024, 1024}, []int{1, 256, 256}, nil, 200_000, []int{1, 256, 768}},
		{[]int{4, 1024, 1024}, []int{1, 256, 256}, nil, 100_000, nil},
		{[]int{4, 1024, 1024}, []int{1, 256, 1024}, nil, 1 << 20, nil},
		{[]int{4, 1024, 1024}, []int{1, 256, 256}, []int{0, 3, 0}, 1 << 20, nil},
	} {
		s := &SizedStage{Stage: &Stage{Grid: grid.Grid{Shape: c.shard, Chunks: c.shard, Offset: c.offset}, StoreChunk: c.chunk}, WriteTile: c.chunk}
		if ok := s.sideBySide(copies, c.room); ok != (c.want != nil) || ok && !slices.Equal(s.Tile, c.want) {
			t.Errorf("chunks of %v in %v from %v, room for %d: tile %v, want %v", c.chunk, c.shard, c.offset, c.room, s.Tile, c.want)
		}
	}
}

// A task of a reduction reads a KiB together of a transposed file, or all of it. One row of the first
// axis of a file in Fortran order has two bytes in each KiB, so that each task would read the whole file.
func TestReductionsReadRunsOfTransposedFiles(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{1, 3, 12, 100, 512, 3000}), 2, 5).Draw(r, "shape of the file")
		axes := make([]int, len(shape))
		for i := range axes {
			axes[i] = i
		}
		order := rapid.Permutation(axes).Draw(r, "order")
		reduced := rapid.Permutation(axes).Draw(r, "axes")[:rapid.IntRange(1, len(axes)).Draw(r, "number of axes")]
		x := node(t)(graph.Transpose(graph.Site{}, file(t, "x.npy", dtype.Int16, shape...), order...))
		p, err := New(fold(t, kernel.Sum, x, reduced...), Target{Path: "o.npy"})
		if err != nil {
			r.Fatal(err)
		}
		run, chunks := 1, p.Stages[0].Grid.Chunks
		for stored := len(shape) - 1; stored >= 0; stored-- {
			n := chunks[slices.Index(order, stored)]
			if run *= n; n < shape[stored] {
				break
			}
		}
		if run < min(512, grid.Size(shape)) {
			r.Errorf("a task of %v, of a file of %v as %v, reads %d elements together", chunks, shape, order, run)
		}
	})
}
