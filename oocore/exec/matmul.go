package exec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// matmulStage computes a product super-tile by super-tile: the accumulators of
// many tiles stay in memory while panels of both operands stream past them, the
// next being read while the present is multiplied.
func (r *run) matmulStage(ctx context.Context, stage int) (err error) {
	p := &product{run: r, index: stage, stage: &r.plan.Stages[stage], m: r.plan.Stages[stage].MatMul}
	p.slot = &slot{run: r, stage: p.stage}
	p.slot.row.Stage, p.slot.row.Chunk = uint16(stage), -1
	defer func() { err = errors.Join(err, p.free()) }()
	if p.stage.Tasks() == 0 {
		return nil
	}
	if err := p.alloc(stage); err != nil {
		return err
	}
	r.sampler.sample()
	defer r.sampler.sample()
	batch := grid.Grid{Shape: p.stage.Grid.Shape[:p.dims()-2], Chunks: p.stage.Grid.Chunks[:p.dims()-2]}
	super := grid.Grid{Shape: []int{p.m.M, p.m.N}, Chunks: []int{p.m.SuperM * p.m.TileM, p.m.SuperN * p.m.TileN}}
	return r.noting(ctx, stage, nil, func(ctx context.Context) error {
		for _, at := range batch.All() {
			for _, box := range super.All() {
				for _, box := range p.left(at.Start, box) {
					if err := p.superTile(ctx, at.Start, box); err != nil {
						return taskError(ctx, p.stage, box, err)
					}
				}
			}
		}
		return nil
	})
}

// left is what an earlier run has not done of a super-tile: all of it, or the runs of
// tiles in each row of them that are missing.
func (p *product) left(batch []int, box grid.Box) (left []grid.Box) {
	done := 0
	for tile := range box.Split([]int{p.m.TileM, p.m.TileN}) {
		if p.run.keep.has(p.index, p.linear(batch, tile.Start)) {
			done++
			continue
		}
		if n := len(left) - 1; n >= 0 && left[n].Start[0] == tile.Start[0] && left[n].Start[1]+left[n].Shape[1] == tile.Start[1] {
			left[n].Shape[1] += tile.Shape[1]
		} else {
			left = append(left, tile)
		}
	}
	if done == 0 {
		return []grid.Box{box}
	}
	p.run.counts.skipped.Add(int64(done))
	return left
}

// linear is the number of a tile in the stage's grid, by its first row and column.
func (p *product) linear(batch, start []int) int {
	n := 0
	for d, at := range append(append([]int{}, batch...), start...) {
		n = n*p.stage.Grid.Count(d) + at/p.stage.Grid.Chunks[d]
	}
	return n
}

// product is a matmul stage while it runs.
type product struct {
	run    *run
	index  int
	stage  *plan.Stage
	m      *plan.MatMul
	slot   *slot // holds the shared buffers
	acc    []byte
	panels []*panel
	work   [][]byte // of each worker
	cast   [][]byte
	casts  kernel.Func
	a, b   *operand
	chunks []chunkTimes // of the present super-tile
	allocs uint32
}

// operand evaluates one side's panels. Its slot belongs to the goroutine that
// reads.
type operand struct {
	slot   *slot
	eval   *evaluator
	size   int
	domain []int
}

// panel is one step's part of both operands.
type panel struct {
	a, b   []byte
	k      int // columns of a, rows of b
	err    error
	read   int64
	timing time.Duration
}

// chunkTimes is what a tile of the result has taken so far.
type chunkTimes struct {
	start     time.Duration
	computing atomic.Int64
}

func (p *product) dims() int { return len(p.stage.Grid.Shape) }

func (p *product) alloc(stage int) (err error) {
	m, s := p.m, p.slot
	rows, cols, k := min(m.SuperM*m.TileM, m.M), min(m.SuperN*m.TileN, m.N), min(m.TileK, m.K)
	get := func(class record.Class, n int) (b []byte) {
		if err == nil {
			b, err = s.alloc(class, int64(n))
		}
		return b
	}
	p.acc = get(record.Output, rows*cols*m.Type.Size())
	out := p.run.plan.Arrays[p.stage.Outputs[0]].DType
	p.a, p.b = p.operand(0, stage), p.operand(1, stage)
	for range m.Depth {
		p.panels = append(p.panels, &panel{a: get(record.Input, rows*k*p.a.size), b: get(record.Input, k*cols*p.b.size)})
	}
	for range p.run.plan.Workers {
		p.work = append(p.work, get(record.Scratch, int(m.Work)))
		if out != m.Type {
			p.cast = append(p.cast, get(record.Output, min(m.TileM, m.M)*cols*out.Size()))
		}
	}
	if out != m.Type {
		p.casts, _ = kernel.Cast(m.Type, out)
	}
	if err != nil {
		return err
	}
	if m.Library > 0 {
		lib, err := p.run.arena.Charge(arena.Tag{Stage: stage, Chunk: -1, Class: record.Library}, m.Library)
		if err != nil {
			return err
		}
		s.buffers = append(s.buffers, lib)
	}
	p.a.eval, err = newEvaluator(p.a.slot, &p.stage.Programs[0], p.box(p.a, nil, 0, rows, 0, k).Shape)
	if err != nil {
		return err
	}
	p.b.eval, err = newEvaluator(p.b.slot, &p.stage.Programs[1], p.box(p.b, nil, 0, k, 0, cols).Shape)
	p.allocs = uint32(len(s.buffers))
	return err
}

func (p *product) operand(i, stage int) *operand {
	prog := &p.stage.Programs[i]
	o := &operand{size: prog.Type(prog.Out[0]).Size(), domain: prog.Domain, slot: &slot{run: p.run, stage: p.stage}}
	o.slot.row.Stage, o.slot.row.Chunk = uint16(stage), -1
	return o
}

func (p *product) free() error {
	err := p.slot.free()
	for _, o := range []*operand{p.a, p.b} {
		if o != nil {
			err = errors.Join(err, o.slot.free())
		}
	}
	return err
}

// box is a panel of an operand: the batch's indices, as far as the operand has
// them, then rows and columns. batch is nil where only the lengths matter.
func (p *product) box(o *operand, batch []int, row, rows, col, cols int) grid.Box {
	n := len(o.domain) - 2
	b := grid.Box{Start: make([]int, n, n+2), Shape: make([]int, n, n+2)}
	for d := range n {
		b.Shape[d] = 1
		if batch != nil && o.domain[d] > 1 {
			b.Start[d] = batch[len(batch)-n+d]
		}
	}
	b.Start, b.Shape = append(b.Start, row, col), append(b.Shape, rows, cols)
	return b
}

// superTile computes and writes the tiles in a box of the result.
func (p *product) superTile(ctx context.Context, batch []int, box grid.Box) error {
	ctx, cancel := context.WithCancel(ctx)
	rows, cols := box.Shape[0], box.Shape[1]
	clear(p.acc[:rows*cols*p.m.Type.Size()])
	tiles := grid.Grid{Shape: box.Shape, Chunks: []int{p.m.TileM, p.m.TileN}}
	p.chunks = make([]chunkTimes, tiles.Len())
	for i := range p.chunks {
		p.chunks[i].start = time.Since(p.run.start)
	}
	// free and full are the panels on their way between the reader and the workers.
	free, full := make(chan *panel, len(p.panels)), make(chan *panel, len(p.panels))
	for _, x := range p.panels {
		free <- x
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(full)
		for k := 0; k < p.m.K; k += p.m.TileK {
			select {
			case x := <-free:
				p.read(ctx, x, batch, box, k)
				full <- x
				if x.err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
	defer reader.Wait()
	defer cancel()
	var reading time.Duration
	var read int64
	for x := range full {
		if x.err != nil {
			return x.err
		}
		p.multiply(ctx, x, tiles, cols)
		reading, read = reading+x.timing, read+x.read
		free <- x
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.write(ctx, batch, box, tiles, reading, read)
}

// read fills a panel with both operands' elements for the step at k.
func (p *product) read(ctx context.Context, x *panel, batch []int, box grid.Box, k int) {
	t := time.Now()
	x.k = min(p.m.TileK, p.m.K-k)
	p.a.slot.row.Read, p.b.slot.row.Read = 0, 0
	var side sync.WaitGroup
	var errB error
	side.Go(func() {
		errB = p.b.eval.eval(ctx, p.box(p.b, batch, k, x.k, box.Start[1], box.Shape[1]), x.b)
	})
	x.err = p.a.eval.eval(ctx, p.box(p.a, batch, box.Start[0], box.Shape[0], k, x.k), x.a)
	side.Wait()
	if x.err == nil {
		x.err = errB
	}
	x.read = p.a.slot.row.Read + p.b.slot.row.Read
	x.timing = time.Since(t)
}

// multiply adds a panel's products to all tiles, each by one worker. The end of
// ctx leaves tiles out.
func (p *product) multiply(ctx context.Context, x *panel, tiles grid.Grid, cols int) {
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range p.run.plan.Workers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= tiles.Len() || ctx.Err() != nil {
					return
				}
				t := time.Now()
				b := tiles.Box(i)
				row, col := b.Start[0], b.Start[1]
				size := p.m.Type.Size()
				kernel.Gemm(p.inputType(), b.Shape[0], b.Shape[1], x.k, x.a[row*x.k*p.a.size:], x.k,
					x.b[col*p.b.size:], cols, p.acc[(row*cols+col)*size:], cols, p.work[w])
				p.chunks[i].computing.Add(int64(time.Since(t)))
			}
		})
	}
	group.Wait()
}

func (p *product) inputType() dtype.Type {
	prog := &p.stage.Programs[0]
	return prog.Type(prog.Out[0])
}

// write stores the super-tile, a row of tiles at a time, and records its chunks.
func (p *product) write(ctx context.Context, batch []int, box grid.Box, tiles grid.Grid, reading time.Duration, read int64) error {
	out := p.stage.Outputs[0]
	size := p.run.plan.Arrays[out].DType.Size()
	cols := box.Shape[1]
	perRow := tiles.Count(1)
	var next atomic.Int64
	errs := make([]error, p.run.plan.Workers)
	var group sync.WaitGroup
	for w := range p.run.plan.Workers {
		group.Go(func() {
			s := &slot{run: p.run, stage: p.stage, row: p.slot.row}
			s.row.Slot = uint16(w)
			for errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= tiles.Count(0) || ctx.Err() != nil {
					return
				}
				row := i * p.m.TileM
				rows := min(p.m.TileM, box.Shape[0]-row)
				n := rows * cols
				src := p.acc[row*cols*p.m.Type.Size():][:n*p.m.Type.Size()]
				if p.casts != nil {
					p.casts(n, p.cast[w], src, nil, nil)
					src = p.cast[w][:n*size]
				}
				s.row.Writing, s.row.Written = 0, 0
				b := grid.Box{Start: append(append([]int{}, batch...), box.Start[0]+row, box.Start[1]), Shape: make([]int, p.dims())}
				for d := range batch {
					b.Shape[d] = 1
				}
				b.Shape[p.dims()-2], b.Shape[p.dims()-1] = rows, cols
				if errs[w] = s.write(ctx, out, src, b); errs[w] != nil {
					return
				}
				for j := range perRow {
					p.record(s, i*perRow+j, b, j, perRow, reading/time.Duration(tiles.Len()), read/int64(tiles.Len()))
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs { // one disk that is full fails them all: one of them says so
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.allocs = 0
	return nil
}

// record writes the row of the j-th tile of a row of tiles.
func (p *product) record(s *slot, tile int, row grid.Box, j, perRow int, reading time.Duration, read int64) {
	n := len(row.Start)
	linear := p.linear(row.Start[:n-2], []int{row.Start[n-2], row.Start[n-1] + j*p.m.TileN})
	r := s.row
	r.Chunk = int64(linear)
	r.Start = p.chunks[tile].start
	r.Duration = time.Since(p.run.start) - r.Start
	r.Computing = time.Duration(p.chunks[tile].computing.Load())
	r.Reading, r.Read = reading, read
	r.Writing, r.Written = s.row.Writing/time.Duration(perRow), s.row.Written/int64(perRow)
	r.Allocations, r.Reuses = 0, p.allocs
	if p.allocs > 0 && tile == 0 {
		r.Allocations, r.Reuses = p.allocs, 0
	}
	p.run.env.Record.Task(&r)
	p.run.counts.tasks.Add(1)
	p.run.keep.done(linear)
}
