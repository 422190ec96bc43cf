package zarr

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// writeSession writes the chunks of a box in the caller's memory. One goroutine at a
// time uses it.
type writeSession struct {
	w     *writer
	d     *writeLayout
	box   grid.Box // of the array; what is around it is kept
	elide bool     // chunks of zeros are left out
	mem   writeMemory
	whole bool // there is room for whole chunks
	enc   *codec.Encoder
	dec   *codec.Decoder // of chunks that are kept in part

	unit   *objectWriter // that is under way
	chunk  *chunkWriter  // of it
	last   []int         // the chunk before
	stored int64         // bytes that the present Write has stored
	flies  bool          // a put may continue after its Write
	flight *asyncPut     // the last that did, from the encoder's memory
	into   []byte        // where Encode wants the unit
	put    func(context.Context) error
}

// newSession divides the caller's memory.
func (w *writer) newSession(box grid.Box, work []byte, elide bool) (*writeSession, error) {
	d := w.d
	need := d.work(box)
	if int64(len(work)) < need.Stream {
		return nil, fmt.Errorf("a session needs %d bytes, it was given %d", need.Stream, len(work))
	}
	s := &writeSession{w: w, d: d, box: box, elide: elide, whole: int64(len(work)) >= need.Whole}
	s.mem, _ = d.divide(work, box, s.whole)
	var err error
	if s.enc, err = d.pipeline.Encoder(s.mem.encoder); err != nil {
		return nil, err
	}
	if d.keeps(box) && d.cuts(box) {
		if s.dec, err = d.pipeline.Decoder(s.mem.decoder); err != nil {
			s.enc.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *writeSession) Write(ctx context.Context, src []byte, b grid.Box) (stored int64, err error) {
	err = s.w.writing(func() (err error) {
		stored, err = s.write(ctx, src, b)
		return err
	})
	return stored, err
}

// Encode is Write of a whole unit to p, from where put stores it.
func (s *writeSession) Encode(ctx context.Context, p, src []byte, b grid.Box) (put func(context.Context) error, stored int64, err error) {
	s.into, s.put = p, nil
	stored, err = s.Write(ctx, src, b)
	put, s.into, s.put = s.put, nil, nil
	return put, stored, err
}

// write stores a box. After an error nothing of its unit is stored.
func (s *writeSession) write(ctx context.Context, src []byte, b grid.Box) (stored int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := s.d.check(src, b); err != nil {
		return 0, err
	}
	if len(src) == 0 {
		return 0, nil
	}
	s.stored = 0
	if err := s.flight.wait(); err != nil {
		return 0, err
	}
	if err := s.encode(ctx, src, b); err != nil {
		s.abandon()
		return s.stored, err
	}
	return s.stored, nil
}

// check rejects a box that is not one of the array, and a buffer of another size.
func (d *writeLayout) check(src []byte, b grid.Box) error {
	if err := d.inside(b); err != nil {
		return err
	}
	if n := b.Size() * d.item; n != len(src) {
		return fmt.Errorf("the box %s has %d bytes, the buffer %d", b, n, len(src))
	}
	return nil
}

// inside rejects a box that reaches out of the array.
func (d *writeLayout) inside(b grid.Box) error {
	if len(b.Start) != len(d.shape) || len(b.Shape) != len(d.shape) {
		return fmt.Errorf("the box %s has other dimensions than the shape %s", b, grid.Format(d.shape))
	}
	for axis, n := range d.shape {
		if b.Start[axis] < 0 || b.Shape[axis] < 0 || b.Start[axis] > n || b.Shape[axis] > n-b.Start[axis] {
			return fmt.Errorf("the box %s reaches out of the shape %s", b, grid.Format(d.shape))
		}
	}
	return nil
}

func (s *writeSession) encode(ctx context.Context, src []byte, b grid.Box) error {
	unit, chunk := indexOf(b, s.d.unit()), indexOf(b, s.d.chunks)
	switch {
	case s.unit == nil:
		if err := s.begin(ctx, unit); err != nil {
			return err
		}
		s.last = nil
	case !slices.Equal(s.unit.index, unit):
		return fmt.Errorf("the box %s comes before the rest of %s", b, s.unit.box)
	}
	switch {
	case s.chunk == nil:
		if s.last != nil && slices.Compare(chunk, s.last) <= 0 {
			return fmt.Errorf("the box %s comes after a chunk that follows it", b)
		}
		s.chunk = s.unit.begin(chunk)
	case !slices.Equal(s.chunk.index, chunk):
		return fmt.Errorf("the box %s comes before the rest of %s", b, s.chunk.want)
	}
	done, err := s.chunk.take(ctx, src, b)
	if err != nil || !done {
		return err
	}
	c := s.chunk
	s.chunk, s.last = nil, c.index
	if err := s.unit.end(ctx, c); err != nil {
		return err
	}
	if s.unit.left == 0 {
		s.unit = nil
	}
	return nil
}

// indexOf is that of the chunk of a grid in which a box begins.
func indexOf(b grid.Box, lengths []int) []int {
	out := make([]int, len(lengths))
	for axis, n := range lengths {
		out[axis] = b.Start[axis] / n
	}
	return out
}

// abandon gives up the unit that is under way.
func (s *writeSession) abandon() {
	if s.unit != nil {
		s.unit.release()
	}
	s.unit, s.chunk = nil, nil
}

func (s *writeSession) Close() error {
	s.w.mu.RLock()
	defer s.w.mu.RUnlock()
	s.abandon()
	err := s.flight.wait()
	s.enc.Close()
	if s.dec != nil {
		s.dec.Close()
	}
	return s.w.named("write", err)
}
