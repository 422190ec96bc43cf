package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// heldHeaders is how many bytes of headers, as they are in memory, a Headers holds, besides the last one.
const heldHeaders = 32 << 20

// Headers holds the headers of the files that were opened last, so that the header of a file
// of many arrays is not read again for each of them. It is safe for concurrent use.
type Headers[T any] struct {
	mu   sync.Mutex
	held []heldHeader[T] // the last used one is the last
}

type heldHeader[T any] struct {
	file    string
	version store.FileVersion
	bytes   int64
	header  T
}

// Read returns the header of a file, which r reads. parse reads it where no header of this version
// of the file is held. It tells take of the bytes that the header will hold before it allocates
// them, and returns take's error. Nobody may change what Read returns.
func (h *Headers[T]) Read(file string, r io.ReaderAt, parse func(take func(bytes int64) error) (T, error)) (T, error) {
	version, reliable := versionRead(r)
	if !reliable {
		header, _, err := metered(parse)
		return header, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.IndexFunc(h.held, func(e heldHeader[T]) bool { return e.file == file }); i >= 0 {
		e := h.held[i]
		h.held = slices.Delete(h.held, i, i+1)
		if e.version.Equal(version) {
			h.held = append(h.held, e)
			return e.header, nil
		}
	}
	header, bytes, err := metered(parse)
	if _, small := errors.AsType[*types.MemoryError](err); small && len(h.held) > 0 {
		h.held = nil
		header, bytes, err = metered(parse)
	}
	if err != nil {
		return header, err
	}
	var all int64
	for i := len(h.held) - 1; i >= 0; i-- {
		if all += h.held[i].bytes; all+bytes > heldHeaders {
			h.held = slices.Delete(h.held, 0, i+1)
			break
		}
	}
	h.held = append(h.held, heldHeader[T]{file, version, bytes, header})
	return header, nil
}

// Catalog reads headers that list the arrays of a file by their names, and holds those of the files that were opened last.
type Catalog[H interface{ List() []string }] struct {
	// Parse reads and checks the header of a file of so many bytes. It tells take of the memory that the header holds.
	Parse func(r io.ReaderAt, size int64, take func(bytes int64) error) (H, error)
	held  Headers[H]
}

// Read returns the header of a file, as Headers does.
func (c *Catalog[H]) Read(file string, r io.ReaderAt, size int64) (H, error) {
	return c.held.Read(file, r, func(take func(bytes int64) error) (H, error) { return c.Parse(r, size, take) })
}

// Open is Read of a file that is not open.
func (c *Catalog[H]) Open(ctx context.Context, file string) (H, error) {
	return ReadHead(ctx, file, func(r io.ReaderAt, id store.FileVersion) (H, error) { return c.Read(file, r, id.Size) })
}

// Names are those of a file's arrays, for NamedArrays.
func (c *Catalog[H]) Names(file string, r io.ReaderAt, size int64) ([]string, error) {
	h, err := c.Read(file, r, size)
	if err != nil {
		return nil, err
	}
	return h.List(), nil
}

// metered parses with a meter of its own, and returns what it counted.
func metered[T any](parse func(take func(bytes int64) error) (T, error)) (header T, bytes int64, err error) {
	var m meter.Meter
	defer m.Done()
	header, err = parse(m.Take)
	return header, m.Taken(), err
}

// versionRead returns the version of what a reader reads, where every later change would show
// in it.
func versionRead(r io.ReaderAt) (v store.FileVersion, reliable bool) {
	if h, ok := r.(*head); ok {
		switch o := h.object.(type) {
		case fileObject:
			return versionRead(o.Handle)
		case blob.Object:
			e := o.Entry()
			return store.FileVersion{Size: e.Size, Version: e.Version}, e.Version != "" && e.Settles == 0
		}
		return v, false
	}
	f, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return v, false
	}
	st, err := f.Stat()
	if err != nil {
		return v, false
	}
	wait, reliable := disk.Unsettled(disk.LastChange(st))
	return fileVersion(st), reliable && wait == 0
}
