// Package matmul runs matrix products, super-tile by super-tile, on the CPU or on a device.
package matmul

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// A product is computed super-tile by super-tile: the accumulators of many tiles stay
// in memory while panels of both operands stream past them. A pipeline reads, multiplies
// and writes at the same time. Each tile is a task.

// newProduct returns a product without memory.
func newProduct(r *slots.Shared, stage int, s *size.Stage) *Product {
	p := &Product{run: r, index: stage, stage: s, m: s.Super, sums: s.Super.Panels(), slot: slots.NewSlot(r, stage, 0)}
	p.slot.Stage = s
	return p
}

// New allocates the memory of a product's super-tile and panels.
func New(r *slots.Shared, stage int) (*Product, error) {
	p := newProduct(r, stage, &r.Plan.Stages[stage])
	if err := p.alloc(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	r.Unfinished = p
	return p, nil
}

// Run computes tiles. Those that lie in one super-tile are computed together. A snapshot of the
// Run before ends first: both use the same accumulators.
func (p *Product) Run(ctx context.Context, tasks checkpoint.Tasks, done func(index int)) error {
	c := newPipeline(ctx, p, tasks, done)
	p.pipelineMu.Lock()
	p.pipeline = c
	p.pipelineMu.Unlock()
	return c.do()
}

// superTiles are the parts of the result that are computed together, each a box of one
// matrix of the batch, in the order in which they are, as far as they have tasks.
func (p *Product) superTiles(tasks checkpoint.Tasks) iter.Seq2[[]int, grid.Box] {
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
func (p *Product) chosen(tasks checkpoint.Tasks, batch []int, box grid.Box) (parts []grid.Box) {
	all := true
	for tile := range box.Split([]int{p.m.TileM, p.m.TileN}) {
		if !tasks.Has(p.task(batch, tile)) {
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

// task returns the task of a tile.
func (p *Product) task(batch []int, tile grid.Box) int {
	n := 0
	for d, at := range slices.Concat(batch, tile.Start) {
		n = n*p.stage.Grid.Count(d) + at/p.stage.Grid.Chunks[d]
	}
	return n
}

// Product is a matmul stage while it runs.
type Product struct {
	run    *slots.Shared
	index  int
	stage  *size.Stage
	m      *size.SuperTile
	sums   grid.Grid   // panels of a super-tile
	slot   *slots.Slot // holds the shared buffers
	acc    []byte
	panels []*panel
	work   [][]byte // of each worker
	cast   [][]byte
	casts  kernel.Func
	a, b   *operand
	told   bool // in a row of the record

	pipelineMu sync.Mutex // held by a snapshot, and while the pipeline changes
	pipeline   *pipeline  // of the last Run; nil before the first

	restored      map[int]restoredTile // by task, until a super-tile has read it; the pipeline's to lock
	restoredBytes int64                // of all at first
}

// operand evaluates one side's panels. Its slot belongs to the goroutine that
// reads.
type operand struct {
	slot   *slots.Slot
	eval   *slots.Evaluator
	size   int
	domain []int
}

func (p *Product) dims() int { return len(p.stage.Grid.Shape) }

func (p *Product) alloc() (err error) {
	d := &p.stage.Buffers.Product
	take := func(declared ...size.Buffer) (all [][]byte) {
		if err == nil {
			all, err = p.slot.Alloc(declared...)
		}
		return all
	}
	sums := take(d.Sums, d.Library)
	for _, both := range d.Panels {
		if x := take(both[:]...); err == nil {
			p.panels = append(p.panels, &panel{a: x[0], b: x[1]})
		}
	}
	p.work, p.cast = take(d.Pack...), take(d.Cast...)
	for _, w := range d.Write {
		take(w.Heap)
	}
	if err != nil {
		return err
	}
	p.acc = sums[0]
	if out := p.run.Plan.Arrays[p.stage.Outputs[0]].DType; out != p.m.Type {
		p.casts, _ = kernel.Cast(p.m.Type, out)
	}
	if p.a, err = p.operand(0); err == nil {
		p.b, err = p.operand(1)
	}
	return err
}

func (p *Product) operand(i int) (_ *operand, err error) {
	prog := &p.stage.Programs[i]
	o := &operand{size: prog.Type(prog.Out[0]).Size(), domain: prog.Domain, slot: slots.NewSlot(p.run, p.index, 0)}
	if o.eval, err = slots.NewEvaluator(o.slot, prog, &p.stage.Buffers.Product.Operands[i]); err != nil {
		return nil, errors.Join(err, o.slot.Free())
	}
	return o, nil
}

// Close frees the product's memory.
func (p *Product) Close() error {
	err := p.slot.Free()
	for _, o := range []*operand{p.a, p.b} {
		if o != nil {
			err = errors.Join(err, o.slot.Free())
		}
	}
	return err
}

// box is a panel of an operand: the batch's indices, as far as the operand has
// them, those of the matrices that are summed, then rows and columns.
func (p *Product) box(o *operand, batch, summed []int, row, rows, col, cols int) grid.Box {
	n := len(o.domain) - 2
	b := grid.Box{Start: make([]int, n, n+2), Shape: make([]int, n, n+2)}
	for d := range n {
		b.Shape[d] = 1
		if at := d - n + len(p.m.Summed); at >= 0 {
			b.Start[d] = summed[at]
		} else if o.domain[d] > 1 {
			b.Start[d] = batch[len(batch)+at]
		}
	}
	b.Start, b.Shape = append(b.Start, row, col), append(b.Shape, rows, cols)
	return b
}

func (p *Product) inputType() dtype.Type {
	prog := &p.stage.Programs[0]
	return prog.Type(prog.Out[0])
}
