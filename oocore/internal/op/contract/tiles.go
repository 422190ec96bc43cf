package contract

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/cost"
)

func init() { blockwise.Register("matmul_tiles", Tiles{}) }

// Tiles is the product of two matrices, m × k and k × n, tile by tile for what takes each element once, as
// reductions along an axis do: it is never written. An element has the same bits in each tile, and with
// every library: kernel.GemmAlike adds up k products at once, or a panel of them after the other where k is long.
type Tiles struct {
	M, N, K  int
	In, Type dtype.Type // of the operands and of the result
}

const (
	// tiledBytes is from how many bytes on a product is taken tile by tile. A smaller one is kept in memory, and
	// has too few tiles for all workers.
	tiledBytes = 16 << 20
	tileBytes  = 4 << 20
	panelBytes = 8 << 20 // the most of a panel that is kept from tile to tile
	// A tile's sides: from leastLong on a panel is read once for enough of the other operand; packing
	// shows in tiles of fewer than leastShort.
	leastLong, mostLong, leastShort, mostShort = 1 << 10, 4 << 10, 1 << 8, 1 << 10
	// longestRow is from where on multiplying takes so much longer than writing the product and reading it that panels
	// had better be read once for many tiles.
	longestRow = 32 << 10
	longTiles  = 8 // along the lines that are kept, at least, where they are that many
)

// TilesOf is the product of a node that can be taken tile by tile: of two large matrices.
func TilesOf(n *graph.Node) (t Tiles, ok bool) {
	if n.Kind != graph.MatMul || n.Summed > 0 || len(n.Shape) != 2 {
		return t, false
	}
	t = Tiles{n.Shape[0], n.Shape[1], n.In[0].Shape[1], n.In[0].DType, n.DType}
	return t, t.K > 0 && t.K*t.In.Size() <= longestRow && grid.Size(n.Shape) >= tiledBytes/n.DType.Size()
}

// Below is the product whose elements an expression takes, each at its own place or all transposed.
func Below(n *graph.Node) (Tiles, bool) {
	seen := map[*graph.Node]bool{}
	for next := []*graph.Node{n}; len(next) > 0; next = next[1:] {
		n := next[0]
		if seen[n] || len(n.Shape) != 2 {
			continue
		}
		if t, ok := TilesOf(n); ok {
			return t, true
		}
		if seen[n] = true; n.Kind == graph.Elementwise || n.Kind == graph.Cast || n.Kind == graph.View && Transposes(n) {
			next = append(next, n.In...)
		}
	}
	return Tiles{}, false
}

// Transposes reports a view that has each element of a matrix once.
func Transposes(view *graph.Node) bool {
	v, shape := view.View, view.In[0].Shape
	return len(shape) == 2 && grid.Size(v.Shape) == grid.Size(shape) && len(v.Axis) == 2 && v.Axis[0]+v.Axis[1] == 1 && min(v.Axis[0], v.Axis[1]) == 0
}

// Sides are the lengths of the tiles that suit lines along one axis, of which there are so many along the other:
// across the lines and along them. They follow from shapes and types alone.
func (t Tiles) Sides(lines int) (long, short int) {
	long = min(max(panelBytes/(t.K*t.In.Size()), leastLong), mostLong, max((lines+longTiles-1)/longTiles, leastShort), lines)
	parts := (lines + long - 1) / long
	long = (lines + parts - 1) / parts
	return long, min(max(tileBytes/(long*kernel.GemmType(t.Type).Size()), leastShort), mostShort)
}

// panel is how many products are added up at once.
func (t Tiles) panel() int {
	if most := panelBytes / leastLong / t.In.Size(); t.K > most {
		parts := (t.K + most/4 - 1) / (most / 4)
		return (t.K + parts - 1) / parts
	}
	return t.K
}

// Keeps reports that a panel of an operand is whole, and the same for tiles that lie side by side along an axis.
func (t Tiles) Keeps(input, axis int) bool { return input != axis && t.panel() == t.K }

// Requirements is a panel of each operand, and what kernel.GemmAlike takes.
func (t Tiles) Requirements(box []int) blockwise.Requirements {
	var p blockwise.ScratchLayout
	t.layout(&p, box)
	return blockwise.Requirements{
		Reads:         [][]int{{box[0], t.panel()}, {t.panel(), box[1]}},
		Spans:         [][]int{{box[0], t.K}, {t.K, box[1]}},
		Scratch:       p.Size(),
		DisjointReads: true,
		Work:          int64(2 * float64(grid.Size(box)) * float64(t.K) * cost.Product(kernel.GemmType(t.Type))),
	}
}

// layout takes memory for panels, for sums of a wider type than the result, and for kernel.GemmAlike.
func (t Tiles) layout(p *blockwise.ScratchLayout, box []int) (a, b, sums, work []byte) {
	k := t.panel()
	a, b = p.Take(box[0]*k*t.In.Size()), p.Take(k*box[1]*t.In.Size())
	if wide := kernel.GemmType(t.Type); wide != t.Type {
		sums = p.Take(grid.Size(box) * wide.Size())
	}
	return a, b, sums, p.Take(int(kernel.GemmWork(t.In, box[0], box[1], k)))
}

// Fill multiplies the rows and columns of a tile.
func (t Tiles) Fill(ctx context.Context, task *blockwise.Task) error {
	box := task.Box
	rows, cols := box.Shape[0], box.Shape[1]
	a, b, sums, work := t.layout(task.ScratchLayout(), box.Shape)
	multiply, c := kernel.GemmAlike, task.Dst
	if t.Type == dtype.Int32 && t.In != dtype.Int32 {
		multiply = kernel.GemmInt32
	}
	if sums != nil {
		c = sums
	}
	for at := 0; at < t.K; at += t.panel() {
		k := min(t.panel(), t.K-at)
		if err := task.In[0].Read(ctx, grid.Box{Start: []int{box.Start[0], at}, Shape: []int{rows, k}}, a[:rows*k*t.In.Size()]); err != nil {
			return err
		}
		if err := task.In[1].Read(ctx, grid.Box{Start: []int{at, box.Start[1]}, Shape: []int{k, cols}}, b[:k*cols*t.In.Size()]); err != nil {
			return err
		}
		if err := task.Compute(func() error {
			if at == 0 {
				clear(c)
			}
			multiply(t.In, rows, cols, k, a, k, b, cols, c, cols, work)
			return nil
		}); err != nil {
			return err
		}
	}
	if sums == nil {
		return nil
	}
	round, _ := kernel.Cast(kernel.GemmType(t.Type), t.Type)
	return task.Compute(func() error {
		round(rows*cols, task.Dst, sums, nil, nil)
		return nil
	})
}

// Chunks are what the tasks of a reduction along axes of a shape fold, and the tiles by which they do: all of
// the lines, or parts of few of them, so that there are tasks for all workers.
func (t Tiles) Chunks(shape, axes []int) (chunks, tile []int) {
	kept := 0
	if slices.Equal(axes, []int{0}) {
		kept = 1
	}
	tile = make([]int, 2)
	tile[kept], tile[1-kept] = t.Sides(shape[kept])
	tile = grid.Clip(tile, shape)
	chunks = slices.Clone(tile)
	parts := (2*longTiles - 1) / ((shape[kept] + tile[kept] - 1) / tile[kept])
	tiles := (shape[1-kept] + tile[1-kept] - 1) / tile[1-kept]
	chunks[1-kept] = min((tiles+parts)/(parts+1)*tile[1-kept], shape[1-kept])
	return chunks, tile
}
