package grid_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func shapes(r *rapid.T, name string, dims, low, high int) []int {
	return rapid.SliceOfN(rapid.IntRange(low, high), dims, dims).Draw(r, name)
}

// cover counts how often each element of a shape is in one of the boxes.
func cover(r *rapid.T, shape []int, boxes []grid.Box) {
	strides := grid.Strides(shape)
	seen := make([]int, grid.Size(shape))
	for _, b := range boxes {
		for e := range (grid.Grid{Shape: b.Shape, Chunks: ones(len(shape))}).Len() {
			at := (grid.Grid{Shape: b.Shape, Chunks: ones(len(shape))}).Box(e).Start
			i := 0
			for d := range at {
				i += (b.Start[d] + at[d]) * strides[d]
			}
			seen[i]++
		}
	}
	for i, n := range seen {
		if n != 1 {
			r.Fatalf("element %d of %v is in %d boxes of %v", i, shape, n, boxes)
		}
	}
}

func ones(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// A grid with an offset is the part of a grid without one that begins there.
func TestOffsetGridsAreCutFromWholeOnes(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		dims := rapid.IntRange(0, 3).Draw(r, "dims")
		g := grid.Grid{Shape: shapes(r, "shape", dims, 0, 9), Chunks: shapes(r, "chunks", dims, 1, 5)}
		for _, c := range g.Chunks {
			g.Offset = append(g.Offset, rapid.IntRange(0, c-1).Draw(r, "offset"))
		}
		var boxes []grid.Box
		for _, b := range g.All() {
			boxes = append(boxes, b)
			for d := range b.Start {
				first, last := b.Start[d]+g.Offset[d], b.Start[d]+b.Shape[d]-1+g.Offset[d]
				if b.Shape[d] < 1 || first/g.Chunks[d] != last/g.Chunks[d] {
					r.Fatalf("box %v of %+v is not in one chunk", b, g)
				}
			}
		}
		cover(r, g.Shape, boxes)
	})
}

func TestAlignCutsAtTheGrid(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		dims := rapid.IntRange(0, 3).Draw(r, "dims")
		shape, lengths := shapes(r, "shape", dims, 0, 8), shapes(r, "lengths", dims, 1, 5)
		origin := shapes(r, "origin", dims, -4, 0)
		whole := grid.Box{Start: make([]int, dims), Shape: shape}
		var boxes []grid.Box
		for b := range whole.Align(origin, lengths) {
			boxes = append(boxes, b)
			for d := range b.Start {
				if (b.Start[d]-origin[d])/lengths[d] != (b.Start[d]+b.Shape[d]-1-origin[d])/lengths[d] {
					r.Fatalf("box %v lies across a line of %v from %v", b, lengths, origin)
				}
			}
		}
		cover(r, shape, boxes)
	})
}

// Places are those of the positions of one element each.
func TestPlacesAreThoseOfAllPositions(t *testing.T) {
	for _, shape := range [][]int{{}, {1}, {5}, {0}, {3, 0, 2}, {2, 3, 4}, {4, 1, 1, 3}} {
		one, other := make([]int, len(shape)+1), make([]int, len(shape)+1)
		for d := range one {
			one[d], other[d] = 100*d+7, -3*d
		}
		var got, want [][2]int
		for i, j := range grid.Places(shape, one, other) {
			got = append(got, [2]int{i, j})
		}
		for _, b := range (grid.Grid{Shape: shape, Chunks: ones(len(shape))}).All() {
			var at [2]int
			for d, i := range b.Start {
				at[0], at[1] = at[0]+i*one[d], at[1]+i*other[d]
			}
			want = append(want, at)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", shape, got, want)
		}
	}
}
