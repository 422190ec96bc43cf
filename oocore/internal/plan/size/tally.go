package size

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

func (t *tally) buffer(class record.Class, bytes int64) Buffer {
	b := Buffer{class, bytes, false}
	t.sum[class] += b.reserved()
	return b
}

func (t *tally) foreign(class record.Class, bytes int64) Buffer {
	t.sum[class] += bytes
	if class == record.Codec {
		t.heap += bytes
	}
	return Buffer{class, bytes, true}
}

func (t *tally) session(w store.Work, whole bool) Session {
	bytes, heap := w.Whole, w.Heap
	if !whole {
		bytes, heap = w.Stream, w.Heap+w.StreamHeap
	}
	return Session{t.buffer(record.Codec, bytes), t.foreign(record.Codec, heap)}
}

// writer declares what one goroutine takes to write a map's output, or a level of a pyramid.
func (t *tally) writer(s *Stage, level int) Session {
	out := &t.plan.Arrays[s.Outputs[level]].Layout
	if !out.Sessions() {
		return t.plainWriter(s.Stage, s.WriteTile)
	}
	return t.session(out.Work, s.DecodeWholeChunks && slices.Equal(s.WriteTile, s.Chunk))
}

// plainWriter declares what one goroutine takes to write boxes of outputs that are not encoded, of any lengths where
// box is nil.
func (t *tally) plainWriter(s *plan.Stage, box []int) Session {
	var most int64
	for _, out := range s.Outputs {
		a := &t.plan.Arrays[out]
		most = max(most, a.Layout.Work.Heap)
		if t.spills(out) {
			first := grid.Entire(a.Shape)
			if box != nil {
				first.Shape = grid.Clip(box, a.Shape)
			}
			most = max(most, storage.BlocksHeap(a.SpillMeta(), first))
		}
	}
	return Session{Heap: t.foreign(record.Codec, most)}
}

// lane declares the evaluation of a program on the CPU. A plain one's array is read
// straight to its place.
func (t *tally) lane(prog *plan.Program, box, tile []int) Lane {
	if prog.Plain() {
		l := Lane{Box: box, Tile: box, Loads: make([]LoadBuffers, len(prog.Loads))}
		l.Loads[prog.Out[0]] = t.load(&prog.Loads[prog.Out[0]], box)
		return l
	}
	l := t.loads(prog, tile)
	l.Box, l.Registers = box, t.buffer(record.Scratch, prog.RegisterBytes(true))
	if !follow(tile, box) {
		l.Block = t.buffer(record.Scratch, plan.BlockElems*int64(prog.Type(prog.Out[0]).Size()))
	}
	return l
}

// follow reports whether tiles of a box follow each other in its C order.
func follow(tile, box []int) bool {
	first := slices.IndexFunc(tile, func(n int) bool { return n > 1 })
	return first < 0 || slices.Equal(tile[first+1:], box[first+1:])
}

// loads declares the loads of a program for a tile.
func (t *tally) loads(prog *plan.Program, tile []int) Lane {
	l := Lane{Box: tile, Tile: tile, Loads: make([]LoadBuffers, len(prog.Loads))}
	for i := range prog.Loads {
		l.Loads[i] = t.load(&prog.Loads[i], tile)
		l.Loads[i].Elements = t.buffer(record.Input, prog.Loads[i].InputBytes(tile))
	}
	return l
}

func (t *tally) load(l *plan.Load, tile []int) (d LoadBuffers) {
	switch l.Kind {
	case plan.LoadArray:
		a := &t.plan.Arrays[l.Array]
		w := a.Work
		if t.spills(l.Array) {
			first := grid.Box{Start: l.View.Start, Shape: l.Held(tile)}
			if slices.ContainsFunc(l.View.Step, func(s int) bool { return s != 1 }) {
				first = grid.Entire(a.Shape)
			}
			w.Heap = max(w.Heap, storage.BlocksHeap(a.SpillMeta(), first))
		}
		d.Read = t.session(w, t.whole && !readsRun(t.plan, l, tile))
	case plan.LoadBlocks:
		need := l.Op.Requirements(l.Held(tile))
		d.Scratch = t.buffer(record.Scratch, need.Scratch)
		if l.Reversed() {
			d.Reversed = t.buffer(record.Scratch, l.InputBytes(tile))
		}
		for k, box := range need.Reads {
			in := &l.Inputs[k]
			box = grid.Clip(box, in.Domain)
			d.Inputs = append(d.Inputs, t.lane(in, box, boxTile(t.plan, in, box)))
		}
	}
	return d
}

// readsRun reports a load whose tiles are each one run of an object in a store: that goes straight
// to where it belongs, without windows.
func readsRun(p *plan.Plan, l *plan.Load, tile []int) bool {
	a := &p.Arrays[l.Array]
	if a.Chunks != nil || !a.Store.Network || l.Permuted() || slices.ContainsFunc(l.View.Step, func(s int) bool { return s != 1 }) {
		return false
	}
	return grid.Dense(l.Held(tile), a.Shape)
}

// boxTile is the tile by which a program is evaluated for boxes of at most the given
// lengths.
func boxTile(p *plan.Plan, prog *plan.Program, box []int) []int {
	if shapes.Crossed(prog) != nil || shapes.Stored(p, prog) != nil || prog.HasBlocks() {
		return box
	}
	return shapes.Within(box, max(shapes.ReadAtOnce(p, prog)/prog.ItemSize(1), plan.BlockElems), grid.Auto(box, 1, plan.BlockElems))
}

// states declares the accumulators of each fold of one task.
func (t *tally) states(s *plan.Stage) (all []Buffer) {
	for i := range s.Folds {
		all = append(all, t.buffer(record.Scratch, int64(s.Folder(i).Size())*int64(s.Accumulators())))
	}
	return all
}

// folded declares what the accumulators of one task of a reduce stage make.
func (t *tally) folded(s *plan.Stage, d *Slot) {
	for _, out := range s.Outputs {
		d.Results = append(d.Results, t.buffer(record.Output, int64(s.Accumulators())*int64(t.plan.Arrays[out].DType.Size())))
	}
	d.Write = t.plainWriter(s, nil)
}

func (t *tally) mapSlot(s *Stage) (d Slot) {
	prog := &s.Programs[0]
	size := int64(prog.Type(prog.Out[0]).Size())
	box := s.Tile
	if grid.Size(s.Tile) < grid.Size(s.WriteTile) && !follow(s.Tile, s.WriteTile) {
		box = s.WriteTile
	}
	d.Lane = t.lane(prog, box, s.Tile)
	d.Out = t.buffer(record.Output, int64(grid.Size(s.WriteTile))*size)
	if grid.Size(s.Tile) > grid.Size(s.WriteTile) {
		d.Chunk = t.buffer(record.Output, int64(grid.Size(s.Tile))*size)
	}
	t.results(s, &d)
	return d
}

// encoded declares what a slot takes that shares workspaces. The result is encoded when the first
// input is decoded.
func (t *tally) encoded(s *Stage) (all []Buffer) {
	result := t.plan.Arrays[s.Outputs[0]].Layout.Work.Encoded
	for i := range s.Programs[0].Loads {
		var b Buffer
		if l := &s.Programs[0].Loads[i]; l.Kind == plan.LoadArray {
			b = t.buffer(record.Codec, max(t.plan.Arrays[l.Array].Work.Encoded, result))
			result = 0
		}
		all = append(all, b)
	}
	return all
}

func (t *tally) reduceSlot(s *Stage) (d Slot) {
	prog := &s.Programs[0]
	d.Lane = t.loads(prog, s.Tile)
	d.Lane.Registers = t.buffer(record.Scratch, prog.RegisterBytes(false))
	t.results(s, &d)
	return d
}

// results declares the accumulators of a slot, and how it writes what its tasks make.
func (t *tally) results(s *Stage, d *Slot) {
	switch {
	case s.Kind == plan.MapStage:
		d.Write = t.writer(s, 0)
		t.levels(s, d)
	case !s.Merges():
		t.folded(s.Stage, d)
	}
	d.States = t.states(s.Stage)
}

// levels declares the levels of a pyramid.
func (t *tally) levels(s *Stage, d *Slot) {
	chunk := s.Chunk
	for i, by := range s.Factors {
		prog, out := &s.Programs[i+1], &t.plan.Arrays[s.Outputs[i+1]]
		l := Level{Box: make([]int, len(chunk))}
		for k, f := range by {
			l.Box[k] = (min(chunk[k], t.plan.Arrays[s.Outputs[i]].Shape[k]) + f - 1) / f
		}
		chunk = out.Layout.Unit
		size := int64(out.DType.Size())
		l.Lane = t.lane(prog, l.Box, grid.Auto(l.Box, 1, plan.BlockElems))
		l.Part = t.buffer(record.Scratch, int64(grid.Size(l.Box))*size)
		l.Out = t.buffer(record.Output, int64(grid.Size(grid.Clip(chunk, out.Shape)))*size)
		l.Write = t.writer(s, i+1)
		d.Levels = append(d.Levels, l)
	}
}

func (t *tally) merge(s *plan.Stage) (d Slot) {
	if s.Kind == plan.ReduceStage {
		t.folded(s, &d)
	}
	d.States = t.states(s)
	return d
}

// product declares a matmul stage with its present super-tile.
func (t *tally) product(s *Stage, workers int) (d Product) {
	m := s.Super
	rows, cols, k := m.lengths()
	tile := min(m.TileM, m.M)
	d.Sums = t.matrix(record.Output, (m.Beside-1)*m.SuperM*m.TileM+rows, cols, m.Type)
	for range m.Depth {
		d.Panels = append(d.Panels, t.panels(record.Input, s))
	}
	for range workers {
		d.Pack = append(d.Pack, t.buffer(record.Scratch, kernel.GemmWork(s.operand(0), tile, min(m.TileN, m.N), k)))
		if out := t.plan.Arrays[s.Outputs[0]].DType; out != m.Type {
			d.Cast = append(d.Cast, t.matrix(record.Output, tile, cols, out))
		}
		d.Write = append(d.Write, t.plainWriter(s.Stage, nil))
	}
	d.Library = t.foreign(record.Library, kernel.BLASMemory())
	d.Operands = t.operands(s, rows, k, k, cols)
	return d
}

// matrix declares a matrix of elements of a type.
func (t *tally) matrix(class record.Class, rows, cols int, of dtype.Type) Buffer {
	return t.buffer(class, int64(rows)*int64(cols)*int64(of.Size()))
}

// panels declares a panel of each operand of a product.
func (t *tally) panels(class record.Class, s *Stage) [2]Buffer {
	rows, cols, k := s.Super.lengths()
	return [2]Buffer{t.matrix(class, rows, k, s.operand(0)), t.matrix(class, k, cols, s.operand(1))}
}

// operands declares the evaluation of a product's operands, by boxes of a's rows and columns,
// and of b's.
func (t *tally) operands(s *Stage, rowsA, colsA, rowsB, colsB int) (lanes [2]Lane) {
	for i, of := range [][2]int{{rowsA, colsA}, {rowsB, colsB}} {
		prog := &s.Programs[i]
		box := shapes.Matrix(len(prog.Domain), of[0], of[1])
		lanes[i] = t.lane(prog, box, boxTile(t.plan, prog, box))
	}
	return lanes
}

// declare says what the stage takes with its present shapes.
func (p *Plan) declare(s *Stage) {
	b := p.beginBuffers(s)
	switch {
	case s.Tasks() == 0: // nothing is opened
	case s.Workspaces > 0:
		b.Slot, b.Encoded = b.workspace.mapSlot(s), b.slot.encoded(s)
	case s.Kind == plan.MapStage:
		b.Slot = b.slot.mapSlot(s)
	case s.Kind == plan.ReduceStage:
		b.Slot = b.slot.reduceSlot(s)
	case s.Kind == plan.MatMulStage:
		b.Product = b.stage.product(s, p.Workers)
	}
}

// beginBuffers begins the declaration of a stage: what merging its partial results takes.
func (p *Plan) beginBuffers(s *Stage) *Buffers {
	b := &s.Buffers
	t := tally{plan: p.Plan, spills: p.spills, whole: s.DecodeWholeChunks}
	*b = Buffers{slot: t, workspace: t, stage: t}
	if s.Merges() && !p.attached {
		b.Merge = b.stage.merge(s.Stage)
	}
	return b
}

// predict sums what is declared for the stage's present slots.
func (s *Stage) predict() {
	s.Predicted = s.Buffers.stage.sum
	add(&s.Predicted, s.Buffers.slot.sum, s.Slots)
	add(&s.Predicted, s.Buffers.workspace.sum, s.Workspaces)
}

// Heap is the most that codec libraries take of Go's heap in any stage.
func (p *Plan) Heap() (most int64) {
	for i := range p.Stages {
		s := p.Placed(i)
		most = max(most, s.Buffers.stage.heap+s.Buffers.slot.heap*int64(s.Slots)+s.Buffers.workspace.heap*int64(s.Workspaces))
	}
	return most
}

func add(b *record.Bytes, more record.Bytes, times int) {
	for c := range more {
		b[c] += int64(times) * more[c]
	}
}

// ArrayBuffer declares the memory of an array: of a temporary one in the arena, or of a result
// that is returned, which is the caller's. Other arrays have none.
func (p *Plan) ArrayBuffer(array int) Buffer {
	a := &p.Arrays[array]
	switch {
	case a.Place == plan.InCollect:
		return Buffer{record.Output, a.Bytes(), true}
	case p.Place(array) == InArena:
		return Buffer{record.Scratch, a.Bytes(), false}
	}
	return Buffer{}
}
