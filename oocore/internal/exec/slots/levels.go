package slots

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

// A pyramid's slot holds a chunk of each level. A chunk of the last is filled part by part, each of a
// chunk of the level before it, which is filled in the same way, down to those that are computed.

// level is one after the first.
type level struct {
	eval    *Evaluator
	factors []int
	below   []int // the shape of the level before, and its chunks
	chunks  []int
	chunk   []int
	size    int
	part    []byte // what a chunk of the level before makes
	out     []byte // a chunk
	sinks   []*Sink
}

func newLevels(s *Slot) (all []*level, err error) {
	st := s.Stage
	if st.Factors != nil {
		s.held = map[int]chunkInMemory{}
	}
	for i := range st.Factors {
		d := &st.Buffers.Slot.Levels[i]
		below, of := &s.Run.Plan.Arrays[st.Outputs[i]], &s.Run.Plan.Arrays[st.Outputs[i+1]]
		l := &level{factors: st.Factors[i], below: below.Shape, chunks: below.Layout.Unit, chunk: of.Layout.Unit, size: of.DType.Size()}
		buffers, err := s.Alloc(d.Part, d.Out)
		if err != nil {
			return nil, err
		}
		l.part, l.out = buffers[0], buffers[1]
		if l.eval, err = NewEvaluator(s, &st.Programs[i+1], &d.Lane); err != nil {
			return nil, err
		}
		out, err := NewSink(s, st.Outputs[i+1], &d.Write)
		if err != nil {
			return nil, err
		}
		l.sinks = append(l.sinks, out)
		all = append(all, l)
	}
	if n := len(all); n > 0 && len(st.Outputs) > n+1 {
		all[n-1].sinks = append(all[n-1].sinks, &Sink{slot: s, array: st.Outputs[n+1]})
	}
	return all, nil
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

// chunkInMemory is the chunk of a level that the next is made of.
type chunkInMemory struct {
	box  grid.Box
	data []byte
	size int
}

// read fills dst with a region of the array, which is in the chunk.
func (c chunkInMemory) read(dst []byte, region grid.Region) error {
	for d, n := range region.Count {
		from := region.Start[d] - c.box.Start[d]
		if n == 0 || region.Step[d] != 1 || from < 0 || from+n > c.box.Shape[d] {
			return fmt.Errorf("a level is made of more than its chunk %s of the one before", c.box)
		}
	}
	part := grid.Box{Start: region.Start, Shape: region.Count}
	strided.Copy(c.size, part, dst, part, c.data, c.box)
	return nil
}
