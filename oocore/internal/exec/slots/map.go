package slots

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

// mapper is a slot of a map stage. What it writes at once are the stage's tiles.
type mapper struct {
	slot  *Slot
	out   []byte
	whole []byte // the chunk, where its units are cut out of it
	size  int    // of a result
	eval  *Evaluator
	sink  *Sink
	sums  *sums         // of the side reductions; nil where there are none
	state *boxState     // of an operation with steps; nil for others
	turns chan struct{} // takes a token for the first read of each slot; nil after it, and where all may read at once

	levels []*level // of a pyramid: those after the first
}

func newMapper(s *Slot) (*mapper, error) {
	st := s.Stage
	d := &st.Buffers.Slot
	prog := &st.Programs[0]
	out, err := s.Alloc(d.Out, d.Chunk)
	if err != nil {
		return nil, err
	}
	m := &mapper{slot: s, size: prog.Type(prog.Out[0]).Size(), out: out[0], whole: out[1]}
	if m.sink, err = NewSink(s, st.Outputs[0], &d.Write); err != nil {
		return nil, err
	}
	if m.eval, err = NewEvaluator(s, prog, &d.Lane); err != nil {
		return m, err
	}
	if m.levels, err = newLevels(s); err != nil || len(st.Folds) == 0 {
		return m, err
	}
	m.sums, err = newSums(s, NewFolding(s.Run, st), m.eval.lane)
	return m, err
}

func (m *mapper) task(ctx context.Context, index int, chunk grid.Box) error {
	if m.state != nil {
		m.state.begin(index)
	}
	if m.sums != nil {
		m.sums.begin(chunk, 1)
	}
	if err := m.write(ctx, chunk); err != nil {
		return err
	}
	if m.state != nil {
		m.state.end()
	}
	if m.sums == nil {
		return nil
	}
	return m.slot.Run.Partials.Add(ctx, m.slot, index, m.sums.states)
}

// write computes a chunk and writes it.
func (m *mapper) write(ctx context.Context, chunk grid.Box) error {
	if n := len(m.levels); n > 0 {
		for last := range m.slot.Stage.LevelBox(n, chunk).Split(m.levels[n-1].chunk) {
			if err := m.level(ctx, n, last); err != nil {
				return err
			}
		}
		return nil
	}
	if m.whole != nil {
		for tile := range chunk.Split(m.slot.Stage.Tile) {
			if err := m.cut(ctx, tile); err != nil {
				return err
			}
		}
		return nil
	}
	for inner := range m.slot.Stage.Chunks(chunk) {
		for tile := range inner.Split(m.slot.Stage.WriteTile) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			out := m.out[:tile.Size()*m.size]
			if err := m.read(ctx, tile, out); err != nil {
				return err
			}
			if err := m.sink.Write(ctx, out, tile); err != nil {
				return err
			}
		}
	}
	return nil
}

// read computes a tile, the first when it is the slot's turn.
func (m *mapper) read(ctx context.Context, tile grid.Box, out []byte) error {
	return inTurn(ctx, &m.turns, func() error { return m.eval.Eval(ctx, tile, out) })
}

// inTurn calls f, the first time with one of the tokens.
func inTurn(ctx context.Context, of *chan struct{}, f func() error) error {
	turns := *of
	if *of = nil; turns == nil {
		return f()
	}
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-turns }()
	return f()
}

// cut computes a chunk and writes it chunk by chunk of its store.
func (m *mapper) cut(ctx context.Context, chunk grid.Box) error {
	st := m.slot.Stage
	whole := m.whole[:chunk.Size()*m.size]
	if err := m.eval.Eval(ctx, chunk, whole); err != nil {
		return err
	}
	for stored := range chunk.Split(m.slot.Run.Plan.Arrays[st.Outputs[0]].Layout.Unit) {
		for tile := range stored.Split(st.WriteTile) {
			out := m.out[:tile.Size()*m.size]
			strided.Copy(m.size, tile, out, tile, whole, chunk)
			if err := m.sink.Write(ctx, out, tile); err != nil {
				return err
			}
		}
	}
	return nil
}

// level makes a chunk of a level, and writes it.
func (m *mapper) level(ctx context.Context, k int, box grid.Box) error {
	st := m.slot.Stage
	if k == 0 {
		out := m.out[:box.Size()*m.size]
		if err := m.eval.Eval(ctx, box, out); err != nil {
			return err
		}
		m.slot.held[st.Outputs[0]] = chunkInMemory{box, out, m.size}
		return m.sink.Write(ctx, out, box)
	}
	l := m.levels[k-1]
	of := grid.Box{Start: make([]int, len(l.below)), Shape: make([]int, len(l.below))}
	for d, f := range l.factors {
		of.Start[d] = box.Start[d] * f
		of.Shape[d] = min(box.Shape[d]*f, l.below[d]-of.Start[d])
	}
	for chunk := range of.Split(l.chunks) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := m.level(ctx, k-1, chunk); err != nil {
			return err
		}
		made := st.NextLevelBox(k-1, chunk)
		part := l.part[:made.Size()*l.size]
		if err := l.eval.Eval(ctx, made, part); err != nil {
			return err
		}
		strided.Copy(l.size, made, l.out, box, part, made)
	}
	out := l.out[:box.Size()*l.size]
	m.slot.held[st.Outputs[k]] = chunkInMemory{box, out, l.size}
	for _, s := range l.sinks {
		if err := s.Write(ctx, out, box); err != nil {
			return err
		}
	}
	return nil
}
