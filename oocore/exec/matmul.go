package exec

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// A product is computed super-tile by super-tile: the accumulators of many tiles stay
// in memory while panels of both operands stream past them. A matmulPipeline reads, multiplies
// and writes at the same time. Each tile is a task.

// newProduct allocates the memory of a product's super-tile and panels.
func newProduct(r *run, stage int) (Runner, error) {
	p := &product{run: r, index: stage, stage: &r.plan.Stages[stage], m: r.plan.Stages[stage].Super, sums: r.plan.Stages[stage].MatMul.Panels()}
	p.slot = &slot{run: r, stage: p.stage}
	p.slot.row.Stage, p.slot.row.Chunk = uint16(stage), -1
	if err := p.alloc(stage); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Run computes tiles. Those that lie in one super-tile are computed together.
func (p *product) Run(ctx context.Context, tasks Tasks, done func(index int)) error {
	c := newMatmulPipeline(ctx, p, tasks, done)
	p.mu.Lock()
	p.pipeline = c
	p.mu.Unlock()
	return c.do()
}

// superTiles are the parts of the result that are computed together, each a box of one
// matrix of the batch, in the order in which they are, as far as they have tasks.
func (p *product) superTiles(tasks Tasks) iter.Seq2[[]int, grid.Box] {
	dims := p.dims()
	batch := grid.Grid{Shape: p.stage.Grid.Shape[:dims-2], Chunks: p.stage.Grid.Chunks[:dims-2]}
	super := grid.Grid{Shape: []int{p.m.M, p.m.N}, Chunks: []int{p.m.SuperM * p.m.TileM, p.m.SuperN * p.m.TileN}}
	perMatrix := p.stage.Grid.Count(dims-2) * p.stage.Grid.Count(dims-1)
	return func(yield func(batch []int, box grid.Box) bool) {
		if len(tasks) == 0 {
			return
		}
		for i := tasks[0].First / perMatrix; i <= (tasks[len(tasks)-1].End-1)/perMatrix; i++ {
			at := batch.Box(i)
			for _, box := range super.All() {
				for _, box := range p.chosen(tasks, at.Start, box) {
					if !yield(at.Start, box) {
						return
					}
				}
			}
		}
	}
}

// chosen is what a super-tile has of the tasks: all of it, or the runs of tiles in each
// row of them.
func (p *product) chosen(tasks Tasks, batch []int, box grid.Box) (parts []grid.Box) {
	all := true
	for tile := range box.Split([]int{p.m.TileM, p.m.TileN}) {
		if !tasks.Has(p.linear(batch, tile.Start)) {
			all = false
			continue
		}
		if n := len(parts) - 1; n >= 0 && parts[n].Start[0] == tile.Start[0] && parts[n].Start[1]+parts[n].Shape[1] == tile.Start[1] {
			parts[n].Shape[1] += tile.Shape[1]
		} else {
			parts = append(parts, tile)
		}
	}
	if all {
		return []grid.Box{box}
	}
	return joined(parts, box)
}

// joined makes rows of a box that are whole, and follow each other, one part.
func joined(parts []grid.Box, box grid.Box) (out []grid.Box) {
	for _, b := range parts {
		n := len(out) - 1
		whole := b.Start[1] == box.Start[1] && b.Shape[1] == box.Shape[1]
		if n >= 0 && whole && out[n].Shape[1] == b.Shape[1] && out[n].Start[1] == b.Start[1] && out[n].Start[0]+out[n].Shape[0] == b.Start[0] {
			out[n].Shape[0] += b.Shape[0]
			continue
		}
		out = append(out, b)
	}
	return out
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
	stage  *plan.SizedStage
	m      *plan.SuperTile
	sums   grid.Grid // panels of a super-tile
	slot   *slot     // holds the shared buffers
	acc    []byte
	panels []*panel
	work   [][]byte // of each worker
	cast   [][]byte
	casts  kernel.Func
	a, b   *operand
	allocs uint32 // buffers
	told   bool   // in a row of the record

	mu       sync.Mutex // of what follows
	pipeline *matmulPipeline
	restored map[int]restoredTile // by task
}

// operand evaluates one side's panels. Its slot belongs to the goroutine that
// reads.
type operand struct {
	slot   *slot
	eval   *evaluator
	size   int
	domain []int
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
	p.a.eval, err = newEvaluator(p.a.slot, &p.stage.Programs[0], p.box(p.a, nil, nil, 0, rows, 0, k).Shape)
	if err != nil {
		return err
	}
	p.b.eval, err = newEvaluator(p.b.slot, &p.stage.Programs[1], p.box(p.b, nil, nil, 0, k, 0, cols).Shape)
	p.allocs = uint32(len(s.buffers))
	return err
}

func (p *product) operand(i, stage int) *operand {
	prog := &p.stage.Programs[i]
	o := &operand{size: prog.Type(prog.Out[0]).Size(), domain: prog.Domain, slot: &slot{run: p.run, stage: p.stage}}
	o.slot.row.Stage, o.slot.row.Chunk = uint16(stage), -1
	return o
}

// Close frees the product's memory.
func (p *product) Close() error {
	err := p.slot.free()
	for _, o := range []*operand{p.a, p.b} {
		if o != nil {
			err = errors.Join(err, o.slot.free())
		}
	}
	return err
}

// box is a panel of an operand: the batch's indices, as far as the operand has
// them, those of the matrices that are summed, then rows and columns. batch is nil where
// only the lengths matter.
func (p *product) box(o *operand, batch, summed []int, row, rows, col, cols int) grid.Box {
	n := len(o.domain) - 2
	b := grid.Box{Start: make([]int, n, n+2), Shape: make([]int, n, n+2)}
	for d := range n {
		b.Shape[d] = 1
		if at := d - n + len(p.m.Summed); batch != nil && at >= 0 {
			b.Start[d] = summed[at]
		} else if batch != nil && o.domain[d] > 1 {
			b.Start[d] = batch[len(batch)+at]
		}
	}
	b.Start, b.Shape = append(b.Start, row, col), append(b.Shape, rows, cols)
	return b
}

func (p *product) inputType() dtype.Type {
	prog := &p.stage.Programs[0]
	return prog.Type(prog.Out[0])
}
