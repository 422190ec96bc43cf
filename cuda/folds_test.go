//go:build linux

package cuda_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/device/devicetest"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/record"
)

// cards are memories of a card, of which its context takes a million bytes, by which tiles
// of some 100,000 elements differ.
var cards = []int64{1_450_000, 2 << 20, 1 << 30}

// array is rows of 64 random numbers about 1, of which at gives some.
func array(t *testing.T, rows int, at map[int]float32) *oocore.Array {
	t.Helper()
	random := devicetest.Rand(t)
	values := make([]float32, rows*64)
	for i := range values {
		values[i] = float32(1 + 0.01*random.NormFloat64())
	}
	for i, v := range at {
		values[i] = v
	}
	return oocore.FromSlice(values, rows, 64)
}

// The order of additions is the plan's, whatever memory the card has.
func TestFoldsHaveTheSameBitsOnAnyCard(t *testing.T) {
	x := array(t, 1800, nil)
	square := x.Square()
	var all []devicetest.Expression
	for _, axes := range [][]int{{0}, {1}, {0, 1}} {
		for name, root := range map[string]*oocore.Array{"sum": x.AsType(dtype.Float64).Sum(axes...), "prod": x.Prod(axes...), "mean": x.Mean(axes...), "std": x.Std(axes...), "norm": square.Sum(axes...).Sqrt()} {
			all = append(all, devicetest.Expression{Name: fmt.Sprint(name, axes), Root: root})
		}
	}
	all = append(all, devicetest.Expression{Name: "map with side reductions", Root: square, Side: []*oocore.Array{x.Sum(0, 1), square.Std(0, 1)}})
	for _, e := range all {
		var want []byte
		var tiles []int
		for _, memory := range cards {
			g, _ := gpu(t, memory)
			got, p, _, err := e.Run(t, g, little)
			if err != nil {
				t.Fatalf("%s on %d bytes: %v", e.Name, memory, err)
			}
			s := p.OnDevice[0]
			if s == nil {
				t.Fatalf("%s on %d bytes: %s", e.Name, memory, p.Stages[0].Note)
			}
			if tiles = append(tiles, sizeOf(s.Tile)); want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s on %d bytes: other bits than on %d, with GONBEXT_SEED=%d", e.Name, memory, cards[0], devicetest.Seed(t))
			}
		}
		if slices.Min(tiles) == slices.Max(tiles) {
			t.Errorf("%s: all cards take tiles of %d elements", e.Name, tiles[0])
		}
	}
}

// Of operands that a kernel leaves to the CPU, the CPU computes the tile and no more; the
// device folds what it has computed, in the plan's order.
func TestGPULeavesTilesWithRareOperandsToTheCPU(t *testing.T) {
	at := map[int]float32{5: 3e37, 110_000: 3e37, 110_001: -3e37}
	x := array(t, 1800, at)
	sin := x.Sin()
	for _, e := range []devicetest.Expression{
		{Name: "map", Root: sin, Exact: true},
		{Name: "maximum", Root: sin.Max(1), Exact: true},
		{Name: "sum", Root: sin.Sum(0)},
		{Name: "deviation", Root: sin.Std()},
		{Name: "map with side reductions", Root: sin, Side: []*oocore.Array{sin.Sum(0, 1), x.Mean(0, 1)}},
	} {
		want, _, _, err := e.Run(t, nil, little)
		if err != nil {
			t.Fatal(err)
		}
		var first []byte
		for _, memory := range cards {
			g, _ := gpu(t, memory)
			got, p, _, err := e.Run(t, g, little)
			if err != nil || !e.Same(got, want) {
				t.Errorf("%s on %d bytes: other values than on the CPU: %v", e.Name, memory, err)
			}
			if first == nil {
				first = got
			}
			if !bytes.Equal(got, first) {
				t.Errorf("%s on %d bytes: other bits than on %d", e.Name, memory, cards[0])
			}
			s := p.OnDevice[0]
			if s == nil {
				t.Fatalf("%s on %d bytes: %s", e.Name, memory, p.Stages[0].Note)
			}
			rare := int64(0)
			for event := range e.Record.Events() {
				if event.Action == record.RareToCPU {
					rare += event.Bytes
				}
			}
			if tiles := rareTiles(s, at); rare != tiles {
				t.Errorf("%s on %d bytes: the CPU computed %d bytes of values, and the tiles with rare operands have %d", e.Name, memory, rare, tiles)
			}
			if g.Usage().Used != 0 {
				t.Errorf("%s on %d bytes: %d bytes are left", e.Name, memory, g.Usage().Used)
			}
		}
	}
}

// rareTiles is the bytes of the tiles of a stage that some elements are in.
func rareTiles(s *device.Stage, at map[int]float32) (n int64) {
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
