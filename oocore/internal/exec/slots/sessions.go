package slots

import (
	"context"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// source reads what one load of a slot's program needs, with memory of its own where
// the array is encoded.
type source struct {
	slot    *Slot
	array   int
	session store.Session

	prefetched readPrefetched // the next region; nil where the store is asked
	forgets    storage.Forgetter
	task       int // that has read last
}

func newSource(s *Slot, array int, d size.Session) (*source, error) {
	src := &source{slot: s, array: array}
	work, err := s.Alloc(d.Scratch, d.Heap)
	if coded, ok := s.Run.Readers[array].(storage.Coded); ok && err == nil {
		if src.session, err = coded.Session(work[0]); err == nil {
			s.close = append(s.close, src.session.Close)
			src.forgets, _ = src.session.(storage.Forgetter)
		}
	}
	return src, err
}

// Read fills dst with a region of the array.
func (src *source) Read(ctx context.Context, dst []byte, region grid.Region) (err error) {
	s := src.slot
	if level, ok := s.held[src.array]; ok {
		return level.read(dst, region)
	}
	if o := s.Run.Observer; o != nil {
		if err := o.Read(int(s.Row.Stage), s.task, src.array, region); err != nil {
			return err
		}
	}
	if src.forgets != nil && src.task != s.task {
		src.forgets.Forget()
	}
	src.task = s.task
	t := time.Now()
	n := int64(len(dst))
	switch {
	case src.prefetched != nil:
		n, err = src.prefetched(ctx, src.session, dst)
	case src.session == nil:
		err = s.Run.Readers[src.array].Read(ctx, dst, region)
	default:
		n, err = src.session.Read(ctx, dst, region)
	}
	if err != nil {
		return err
	}
	s.Row.Reading += time.Since(t)
	if s.Run.stored(src.array) {
		s.Row.Read += n
		s.Run.Counts.Read.Add(n)
	}
	return nil
}

// willRead lets the array's disk begin with a region.
func (src *source) willRead(region grid.Region) {
	if a, ok := src.slot.Run.Readers[src.array].(storage.Ahead); ok {
		a.WillRead(region)
	}
}

// Sink writes what a slot computes of one output.
type Sink struct {
	slot    *Slot
	array   int
	session store.WriteSession
	encoded []byte                      // where the session encodes to; nil where it stores what it is given
	put     func(context.Context) error // stores the encoded chunk; nil where nothing is to be stored
}

// NewSink is that of a map stage's output, which may be encoded.
func NewSink(s *Slot, array int, d *size.Session) (*Sink, error) {
	out := &Sink{slot: s, array: array}
	work, err := s.Alloc(d.Scratch, d.Heap)
	if err != nil || !s.Run.Plan.Arrays[out.array].Layout.Sessions() {
		return out, err
	}
	out.session, err = s.Run.Writers[out.array].(storage.CodedWriter).Session(work[0])
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, out.session.Close)
	return out, nil
}

// Write stores a box of the output.
func (w *Sink) Write(ctx context.Context, src []byte, box grid.Box) (err error) {
	s := w.slot
	t := time.Now()
	n := int64(len(src))
	if r := s.Run.Plan.Arrays[w.array].Region; r != nil {
		box = box.Move(r.Start)
	}
	switch {
	case w.encoded != nil:
		w.put, n, err = w.session.(storage.Encoder).Encode(ctx, w.encoded, src, box)
	case w.session == nil:
		err = s.Run.Writers[w.array].Write(ctx, src, box)
	default:
		n, err = w.session.Write(ctx, src, box)
	}
	if err != nil {
		return err
	}
	s.Row.Writing += time.Since(t)
	if s.Run.Observer != nil {
		s.digest.Write(src)
	}
	if s.Run.stored(w.array) {
		s.Row.Written += n
		s.Run.Counts.Written.Add(n)
	}
	return nil
}

// Write stores a box of an output that is not encoded.
func (s *Slot) Write(ctx context.Context, array int, src []byte, box grid.Box) error {
	return (&Sink{slot: s, array: array}).Write(ctx, src, box)
}
