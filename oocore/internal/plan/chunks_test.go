package plan

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/grid"
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
