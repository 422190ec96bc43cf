package matmul

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// pipeline computes a product in one stream: a reader fills panels, workers add each
// panel's products to the tiles, and writers store rows of tiles that are whole. Nobody
// waits for all others, neither from panel to panel nor from a super-tile to the next:
// a tile waits for what was added to it before, a row of tiles in a new super-tile
// until the one before it in the same memory is written.
//
// What is handed out first needs nothing of what follows, so that no two wait for each
// other.
type pipeline struct {
	*Product
	tasks checkpoint.Tasks
	done  func(index int)
	ctx   context.Context
	fail  context.CancelCauseFunc
	free  chan *panel  // to be filled
	whole chan tileRow // to be written

	mu     sync.Mutex
	moved  *sync.Cond   // what follows has changed
	panels []*panel     // filled, not yet handed out to the last tile
	next   int          // tile of the first panel
	supers int          // that were begun
	last   bool         // no more panels will come
	owner  []*superTile // of each row of accumulators; nil where it is free
	adding []int        // workers that add a panel to a tile of each row
	held   int          // the row that no worker begins to add to, as it is written to a snapshot; or noRow
}

const noRow = -1

// panel is one step's part of both operands.
type panel struct {
	a, b []byte
	k    int // columns of a, rows of b
	tile *superTile
	step int
	left int // tiles that are not yet multiplied
}

// superTile is a part of the result on its way. Its accumulators are contiguous by
// rows of tiles.
type superTile struct {
	batch []int
	box   grid.Box
	tiles grid.Grid
	from  int            // panel with which it begins: all before are in the snapshot that it resumes from
	steps int            // panels
	first int            // row of accumulators of its first row of tiles
	saved []restoredTile // of each tile
	// What follows is the pipeline's to lock.
	added   []int // panels that each tile has seen
	left    []int // tiles of each row that are not whole
	spent   []time.Duration
	start   time.Duration
	reading time.Duration
	read    int64
	moved   int64         // to and from a device
	upload  time.Duration // to it
}

// tileRow is a row of the tiles of a super-tile.
type tileRow struct {
	tile *superTile
	row  int
}

func (c *pipeline) newSuperTile(batch []int, box grid.Box) *superTile {
	p := c.Product
	s := &superTile{batch: batch, box: box, tiles: grid.Grid{Shape: box.Shape, Chunks: []int{p.m.TileM, p.m.TileN}},
		steps: max(p.sums.Len(), 1), first: c.supers%p.m.Beside*p.m.SuperM + box.Start[0]/p.m.TileM%p.m.SuperM, start: time.Since(p.run.Start)}
	c.supers++
	s.added, s.spent = make([]int, s.tiles.Len()), make([]time.Duration, s.tiles.Len())
	s.left = slices.Repeat([]int{s.tiles.Count(1)}, s.tiles.Count(0))
	c.mu.Lock()
	defer c.mu.Unlock()
	s.saved, s.from = make([]restoredTile, len(s.added)), s.steps-1
	for i := range s.saved {
		s.saved[i] = p.restored[c.taskOf(s, i)]
		s.from = min(s.from, s.saved[i].steps)
	}
	for i := range s.added {
		s.added[i] = s.from
	}
	return s
}

// taskOf returns the task of a tile of a super-tile.
func (p *Product) taskOf(s *superTile, tile int) int {
	return p.task(s.batch, s.tiles.Box(tile).Move(s.box.Start))
}

func newPipeline(ctx context.Context, p *Product, tasks checkpoint.Tasks, done func(index int)) *pipeline {
	rows := p.m.Beside * p.m.SuperM
	c := &pipeline{Product: p, tasks: tasks, done: done, free: make(chan *panel, len(p.panels)), whole: make(chan tileRow, rows), owner: make([]*superTile, rows), adding: make([]int, rows), held: noRow}
	c.ctx, c.fail = context.WithCancelCause(ctx)
	c.moved = sync.NewCond(&c.mu)
	for _, x := range p.panels {
		c.free <- x
	}
	return c
}

// do computes and writes all super-tiles.
func (c *pipeline) do() error {
	defer c.fail(nil)
	defer context.AfterFunc(c.ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.moved.Broadcast()
	})()
	var reader, workers, writers sync.WaitGroup
	reader.Go(c.read)
	for w := range c.run.Plan.Workers {
		workers.Go(func() { c.multiply(w) })
		writers.Go(func() { c.write(w) })
	}
	workers.Wait()
	close(c.whole)
	writers.Wait()
	reader.Wait()
	return context.Cause(c.ctx)
}

// read fills panels, in the order in which they are multiplied.
func (c *pipeline) read() {
	for batch, box := range c.superTiles(c.tasks) {
		s := c.newSuperTile(batch, box)
		for step := s.from; step < s.steps; step++ {
			select {
			case x := <-c.free:
				x.tile, x.step, x.left = s, step, s.tiles.Len()
				if err := c.fill(x); err != nil {
					c.fail(slots.NewTaskError(c.ctx, c.stage, s.box, err))
					return
				}
				c.mu.Lock()
				c.panels = append(c.panels, x)
				c.moved.Broadcast()
				c.mu.Unlock()
			case <-c.ctx.Done():
				return
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = true
	c.moved.Broadcast()
}

// fill reads both operands' elements for a panel.
func (c *pipeline) fill(x *panel) error {
	if x.k = 0; c.sums.Len() == 0 {
		return nil
	}
	s := x.tile
	summed, k, length := c.step(x.step)
	x.k = length
	return c.readBoth(s, func() error {
		return c.a.eval.Eval(c.ctx, c.box(c.a, s.batch, summed, s.box.Start[0], s.box.Shape[0], k, length), x.a)
	}, func() error {
		return c.b.eval.Eval(c.ctx, c.box(c.b, s.batch, summed, k, length, s.box.Start[1], s.box.Shape[1]), x.b)
	})
}

// step returns the matrices that a step of the sum multiplies, and which columns of the first
// and rows of the second: length of them from k on.
func (p *Product) step(i int) (summed []int, k, length int) {
	at, n := p.sums.Box(i), len(p.m.Summed)
	return at.Start[:n], at.Start[n], at.Shape[n]
}

// readBoth reads both operands at once, and adds what that took to a super-tile.
func (c *pipeline) readBoth(s *superTile, readA, readB func() error) error {
	t := time.Now()
	c.a.slot.Row.Read, c.b.slot.Row.Read = 0, 0
	var side sync.WaitGroup
	var errB error
	side.Go(func() { errB = readB() })
	err := readA()
	side.Wait()
	if err == nil {
		err = errB
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.read += c.a.slot.Row.Read + c.b.slot.Row.Read
	s.reading += time.Since(t)
	return err
}

// multiply adds panels' products to tiles, one at a time.
func (c *pipeline) multiply(worker int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		x, tile := c.take()
		if x == nil {
			return
		}
		at := x.row(tile)
		c.adding[at]++
		c.mu.Unlock()
		t := time.Now()
		err := c.add(x, tile, c.work[worker])
		spent := time.Since(t)
		c.mu.Lock()
		c.adding[at]--
		if err != nil {
			c.fail(slots.NewTaskError(c.ctx, c.stage, x.tile.box, err))
			c.moved.Broadcast() // to a snapshot, where the context has ended already
			return
		}
		c.took(x, tile, spent)
	}
}

// take waits for the next tile that a panel is to be added to; nil when there is none.
func (c *pipeline) take() (*panel, int) {
	for c.ctx.Err() == nil {
		switch {
		case len(c.panels) == 0 && c.last:
			return nil, 0
		case len(c.panels) > 0 && c.panels[0].row(c.next) != c.held && c.ready(c.panels[0], c.next):
			x, tile := c.panels[0], c.next
			if c.next++; c.next == x.tile.tiles.Len() {
				c.panels, c.next = c.panels[1:], 0
				c.moved.Broadcast()
			}
			return x, tile
		}
		c.moved.Wait()
	}
	return nil, 0
}

// ready reports that a tile's accumulators have all that comes before a panel. The first
// panel takes a row that is free.
func (c *pipeline) ready(x *panel, tile int) bool {
	s := x.tile
	if x.step > s.from {
		return s.added[tile] == x.step
	}
	owner := &c.owner[x.row(tile)]
	if *owner == nil {
		*owner = s
	}
	return *owner == s
}

// add adds a panel's product to a tile. The first panel begins the tile, with zeros or
// with what a snapshot has of it; panels that this has already are not added again.
func (c *pipeline) add(x *panel, tile int, work []byte) error {
	s := x.tile
	b := s.tiles.Box(tile)
	row, col, cols := b.Start[0], b.Start[1], s.box.Shape[1]
	size := c.m.Type.Size()
	acc := c.accumulators(s, row/c.m.TileM)[col*size:]
	saved := s.saved[tile]
	if x.step == s.from {
		for i := range b.Shape[0] {
			line := acc[i*cols*size:][:b.Shape[1]*size]
			if saved.steps == 0 {
				clear(line)
			} else if err := saved.read(line, i); err != nil {
				return err
			}
		}
	}
	if x.k > 0 && x.step >= saved.steps {
		multiply := kernel.Gemm
		if c.m.Type == dtype.Int32 && c.inputType() != dtype.Int32 {
			multiply = kernel.GemmInt32
		}
		multiply(c.inputType(), b.Shape[0], b.Shape[1], x.k, x.a[row*x.k*c.a.size:], x.k, x.b[col*c.b.size:], cols, acc, cols, work)
	}
	return nil
}

// row is the number of the row of accumulators that a tile has.
func (x *panel) row(tile int) int { return x.tile.first + tile/x.tile.tiles.Count(1) }

// accumulators returns those of a row of tiles.
func (c *pipeline) accumulators(s *superTile, row int) []byte {
	most := min(c.m.SuperN*c.m.TileN, c.m.N)
	rows := min(c.m.TileM, s.box.Shape[0]-row*c.m.TileM)
	size := c.m.Type.Size()
	return c.acc[(s.first+row)*c.m.TileM*most*size:][:rows*s.box.Shape[1]*size]
}

// took takes in that a panel was added to a tile.
func (c *pipeline) took(x *panel, tile int, spent time.Duration) {
	s := x.tile
	if s.added[tile] == s.from && s.saved[tile].steps > 0 {
		delete(c.restored, c.taskOf(s, tile))
	}
	s.spent[tile] += spent
	s.added[tile]++
	if x.left--; x.left == 0 {
		c.free <- x
	}
	if row := tile / s.tiles.Count(1); s.added[tile] == s.steps {
		if s.left[row]--; s.left[row] == 0 {
			c.whole <- tileRow{tile: s, row: row}
		}
	}
	c.moved.Broadcast()
}

// write stores rows, and records their tiles.
func (c *pipeline) write(worker int) {
	for b := range c.whole {
		if c.ctx.Err() != nil {
			continue
		}
		if err := c.store(b, worker); err != nil {
			c.fail(slots.NewTaskError(c.ctx, c.stage, b.tile.box, err))
			continue
		}
		c.mu.Lock()
		c.owner[b.tile.first+b.row] = nil
		c.moved.Broadcast()
		c.mu.Unlock()
	}
}

func (c *pipeline) store(b tileRow, worker int) error {
	w := slots.NewSlot(c.run, c.index, 0) // all workers share its memory
	w.Row = c.slot.Row
	src := c.accumulators(b.tile, b.row)
	rows := len(src) / c.m.Type.Size() / b.tile.box.Shape[1]
	if err := c.writeRows(w, b.tile, b.row*c.m.TileM, rows, src, worker); err != nil {
		return err
	}
	c.record(w, b)
	return nil
}

// writeRows writes rows of a super-tile, of the accumulators' type.
func (c *pipeline) writeRows(w *slots.Slot, s *superTile, first, rows int, src []byte, worker int) error {
	dims, out := c.dims(), c.stage.Outputs[0]
	if c.casts != nil {
		n := rows * s.box.Shape[1]
		c.casts(n, c.cast[worker], src, nil, nil)
		src = c.cast[worker][:n*c.run.Plan.Arrays[out].DType.Size()]
	}
	box := grid.Box{Start: append(append([]int{}, s.batch...), s.box.Start[0]+first, s.box.Start[1]), Shape: make([]int, dims)}
	for d := range s.batch {
		box.Shape[d] = 1
	}
	box.Shape[dims-2], box.Shape[dims-1] = rows, s.box.Shape[1]
	return w.Write(c.ctx, out, src, box)
}

// record records the tiles of a row that is written.
func (c *pipeline) record(w *slots.Slot, b tileRow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := b.tile
	perRow, tiles := s.tiles.Count(1), s.tiles.Len()
	r := w.Row
	r.Start = s.start
	r.Reading, r.Read = s.reading/time.Duration(tiles), s.read/int64(tiles)
	r.Writing, r.Written = w.Row.Writing/time.Duration(perRow), w.Row.Written/int64(perRow)
	r.Moved = s.moved/int64(tiles) + w.Row.Moved/int64(perRow)
	r.Upload, r.Download = s.upload/time.Duration(tiles), w.Row.Download/time.Duration(perRow)
	for tile := b.row * perRow; tile < (b.row+1)*perRow; tile++ {
		task := c.taskOf(s, tile)
		r.Chunk, r.Computing, r.Duration = int64(task), s.spent[tile], time.Since(c.run.Start)-s.start
		r.Allocations, r.Reuses = 0, uint32(len(c.slot.Buffers))
		if !c.told {
			r.Allocations, r.Reuses, c.told = r.Reuses, 0, true
		}
		c.run.Record(&r)
		c.done(task)
	}
}
