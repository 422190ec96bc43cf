package chunked

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
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
	index := a.IndexBytes
	if whole {
		index += a.MoreIndexBytes
	}
	d.index = take(index)
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
	kept    []int                    // the chunk that memory.chunk has; nil for none
	shape   []int                    // of kept
	from    Source                   // of kept
	part    func(from, to int) error // decodes a part of kept; nil where all of it is decoded
	overlap overlap
	stored  int64 // bytes that Read took from the store
	closed  bool
}

func (a *Array) newSession(work []byte, whole bool) (*session, error) {
	s := &session{a: a, overlap: newOverlap(len(a.Shape))}
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
		s.letGo()
	}
	s.cursor.chunk, s.decodes = nil, p
	s.decoder, err = p.Decoder(s.memory.decoder)
	return err
}

// letGo forgets a chunk that is kept in part, the rest of which the decoder cannot decode once it is used for another.
func (s *session) letGo() {
	if s.part != nil {
		s.kept, s.part = nil, nil
	}
}

// Forget drops what the session has of chunks that are objects, so that the requests of a task do not depend on those before it
// in the same slot.
func (s *session) Forget() {
	if f, ok := s.index.(interface{ Forget() }); ok {
		s.kept = nil
		f.Forget()
	}
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
		return fs.ErrClosed
	}
	_, err := strided.ForRegion(s.a.Shape, s.a.DType.Size(), r, len(dst))
	if err != nil || len(dst) == 0 {
		return err
	}
	checked, ok := s.index.(Checked)
	if ok {
		checked.Begin()
	}
	s.overlap.begin(r, s.a, s.a.Shard)
	for more := true; more && err == nil; more = s.overlap.next() {
		err = s.readOverlap(ctx, dst)
	}
	if ok {
		if changed := checked.Check(); changed != nil { // which explains any other error
			return changed
		}
	}
	return err
}

// readOverlap reads what of the region lies in one chunk.
func (s *session) readOverlap(ctx context.Context, dst []byte) error {
	p, by := &s.overlap, s.a.Pipeline
	p.shape = s.a.Chunk
	if s.kept != nil && slices.Equal(s.kept, p.chunk) {
		p.shape = s.shape
		return s.from.broken(ctx, s.gather(dst))
	}
	if s.a.Runs != nil {
		var err error
		if by, err = s.a.shaped(p.length); err != nil {
			return err
		}
		p.shape = by.Chunk()
		if s.decoder != nil {
			if err := s.decodeBy(by); err != nil {
				return err
			}
		}
	}
	if f, ok := s.index.(Fetcher); ok {
		switch {
		case s.takesWhole():
			return s.fetch(ctx, dst, f)
		case s.decoder == nil:
			return s.fetchStored(ctx, dst, f)
		}
	}
	src, err := s.index.Find(ctx, p.chunk)
	if err != nil {
		return err
	}
	if src == nil {
		p.fill(dst, s.a)
		return nil
	}
	if src.Pipeline != nil {
		p.shape = src.Pipeline.Chunk()
	}
	if s.decoder != nil {
		if err := s.decodeBy(cmp.Or(src.Pipeline, by)); err != nil {
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
		s.from = *src
	} else {
		err = s.readStored(ctx, dst, src)
	}
	return src.broken(ctx, err)
}

// takesWhole reports an overlap for which its chunk is read as a whole.
func (s *session) takesWhole() bool {
	if s.decoder == nil {
		_, ok := s.overlap.wholeRun()
		return ok
	}
	return s.memory.chunk != nil
}

// fetch reads a chunk by one request.
func (s *session) fetch(ctx context.Context, dst []byte, f Fetcher) error {
	var src *Source
	err := s.readWhole(dst, func(b []byte) (size int64, err error) {
		if size, src, err = f.Fetch(ctx, s.overlap.chunk, b); err == nil && src == nil {
			err = errMissing
		}
		return size, err
	})
	if src != nil {
		s.from = *src
	}
	return s.fetched(ctx, dst, src, err)
}

// fetchStored reads what is needed of a chunk whose elements lie open.
func (s *session) fetchStored(ctx context.Context, dst []byte, f Fetcher) error {
	var src *Source
	v := s.overlap.stored(s.a.Pipeline.Order())
	err := v.read(dst, s.memory.window, s.a.DType.Size(), func(p []byte, at int64) (err error) {
		var size int64
		size, src, err = f.FetchAt(ctx, s.overlap.chunk, p, at)
		switch {
		case err != nil:
			return err
		case src == nil:
			return errMissing
		case size != s.chunkBytes():
			return s.sizeError(size)
		}
		return nil
	})
	return s.fetched(ctx, dst, src, err)
}

// fetched ends the reading of a chunk that src names, and of one that is not stored.
func (s *session) fetched(ctx context.Context, dst []byte, src *Source, err error) error {
	switch {
	case errors.Is(err, errMissing):
		s.overlap.fill(dst, s.a)
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
	p := &s.overlap
	if at, ok := p.wholeRun(); ok {
		from, size := int64(at*s.a.DType.Size()), s.chunkBytes()
		return s.decode(dst[from:from+size], get)
	}
	s.kept, s.part = nil, nil
	part, err := s.decoder.Parts(s.memory.chunk[:s.chunkBytes()], get)
	if err != nil {
		return err
	}
	s.kept, s.shape, s.part = slices.Clone(p.chunk), p.shape, part
	return s.gather(dst)
}

// pieceBytes is about what short runs are asked for together: most blocks of codecs are larger.
const pieceBytes = 32 << 10

// gather copies the overlap from the chunk that is kept.
func (s *session) gather(dst []byte) error {
	if s.part != nil {
		v, item := s.overlap.stored(s.a.Pipeline.Order()), s.a.DType.Size()
		if err := v.pieces(pieceBytes, item, func(p piece) error { return s.part(p.from*item, (p.from+p.size)*item) }); err != nil {
			s.kept, s.part = nil, nil
			return err
		}
	}
	s.overlap.gather(dst, s.memory.chunk, s.a)
	return nil
}

// decode decodes a whole chunk, of which there may be nothing to decode.
func (s *session) decode(dst []byte, get codec.Getter) error {
	if s.decoder != nil {
		s.letGo()
		_, err := s.decoder.Get(dst, get)
		return err
	}
	n, err := get(dst)
	if err == nil && n != int64(len(dst)) {
		err = s.sizeError(n)
	}
	return err
}
