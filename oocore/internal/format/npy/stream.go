package npy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/format/raw"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Stream is an Array whose bytes come through a pipe. Each is there once: Read takes regions that
// lie in one run each and follow each other without a gap, from any goroutines, and waits for
// those before. Spool makes a file of the bytes instead, for whoever reads in another order or
// more than once.
type Stream struct {
	info  store.Info
	big   bool
	query string // that describes a raw array; "" is npy
	head  []byte // of an npy file, which was read

	mu      sync.Mutex
	from    io.Reader
	at      int64 // bytes of the elements that were read
	moved   chan struct{}
	folder  *storage.StagingDir // with the spooled file; nil for none
	spooled string
}

// errMore is of a stream that does not end where its array does.
var errMore = errors.New("more bytes follow than the array has")

// NewStream returns the array that comes from a reader: an npy file, or, with a query as Open has
// it for raw files ("shape=4,5&dtype=float32"), bare elements. It reads the header. name is for
// people.
func NewStream(name string, from io.Reader, query string) (*Stream, error) {
	if from == nil {
		from = bytes.NewReader(nil)
	}
	s := &Stream{from: from, query: query, moved: make(chan struct{})}
	e, format, err := s.extent()
	if err == nil {
		err = grid.Check(e.Shape, e.DType.Size())
	}
	if err != nil {
		return nil, storage.PathError("open", name, err)
	}
	s.info, s.big = storage.Header{Extent: e}.Info(name, format, store.FileVersion{}), e.Big
	if s.Bytes() == 0 {
		err = s.end()
	}
	return s, storage.PathError("open", name, err)
}

// extent reads what the array is.
func (s *Stream) extent() (e store.Extent, format string, err error) {
	if s.query != "" {
		q, err := raw.Parse(s.query)
		switch {
		case err != nil:
			return e, "", err
		case q.Shape == nil || q.DType == dtype.Invalid:
			return e, "", errors.New("bare elements do not say what they are: write -?shape=10x20&dtype=float32")
		case q.Offset > 0:
			_, err = io.CopyN(io.Discard, s.from, q.Offset)
		}
		return store.Extent{Shape: q.Shape, DType: q.DType, Fortran: q.Fortran, Big: q.Big}, "raw", err
	}
	s.head = make([]byte, 12) // of any npy file: the shortest dictionary is longer than the two bytes that version 1 leaves
	n, err := io.ReadFull(s.from, s.head)
	switch {
	case n == 0 && err == io.EOF:
		return e, "", errors.New("there is no input")
	case err == io.EOF || err == io.ErrUnexpectedEOF || !bytes.HasPrefix(s.head, []byte(magic)):
		return e, "", errors.New("it is not an npy file, which begins with \\x93NUMPY: bare elements are -?shape=10x20&dtype=float32")
	case err != nil:
		return e, "", err
	}
	rest := int64(binary.LittleEndian.Uint16(s.head[8:])) - 2
	if s.head[6] > 1 {
		rest = int64(binary.LittleEndian.Uint32(s.head[8:]))
	}
	if rest > 0 && rest <= maxHeader {
		s.head = append(s.head, make([]byte, rest)...)
		if _, err := io.ReadFull(s.from, s.head[12:]); err != nil {
			return e, "", fmt.Errorf("the header is cut short: %w", err)
		}
	}
	e, err = ReadHeader(bytes.NewReader(s.head), math.MaxInt64)
	return e, formatName, err
}

// Info describes the array.
func (s *Stream) Info() store.Info {
	if s == nil {
		return store.Info{}
	}
	info := s.info
	info.Shape = slices.Clone(info.Shape)
	return info
}

// Bytes returns the size of the elements.
func (s *Stream) Bytes() int64 { return s.Info().Bytes }

// Read fills dst with a region, when those before it have been read.
func (s *Stream) Read(ctx context.Context, dst []byte, r types.Region) error {
	return s.read(ctx, dst, r, s.Info().Shape)
}

// Reshape returns the same stream as an array of another shape.
func (s *Stream) Reshape(shape []int) (store.Array, error) {
	if _, err := storage.Reshaped(s.Info(), shape); err != nil {
		return nil, err
	}
	return reshapedStream{s, shape}, nil
}

type reshapedStream struct {
	*Stream
	shape []int
}

func (s reshapedStream) Read(ctx context.Context, dst []byte, r types.Region) error {
	return s.read(ctx, dst, r, s.shape)
}

func (s *Stream) read(ctx context.Context, dst []byte, r types.Region, shape []int) error {
	l, err := strided.ForRegion(shape, s.Info().DType.Size(), r, len(dst))
	if err != nil || len(dst) == 0 {
		return err
	}
	for {
		s.mu.Lock()
		switch {
		case len(l.Axes) > 0 || l.Start < s.at:
			err = errors.New("it comes through a pipe, and is read in another order: save it to a file first")
		case l.Start == s.at:
			err = s.next(dst)
		default:
			moved := s.moved
			s.mu.Unlock()
			select {
			case <-moved:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		s.mu.Unlock()
		if err == nil && s.big {
			kernel.Swap(dst, s.info.DType.Part().Size())
		}
		return storage.AccessError(ctx, "read", s.info.Path, err)
	}
}

// next reads the elements that follow.
func (s *Stream) next(dst []byte) error {
	n, err := io.ReadFull(s.from, dst)
	s.at += int64(n)
	close(s.moved)
	s.moved = make(chan struct{})
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return s.short()
	}
	if err == nil && s.at == s.Bytes() {
		err = s.end()
	}
	return err
}

func (s *Stream) short() error {
	return fmt.Errorf("it ends after %d of %d bytes of elements", s.at, s.Bytes())
}

// end makes sure that nothing follows.
func (s *Stream) end() error {
	switch n, err := io.ReadFull(s.from, make([]byte, 1)); {
	case n > 0:
		return errMore
	case err != io.EOF:
		return err
	}
	return nil
}

// Spool copies the stream to a temporary file, to its end, and returns the path that opens that.
// The file is there until Close. Where the folder of temporary files has no room for it, or is in
// memory, nothing is read. Of a stream that Read has begun it is an error.
func (s *Stream) Spool(ctx context.Context) (path string, err error) {
	if s == nil || s.from == nil {
		return "", errors.New("there is no input")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spooled != "" {
		return s.spooled, nil
	}
	defer func() { err = storage.AccessError(ctx, "spool", s.info.Path, err) }()
	if s.at > 0 {
		return "", errors.New("a part of it was read already")
	}
	if s.folder, err = storage.TempStagingDir(); err != nil {
		return "", err
	}
	size := int64(len(s.head)) + s.Bytes()
	if free, err := disk.Free(s.folder.Path); err == nil && free < size {
		return "", fmt.Errorf("it is read more than once, and %s has room for %d of its %d bytes: set TMPDIR to a folder that has more", s.folder.Path, free, size)
	}
	if size > smallSpool && disk.InMemory(s.folder.Path) {
		return "", fmt.Errorf("it is read more than once, and %s is in memory: set TMPDIR to a folder on a disk", s.folder.Path)
	}
	name := s.folder.Join("stdin.npy")
	if s.query != "" {
		name = s.folder.Join("stdin.bin")
	}
	f, err := disk.Create(name, size)
	if err != nil {
		return "", err
	}
	err = s.copyTo(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if s.spooled = name; s.query != "" {
		s.spooled = storage.Stored(name+"?"+s.query, store.Meta{})
	}
	return s.spooled, nil
}

// smallSpool are bytes that count for nothing, wherever they lie.
const smallSpool = 1 << 20

func (s *Stream) copyTo(ctx context.Context, f *disk.File) error {
	if err := f.WriteAll(ctx, s.head, 0); err != nil {
		return err
	}
	at := int64(len(s.head))
	for b := make([]byte, 1<<20); s.at < s.Bytes(); {
		n, err := io.ReadFull(s.from, b[:min(int64(len(b)), s.Bytes()-s.at)])
		s.at += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return s.short()
		}
		if err == nil {
			err = f.WriteAll(ctx, b[:n], at)
		}
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return s.end()
}

// Close removes the spooled file.
func (s *Stream) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder == nil {
		return nil
	}
	err := s.folder.Remove()
	s.folder = nil
	return err
}
