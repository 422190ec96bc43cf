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
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// Extent is where an array's elements lie in a file, in one run, and what they
// are. Formats that keep several arrays in a file are built on it.
type Extent struct {
	Offset  int64 // of the first element
	Shape   []int // the array's, also where Fortran is set
	DType   dtype.Type
	Big     bool // big-endian
	Fortran bool
	Details Details
	// unfinished is the region that was begun to be written, and not finished.
	unfinished *grid.Box
}

// Bytes returns the size of the elements.
func (e Extent) Bytes() int64 { return int64(grid.Size(e.Shape)) * int64(e.DType.Size()) }

// OpenExtent opens an array that is a part of a file, as Open does for a whole
// one: regions are read in place, and a file that is cut short or changed is an
// error. find reads where the array lies from the file's header; path is the
// array's name for people.
func OpenExtent(ctx context.Context, path, file, format string, find func(r io.ReaderAt, size int64) (Extent, error)) (Array, error) {
	if blob.Remote(file) {
		return openObject(ctx, path, file, format, find)
	}
	a, err := openExtent(path, file, format, find)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return a, nil
}

func openExtent(path, file, format string, find func(r io.ReaderAt, size int64) (Extent, error)) (*flat, error) {
	f, id, err := openFile(file)
	if err != nil {
		return nil, err
	}
	e, err := find(f, id.Size)
	if err == nil && (e.Offset < 0 || e.Bytes() > id.Size-e.Offset) {
		err = fmt.Errorf("the file is cut short: %d bytes from offset %d on are missing", e.Bytes(), e.Offset)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	info := Info{
		Path: path, Format: format, Shape: slices.Clone(e.Shape), DType: e.DType, Details: e.Details,
		Fortran: e.Fortran && len(e.Shape) > 1, Bytes: e.Bytes(), ID: id,
	}
	if info.Fortran {
		slices.Reverse(info.Shape)
	}
	return &flat{shared: &handle{file: f, id: id}, info: info, offset: e.Offset, big: e.Big, unfinished: e.unfinished}, nil
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
	f, err := disk.Open(file)
	if err != nil {
		return nil, FileVersion{}, err
	}
	if st, err = f.Stat(); err != nil {
		return nil, FileVersion{}, errors.Join(err, f.Close())
	}
	return f, fileVersion(st), nil
}

// Unchanged rejects a file that is no longer the version that was opened.
func Unchanged(f Source, was FileVersion) error {
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

// CutMember takes a path such as x.npz#name apart, whose file has one of the given
// extensions in any case: the file, and the name in it, which may hold anything.
func CutMember(path string, extensions ...string) (file, name string, ok bool) {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '#' || !slices.ContainsFunc(extensions, func(e string) bool {
			return end >= len(e) && strings.EqualFold(path[end-len(e):end], e)
		}) {
			continue
		}
		name, _ = strings.CutPrefix(path[end:], "#")
		return path[:end], name, true
	}
	return path, "", false
}
