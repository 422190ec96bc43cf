package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/types"
)

// Extent is where an array's elements lie in a file, in one run, and what they
// are. Formats that keep several arrays in a file are built on it.
type Extent struct {
	Offset int64 // of the first element
	Shape  []int // the array's, also where Fortran is set
	DType  dtype.Type
	Big    bool // big-endian
	// FlipSign says that the highest bit of each integer is stored inverted, as FITS stores uint16
	// as int16 less 32768.
	FlipSign bool
	Fortran  bool
	Details  Details
	// Build, where it is set, makes the array of the file that is open instead: its elements lie
	// in no run. The array closes the file, unless Build fails.
	Build func(o Object, id FileVersion) (Array, error)
	// unfinished is the region that was begun to be written, and not finished.
	unfinished *types.Box
}

// Bytes returns the size of the elements.
func (e Extent) Bytes() int64 { return int64(grid.Size(e.Shape)) * int64(e.DType.Size()) }

// encoding says how stored elements differ from those in memory.
type encoding struct{ big, flipSign bool }

func (e Extent) encoding() encoding { return encoding{e.Big, e.FlipSign} }

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
func (e Extent) check(size int64) error {
	if err := grid.Check(e.Shape, e.DType.Size()); err != nil {
		return err
	}
	if e.Offset < 0 || e.Bytes() > size-e.Offset {
		return fmt.Errorf("the file is cut short: %d bytes from offset %d on are missing", e.Bytes(), e.Offset)
	}
	return nil
}

// OpenExtent opens an array that is a part of a file, as Open does for a whole
// one: regions are read in place, and a file that is cut short or changed is an
// error. find reads where the array lies from the file's header, which may claim any
// shape and offset; path is the array's name for people.
func OpenExtent(ctx context.Context, path, file, format string, find func(r io.ReaderAt, size int64) (Extent, error)) (Array, error) {
	return openExtent(ctx, path, file, format, nil, find)
}

// openExtent is OpenExtent. It calls settle, where that is set, with a file of this machine before it is read.
func openExtent(ctx context.Context, path, file, format string, settle func(f disk.Handle, id FileVersion), find func(r io.ReaderAt, size int64) (Extent, error)) (Array, error) {
	o, id, first, err := openHead(ctx, file)
	if err != nil {
		return nil, pathError("open", path, err)
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
		return nil, pathError("open", path, errors.Join(err, o.Close()))
	}
	if local {
		return e.flat(path, format, f.Handle, id), nil
	}
	return e.remote(path, format, o, id), nil
}

// info describes an array of an extent.
func (e Extent) info(path, format string, id FileVersion) Info {
	info := Info{
		Path: path, Format: format, Shape: slices.Clone(e.Shape), DType: e.DType, Details: e.Details,
		Fortran: e.Fortran && len(e.Shape) > 1, Bytes: e.Bytes(), ID: id,
	}
	if info.Fortran {
		slices.Reverse(info.Shape)
	}
	return info
}

func (e Extent) flat(path, format string, f disk.Handle, id FileVersion) *flat {
	return &flat{run{e.info(path, format, id), e.Offset, e.encoding()}, &handle{file: f, id: id}, e.unfinished}
}

// Source is a file that is read.
type Source interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// OpenFile opens a file with bytes of its own, and says which version it is.
func OpenFile(file string) (Source, FileVersion, error) { return openFile(file) }

func openFile(file string) (disk.Handle, FileVersion, error) {
	st, err := os.Stat(file) // before opening, which waits where the name is a pipe
	if err == nil {
		err = regular(st)
	}
	if err != nil {
		return nil, FileVersion{}, err
	}
	return reopenFile(file)
}

// reopenFile opens a file that was a regular one before.
func reopenFile(file string) (disk.Handle, FileVersion, error) {
	f, st, err := disk.Open(file)
	if err != nil {
		return nil, FileVersion{}, err
	}
	return f, fileVersion(st), nil
}

// Unchanged rejects a file that is no longer the version that was opened.
func Unchanged(f Source, was FileVersion) error {
	if f == nil {
		return ErrClosed
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	switch now := fileVersion(st); {
	case now.Size < was.Size:
		return ErrCutShort
	case !now.sameContents(was): // another name or owner does not change what is read
		return ErrChanged
	}
	return nil
}

// NpyHeader returns the header of an npy file that begins at a place in another: so long
// that the elements begin at a page.
func NpyHeader(shape []int, t dtype.Type, at int64) ([]byte, error) {
	h, err := npyHeader(shape, t, false, false, 1)
	if err != nil {
		return nil, err
	}
	spaces := int(-(at + int64(len(h))) & (dataAlign - 1))
	h = append(h[:len(h)-1], strings.Repeat(" ", spaces)...)
	binary.LittleEndian.PutUint16(h[8:], uint16(len(h)+1-10))
	return append(h, '\n'), nil
}
