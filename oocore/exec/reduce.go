package exec

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/journal"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/vm"
)

// reduceStage folds a program's values. Chunks with the same kept positions
// follow each other; each is folded by itself, and their partial results are
// merged in that order whatever order they finish in, so that sums do not depend
// on the number of slots.
func (r *run) reduceStage(ctx context.Context, stage int) error {
	s := &r.plan.Stages[stage]
	f, err := newFolding(r, stage)
	if err != nil {
		return err
	}
	defer f.free()
	if s.Grid.Len() == 0 {
		return f.empty(ctx)
	}
	var take snapshot
	if f.parts > 1 {
		if err := f.restore(); err != nil {
			return err
		}
		take = f.snapshot
	}
	return r.noting(ctx, stage, take, func(ctx context.Context) error {
		return r.pool(ctx, stage, s.Tasks(), f.chunk, func(sl *slot) (worker, error) { return newReducer(sl, f) })
	})
}

// folding is what the slots of a stage share that folds.
type folding struct {
	run     *run
	stage   *plan.SizedStage
	index   int
	folders []kernel.Folder
	parts   int // chunks that make one result
	kept    int // accumulators of a full chunk
	turn    turnstile
	merged  int        // tickets whose turn is over; -1 where one failed half way
	mu      sync.Mutex // held while the states and results of a turn change
	states  [][]byte   // merged so far, where parts > 1
	out     [][]byte
	buffers []*arena.Buffer
}

func newFolding(r *run, stage int) (*folding, error) {
	s := &r.plan.Stages[stage]
	f := &folding{run: r, stage: s, index: stage, parts: r.plan.FoldedChunks(s.Stage), kept: r.plan.KeptChunk(s.Stage)}
	f.turn.init()
	for i := range s.Folds {
		folder := s.Folder(i)
		f.folders = append(f.folders, folder)
		if f.parts == 1 && s.Kind == plan.ReduceStage {
			continue
		}
		state, err := f.alloc(record.Scratch, folder.Size()*f.kept)
		if err != nil {
			return f, err
		}
		if f.states = append(f.states, state); s.Kind == plan.MapStage {
			folder.Init(state, 1)
			continue
		}
		out, err := f.alloc(record.Output, f.kept*r.plan.Arrays[s.Outputs[i]].DType.Size())
		if err != nil {
			return f, err
		}
		f.out = append(f.out, out)
	}
	return f, nil
}

// snapshotBytes is the most that a snapshot of a reduction may take. Larger ones are
// not taken: their stage starts over.
const snapshotBytes = 4 << 20

// snapshot copies the sums so far, and those results that are in memory.
func (f *folding) snapshot() func(*journal.Journal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	parts := f.progress()
	n := len(f.stage.Outputs)
	for _, b := range parts {
		n += len(b)
	}
	if n > snapshotBytes || f.merged < 0 {
		return nil
	}
	all := append(make([]byte, 0, n), f.places()...)
	for _, b := range parts {
		all = append(all, b...)
	}
	next := int64(f.merged)
	return func(j *journal.Journal) error { return j.Fold(f.index, next, all) }
}

// places has a byte for each result: 1 where it is in memory, and so in a snapshot.
func (f *folding) places() []byte {
	at := make([]byte, len(f.stage.Outputs))
	for i, a := range f.stage.Outputs {
		if f.run.plan.Place(a) == plan.InArena {
			at[i] = 1
		}
	}
	return at
}

// progress is all memory that says how far the reduction is.
func (f *folding) progress() [][]byte {
	parts := slices.Clone(f.states)
	for _, a := range f.stage.Outputs {
		if f.run.plan.Place(a) == plan.InArena {
			parts = append(parts, f.run.arrays.memory[a].Data)
		}
	}
	return parts
}

// restore goes on with the sums that an earlier run left, where that had its results
// in the same places.
func (f *folding) restore() error {
	left, ok := f.run.keep.fold(f.index)
	if !ok {
		return nil
	}
	state, ok := bytes.CutPrefix(left.State, f.places())
	parts := f.progress()
	n := 0
	for _, b := range parts {
		n += len(b)
	}
	if !ok || len(state) != n {
		return f.run.keep.forget(f.index)
	}
	for _, b := range parts {
		state = state[copy(b, state):]
	}
	f.merged, f.turn.next = int(left.Next), int(left.Next)
	return nil
}

func (f *folding) alloc(class record.Class, n int) ([]byte, error) {
	b, err := f.run.arena.Alloc(arena.Tag{Stage: f.index, Chunk: -1, Class: class}, int64(n))
	if err != nil {
		return nil, err
	}
	f.buffers = append(f.buffers, b)
	return b.Data, nil
}

func (f *folding) free() {
	for _, b := range f.buffers {
		b.Free()
	}
}

// chunk is the chunk of a ticket: kept axes vary slowest.
func (f *folding) chunk(ticket int) (int, grid.Box) {
	g := f.stage.Grid
	part, result := ticket%f.parts, ticket/f.parts
	linear, stride := 0, 1
	index := make([]int, len(g.Shape))
	for d := len(g.Shape) - 1; d >= 0; d-- {
		n := g.Count(d)
		if f.stage.Folds[0].Folds(d) {
			index[d], part = part%n, part/n
		} else {
			index[d], result = result%n, result/n
		}
	}
	for d := len(g.Shape) - 1; d >= 0; d-- {
		linear += index[d] * stride
		stride *= g.Count(d)
	}
	return linear, g.Box(linear)
}

// result is the box of the output that a chunk's kept axes make.
func (f *folding) result(chunk grid.Box) grid.Box {
	b := grid.Box{Start: []int{}, Shape: []int{}}
	for d := range chunk.Shape {
		if !f.stage.Folds[0].Folds(d) {
			b.Start, b.Shape = append(b.Start, chunk.Start[d]), append(b.Shape, chunk.Shape[d])
		}
	}
	return b
}

// empty writes the results of folding nothing, such as sums of an axis of length
// zero: chunk by chunk of the kept axes, since there are no tasks.
func (f *folding) empty(ctx context.Context) error {
	s := &slot{run: f.run, stage: f.stage}
	kept := f.result(grid.Box{Start: f.stage.Grid.Shape, Shape: f.stage.Grid.Chunks})
	for _, box := range (grid.Grid{Shape: kept.Start, Chunks: kept.Shape}).All() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := box.Size()
		for i, folder := range f.folders {
			folder.Init(f.states[i], n)
		}
		if err := f.finish(ctx, s, f.states, f.out, n, box); err != nil {
			return err
		}
	}
	return nil
}

// sums are what a slot folds of a chunk.
type sums struct {
	shared  *folding
	states  [][]byte
	layouts []layout
	n       int // accumulators of the present chunk
}

func newSums(s *slot, f *folding) (*sums, error) {
	all := &sums{shared: f}
	for i, folder := range f.folders {
		state, err := s.alloc(record.Scratch, int64(folder.Size()*f.kept))
		if err != nil {
			return nil, err
		}
		all.states, all.layouts = append(all.states, state), append(all.layouts, newLayout(s.stage, i))
	}
	return all, nil
}

// begin empties the n sums of a chunk.
func (s *sums) begin(chunk grid.Box, n int) {
	s.n = n
	for i, folder := range s.shared.folders {
		folder.Init(s.states[i], n)
		s.layouts[i].chunk(chunk)
	}
}

// add folds a block that a machine has computed.
func (s *sums) add(m *vm.Machine, b grid.Box) {
	for i, folder := range s.shared.folders {
		s.layouts[i].fold(folder, s.states[i], s.n, m.Result(s.shared.stage.Folded(i)), b)
	}
}

// reducer is a slot of a reduce stage.
type reducer struct {
	slot    *slot
	shared  *folding
	inputs  *inputs
	machine *vm.Machine
	sums    *sums
	out     [][]byte
}

func newReducer(s *slot, f *folding) (*reducer, error) {
	r := &reducer{slot: s, shared: f}
	prog := &s.stage.Programs[0]
	var err error
	if r.inputs, err = newInputs(s, prog, s.stage.Tile, record.Input); err != nil {
		return nil, err
	}
	var regs []byte
	if n := prog.RegisterBytes(false); n > 0 {
		if regs, err = s.alloc(record.Scratch, n); err != nil {
			return nil, err
		}
	}
	if r.machine, err = vm.New(prog, regs, false); err != nil {
		return nil, err
	}
	if r.sums, err = newSums(s, f); err != nil || f.parts > 1 {
		return r, err
	}
	for _, a := range s.stage.Outputs {
		out, err := s.alloc(record.Output, int64(f.kept*s.run.plan.Arrays[a].DType.Size()))
		if err != nil {
			return nil, err
		}
		r.out = append(r.out, out)
	}
	return r, nil
}

func (r *reducer) task(ctx context.Context, ticket int, chunk grid.Box) error {
	f := r.shared
	result := f.result(chunk)
	n := result.Size()
	r.sums.begin(chunk, n)
	for inner := range r.slot.stage.Inners(chunk) {
		for tile := range inner.Split(r.slot.stage.Tile) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := r.inputs.load(ctx, tile); err != nil {
				return err
			}
			err := r.slot.compute(ctx, func() error {
				r.fold(tile)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if f.parts == 1 {
		return f.finish(ctx, r.slot, r.sums.states, r.out, n, result)
	}
	return f.merge(ctx, ticket, r.sums.states, n, func() error { return f.finish(ctx, r.slot, f.states, f.out, n, result) })
}

// merge adds a chunk's n sums to those of the chunks before, in their turn. whole is
// called with the last that makes a result.
func (f *folding) merge(ctx context.Context, ticket int, states [][]byte, n int, whole func() error) error {
	return f.turn.take(ctx, ticket, func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		part := ticket % f.parts
		for i, folder := range f.folders {
			if part == 0 {
				folder.Init(f.states[i], n)
			}
			folder.Merge(f.states[i], states[i], n)
		}
		f.merged = -1 // while states have the ticket and results may not
		if part == f.parts-1 {
			if err := whole(); err != nil {
				return err
			}
		}
		f.merged = ticket + 1
		return nil
	})
}

// fold adds a tile, block by block.
func (r *reducer) fold(tile grid.Box) {
	r.machine.Tile(tile, r.inputs.tile)
	at := 0
	for b := range tile.Split(r.slot.stage.Block) {
		r.machine.Block(b, at, nil)
		r.sums.add(r.machine, b)
		at += b.Size()
	}
}

// finish writes the results that n accumulators hold.
func (f *folding) finish(ctx context.Context, s *slot, states, out [][]byte, n int, box grid.Box) error {
	for i, folder := range f.folders {
		a, fold := f.stage.Outputs[i], f.stage.Folds[i]
		dst := out[i][:n*f.run.plan.Arrays[a].DType.Size()]
		folder.Finish(dst, states[i], n, fold.Count, fold.DDof)
		if err := s.write(ctx, a, dst, box); err != nil {
			return err
		}
	}
	return nil
}

// turnstile lets tickets through in their order.
type turnstile struct {
	mu   sync.Mutex
	cond *sync.Cond
	next int
}

func (t *turnstile) init() { t.cond = sync.NewCond(&t.mu) }

// take runs f when every ticket before has run. A ticket that fails never lets
// the next one through; its error ends ctx, which wakes those that wait.
func (t *turnstile) take(ctx context.Context, ticket int, f func() error) error {
	defer context.AfterFunc(ctx, func() {
		t.mu.Lock() // not between a waiter's look at ctx and its Wait
		defer t.mu.Unlock()
		t.cond.Broadcast()
	})()
	t.mu.Lock()
	for t.next != ticket && ctx.Err() == nil {
		t.cond.Wait()
	}
	t.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := f(); err != nil {
		return err
	}
	t.mu.Lock()
	t.next++
	t.mu.Unlock()
	t.cond.Broadcast()
	return nil
}
