package strided_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Every element of the part goes to its place, and no other changes.
func TestCopyMovesTheElementsOfThePart(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		dims := rapid.IntRange(0, 4).Draw(r, "dims")
		draw := func(name string, low, high int) []int {
			return rapid.SliceOfN(rapid.IntRange(low, high), dims, dims).Draw(r, name)
		}
		part := grid.Box{Start: draw("start", 0, 5), Shape: draw("shape", 0, 4)}
		around := func(name string) grid.Box {
			before, after := draw(name+" before", 0, 2), draw(name+" after", 0, 2)
			b := grid.Box{Start: make([]int, dims), Shape: make([]int, dims)}
			for d := range before {
				b.Start[d], b.Shape[d] = part.Start[d]-before[d], before[d]+part.Shape[d]+after[d]
			}
			return b
		}
		to, from := around("to"), around("from")
		dst, src := make([]byte, to.Size()), make([]byte, from.Size())
		for i := range src {
			src[i] = byte(i%255) + 1
		}
		want := make([]byte, len(dst))
		for _, e := range (grid.Grid{Shape: part.Shape, Chunks: ones(dims)}).All() {
			at := e.Move(part.Start).Start
			i, j := 0, 0
			for d := range at {
				i, j = i*to.Shape[d]+at[d]-to.Start[d], j*from.Shape[d]+at[d]-from.Start[d]
			}
			want[i] = src[j]
		}
		strided.Copy(1, part, dst, to, src, from)
		if string(dst) != string(want) {
			r.Fatalf("%v from %v to %v: %v, want %v", part, from, to, dst, want)
		}
	})
}

func ones(n int) []int {
	all := make([]int, n)
	for d := range all {
		all[d] = 1
	}
	return all
}
