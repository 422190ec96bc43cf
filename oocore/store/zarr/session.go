package zarr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/gonbext/gonbext/oocore/codec"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/blob"
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
	if s.a.fetches() && s.takesWhole() {
		return s.fetch(ctx, dst)
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
		err = s.readWhole(dst, func(p []byte) (int64, error) {
			if src.size > int64(len(p)) {
				return src.size, nil
			}
			return src.size, src.ReadAt(ctx, p[:src.size], 0)
		})
	} else {
		err = s.readPieces(ctx, dst, src)
	}
	return src.broken(ctx, err)
}

// takesWhole reports a part for which its chunk is read as a whole.
func (s *session) takesWhole() bool {
	if s.decoder == nil {
		_, ok := s.part.wholeRun()
		return ok
	}
	return s.memory.chunk != nil
}

// fetch reads a chunk that is an object by itself by one request, where opening and
// reading it are two.
func (s *session) fetch(ctx context.Context, dst []byte) error {
	p, missing := &s.part, false
	src := source{key: s.meta.key(p.chunk)}
	err := s.readWhole(dst, func(b []byte) (int64, error) {
		e, err := blob.Get(ctx, s.a.bucket, src.key, b)
		switch {
		case err == blob.ErrLarge:
			return e.Size, nil
		case err == nil:
			s.stored += e.Size
		}
		missing = errors.Is(err, fs.ErrNotExist)
		return e.Size, err
	})
	if missing {
		if err := s.a.there(ctx); err != nil {
			return err
		}
		p.fill(dst, s.meta)
		return nil
	}
	return src.broken(ctx, err)
}

// readWhole decodes a chunk in one go: to where it belongs when that is one run,
// else to the session's memory, where it stays for the parts that follow.
func (s *session) readWhole(dst []byte, get codec.Getter) error {
	p := &s.part
	if at, ok := p.wholeRun(); ok {
		from, size := int64(at*s.meta.dtype.Size()), chunkBytes(s.meta)
		return s.decode(dst[from:from+size], get)
	}
	s.kept = nil
	if err := s.decode(s.memory.chunk, get); err != nil {
		return err
	}
	s.kept = slices.Clone(p.chunk)
	p.gather(dst, s.memory.chunk, s.meta)
	return nil
}

// decode decodes a whole chunk, of which there may be nothing to decode.
func (s *session) decode(dst []byte, get codec.Getter) error {
	if s.decoder != nil {
		_, err := s.decoder.Get(dst, get)
		return err
	}
	n, err := get(dst)
	if err == nil && n != int64(len(dst)) {
		err = sizeError(n, s.meta)
	}
	return err
}
