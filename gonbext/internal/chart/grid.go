package chart

import (
	"math"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// downsampledGrid lays a chunk grid out in two dimensions, in its own shape, each cell one chunk or, of grids
// that are too large to see, a block of neighbours.
type downsampledGrid struct {
	rows, cols, cells int
	// How a chunk's linear index becomes a cell: row and column of the folded
	// grid, then divided by the size of a block. A linear fold has width 0:
	// its chunks are wrapped into rows in their order.
	width          int64 // columns of the folded grid
	perRow, perCol int64 // chunks behind a cell, down and across
	n              int64
	names          [2]string // of the axes down and across
	block          [2]int    // elements along them of a cell; 0 where there are several
}

// gridMap is what the chunks of a stage took, by the cells of their fold.
type gridMap struct {
	downsampledGrid
	cells []cell
}

// cell is what the chunks behind one cell took.
type cell struct {
	done    int64
	time    time.Duration // of the slowest
	bytes   int64         // reserved by the largest
	trouble bool          // retried or split
	worker  int           // of the last of them; -1: there are none
	from    time.Duration // when the first of them began
	to      time.Duration // and the last one ended
}

// newGridMap folds the grid of a stage's tasks into at most limit cells.
func newGridMap(st *record.Stage, limit int) *gridMap {
	f := newDownsampledGrid(st.Shape, st.Chunks, st.Dims, int64(st.Tasks), limit)
	return &gridMap{f, make([]cell, f.cells)}
}

// maxRow is how many cells a grid of one dimension is drawn in.
const maxRow = 115

// newDownsampledGrid folds the grid of n chunks of a shape into at most limit cells. Its axes may have names.
func newDownsampledGrid(shape, chunks []int, names []string, n int64, limit int) downsampledGrid {
	f := downsampledGrid{n: n, perRow: 1, perCol: 1}
	counts := gridCounts(shape, chunks, n)
	if len(counts) == 0 {
		f.wrap(limit)
		return f
	}
	// Where to cut the axes: as near as it gets to a picture three times as wide as high, which a notebook has room for.
	split, best := 0, math.Inf(1)
	for k := 1; k < len(counts); k++ {
		if off := math.Abs(math.Log(float64(product(counts[k:])) / float64(product(counts[:k])) / 3)); off < best {
			best, split = off, k
		}
	}
	rows, cols := product(counts[:split]), product(counts[split:])
	f.width, f.names = cols, [2]string{axisNames(names, 0, split), axisNames(names, split, len(shape))}
	f.perCol = ceilDiv(cols, int64(min(maxRow, max(limit/int(min(rows, 20)), 1))))
	f.cols = int(ceilDiv(cols, f.perCol))
	f.perRow = ceilDiv(rows, int64(max(min(60, limit/f.cols), 1)))
	f.rows = int(ceilDiv(rows, f.perRow))
	f.cells = f.rows * f.cols
	if split == 1 {
		f.block[0] = chunks[0] * int(f.perRow)
	}
	if len(shape)-split == 1 {
		f.block[1] = chunks[split] * int(f.perCol)
	}
	return f
}

// wrap lays the chunks out in their order, in rows.
func (f *downsampledGrid) wrap(limit int) {
	f.perCol = ceilDiv(f.n, int64(limit))
	cells := int(ceilDiv(f.n, f.perCol))
	f.cols = cells
	if cells > 50 {
		f.cols = 100
		for _, c := range []int{25, 40, 50, 80} {
			if c*c >= 4*cells {
				f.cols = c
				break
			}
		}
	}
	f.rows = (cells + f.cols - 1) / f.cols
	f.cells = cells
}

// at is the index of the cell of a chunk.
func (f *downsampledGrid) at(chunk int64) int {
	if f.width == 0 {
		return int(chunk / f.perCol)
	}
	return int(chunk/f.width/f.perRow)*f.cols + int(chunk%f.width/f.perCol)
}

func (g *gridMap) add(t *record.Task, worker int) {
	c := &g.cells[g.at(t.Chunk)]
	if c.done == 0 || t.Start < c.from {
		c.from = t.Start
	}
	c.to = max(c.to, t.Start+t.Duration)
	c.done++
	c.worker = worker
	c.time = max(c.time, t.Duration)
	c.bytes = max(c.bytes, t.Reserved.Host()+t.Reserved[record.Device])
	c.trouble = c.trouble || t.Retries > 0 || t.Splits > 0
}

// known is a figure of the cell, NaN where nothing was done.
func (c *cell) known(v float64) float64 {
	if c.done == 0 {
		return math.NaN()
	}
	return v
}

// gridCounts are the numbers of chunks along each axis; none where the grid does not have n chunks.
func gridCounts(shape, chunks []int, n int64) (counts []int64) {
	if len(shape) != len(chunks) {
		return nil
	}
	all := int64(1)
	for i, length := range shape {
		if length <= 0 || chunks[i] <= 0 {
			return nil
		}
		k := ceilDiv(int64(length), int64(chunks[i]))
		if k > n/all {
			return nil
		}
		all *= k
		counts = append(counts, k)
	}
	if all != n {
		return nil
	}
	return counts
}

func product[T int | int64](lengths []T) int64 {
	n := int64(1)
	for _, l := range lengths {
		n *= int64(l)
	}
	return n
}
