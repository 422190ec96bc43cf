package exec

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// devicePool is the slots of a map or reduce stage on a device. Each slot reads a tile
// into a staging set, lets the device compute it, and writes what comes back. Sets of all
// slots together are enough for upload, computing and download to go on at once, whatever
// the number of workers: a slot that waits for the device holds none.
type devicePool struct {
	*pool
	work Work
	rare *rareTiles // nil where the device computes all operands
}

func newDevicePool(o *onDevice) (Runner, error) {
	var f *folding
	if len(o.stage.Folds) > 0 {
		f = newFolding(o.run, &o.stage.Stage)
	}
	rare, err := newRareTiles(o)
	if err != nil {
		return nil, err
	}
	p, err := newPool(o.run, o.index, &o.stage.Stage, func(s *slot) (worker, error) { return newStreamer(o, s, f, rare) })
	if err != nil {
		return nil, errors.Join(err, rare.close())
	}
	return &devicePool{p, o.work, rare}, nil
}

// Close ends what the device does with the slots' buffers before it frees them.
func (p *devicePool) Close() error {
	return errors.Join(p.work.Close(), p.pool.Close(), p.rare.close())
}

// streamer is a slot of a stage on a device.
type streamer struct {
	*onDevice
	slot   *slot
	size   int // of an element of a map's result
	sets   []*stagingSet
	sink   *sink // of a map
	rare   *rareTiles
	shared *folding // nil where nothing is folded
	states [][]byte // the partials of a task
	out    [][]byte // results of a reduction's task that makes whole ones
}

// stagingSet is the host's side of one tile in flight.
type stagingSet struct {
	in   *loads
	out  []byte // of a map
	tile grid.Box
	job  Job // nil where there is none
}

func newStreamer(o *onDevice, s *slot, f *folding, rare *rareTiles) (_ *streamer, err error) {
	o.begin(s, o.stage.DevicePeak/int64(o.stage.Slots))
	prog, d := &o.stage.Programs[0], &o.stage.Buffers.Slot
	w := &streamer{onDevice: o, slot: s, shared: f, rare: rare, size: prog.Type(prog.Out[0]).Size()}
	from := make([]reader, len(prog.Loads)) // which all sets share
	for i := range prog.Loads {
		if from[i], err = newReader(s, &prog.Loads[i], &d.Lane.Loads[i]); err != nil {
			return nil, err
		}
	}
	for _, set := range d.Sets {
		in, err := o.pinned(s, set.In...)
		if err != nil {
			return nil, err
		}
		out, err := o.pinned(s, set.Out)
		if err != nil {
			return nil, err
		}
		w.sets = append(w.sets, &stagingSet{in: &loads{slot: s, prog: prog, from: from, all: in, tile: make([][]byte, len(in))}, out: out[0]})
	}
	if w.states, err = o.pinned(s, d.States...); err != nil {
		return nil, err
	}
	if o.stage.Kind == plan.MapStage {
		w.sink, err = newSink(s, o.stage.Outputs[0], &d.Write)
		return w, err
	}
	if w.out, err = s.alloc(d.Results...); err == nil {
		_, err = s.alloc(d.Write.Heap)
	}
	return w, err
}

func (w *streamer) task(ctx context.Context, index int, chunk grid.Box) error {
	if w.shared != nil {
		w.work.Begin(w.slot.index, chunk)
	}
	n := 0
	for inner := range w.stage.Chunks(chunk) {
		for tile := range inner.Split(w.stage.Tile) {
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
	if err := w.wait(ctx, w.slot, w.work.Partials(w.slot.index, w.states)); err != nil {
		return err
	}
	if w.stage.Kind == plan.ReduceStage && w.shared.parts == 1 {
		result := resultOf(&w.stage.Stage, chunk)
		return w.shared.finish(ctx, w.slot, w.states, w.out, result.Size(), result)
	}
	return w.run.partials.add(ctx, w.slot, index, w.states)
}

// send reads a tile into a set that is free, or has become so, and gives it to the
// device.
func (w *streamer) send(ctx context.Context, number int, tile grid.Box) error {
	if err := w.receive(ctx, number); err != nil {
		return err
	}
	set := w.sets[number]
	if err := set.in.load(ctx, tile); err != nil {
		return err
	}
	set.tile = tile
	w.enqueue(set)
	return nil
}

// enqueue gives the tile of a set to the device.
func (w *streamer) enqueue(set *stagingSet) {
	if w.stage.Kind == plan.ReduceStage {
		set.job = w.work.Reduce(w.slot.index, set.tile, set.in.tile)
	} else {
		set.job = w.work.Map(w.slot.index, set.tile, set.in.tile, set.out[:set.tile.Size()*w.size])
	}
}

// receive waits for what the device makes of a set's tile, and writes it.
func (w *streamer) receive(ctx context.Context, number int) error {
	set := w.sets[number]
	if set.job == nil {
		return nil
	}
	err := w.wait(ctx, w.slot, set.job)
	set.job = nil
	if errors.Is(err, ErrLeftToCPU) && w.rare != nil {
		err = w.leftToCPU(ctx, number)
	}
	if err != nil || w.sink == nil {
		return err
	}
	return w.sink.write(ctx, set.out[:set.tile.Size()*w.size], set.tile)
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
		switch err := w.wait(ctx, w.slot, later.job); {
		case err == nil:
			return errors.New("a tile was folded before one that precedes it") // the device's fault
		case !errors.Is(err, ErrLeftToCPU):
			return err
		}
		after = append(after, later)
	}
	w.work.Resume(w.slot.index)
	if err := w.rare.compute(ctx, w, set); err != nil {
		return err
	}
	for _, later := range after {
		w.enqueue(later)
	}
	return nil
}
