package storage

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// run is an array's elements, which follow each other in a file or an object.
type run struct {
	info   store.Info
	offset int64 // of the first element
	stored encoding
}

// Info describes the array.
func (a *run) Info() store.Info { return CloneInfo(a.info) }

// CloneInfo returns a description whose shape and chunks are not another's.
func CloneInfo(info store.Info) store.Info {
	info.Shape, info.Chunks = slices.Clone(info.Shape), slices.Clone(info.Chunks)
	return info
}

// Reshaped returns the description of the same elements in another shape.
func Reshaped(i store.Info, shape []int) (store.Info, error) {
	err := grid.Check(shape, i.DType.Size())
	if err == nil && grid.Size(shape) != grid.Size(i.Shape) {
		err = fmt.Errorf("shape %s cannot become %s", grid.Format(i.Shape), grid.Format(shape))
	}
	i.Shape = slices.Clone(shape)
	return i, PathError("reshape", i.Path, err)
}

// Flat is an array whose elements lie in one run in a file.
type Flat struct {
	run
	shared *handle
	// unfinished is the region that was begun to be written, and not finished.
	unfinished *types.Box
	place      func(path string) string // of files of its format
}

// handle is the open file that reshaped arrays share.
type handle struct {
	mu     sync.RWMutex // held for reading while a descriptor is in use
	file   disk.Handle
	id     store.FileVersion
	closed bool
	unseen bool // whoever reads looks at the file
}

func (a *Flat) Close() error {
	a.shared.mu.Lock()
	defer a.shared.mu.Unlock()
	if a.shared.closed {
		return nil
	}
	a.shared.closed = true
	return a.shared.file.Close()
}

// Reshape reads the same elements, as they are stored, in another shape. The arrays share the file:
// closing one closes both.
func (a *Flat) Reshape(shape []int) (store.Array, error) {
	info, err := Reshaped(a.info, shape)
	if err != nil {
		return nil, err
	}
	b := *a
	b.info = info
	return &b, nil
}

// Read fills dst with a region's elements. It needs no memory besides dst: what
// has gaps is copied from a mapped window of the file.
func (a *Flat) Read(ctx context.Context, dst []byte, r types.Region) error {
	return AccessError(ctx, "read", a.info.Path, a.read(ctx, dst, r))
}

func (a *Flat) read(ctx context.Context, dst []byte, r types.Region) error {
	l, err := strided.ForRegion(a.info.Shape, a.info.DType.Size(), r, len(dst))
	if err != nil {
		return err
	}
	return a.readLayout(ctx, dst, l)
}

// readLayout fills dst with what lies so from the first element on.
func (a *Flat) readLayout(ctx context.Context, dst []byte, l strided.Layout) error {
	l.Start += a.offset
	a.shared.mu.RLock()
	defer a.shared.mu.RUnlock()
	if err := a.shared.check(); err != nil {
		return err
	}
	if err := a.shared.fill(ctx, dst, l); err != nil {
		return err
	}
	a.stored.decode(dst, a.info.DType)
	return nil
}

// WillRead asks the disk for the region's first run.
func (a *Flat) WillRead(r types.Region) {
	if l, err := strided.Of(a.info.Shape, a.info.DType.Size(), r); err == nil {
		l.Start += a.offset
		a.shared.willRead(l)
	}
}

func (h *handle) willRead(l strided.Layout) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.closed && l.Run > 0 {
		disk.WillRead(h.file, l.Start, l.Run)
	}
}

// check rejects a file that is no longer what was opened.
func (h *handle) check() error {
	if h.closed {
		return fs.ErrClosed
	}
	if h.unseen {
		return nil
	}
	return Unchanged(h.file, h.id)
}

// runs reads the runs of a layout one by one.
func (h *handle) runs(ctx context.Context, dst []byte, l strided.Layout) (err error) {
	l.Runs(func(at int64) bool {
		err = h.pread(ctx, dst[:l.Run], at)
		dst = dst[l.Run:]
		return err == nil
	})
	return err
}

// pread fills dst from one run of the file.
func (h *handle) pread(ctx context.Context, dst []byte, at int64) error {
	err := disk.ReadAll(ctx, h.file, dst, at)
	if err == io.ErrUnexpectedEOF {
		return store.ErrCutShort
	}
	return err
}

// Offset returns where the first element lies in the file.
func (a *Flat) Offset() int64 { return a.offset }

// LiesAs reports that elements lie in a file as those of another array do, at the same place and in the same order of bytes.
func (a *Flat) LiesAs(b *Flat) bool { return a.offset == b.offset && a.stored == b.stored }

// Place returns the file of a path of this format.
func (a *Flat) Place(path string) string { return a.place(path) }

// In opens a file whose elements lie as those of this array do, without its header. Read does not see whether it is still the same.
func (a *Flat) In(path string) (*Flat, error) {
	b := *a
	b.info.Path = path
	f, err := disk.OpenSized(a.place(path), a.info.ID.Size)
	if err != nil {
		return nil, PathError("open", path, err)
	}
	b.shared = &handle{file: f, unseen: true}
	return &b, nil
}

// Version returns which version of the file is open.
func (a *Flat) Version() (store.FileVersion, error) {
	st, err := a.shared.file.Stat()
	if err != nil {
		return store.FileVersion{}, err
	}
	return fileVersion(st), nil
}
