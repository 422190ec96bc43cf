package exec

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
)

// devicePool is the slots of a map or reduce stage on a device. Each slot reads a tile
// into a staging set, lets the device compute it, and writes what comes back. Sets of all
// slots together are enough for upload, computing and download to go on at once, whatever
// the number of workers: a slot that waits for the device holds none.
type devicePool struct {
	*pool
	work Work
}

func newDevicePool(o *onDevice) (Runner, error) {
	chunk := func(i int) (int, grid.Box) { return i, o.stage.Grid.Box(i) }
	var f *folding
	if len(o.stage.Folds) > 0 {
		f = newFolding(o.run, o.stage)
		chunk = f.chunk
	}
	p, err := newPool(o.run, o.index, o.stage, chunk, func(s *slot) (worker, error) { return newStreamer(o, s, f) })
	if err != nil {
		return nil, err
	}
	return &devicePool{p, o.work}, nil
}

// Close ends what the device does with the slots' buffers before it frees them.
func (p *devicePool) Close() error { return errors.Join(p.work.Close(), p.pool.Close()) }

// streamer is a slot of a stage on a device.
type streamer struct {
	*onDevice
	slot   *slot
	size   int // of an element of a map's result
	sets   []*stagingSet
	sink   *sink    // of a map
	shared *folding // nil where nothing is folded
	states [][]byte // the partials of a task
	out    [][]byte // results of a reduction's task that makes whole ones
}

// stagingSet is the host's side of one tile in flight.
type stagingSet struct {
	in   *inputs
	out  []byte // of a map
	tile grid.Box
	job  Job // nil where there is none
}

func newStreamer(o *onDevice, s *slot, f *folding) (_ *streamer, err error) {
	o.begin(s, o.stage.DevicePeak/int64(o.stage.Slots))
	prog, d := &o.stage.Programs[0], &o.stage.Buffers.Slot
	w := &streamer{onDevice: o, slot: s, shared: f, size: prog.Type(prog.Out[0]).Size()}
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
		w.sets = append(w.sets, &stagingSet{in: &inputs{slot: s, prog: prog, from: from, all: in, tile: make([][]byte, len(in))}, out: out[0]})
	}
	if w.states, err = o.pinned(s, d.States...); err != nil {
		return nil, err
	}
	if o.stage.Kind == plan.MapStage {
		w.sink, err = newSink(s)
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
	for inner := range w.stage.Inners(chunk) {
		for tile := range inner.Split(w.stage.Tile) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := w.send(ctx, w.sets[n%len(w.sets)], tile); err != nil {
				return err
			}
			n++
		}
	}
	for i := range w.sets {
		if err := w.receive(ctx, w.sets[(n+i)%len(w.sets)]); err != nil {
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
		result := w.shared.result(chunk)
		return w.shared.finish(ctx, w.slot, w.states, w.out, result.Size(), result)
	}
	return w.run.partials.add(ctx, w.slot, index, w.states)
}

// send reads a tile into a set that is free, or has become so, and gives it to the
// device.
func (w *streamer) send(ctx context.Context, set *stagingSet, tile grid.Box) error {
	if err := w.receive(ctx, set); err != nil {
		return err
	}
	if err := set.in.load(ctx, tile); err != nil {
		return err
	}
	set.tile = tile
	if w.stage.Kind == plan.ReduceStage {
		set.job = w.work.Reduce(w.slot.index, tile, set.in.tile)
	} else {
		set.job = w.work.Map(w.slot.index, tile, set.in.tile, set.out[:tile.Size()*w.size])
	}
	return nil
}

// receive waits for what the device makes of a set's tile, and writes it.
func (w *streamer) receive(ctx context.Context, set *stagingSet) error {
	if set.job == nil {
		return nil
	}
	err := w.wait(ctx, w.slot, set.job)
	set.job = nil
	if err != nil || w.sink == nil {
		return err
	}
	return w.sink.write(ctx, set.out[:set.tile.Size()*w.size], set.tile)
}
