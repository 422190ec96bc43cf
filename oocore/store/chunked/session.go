package chunked

import (
	"cmp"
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
	index   []byte
}

// divide says how a session uses its memory, whole chunks at a time or pieces of them.
// Without memory it counts.
func (a *Array) divide(work []byte, whole bool) (d readMemory, size int64) {
	take := func(n int64) []byte {
		from := size
		size += (n + 63) &^ 63
		if work == nil {
			return nil
		}
		return work[from : from+n : from+n]
	}
	chunk := a.ChunkBytes()
	switch need := a.Pipeline.DecodeWork(); {
	case a.Pipeline.Plain():
		d.window = take(min(windowBytes, chunk))
	case whole:
		d.decoder, d.chunk = take(need.Whole), take(chunk)
	default:
		d.decoder, d.window = take(need.Stream), take(min(windowBytes, chunk))
	}
	d.index = take(a.IndexBytes)
	return d, size
}

// Work is the memory of a session.
func (a *Array) Work() store.Work {
	var w store.Work
	_, w.Whole = a.divide(nil, true)
	_, w.Stream = a.divide(nil, false)
	w.Stream = min(w.Stream, w.Whole)
	if !a.Pipeline.Plain() {
		w.Heap = a.Pipeline.DecodeWork().Heap
	}
	return w
}

// session reads an array with the caller's memory.
type session struct {
	a       *Array
	decoder *codec.Decoder  // nil where elements lie open
	decodes *codec.Pipeline // what decoder is of
	memory  readMemory
	index   Index
	cursor  cursor
	kept    []int // the chunk that memory.chunk has; nil for none
	part    part
	stored  int64 // bytes that Read took from the store
	closed  bool
}

func (a *Array) newSession(work []byte, whole bool) (*session, error) {
	s := &session{a: a, part: newPart(len(a.Shape))}
	s.memory, _ = a.divide(work, whole)
	s.index = a.NewIndex(s.memory.index, &s.stored)
	if !a.Pipeline.Plain() {
		if err := s.decodeBy(a.Pipeline); err != nil {
			return nil, a.Fail(context.Background(), err)
		}
	}
	return s, nil
}

// decodeBy makes the decoder that of a pipeline.
func (s *session) decodeBy(p *codec.Pipeline) (err error) {
	if s.decodes == p {
		return nil
	}
	if s.decoder != nil {
		s.decoder.Close()
	}
	s.cursor.chunk, s.decodes = nil, p
	s.decoder, err = p.Decoder(s.memory.decoder)
	return err
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
	return s.index.Close()
}

// Read fills dst with the region's elements.
func (s *session) Read(ctx context.Context, dst []byte, r grid.Region) (int64, error) {
	s.stored = 0
	err := s.read(ctx, dst, r)
	return s.stored, s.a.Fail(ctx, err)
}

func (s *session) read(ctx context.Context, dst []byte, r grid.Region) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed || s.a.Closed() {
		return store.ErrClosed
	}
	l, err := strided.Of(s.a.Shape, s.a.DType.Size(), r)
	if err != nil {
		return err
	}
	if len(dst) != l.Bytes() {
		return fmt.Errorf("the region has %d bytes, the buffer %d", l.Bytes(), len(dst))
	}
	if len(dst) == 0 {
		return nil
	}
	s.part.begin(r, s.a.Chunk)
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
		p.gather(dst, s.memory.chunk, s.a)
		return nil
	}
	if f, ok := s.index.(Fetcher); ok && s.takesWhole() {
		return s.fetch(ctx, dst, f)
	}
	src, err := s.index.Find(ctx, p.chunk)
	if err != nil {
		return err
	}
	if src == nil {
		p.fill(dst, s.a)
		return nil
	}
	if s.decoder != nil {
		if err := s.decodeBy(cmp.Or(src.Pipeline, s.a.Pipeline)); err != nil {
			return src.Fault(ctx, err)
		}
	}
	if s.memory.chunk != nil {
		err = s.readWhole(dst, func(p []byte) (int64, error) {
			if src.Bytes > int64(len(p)) {
				return src.Bytes, nil
			}
			return src.Bytes, src.ReadAt(ctx, p[:src.Bytes], 0)
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

// fetch reads a chunk by one request.
func (s *session) fetch(ctx context.Context, dst []byte, f Fetcher) error {
	p := &s.part
	var src *Source
	err := s.readWhole(dst, func(b []byte) (size int64, err error) {
		if size, src, err = f.Fetch(ctx, p.chunk, b); err == nil && src == nil {
			err = errMissing
		}
		return size, err
	})
	switch {
	case errors.Is(err, errMissing):
		p.fill(dst, s.a)
		return nil
	case src == nil:
		return err
	}
	return src.broken(ctx, err)
}

// errMissing ends the decoding of a chunk that is not stored.
var errMissing = errors.New("the chunk is not stored")

// readWhole decodes a chunk in one go: to where it belongs when that is one run,
// else to the session's memory, where it stays for the parts that follow.
func (s *session) readWhole(dst []byte, get codec.Getter) error {
	p := &s.part
	if at, ok := p.wholeRun(); ok {
		from, size := int64(at*s.a.DType.Size()), s.a.ChunkBytes()
		return s.decode(dst[from:from+size], get)
	}
	s.kept = nil
	if err := s.decode(s.memory.chunk, get); err != nil {
		return err
	}
	s.kept = slices.Clone(p.chunk)
	p.gather(dst, s.memory.chunk, s.a)
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
		err = s.a.sizeError(n)
	}
	return err
}
