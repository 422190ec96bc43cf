package slots

import (
	"context"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// prefetcher is a slot of a map stage whose slots share workspaces. Its own memory has what a request reads or
// stores: more requests are under way than there is memory to decode, compute and encode with.
type prefetcher struct {
	slot       *Slot
	encoded    [][]byte // of each load
	workspaces chan *mapper
	turns      chan struct{} // as a mapper's
}

// readPrefetched reads the elements of what was fetched for a load.
type readPrefetched func(ctx context.Context, s store.Session, dst []byte) (stored int64, err error)

// newPrefetchPool prepares the workspaces that a stage's slots share, and the slots.
func newPrefetchPool(r *Shared, stage int, turns chan struct{}) (*Pool, error) {
	st := &r.Plan.Stages[stage]
	free := make(chan *mapper, st.Workspaces)
	shared := 0
	return NewPool(r, stage, st, func(s *Slot) (Task, error) {
		encoded, err := s.Alloc(st.Buffers.Encoded...)
		if err != nil || shared == st.Workspaces {
			return (&prefetcher{s, encoded, free, turns}).task, err
		}
		w := NewSlot(r, stage, shared)
		shared, s.close = shared+1, append(s.close, w.Free)
		m, err := newMapper(w)
		if err != nil {
			return nil, err
		}
		free <- m
		for c := range w.Row.Reserved { // the record has them once
			s.Row.Requested[c] += w.Row.Requested[c]
			s.Row.Reserved[c] += w.Row.Reserved[c]
		}
		return (&prefetcher{s, encoded, free, turns}).task, nil
	})
}

func (f *prefetcher) task(ctx context.Context, _ int, box grid.Box) error {
	var read []readPrefetched
	err := inTurn(ctx, &f.turns, func() (err error) {
		read, err = f.fetch(ctx, box)
		return err
	})
	if err != nil {
		return err
	}
	var m *mapper
	select {
	case m = <-f.workspaces:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	put, err := f.compute(ctx, m, read, box)
	f.workspaces <- m
	if err != nil || put == nil {
		return err
	}
	t := time.Now()
	err = put(ctx)
	f.slot.Row.Writing += time.Since(t)
	return err
}

// fetch reads the encoded chunks that a box is computed of.
func (f *prefetcher) fetch(ctx context.Context, box grid.Box) ([]readPrefetched, error) {
	t := time.Now()
	loads := f.slot.Stage.Programs[0].Loads
	read := make([]readPrefetched, len(loads))
	for i := range loads {
		l := &loads[i]
		if l.Kind != plan.LoadArray {
			continue
		}
		var err error
		if read[i], err = f.slot.Run.Readers[l.Array].(storage.Prefetcher).Prefetch(ctx, f.encoded[i], l.Region(box)); err != nil {
			return nil, err
		}
	}
	f.slot.Row.Reading += time.Since(t)
	return read, nil
}

// compute computes a box in a workspace. It returns what stores the result, from the memory of the first input.
func (f *prefetcher) compute(ctx context.Context, m *mapper, read []readPrefetched, box grid.Box) (put func(context.Context) error, err error) {
	for i, r := range read {
		if r != nil {
			m.eval.source(i).prefetched = r
			if m.sink.encoded == nil {
				m.sink.encoded = f.encoded[i]
			}
		}
	}
	row := &m.slot.Row
	m.slot.begin(f.slot.task, int(f.slot.Row.Chunk))
	m.sink.put = nil
	err = m.write(ctx, box)
	put, m.sink.encoded = m.sink.put, nil
	f.slot.Row.Reading += row.Reading
	f.slot.Row.Computing += row.Computing
	f.slot.Row.Writing += row.Writing
	f.slot.Row.Read += row.Read
	f.slot.Row.Written += row.Written
	return put, err
}
