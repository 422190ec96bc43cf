//go:build linux

package cuda_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// cards are memories of a card, of which its context takes a million bytes, by which tiles
// of some 100,000 elements differ.
var cards = []int64{1_450_000, 2 << 20, 1 << 30}

// array is rows of 64 random numbers about 1, of which at gives some.
func array(t *testing.T, rows int, at map[int]float32) *graph.Node {
	t.Helper()
	random := testcases.Rand(t)
	values := make([]float32, rows*64)
	for i := range values {
		values[i] = float32(1 + 0.01*random.NormFloat64())
	}
	for i, v := range at {
		values[i] = v
	}
	return must[*graph.Node](t)(graph.FromBytes(site, dtype.Bytes(values), dtype.Float32, rows, 64))
}

// The order of additions is the plan's, whatever memory the card has.
func TestFoldsHaveTheSameBitsOnAnyCard(t *testing.T) {
	node := must[*graph.Node](t)
	x := array(t, 1800, nil)
	square, half := node(graph.Apply(site, kernel.Square, x)), node(graph.AsType(site, x, dtype.Float64))
	fold := func(r kernel.Reduction, n *graph.Node, axes ...int) *graph.Node {
		return node(graph.Aggregate(site, r, n, graph.ReduceOptions{Axes: axes}))
	}
	var all []expression
	for _, axes := range [][]int{{0}, {1}, {0, 1}} {
		for r, of := range map[kernel.Reduction]*graph.Node{kernel.Sum: half, kernel.Prod: x, kernel.Mean: x, kernel.Std: x} {
			all = append(all, expression{name: fmt.Sprint(r, axes), root: fold(r, of, axes...)})
		}
		all = append(all, expression{name: fmt.Sprint("norm", axes), root: node(graph.Apply(site, kernel.Sqrt, fold(kernel.Sum, square, axes...)))})
	}
	all = append(all, expression{name: "map with side reductions", root: square, side: []*graph.Node{fold(kernel.Sum, x, 0, 1), fold(kernel.Std, square, 0, 1)}})
	for _, e := range all {
		var want []byte
		var tiles []int
		for _, memory := range cards {
			g, _ := gpu(t, memory)
			got, p, _, err := e.run(t, g, little)
			if err != nil {
				t.Fatalf("%s on %d bytes: %v", e.name, memory, err)
			}
			s := p.OnDevice[0]
			if s == nil {
				t.Fatalf("%s on %d bytes: %s", e.name, memory, p.Stages[0].Note)
			}
			if tiles = append(tiles, grid.Size(s.Tile)); want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s on %d bytes: other bits than on %d, with GONBEXT_SEED=%d", e.name, memory, cards[0], testcases.Seed(t))
			}
		}
		if slices.Min(tiles) == slices.Max(tiles) {
			t.Errorf("%s: all cards take tiles of %d elements", e.name, tiles[0])
		}
	}
}

// Of operands that a kernel leaves to the CPU, the CPU computes the tile and no more; the
// device folds what it has computed, in the plan's order.
func TestGPULeavesTilesWithRareOperandsToTheCPU(t *testing.T) {
	node := must[*graph.Node](t)
	at := map[int]float32{5: 3e37, 110_000: 3e37, 110_001: -3e37}
	x := array(t, 1800, at)
	sin := node(graph.Apply(site, kernel.Sin, x))
	fold := func(r kernel.Reduction, n *graph.Node, axes ...int) *graph.Node {
		return node(graph.Aggregate(site, r, n, graph.ReduceOptions{Axes: axes}))
	}
	for _, e := range []expression{
		{name: "map", root: sin, exact: true},
		{name: "maximum", root: fold(kernel.Max, sin, 1), exact: true},
		{name: "sum", root: fold(kernel.Sum, sin, 0)},
		{name: "deviation", root: fold(kernel.Std, sin)},
		{name: "map with side reductions", root: sin, side: []*graph.Node{fold(kernel.Sum, sin, 0, 1), fold(kernel.Mean, x, 0, 1)}},
	} {
		want, _, _, err := e.run(t, nil, little)
		if err != nil {
			t.Fatal(err)
		}
		var first []byte
		for _, memory := range cards {
			g, _ := gpu(t, memory)
			got, p, _, err := e.run(t, g, little)
			if err != nil || !e.same(got, want) {
				t.Errorf("%s on %d bytes: other values than on the CPU: %v", e.name, memory, err)
			}
			if first == nil {
				first = got
			}
			if !bytes.Equal(got, first) {
				t.Errorf("%s on %d bytes: other bits than on %d", e.name, memory, cards[0])
			}
			s := p.OnDevice[0]
			if s == nil {
				t.Fatalf("%s on %d bytes: %s", e.name, memory, p.Stages[0].Note)
			}
			if tiles := rareTiles(s, at); e.rare != tiles {
				t.Errorf("%s on %d bytes: the CPU computed %d bytes of values, and the tiles with rare operands have %d", e.name, memory, e.rare, tiles)
			}
			if g.Usage().Used != 0 {
				t.Errorf("%s on %d bytes: %d bytes are left", e.name, memory, g.Usage().Used)
			}
		}
	}
}

// rareTiles is the bytes of the tiles of a stage that some elements are in.
func rareTiles(s *plan.DeviceStage, at map[int]float32) (n int64) {
	for i := range s.Tasks() {
		for inner := range s.Chunks(s.Grid.Box(i)) {
			for tile := range inner.Split(s.Tile) {
				for k := range at {
					row, col := k/64-tile.Start[0], k%64-tile.Start[1]
					if row >= 0 && row < tile.Shape[0] && col >= 0 && col < tile.Shape[1] {
						n += 4 * int64(tile.Size())
						break
					}
				}
			}
		}
	}
	return n
}
