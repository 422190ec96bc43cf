package exec

import (
	"context"
	"time"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// source reads what one load of a slot's program needs, with memory of its own where
// the array is encoded.
type source struct {
	slot    *slot
	array   int
	session store.Session
}

func newSource(s *slot, l *plan.Load) (*source, error) {
	src := &source{slot: s, array: l.Array}
	coded, ok := s.run.arrays.readers[l.Array].(store.Coded)
	if !ok {
		return src, nil
	}
	work, err := s.work(s.run.plan.ReadWork(s.stage, l))
	if err != nil {
		return nil, err
	}
	if src.session, err = coded.Session(work); err != nil {
		return nil, err
	}
	s.close = append(s.close, src.session.Close)
	return src, nil
}

// work takes a session's buffer, and counts what libraries take of Go's heap.
func (s *slot) work(buffer, heap int64) (work []byte, err error) {
	if buffer > 0 {
		if work, err = s.alloc(record.Codec, buffer); err != nil {
			return nil, err
		}
	}
	if heap > 0 {
		b, err := s.run.arena.Charge(arena.Tag{Stage: int(s.row.Stage), Chunk: s.row.Chunk, Class: record.Codec}, heap)
		if err != nil {
			return nil, err
		}
		s.buffers = append(s.buffers, b)
		s.row.Requested[record.Codec] += heap
		s.row.Reserved[record.Codec] += heap
	}
	return work, nil
}

// read fills dst with a region of the array.
func (src *source) read(ctx context.Context, dst []byte, region grid.Region) (err error) {
	s := src.slot
	t := time.Now()
	n := int64(len(dst))
	if src.session == nil {
		err = s.run.arrays.readers[src.array].Read(ctx, dst, region)
	} else {
		n, err = src.session.Read(ctx, dst, region)
	}
	if err != nil {
		return err
	}
	s.row.Reading += time.Since(t)
	if s.run.arrays.stored(src.array) {
		s.row.Read += n
		s.run.counts.read.Add(n)
	}
	return nil
}

// sink writes what a slot computes of one output.
type sink struct {
	slot    *slot
	array   int
	session store.WriteSession
}

// newSink is a map stage's, whose output may be encoded.
func newSink(s *slot) (*sink, error) {
	out := &sink{slot: s, array: s.stage.Outputs[0]}
	work, err := s.work(s.run.plan.WriteWork(s.stage))
	if err != nil || !s.run.plan.Arrays[out.array].Layout.Sessions() {
		return out, err
	}
	out.session, err = s.run.arrays.writers[out.array].(store.CodedWriter).Session(work)
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, out.session.Close)
	return out, nil
}

// write stores a box of the output.
func (w *sink) write(ctx context.Context, src []byte, box grid.Box) (err error) {
	s := w.slot
	t := time.Now()
	n := int64(len(src))
	if r := s.run.plan.Arrays[w.array].Region; r != nil {
		box = box.Move(r.Start)
	}
	if w.session == nil {
		err = s.run.arrays.writers[w.array].Write(ctx, src, box)
	} else {
		n, err = w.session.Write(ctx, src, box)
	}
	if err != nil {
		return err
	}
	s.row.Writing += time.Since(t)
	if s.run.arrays.stored(w.array) {
		s.row.Written += n
		s.run.counts.written.Add(n)
	}
	return nil
}
