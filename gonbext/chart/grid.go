package chart

import (
	"math"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// gridMap is the chunk grid of a stage folded to two dimensions, each cell one
// chunk or, of grids that are too large to see, a block of neighbours.
type gridMap struct {
	rows, cols int
	cells      []cell
	// How a chunk's linear index becomes a cell: row and column of the folded
	// grid, then divided by the size of a block. A linear fold has width 0:
	// its chunks are wrapped into rows in their order.
	width            int64 // columns of the folded grid
	perRow, perCol   int64 // chunks behind a cell, down and across
	n                int64
	rowAxes, colAxes string
}

// cell is what the chunks behind one cell took.
type cell struct {
	done    int64
	time    time.Duration // of the slowest
	bytes   int64         // reserved by the largest
	trouble bool          // retried or split
}

// newGridMap folds the grid of a stage's tasks into at most limit cells.
func newGridMap(st *record.Stage, limit int) *gridMap {
	g := &gridMap{n: int64(st.Tasks), perRow: 1, perCol: 1}
	counts, axes := gridCounts(st)
	rows, cols := g.n, int64(1)
	split := 0
	if len(counts) >= 2 {
		// Where to cut the axes: as near as it gets to a picture three times as
		// wide as high, which a notebook has room for.
		best := math.Inf(1)
		for k := 1; k < len(counts); k++ {
			r, c := product(counts[:k]), product(counts[k:])
			if off := math.Abs(math.Log(float64(c) / float64(r) / 3)); off < best {
				best, split, rows, cols = off, k, r, c
			}
		}
	}
	if split == 0 || rows > 8*cols || cols > 40*rows {
		g.wrap(limit)
		return g
	}
	g.width = cols
	g.rowAxes, g.colAxes = axisNames(axes[:split]), axisNames(axes[split:])
	maxCols := min(120, limit/20)
	g.perCol = ceilDiv(cols, int64(maxCols))
	g.cols = int(ceilDiv(cols, g.perCol))
	g.perRow = ceilDiv(rows, int64(min(60, limit/g.cols)))
	g.rows = int(ceilDiv(rows, g.perRow))
	g.cells = make([]cell, g.rows*g.cols)
	return g
}

// wrap lays the chunks out in their order, in rows.
func (g *gridMap) wrap(limit int) {
	g.perCol = ceilDiv(g.n, int64(limit))
	cells := int(ceilDiv(g.n, g.perCol))
	g.cols = cells
	if cells > 50 {
		g.cols = 100
		for _, c := range []int{25, 40, 50, 80} {
			if c*c >= 4*cells {
				g.cols = c
				break
			}
		}
	}
	g.rows = (cells + g.cols - 1) / g.cols
	g.cells = make([]cell, cells)
}

// at is the index of the cell of a chunk.
func (g *gridMap) at(chunk int64) int {
	if g.width == 0 {
		return int(chunk / g.perCol)
	}
	return int(chunk/g.width/g.perRow)*g.cols + int(chunk%g.width/g.perCol)
}

func (g *gridMap) add(t *record.Task) {
	c := &g.cells[g.at(t.Chunk)]
	c.done++
	c.time = max(c.time, t.Duration)
	c.bytes = max(c.bytes, t.Reserved.Host()+t.Reserved[record.Device])
	c.trouble = c.trouble || t.Retries > 0 || t.Splits > 0
}

// extremes are the least and the greatest value over the cells that were done.
func (g *gridMap) extremes(value func(*cell) float64) (least, most float64) {
	least = math.Inf(1)
	for i := range g.cells {
		if c := &g.cells[i]; c.done > 0 {
			least, most = min(least, value(c)), max(most, value(c))
		}
	}
	if math.IsInf(least, 1) {
		least = 0
	}
	return least, most
}

func cellTime(c *cell) float64  { return float64(c.time) / float64(time.Millisecond) }
func cellBytes(c *cell) float64 { return float64(c.bytes) / (1 << 20) }

// gridCounts are the numbers of chunks along each axis that has several, and
// those axes; none where the header's grid is not that of the stage's tasks.
func gridCounts(st *record.Stage) (counts []int64, axes []int) {
	if len(st.Shape) != len(st.Chunks) {
		return nil, nil
	}
	all := int64(1)
	for i, n := range st.Shape {
		if n <= 0 || st.Chunks[i] <= 0 {
			return nil, nil
		}
		k := ceilDiv(int64(n), int64(st.Chunks[i]))
		if k > int64(st.Tasks)/all {
			return nil, nil
		}
		all *= k
		if k > 1 {
			counts, axes = append(counts, k), append(axes, i)
		}
	}
	if all != int64(st.Tasks) {
		return nil, nil
	}
	return counts, axes
}

func product(v []int64) int64 {
	p := int64(1)
	for _, n := range v {
		p *= n
	}
	return p
}
