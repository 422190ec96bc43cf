package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
)

// mapRunner writes a program's values, chunk by chunk, and folds others beside.
type mapRunner struct {
	*pool
	closeLanes func() error
}

func newMapRunner(r *run, stage int) (Runner, error) {
	s := &r.plan.Stages[stage]
	lanes, closeLanes, err := r.deviceLanes(s, stage)
	if err != nil {
		return nil, err
	}
	p, err := newPool(r, stage, func(i int) (int, grid.Box) { return i, s.Grid.Box(i) }, func(sl *slot) (worker, error) {
		return newMapper(sl, lanes)
	})
	if err != nil {
		return nil, errors.Join(err, closeLanes())
	}
	return &mapRunner{p, closeLanes}, nil
}

// Close frees the slots' buffers and the device's.
func (m *mapRunner) Close() error { return errors.Join(m.pool.Close(), m.closeLanes()) }

// deviceLanes opens the streams that a stage's slots share on a device; none
// where the CPU computes.
func (r *run) deviceLanes(s *plan.SizedStage, stage int) (chan Lane, func() error, error) {
	if !s.OnDevice {
		return nil, func() error { return nil }, nil
	}
	lanes := make(chan Lane, plan.DeviceLanes)
	all := func() (err error) {
		for range len(lanes) {
			err = errors.Join(err, (<-lanes).Close())
		}
		return err
	}
	for range plan.DeviceLanes {
		l, err := r.env.Device.Lane(&s.Programs[0], s.Tile, r.arena, stage)
		if err != nil {
			return nil, nil, errors.Join(err, all())
		}
		lanes <- l
	}
	return lanes, all, nil
}

// mapper is a slot of a map stage. What it reads and writes at once are the
// stage's pieces; tiles of them follow each other, so results need no moving.
type mapper struct {
	slot  *slot
	out   []byte
	whole []byte // the chunk, where its units are cut out of it
	size  int    // of a result
	eval  *evaluator
	sink  *sink
	lanes chan Lane // of the device, if it computes
	sums  *sums     // of what is folded beside; nil where that is nothing
}

func newMapper(s *slot, lanes chan Lane) (*mapper, error) {
	st := s.stage
	d := &st.Buffers.Slot
	prog := &st.Programs[0]
	out, err := s.alloc(d.Out, d.Chunk)
	if err != nil {
		return nil, err
	}
	m := &mapper{slot: s, lanes: lanes, size: prog.Type(prog.Out[0]).Size(), out: out[0], whole: out[1]}
	if m.sink, err = newSink(s); err != nil {
		return nil, err
	}
	if lanes != nil {
		s.row.Device = 1
		m.eval = &evaluator{slot: s, prog: prog, tile: st.Tile}
		m.eval.inputs, err = newInputs(s, prog, &d.Lane)
		return m, err
	}
	if m.eval, err = newEvaluator(s, prog, &d.Lane); err != nil || len(st.Folds) == 0 {
		return m, err
	}
	if m.sums, err = newSums(s, newFolding(s.run, st)); err != nil {
		return m, err
	}
	lane := m.eval.lane
	lane.each = func(b grid.Box) { m.sums.add(lane.machine, b) }
	return m, nil
}

func (m *mapper) task(ctx context.Context, index int, chunk grid.Box) error {
	if m.sums == nil {
		return m.write(ctx, chunk)
	}
	m.sums.begin(chunk, 1)
	if err := m.write(ctx, chunk); err != nil {
		return err
	}
	return m.slot.run.partials.add(ctx, m.slot, index, m.sums.states)
}

// write computes a chunk and writes it.
func (m *mapper) write(ctx context.Context, chunk grid.Box) error {
	if m.whole != nil {
		for tile := range chunk.Split(m.slot.stage.Tile) {
			if err := m.cut(ctx, tile); err != nil {
				return err
			}
		}
		return nil
	}
	for inner := range m.slot.stage.Inners(chunk) {
		for piece := range inner.Split(m.slot.stage.Piece) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			out := m.out[:piece.Size()*m.size]
			var err error
			if m.lanes == nil {
				err = m.eval.eval(ctx, piece, out)
			} else {
				err = m.onDevice(ctx, piece, out)
			}
			if err != nil {
				return err
			}
			if err := m.sink.write(ctx, out, piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// cut computes a chunk and writes it unit by unit.
func (m *mapper) cut(ctx context.Context, chunk grid.Box) error {
	st := m.slot.stage
	whole := m.whole[:chunk.Size()*m.size]
	if err := m.eval.eval(ctx, chunk, whole); err != nil {
		return err
	}
	strides := grid.Strides(chunk.Shape)
	for unit := range chunk.Split(m.slot.run.plan.Arrays[st.Outputs[0]].Layout.Unit) {
		for piece := range unit.Split(st.Piece) {
			at := 0
			for d := range strides {
				at += (piece.Start[d] - chunk.Start[d]) * strides[d]
			}
			out := m.out[:piece.Size()*m.size]
			kernel.Copy(m.size, piece.Shape, out, 0, grid.Strides(piece.Shape), whole, at, strides)
			if err := m.sink.write(ctx, out, piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// onDevice streams a piece through a lane of the device, tile by tile.
func (m *mapper) onDevice(ctx context.Context, piece grid.Box, out []byte) error {
	at := 0
	for tile := range piece.Split(m.slot.stage.Tile) {
		n := tile.Size() * m.size
		if err := m.tile(ctx, tile, out[at:at+n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// tile computes one tile on the device. Where the device has no room for it, it
// is tried once more, since others may have left; then it is halved along its
// first axis that can be, down to one element.
func (m *mapper) tile(ctx context.Context, tile grid.Box, dst []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := m.eval.inputs.load(ctx, tile); err != nil {
		return err
	}
	lane := <-m.lanes
	defer func() { m.lanes <- lane }()
	err := m.attempt(ctx, lane, tile, dst)
	if errors.Is(err, ErrDeviceMemory) {
		m.slot.row.Retries++
		err = m.attempt(ctx, lane, tile, dst)
	}
	if errors.Is(err, ErrDeviceMemory) {
		return m.halves(ctx, lane, tile, dst, err)
	}
	return err
}

// attempt computes a tile that is loaded, and counts where the device has no room
// for it.
func (m *mapper) attempt(ctx context.Context, lane Lane, tile grid.Box, dst []byte) error {
	err := m.slot.compute(ctx, func() error {
		moved, err := lane.Compute(ctx, tile, m.eval.inputs.tile, dst)
		m.slot.row.Moved += moved
		return err
	})
	if errors.Is(err, ErrDeviceMemory) {
		m.slot.run.counts.oom.Add(1)
	}
	return err
}

func (m *mapper) halves(ctx context.Context, lane Lane, tile grid.Box, dst []byte, cause error) error {
	half, ok := halve(tile.Shape)
	if !ok {
		return fmt.Errorf("%s cannot hold even one element: %w", m.slot.run.plan.Device.Name, cause)
	}
	m.slot.row.Splits++
	at := 0
	for part := range tile.Split(half) {
		if err := m.eval.inputs.load(ctx, part); err != nil {
			return err
		}
		n := part.Size() * m.size
		err := m.attempt(ctx, lane, part, dst[at:at+n])
		if errors.Is(err, ErrDeviceMemory) {
			err = m.halves(ctx, lane, part, dst[at:at+n], err)
		}
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// halve cuts a shape in two along its first axis longer than one, which keeps
// the halves' elements in C order.
func halve(shape []int) ([]int, bool) {
	half := append([]int(nil), shape...)
	for i, n := range half {
		if n > 1 {
			half[i] = (n + 1) / 2
			return half, true
		}
	}
	return nil, false
}
