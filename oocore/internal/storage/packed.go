package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/unpack"
	"github.com/gonbext/gonbext/oocore/store"
)

// packed is a file of this machine that is compressed as a whole, and is read as what it holds.
type packed struct {
	file    fileObject
	stream  *unpack.Stream
	cursors *unpack.Pool
	head    io.ReaderAt
	windows chan []byte // of those that read at any place
}

// packings are the ways to compress files that are read, by the extensions and first bytes of these.
var packings = map[string]struct {
	kind unpack.Kind
	sign string
}{".gz": {unpack.Gzip, "\x1f\x8b\x08"}, ".zst": {unpack.Zstd, "\x28\xb5\x2f\xfd"}}

// packedOf returns what a file holds whose name and first bytes say that it is compressed; nil for another.
func packedOf(file string, o Object) *packed {
	f, local := o.(fileObject)
	by, known := packings[strings.ToLower(filepath.Ext(file))]
	sign := make([]byte, len(by.sign))
	if !local || !known {
		return nil
	}
	if _, err := f.Handle.ReadAt(sign, 0); err != nil || string(sign) != by.sign {
		return nil
	}
	p := &packed{file: f, stream: &unpack.Stream{Kind: by.kind, File: f.Handle, Packed: f.id.Size, Size: -1}}
	p.cursors = unpack.NewPool(p.stream)
	p.head = p.cursors.Head()
	return p
}

// packedEnd returns the extension that a file's name should have by its first bytes, "" where these are not of a packed file; of a zip archive too.
func packedEnd(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	first := make([]byte, 4)
	if _, err := f.ReadAt(first, 0); err != nil {
		return ""
	}
	for end, by := range packings {
		if strings.HasPrefix(string(first), by.sign) {
			return end
		}
	}
	if string(first) == "PK\x03\x04" {
		return ".zip"
	}
	return ""
}

// checkPacked says why the first bytes cannot be read of what a file holds, whose name is that of a packed one.
func checkPacked(file string) error {
	by := packings[strings.ToLower(filepath.Ext(file))]
	if !blob.PlaceOf(file).Files {
		return fmt.Errorf("a file packed by %s is read on this machine only: copy it here, and name the copy", by.kind)
	}
	o, id, first, p, err := openHead(context.Background(), file)
	if err != nil {
		return err
	}
	defer o.Close()
	if p == nil {
		return fmt.Errorf("the name is that of a file packed by %s, and its %d bytes do not begin as such: it is cut short, or another file", by.kind, id.Size)
	}
	if _, err := first.ReadAt(make([]byte, contentBytes), 0); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// OpenUnpacked is OpenObject, of a file of this machine that is packed as what it holds, and says how much that is.
func OpenUnpacked(ctx context.Context, file string) (Object, int64, error) {
	o, id, err := OpenObject(ctx, file)
	if err != nil {
		return nil, 0, err
	}
	p := packedOf(file, o)
	if p == nil {
		return o, id.Size, nil
	}
	if err := p.measure(ctx); err != nil {
		return nil, 0, errors.Join(err, o.Close())
	}
	return p.object(), p.stream.Size, nil
}

// measured are the sizes of what files hold that this process has read to the end, by their versions.
var measured sync.Map

// measure finds how much the file holds.
func (p *packed) measure(ctx context.Context) (err error) {
	key := p.file.id
	key.Version = string(p.stream.Kind)
	if size, known := measured.Load(key); known {
		p.stream.Size = size.(int64)
		return nil
	}
	if p.stream.Size, err = p.stream.Measure(ctx); err == nil {
		measured.Store(key, p.stream.Size)
	}
	return err
}

// maxHints bounds how many sizes are tried that the file may mean.
const maxHints = 16

// find reads the header of an array that needs no more than the size that the file says; else it reads all of the file for its size.
func (p *packed) find(ctx context.Context, find func(r io.ReaderAt, size int64) (Header, error)) (Header, error) {
	checked := func(size int64) (Header, error) {
		p.stream.Size = size
		h, err := find(p.head, size)
		if err == nil && h.Build == nil {
			err = h.check(size)
		}
		return h, err
	}
	for size, n := p.stream.Hint(), 0; size > 0 && n < maxHints; size, n = size+1<<32, n+1 {
		h, err := checked(size)
		if err == nil && h.Build == nil {
			return h, nil
		}
		if err == nil || ctx.Err() != nil || p.stream.Kind != unpack.Gzip || size>>10 > p.stream.Packed {
			break
		}
	}
	if err := p.measure(ctx); err != nil {
		return Header{}, err
	}
	return checked(p.stream.Size)
}

// open makes the array of a header, of which the elements that lie in one run are read as a stream.
func (p *packed) open(ctx context.Context, path, format string, find func(r io.ReaderAt, size int64) (Header, error)) (store.Array, error) {
	h, err := p.find(ctx, find)
	switch {
	case err != nil:
	case h.Build != nil:
		var a store.Array
		if a, err = h.Build(p.object(), p.file.id); err == nil {
			return a, nil
		}
	case h.unfinished != nil:
		err = unfinishedError(*h.unfinished)
	default:
		return NewStreamed(path, format, h, p.file.Handle, p.file.id, p.stream, p.cursors), nil
	}
	return nil, PathError("open", path, errors.Join(err, p.file.Close()))
}

const (
	packedSessions = 4          // cursors that read at any place
	packedBytes    = 1700 << 10 // that these, and the places that they share, take of Go's heap
)

// OpenBytes are what an open object takes of Go's heap.
func OpenBytes(o Object) int64 {
	if _, is := o.(*packed); is {
		return packedBytes
	}
	return 0
}

// object is what the file holds, which is read at any place.
func (p *packed) object() Object {
	p.cursors.Grow(packedSessions)
	p.windows = make(chan []byte, packedSessions)
	for range packedSessions {
		p.windows <- make([]byte, unpack.WindowBytes)
	}
	return p
}

// ReadAt fills b from a place in what the file holds.
func (p *packed) ReadAt(ctx context.Context, b []byte, at int64) error {
	if at < 0 || at > p.stream.Size-int64(len(b)) {
		return io.ErrUnexpectedEOF
	}
	c, err := p.cursors.Take(ctx, at, at+int64(len(b)))
	if err != nil {
		return err
	}
	defer p.cursors.Put(c)
	window := <-p.windows
	defer func() { p.windows <- window }()
	if err := c.Seek(ctx, at, window); err != nil {
		return err
	}
	if err := c.Read(ctx, b); err != nil {
		return err
	}
	return Unchanged(p.file.Handle, p.file.id)
}

func (p *packed) Close() error { return p.file.Close() }

// packedError is of the name of a file that is to be written compressed.
func packedError(path string) error {
	file, _, _ := CutQuery(path)
	file, _, _ = strings.Cut(file, "#")
	ext := filepath.Ext(file)
	if by, ok := packings[strings.ToLower(ext)]; ok {
		return fmt.Errorf("files that %s has packed are only read: save to %s", by.kind, strings.TrimSuffix(filepath.Base(file), ext))
	}
	return nil
}
