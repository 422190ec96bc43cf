package exec

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/vm"
)

// folding is what all tasks of a stage that folds have in common. Each task folds one
// chunk by itself. Tasks whose chunks make one result follow each other, and their
// partial results are merged in that order wherever and whenever they were computed, so
// that no bit of a result depends on it.
type folding struct {
	run     *run
	stage   *size.Stage
	folders []kernel.Folder
	parts   int // tasks that make one result
}

func newFolding(r *run, s *size.Stage) *folding {
	f := &folding{run: r, stage: s, parts: s.ChunksPerResult()}
	for i := range s.Folds {
		f.folders = append(f.folders, s.Folder(i))
	}
	return f
}

// chunkOf returns the chunk of a stage's task: its number in the grid, and its box. Axes that
// a reduction keeps vary slowest.
func chunkOf(s *size.Stage, index int) (int, grid.Box) {
	g := s.Grid
	if s.Kind != plan.ReduceStage {
		return index, g.Box(index)
	}
	parts := s.ChunksPerResult()
	part, result := index%parts, index/parts
	linear, stride := 0, 1
	at := make([]int, len(g.Shape))
	for d := len(g.Shape) - 1; d >= 0; d-- {
		n := g.Count(d)
		if s.Folds[0].Folds(d) {
			at[d], part = part%n, part/n
		} else {
			at[d], result = result%n, result/n
		}
	}
	for d := len(g.Shape) - 1; d >= 0; d-- {
		linear += at[d] * stride
		stride *= g.Count(d)
	}
	return linear, g.Box(linear)
}

// resultOf is the box of the output that a chunk's kept axes make.
func resultOf(s *size.Stage, chunk grid.Box) grid.Box {
	b := grid.Box{Start: []int{}, Shape: []int{}}
	for d := range chunk.Shape {
		if !s.Folds[0].Folds(d) {
			b.Start, b.Shape = append(b.Start, chunk.Start[d]), append(b.Shape, chunk.Shape[d])
		}
	}
	return b
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

// sums are what a slot folds of a chunk.
type sums struct {
	shared  *folding
	states  [][]byte
	layouts []vm.Layout
	n       int // accumulators of the present chunk
}

// newSums prepares to fold what a slot's lane computes.
func newSums(s *slot, f *folding, l *lane) (all *sums, err error) {
	all = &sums{shared: f}
	l.block, l.each = s.stage.Block, func(b grid.Box) { all.add(l.machine, b) }
	for i := range f.folders {
		all.layouts = append(all.layouts, vm.NewLayout(s.stage.Stage, i))
	}
	all.states, err = s.alloc(s.stage.Buffers.Slot.States...)
	return all, err
}

// begin empties the n sums of a chunk.
func (s *sums) begin(chunk grid.Box, n int) {
	s.n = n
	for i, folder := range s.shared.folders {
		folder.Init(s.states[i], n)
		s.layouts[i].Chunk(chunk)
	}
}

// add folds a block that a machine has computed.
func (s *sums) add(m *vm.Machine, b grid.Box) {
	for i, folder := range s.shared.folders {
		s.layouts[i].Fold(folder, s.states[i], s.n, m.Result(s.shared.stage.FoldOut(i)), b)
	}
}

// reducer is a slot of a reduce stage.
type reducer struct {
	slot   *slot
	shared *folding
	lane   *lane
	sums   *sums
	out    [][]byte // results of a task that makes whole ones
}

func newReduceRunner(r *run, stage int) (Runner, error) {
	f := newFolding(r, &r.plan.Stages[stage])
	p, err := newPool(r, stage, f.stage, func(sl *slot) (worker, error) { return newReducer(sl, f) })
	if err != nil {
		return nil, err
	}
	return p, nil
}

func newReducer(s *slot, f *folding) (_ *reducer, err error) {
	r := &reducer{slot: s, shared: f}
	d := &s.stage.Buffers.Slot
	if r.lane, err = newLane(s, &s.stage.Programs[0], &d.Lane, false); err != nil {
		return nil, err
	}
	if r.sums, err = newSums(s, f, r.lane); err != nil {
		return nil, err
	}
	if r.out, err = s.alloc(d.Results...); err == nil {
		_, err = s.alloc(d.Write.Heap)
	}
	return r, err
}

func (r *reducer) task(ctx context.Context, index int, chunk grid.Box) error {
	f := r.shared
	result := resultOf(f.stage, chunk)
	n := result.Size()
	r.sums.begin(chunk, n)
	for inner := range r.slot.stage.Chunks(chunk) {
		if err := r.lane.eval(ctx, inner, nil); err != nil {
			return err
		}
	}
	if f.parts == 1 {
		return f.finish(ctx, r.slot, r.sums.states, r.out, n, result)
	}
	return r.slot.run.partials.add(ctx, r.slot, index, r.sums.states)
}
