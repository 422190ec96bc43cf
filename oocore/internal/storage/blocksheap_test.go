package storage

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestBlocksHeap(t *testing.T) {
	m := store.Meta{Shape: []int{8192, 16384}, DType: dtype.Complex64, Chunks: []int{8192, 64}}
	for _, c := range []struct {
		start, box []int
		want       int64
	}{
		{[]int{0, 0}, []int{8192, 64}, 0}, // a block
		{[]int{0, 0}, []int{100, 32}, 0},  // parts of one
		{[]int{0, 64}, []int{8192, 64}, 0},
		{[]int{0, 32}, []int{8192, 64}, scratchBytes}, // parts of two
		{[]int{0, 0}, []int{32, 16384}, scratchBytes}, // of all
		{[]int{0, 0}, []int{1, 16384}, 0},             // each a run of the row
	} {
		if got := BlocksHeap(m, grid.Box{Start: c.start, Shape: c.box}); got != c.want {
			t.Errorf("boxes %v from %v on take %d, want %d", c.box, c.start, got, c.want)
		}
	}
}

// What BlocksHeap says that boxes do without, no box of them takes.
func TestBlocksHeapIsAllThatBoxesTake(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		dims := rapid.IntRange(1, 3).Draw(t, "dims")
		draw := func(name string, least, most int) []int {
			return rapid.SliceOfN(rapid.IntRange(least, most), dims, dims).Draw(t, name)
		}
		m := store.Meta{Shape: draw("shape", 1, 9), DType: dtype.Int8, Chunks: draw("blocks", 1, 9)}
		first := grid.Box{Start: make([]int, dims), Shape: draw("box", 1, 9)}
		if rapid.Bool().Draw(t, "offset") {
			first.Start = draw("start", 0, 8)
		}
		for d, n := range m.Shape {
			first.Shape[d] = min(first.Shape[d], n)
			first.Start[d] = min(first.Start[d], n-1)
		}
		l, buffered, boxes := blocksOf(m), false, grid.Grid{Shape: slices.Clone(m.Shape), Chunks: first.Shape}
		for d := range boxes.Shape {
			boxes.Shape[d] -= first.Start[d]
		}
		for i := range boxes.Len() {
			b := boxes.Box(i)
			for d := range b.Start {
				b.Start[d] += first.Start[d]
			}
			for p := range l.overlaps(b.Region()) {
				buffered = buffered || !grid.Dense(p.count, b.Shape)
			}
		}
		if buffered && BlocksHeap(m, first) == 0 {
			t.Fatal("boxes take a buffer that BlocksHeap does not know")
		}
	})
}
