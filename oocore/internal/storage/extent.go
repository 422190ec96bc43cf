package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Header is what a file says of an array in it: where its elements lie, or what else makes the array.
type Header struct {
	store.Extent
	// Build, where it is set, makes the array of the file that is open: its elements lie
	// in no run. The array closes the file, unless Build fails.
	Build func(o Object, id store.FileVersion) (store.Array, error)
	// unfinished is the region that was begun to be written, and not finished.
	unfinished *types.Box
}

// encoding says how stored elements differ from those in memory.
type encoding struct{ big, flipSign bool }

func (e Header) encoding() encoding { return encoding{e.Big, e.FlipSign} }

// decode makes stored elements of a type those of this machine, in place.
func (e encoding) decode(b []byte, t dtype.Type) {
	if e.big {
		kernel.Swap(b, t.Part().Size())
	}
	if e.flipSign {
		for i := t.Size() - 1; i < len(b); i += t.Size() {
			b[i] ^= 0x80
		}
	}
}

// check rejects what a header cannot mean, and elements beyond the end of a file of size bytes.
func (e Header) check(size int64) error {
	if err := grid.Check(e.Shape, e.DType.Size()); err != nil {
		return err
	}
	if e.Offset < 0 || e.Bytes() > size-e.Offset {
		return fmt.Errorf("the file is cut short: %d bytes from offset %d on are missing", e.Bytes(), e.Offset)
	}
	return nil
}

// OpenExtent is store.OpenExtent.
func OpenExtent(ctx context.Context, path, file, format string, find func(r io.ReaderAt, size int64) (store.Extent, error)) (store.Array, error) {
	return OpenHeader(ctx, path, file, format, func(r io.ReaderAt, size int64) (Header, error) {
		e, err := find(r, size)
		return Header{Extent: e}, err
	})
}

// OpenHeader is OpenExtent, also of a file whose header tells how its array is made.
func OpenHeader(ctx context.Context, path, file, format string, find func(r io.ReaderAt, size int64) (Header, error)) (store.Array, error) {
	return openHeader(ctx, path, file, format, nil, find)
}

// openHeader is OpenHeader. It calls settle, where that is set, with a file of this machine before it is read.
func openHeader(ctx context.Context, path, file, format string, settle func(f disk.Handle, id store.FileVersion), find func(r io.ReaderAt, size int64) (Header, error)) (store.Array, error) {
	o, id, first, p, err := openHead(ctx, file)
	if err != nil {
		return nil, PathError("open", path, err)
	}
	if p != nil {
		return p.open(ctx, path, format, find)
	}
	f, local := o.(fileObject)
	if local && settle != nil {
		settle(f.Handle, id)
	}
	e, err := find(first, id.Size)
	if err == nil && e.Build != nil {
		a, failed := e.Build(o, id)
		if err = failed; err == nil {
			return a, nil
		}
	} else if err == nil {
		err = e.check(id.Size)
	}
	if err == nil && e.unfinished != nil && !local {
		err = unfinishedError(*e.unfinished)
	}
	if err != nil {
		return nil, PathError("open", path, errors.Join(err, o.Close()))
	}
	if local {
		return e.flat(path, format, f.Handle, id), nil
	}
	return e.remote(path, format, o, id), nil
}

// Info describes the array.
func (e Header) Info(path, format string, id store.FileVersion) store.Info {
	info := store.Info{
		Path: path, Format: format, Shape: slices.Clone(e.Shape), DType: e.DType, Details: e.Details,
		Fortran: e.Fortran && len(e.Shape) > 1, Bytes: e.Bytes(), ID: id,
	}
	if e.Extent.Header != "" {
		info.ID.Version = e.Extent.Header
	}
	if info.Fortran {
		slices.Reverse(info.Shape)
	}
	return info
}

func (e Header) flat(path, format string, f disk.Handle, id store.FileVersion) *Flat {
	return &Flat{run{e.Info(path, format, id), e.Offset, e.encoding()}, &handle{file: f, id: id}, e.unfinished, nil}
}

// Source is a file that is read.
type Source interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// OpenFile opens a file with bytes of its own, and says which version it is.
func OpenFile(file string) (Source, store.FileVersion, error) { return openFile(file) }

func openFile(file string) (disk.Handle, store.FileVersion, error) {
	st, err := os.Stat(file) // before opening, which waits where the name is a pipe
	if err == nil {
		err = regular(st)
	}
	if err != nil {
		return nil, store.FileVersion{}, err
	}
	return ReopenFile(file)
}

// ReopenFile opens a file that was a regular one before.
func ReopenFile(file string) (disk.Handle, store.FileVersion, error) {
	f, st, err := disk.Open(file)
	if err != nil {
		return nil, store.FileVersion{}, err
	}
	return f, fileVersion(st), nil
}

// Unchanged rejects a file that is no longer the version that was opened.
func Unchanged(f Source, was store.FileVersion) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	switch now := fileVersion(st); {
	case now.Size < was.Size:
		return store.ErrCutShort
	case !sameContents(now, was): // another name or owner does not change what is read
		return store.ErrChanged
	}
	return nil
}
