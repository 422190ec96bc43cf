package zarr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/codec"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/internal/strided"
)

// windowBytes is the buffer through which parts of chunks are read that have gaps,
// in the file or where they go. It is a whole number of elements of any type.
const windowBytes = 128 << 10

// readMemory is what a session divides the caller's buffer into.
type readMemory struct {
	decoder []byte
	chunk   []byte // a decoded chunk, nil when chunks are decoded in pieces or not at all
	window  []byte // a piece of one, else
	indexes []indexMemory
}

// divideRead says how a session uses its memory, whole chunks at a time or pieces
// of them. Without memory it counts.
func divideRead(m *meta, work []byte, whole bool) (d readMemory, size int64) {
	take := func(n int64) []byte {
		from := size
		size += (n + 63) &^ 63
		if work == nil {
			return nil
		}
		return work[from : from+n : from+n]
	}
	chunk := chunkBytes(m)
	switch need := m.pipeline.DecodeWork(); {
	case m.pipeline.Plain():
		d.window = take(min(windowBytes, chunk))
	case whole:
		d.decoder, d.chunk = take(need.Whole), take(chunk)
	default:
		d.decoder, d.window = take(need.Stream), take(min(windowBytes, chunk))
	}
	for i := range m.shards {
		entries, sorted := indexWork(&m.shards[i])
		d.indexes = append(d.indexes, indexMemory{take(entries), take(sorted)})
	}
	return d, size
}

// readWork is the memory of a session.
func readWork(m *meta) store.Work {
	var w store.Work
	_, w.Whole = divideRead(m, nil, true)
	_, w.Stream = divideRead(m, nil, false)
	w.Stream = min(w.Stream, w.Whole)
	if !m.pipeline.Plain() {
		w.Heap = m.pipeline.DecodeWork().Heap
	}
	return w
}

// chunkBytes is the size of a decoded chunk.
func chunkBytes(m *meta) int64 { return int64(grid.Size(m.chunks)) * int64(m.dtype.Size()) }

// session reads an array with the caller's memory.
type session struct {
	a       *array
	meta    *meta
	decoder *codec.Decoder // nil where elements lie open
	memory  readMemory
	opened  opened
	cursor  cursor
	kept    []int // the chunk that memory.chunk has; nil for none
	part    part
	stored  int64 // bytes that Read took from the store
	closed  bool
}

// Session prepares to read with a buffer of Work.Whole or Work.Stream bytes.
func (a *array) Session(work []byte) (store.Session, error) {
	w := readWork(a.meta)
	whole := int64(len(work)) >= w.Whole
	if !whole && int64(len(work)) < w.Stream {
		return nil, a.readError(context.Background(),
			fmt.Errorf("%d bytes are too few to decode a chunk: at least %d are needed", len(work), w.Stream))
	}
	return a.newSession(work, whole)
}

func (a *array) newSession(work []byte, whole bool) (*session, error) {
	s := &session{a: a, meta: a.meta, part: newPart(len(a.meta.shape))}
	s.memory, _ = divideRead(a.meta, work, whole)
	s.opened = newOpened(a, s.memory.indexes, &s.stored)
	if !a.meta.pipeline.Plain() {
		var err error
		if s.decoder, err = a.meta.pipeline.Decoder(s.memory.decoder); err != nil {
			return nil, a.readError(context.Background(), err)
		}
	}
	return s, nil
}

// Close gives back what the session holds. Its memory is the caller's again.
func (s *session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.decoder != nil {
		s.decoder.Close()
	}
	return s.opened.close()
}

// Read fills dst with the region's elements.
func (s *session) Read(ctx context.Context, dst []byte, r grid.Region) (int64, error) {
	s.stored = 0
	err := s.read(ctx, dst, r)
	return s.stored, s.a.readError(ctx, err)
}

func (s *session) read(ctx context.Context, dst []byte, r grid.Region) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed || s.a.closed.Load() {
		return store.ErrClosed
	}
	l, err := strided.Of(s.meta.shape, s.meta.dtype.Size(), r)
	if err != nil {
		return err
	}
	if len(dst) != l.Bytes() {
		return fmt.Errorf("the region has %d bytes, the buffer %d", l.Bytes(), len(dst))
	}
	if len(dst) == 0 {
		return nil
	}
	s.part.begin(r, s.meta.chunks)
	for more := true; more; more = s.part.next() {
		if err := s.readPart(ctx, dst); err != nil {
			return err
		}
	}
	return nil
}

// readPart reads the part of the region that lies in one chunk.
func (s *session) readPart(ctx context.Context, dst []byte) error {
	p := &s.part
	if s.kept != nil && slices.Equal(s.kept, p.chunk) {
		p.gather(dst, s.memory.chunk, s.meta)
		return nil
	}
	src, err := s.opened.find(ctx, p.chunk)
	if err != nil {
		return err
	}
	if src == nil {
		p.fill(dst, s.meta)
		return nil
	}
	if s.memory.chunk != nil {
		err = s.readWhole(ctx, dst, src)
	} else {
		err = s.readPieces(ctx, dst, src)
	}
	if errors.Is(err, codec.ErrShort) {
		err = fmt.Errorf("it is cut short: %w", plainError(err))
	}
	if err != nil {
		return src.fault(ctx, err)
	}
	return nil
}

// readWhole decodes a chunk in one go: to where it belongs when that is one run,
// else to the session's memory, where it stays for the parts that follow.
func (s *session) readWhole(ctx context.Context, dst []byte, src *source) error {
	p := &s.part
	if at, ok := p.wholeRun(); ok {
		item := s.meta.dtype.Size()
		_, err := s.decoder.Whole(ctx, dst[at*item:at*item+len(s.memory.chunk)], src)
		return err
	}
	s.kept = nil
	if _, err := s.decoder.Whole(ctx, s.memory.chunk, src); err != nil {
		return err
	}
	s.kept = slices.Clone(p.chunk)
	p.gather(dst, s.memory.chunk, s.meta)
	return nil
}
