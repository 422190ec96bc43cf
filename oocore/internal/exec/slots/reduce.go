package slots

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/vm"
)

// Folding is what all tasks of a stage that folds have in common. Each task folds one
// chunk by itself. Tasks whose chunks make one result follow each other, and their
// partial results are merged in that order wherever and whenever they were computed, so
// that no bit of a result depends on it.
type Folding struct {
	Run     *Shared
	Stage   *size.Stage
	Folders []kernel.Folder
	Parts   int // tasks that make one result
}

// NewFolding has the folders of a stage.
func NewFolding(r *Shared, s *size.Stage) *Folding {
	f := &Folding{Run: r, Stage: s, Parts: s.ChunksPerResult()}
	for i := range s.Folds {
		f.Folders = append(f.Folders, s.Folder(i))
	}
	return f
}

// ChunkOf returns the chunk of a stage's task: its number in the grid, and its box. Axes that
// a reduction keeps vary slowest.
func ChunkOf(s *size.Stage, index int) (int, grid.Box) {
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

// ResultOf is the box of the output that a chunk's kept axes make.
func ResultOf(s *size.Stage, chunk grid.Box) grid.Box {
	b := grid.Box{Start: []int{}, Shape: []int{}}
	for d := range chunk.Shape {
		if !s.Folds[0].Folds(d) {
			b.Start, b.Shape = append(b.Start, chunk.Start[d]), append(b.Shape, chunk.Shape[d])
		}
	}
	return b
}

// Finish writes the results that n accumulators hold.
func (f *Folding) Finish(ctx context.Context, s *Slot, states, out [][]byte, n int, box grid.Box) error {
	for i, folder := range f.Folders {
		a, fold := f.Stage.Outputs[i], f.Stage.Folds[i]
		dst := out[i][:n*f.Run.Plan.Arrays[a].DType.Size()]
		folder.Finish(dst, states[i], n, fold.Count, fold.DDof)
		if err := s.Write(ctx, a, dst, box); err != nil {
			return err
		}
	}
	return nil
}

// sums are what a slot folds of a chunk.
type sums struct {
	shared  *Folding
	states  [][]byte
	layouts []vm.Layout
	n       int // accumulators of the present chunk
}

// newSums prepares to fold what a slot's lane computes.
func newSums(s *Slot, f *Folding, l *lane) (all *sums, err error) {
	all = &sums{shared: f}
	l.block, l.each = s.Stage.Block, func(b grid.Box) { all.add(l.machine, b) }
	for i := range f.Folders {
		all.layouts = append(all.layouts, vm.NewLayout(s.Stage.Stage, i))
	}
	all.states, err = s.Alloc(s.Stage.Buffers.Slot.States...)
	return all, err
}

// begin empties the n sums of a chunk.
func (s *sums) begin(chunk grid.Box, n int) {
	s.n = n
	for i, folder := range s.shared.Folders {
		folder.Init(s.states[i], n)
		s.layouts[i].Chunk(chunk)
	}
}

// add folds a block that a machine has computed.
func (s *sums) add(m *vm.Machine, b grid.Box) {
	for i, folder := range s.shared.Folders {
		s.layouts[i].Fold(folder, s.states[i], s.n, m.Result(s.shared.Stage.FoldOut(i)), b)
	}
}

// present are the accumulators of the present chunk.
func (s *sums) present() (all [][]byte) {
	for i, folder := range s.shared.Folders {
		all = append(all, s.states[i][:folder.Size()*s.n])
	}
	return all
}

// take sets the accumulators of the present chunk to what present has given, unless that has another size.
func (s *sums) take(from []byte) bool {
	all := s.present()
	if checkpoint.Length(all) != int64(len(from)) {
		return false
	}
	for _, state := range all {
		from = from[copy(state, from):]
	}
	return true
}

// reducer is a slot of a reduce stage.
type reducer struct {
	slot   *Slot
	shared *Folding
	lane   *lane
	sums   *sums
	out    [][]byte // results of a task that makes whole ones
}

func newReducer(s *Slot, f *Folding) (_ *reducer, err error) {
	r := &reducer{slot: s, shared: f}
	d := &s.Stage.Buffers.Slot
	if r.lane, err = newLane(s, &s.Stage.Programs[0], &d.Lane, false); err != nil {
		return nil, err
	}
	if r.sums, err = newSums(s, f, r.lane); err != nil {
		return nil, err
	}
	if r.out, err = s.Alloc(d.Results...); err == nil {
		_, err = s.Alloc(d.Write.Heap)
	}
	return r, err
}

func (r *reducer) task(ctx context.Context, index int, chunk grid.Box) error {
	f := r.shared
	result := ResultOf(f.Stage, chunk)
	n := result.Size()
	r.sums.begin(chunk, n)
	if earlier := r.slot.Run.Earlier[index]; earlier != nil && r.slot.Row.Stage == 0 {
		r.slot.reused = r.sums.take(earlier)
	}
	if !r.slot.reused {
		for inner := range r.slot.Stage.Chunks(chunk) {
			if err := r.lane.eval(ctx, inner, nil); err != nil {
				return err
			}
		}
		if o := r.slot.Run.Observer; o != nil {
			o.Folded(int(r.slot.Row.Stage), index, r.sums.present())
		}
	}
	if f.Parts == 1 {
		return f.Finish(ctx, r.slot, r.sums.states, r.out, n, result)
	}
	return r.slot.Run.Partials.Add(ctx, r.slot, index, r.sums.states)
}
