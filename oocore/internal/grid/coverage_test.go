package grid_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// The boxes of a grid, in any order, cover an array; with one of them twice in place of another they do not.
func TestCoverageFindsBoxesInPlaceOfOthers(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		dims := rapid.IntRange(0, 3).Draw(r, "dims")
		g := grid.Grid{Shape: shapes(r, "shape", dims, 1, 9), Chunks: shapes(r, "chunks", dims, 1, 5)}
		var boxes []grid.Box
		for _, b := range g.All() {
			boxes = append(boxes, b)
		}
		boxes = rapid.Permutation(boxes).Draw(r, "boxes")
		covers := func() bool {
			c := grid.NewCoverage(dims)
			for _, b := range boxes {
				c.Add(b)
			}
			return c.Whole(g.Shape)
		}
		if !covers() {
			r.Fatalf("%v do not cover %v", boxes, g.Shape)
		}
		if len(boxes) > 1 {
			if boxes[0] = boxes[1]; covers() {
				r.Fatalf("%v cover %v", boxes, g.Shape)
			}
		}
	})
}
