package device

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// Pool is the slots of a map or reduce stage on a device. Each slot reads a tile
// into a staging set, lets the device compute it, and writes what comes back. Sets of all
// slots together are enough for upload, computing and download to go on at once, whatever
// the number of workers: a slot that waits for the device holds none.
type Pool struct {
	*slots.Pool
	work Work
	rare *rareTiles // nil where the device computes all operands
}

// NewPool takes the host's memory of a stage that is open on a device.
func NewPool(o *Attempt) (*Pool, error) {
	var f *slots.Folding
	if len(o.Stage.Folds) > 0 {
		f = slots.NewFolding(o.Run, &o.Stage.Stage)
	}
	rare, err := newRareTiles(o)
	if err != nil {
		return nil, err
	}
	p, err := slots.NewPool(o.Run, o.Index, &o.Stage.Stage, func(s *slots.Slot) (slots.Task, error) {
		w, err := newStreamer(o, s, f, rare)
		if err != nil {
			return nil, err
		}
		return w.task, nil
	})
	if err != nil {
		return nil, errors.Join(err, rare.close())
	}
	return &Pool{p, o.Work, rare}, nil
}

// Close ends what the device does with the slots' buffers before it frees them.
func (p *Pool) Close() error {
	return errors.Join(p.work.Close(), p.Pool.Close(), p.rare.close())
}

// streamer is a slot of a stage on a device.
type streamer struct {
	*Attempt
	slot   *slots.Slot
	size   int // of an element of a map's result
	sets   []*stagingSet
	sink   *slots.Sink // of a map
	rare   *rareTiles
	shared *slots.Folding // nil where nothing is folded
	states [][]byte       // the partials of a task
	out    [][]byte       // results of a reduction's task that makes whole ones
}

// stagingSet is the host's side of one tile in flight.
type stagingSet struct {
	in   *slots.Loads
	out  []byte // of a map
	tile grid.Box
	job  Job // nil where there is none
}

func newStreamer(o *Attempt, s *slots.Slot, f *slots.Folding, rare *rareTiles) (_ *streamer, err error) {
	o.Begin(s, o.Stage.DevicePeak/int64(o.Stage.Slots))
	prog, d := &o.Stage.Programs[0], &o.Stage.Buffers.Slot
	w := &streamer{Attempt: o, slot: s, shared: f, rare: rare, size: prog.Type(prog.Out[0]).Size()}
	from := make([]slots.Reader, len(prog.Loads)) // which all sets share
	for i := range prog.Loads {
		if from[i], err = slots.NewReader(s, &prog.Loads[i], &d.Lane.Loads[i]); err != nil {
			return nil, err
		}
	}
	for _, set := range d.Sets {
		in, err := o.Pinned(s, set.In...)
		if err != nil {
			return nil, err
		}
		out, err := o.Pinned(s, set.Out)
		if err != nil {
			return nil, err
		}
		w.sets = append(w.sets, &stagingSet{in: slots.NewLoads(s, prog, from, in), out: out[0]})
	}
	if w.states, err = o.Pinned(s, d.States...); err != nil {
		return nil, err
	}
	if o.Stage.Kind == plan.MapStage {
		w.sink, err = slots.NewSink(s, o.Stage.Outputs[0], &d.Write)
		return w, err
	}
	if w.out, err = s.Alloc(d.Results...); err == nil {
		_, err = s.Alloc(d.Write.Heap)
	}
	return w, err
}

func (w *streamer) task(ctx context.Context, index int, chunk grid.Box) error {
	if w.shared != nil {
		w.Work.Begin(w.slot.Index, chunk)
	}
	n := 0
	for inner := range w.Stage.Chunks(chunk) {
		for tile := range inner.Split(w.Stage.Tile) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := w.send(ctx, n%len(w.sets), tile); err != nil {
				return err
			}
			n++
		}
	}
	for i := range w.sets {
		if err := w.receive(ctx, (n+i)%len(w.sets)); err != nil {
			return err
		}
	}
	if w.shared == nil {
		return nil
	}
	if err := w.Wait(ctx, w.slot, w.Work.Partials(w.slot.Index, w.states)); err != nil {
		return err
	}
	if w.Stage.Kind == plan.ReduceStage && w.shared.Parts == 1 {
		result := slots.ResultOf(&w.Stage.Stage, chunk)
		return w.shared.Finish(ctx, w.slot, w.states, w.out, result.Size(), result)
	}
	return w.Run.Partials.Add(ctx, w.slot, index, w.states)
}

// send reads a tile into a set that is free, or has become so, and gives it to the
// device.
func (w *streamer) send(ctx context.Context, number int, tile grid.Box) error {
	if err := w.receive(ctx, number); err != nil {
		return err
	}
	set := w.sets[number]
	if err := set.in.Load(ctx, tile); err != nil {
		return err
	}
	set.tile = tile
	w.enqueue(set)
	return nil
}

// enqueue gives the tile of a set to the device.
func (w *streamer) enqueue(set *stagingSet) {
	if w.Stage.Kind == plan.ReduceStage {
		set.job = w.Work.Reduce(w.slot.Index, set.tile, set.in.Tile)
	} else {
		set.job = w.Work.Map(w.slot.Index, set.tile, set.in.Tile, set.out[:set.tile.Size()*w.size])
	}
}

// receive waits for what the device makes of a set's tile, and writes it.
func (w *streamer) receive(ctx context.Context, number int) error {
	set := w.sets[number]
	if set.job == nil {
		return nil
	}
	err := w.Wait(ctx, w.slot, set.job)
	set.job = nil
	if errors.Is(err, ErrLeftToCPU) && w.rare != nil {
		err = w.leftToCPU(ctx, number)
	}
	if err != nil || w.sink == nil {
		return err
	}
	return w.sink.Write(ctx, set.out[:set.tile.Size()*w.size], set.tile)
}

// leftToCPU computes a set's tile on the CPU. What was sent after it is not folded, and is
// sent again.
func (w *streamer) leftToCPU(ctx context.Context, number int) error {
	set := w.sets[number]
	if w.shared == nil {
		return w.rare.compute(ctx, w, set)
	}
	var after []*stagingSet
	for i := 1; i < len(w.sets); i++ {
		later := w.sets[(number+i)%len(w.sets)]
		if later.job == nil {
			continue
		}
		switch err := w.Wait(ctx, w.slot, later.job); {
		case err == nil:
			return errors.New("a tile was folded before one that precedes it") // the device's fault
		case !errors.Is(err, ErrLeftToCPU):
			return err
		}
		after = append(after, later)
	}
	w.Work.Resume(w.slot.Index)
	if err := w.rare.compute(ctx, w, set); err != nil {
		return err
	}
	for _, later := range after {
		w.enqueue(later)
	}
	return nil
}
