package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// FlatFormat is embedded by a Format of files of one array, whose elements lie in one run. In object stores they can only be read.
type FlatFormat struct {
	Name string
	// Cut takes a path apart.
	Cut func(path string) (FlatFile, error)
	// Extent reads where the elements lie in a file of so many bytes.
	Extent func(f FlatFile, r io.ReaderAt, size int64) (Header, error)
	// Header makes what stands before the elements. It is nil where nothing does, and the path says what they are.
	Header func(shape []int, t dtype.Type, fortran, big bool) ([]byte, error)
}

// FlatFile is what a path says of a file of a FlatFormat.
type FlatFile struct {
	Path    string // of the array
	File    string
	Field   string // of a file of records
	Shape   []int  // nil where the path does not say
	DType   dtype.Type
	Offset  int64
	Tail    bool  // more may follow the elements
	Stride  int64 // bytes from one index of the first axis to the next; 0 where elements have no gaps
	Fortran bool
	Big     bool // big-endian
}

// flatOf returns the FlatFormat that a format embeds.
func flatOf(f store.Format) (FlatFormat, bool) {
	of, ok := f.(interface{ flat() FlatFormat })
	if !ok {
		return FlatFormat{}, false
	}
	return of.flat(), true
}

func (f FlatFormat) flat() FlatFormat { return f }

func (f FlatFormat) cut(path string) (FlatFile, error) {
	l, err := f.Cut(path)
	l.Path = path
	return l, err
}

// cutNew is cut for a path that is to be written.
func (f FlatFormat) cutNew(path string) (FlatFile, error) {
	l, err := f.cut(path)
	if err == nil {
		err = packedError(path)
	}
	if err == nil && !blob.PlaceOf(l.File).Files {
		err = errFrontToBack
	}
	if err == nil && (l.Field != "" || l.Stride != 0) {
		err = errors.New("a part of each record is only read: name a file of its own")
	}
	return l, err
}

// errFrontToBack rejects writing elements in any order to an object.
var errFrontToBack = errors.New("objects are written from front to back, and the chunks of an array are not computed so: write NAME.zarr there")

// Open opens a file, unless the writing of a region of it was not finished.
func (f FlatFormat) Open(ctx context.Context, path string) (store.Array, error) {
	l, err := f.cut(path)
	if err == nil && f.Header != nil && l.File != path && l.Field == "" {
		err = DescribedError(l.File)
	}
	if err != nil {
		return nil, err
	}
	a, err := f.open(ctx, path, l, nil)
	if of, ok := a.(*Flat); ok && of.unfinished != nil {
		return nil, errors.Join(unfinishedError(*of.unfinished), of.Close())
	}
	return a, err
}

// DescribedError is of a query behind the name of a file that needs none.
func DescribedError(file string) error {
	return fmt.Errorf("a file of this format says its type and shape itself, and what stands behind a question mark is of raw files: name %s", file)
}

// open opens a file. It calls settle, where that is set, before the file is read.
func (f FlatFormat) open(ctx context.Context, path string, l FlatFile, settle func(f disk.Handle, id store.FileVersion)) (store.Array, error) {
	a, err := openHeader(ctx, path, l.File, f.Name, settle, func(r io.ReaderAt, size int64) (Header, error) { return f.header(l, r, size) })
	if of, ok := a.(*Flat); ok {
		of.info.Bytes, of.place = of.info.ID.Size, f.Place
	}
	return a, err
}

// OpenFlat opens a file whose name is that of a FlatFormat, and calls settle before it is read. It returns nil for another file, and for one
// that Open rejects.
func OpenFlat(ctx context.Context, path string, settle func(f disk.Handle, id store.FileVersion)) *Flat {
	f, ok := flatOf(nameFormat(path))
	if !ok {
		return nil
	}
	l, err := f.cut(path)
	if err != nil {
		return nil
	}
	a, err := f.open(ctx, path, l, settle)
	if of, ok := a.(*Flat); ok && of.unfinished == nil {
		return of
	}
	if err == nil {
		_ = a.Close()
	}
	return nil
}

// header reads where the elements of a file lie, and whether a mark of an unfinished region is its end.
func (f FlatFormat) header(l FlatFile, r io.ReaderAt, size int64) (h Header, err error) {
	if h, err = f.Extent(l, r, size); err == nil && h.Build != nil {
		return h, nil
	}
	if err == nil {
		h.unfinished, err = readMark(r, h.Offset+h.Bytes(), size)
		return h, err
	}
	if size < markBytes {
		return h, err
	}
	marked, other := f.Extent(l, r, size-markBytes)
	if other != nil {
		return h, err
	}
	if b, failed := readMark(r, 0, size); failed != nil || b != nil {
		marked.unfinished = b
		return marked, failed
	}
	if lostMark(r, size) {
		return marked, nil
	}
	return h, err
}

// Place returns the path of the file.
func (f FlatFormat) Place(path string) string {
	if l, _ := f.cut(path); l.File != "" {
		return l.File
	}
	return path
}

// Layout rejects what a file cannot hold.
func (f FlatFormat) Layout(path string, m store.Meta) (store.Layout, error) {
	if m.Region != nil { // the file is there, and agrees or is rejected by Create
		l, err := f.cutNew(path)
		return l.layout(), err
	}
	l, _, err := f.plan(path, m)
	return l.layout(), err
}

// Create begins a file, or the writing of a region of one.
func (f FlatFormat) Create(path string, m store.Meta) (store.Writer, error) {
	if m.Region != nil {
		return f.createRegion(path, m)
	}
	l, header, err := f.plan(path, m)
	if err != nil {
		return nil, err
	}
	w := newFlatWriter(path, m, int64(len(header)))
	w.order = order{fortran: l.Fortran, big: l.Big, part: m.DType.Part().Size()}
	w.finish = func(context.Context) error {
		_, err := w.out.WriteAt(header, 0)
		return err
	}
	size := func(m store.Meta) int64 { return int64(len(header)) + int64(grid.Size(m.Shape)*m.DType.Size()) }
	if !l.Fortran && l.Shape == nil && len(m.Shape) > 0 {
		w.resize = func(rows int) (err error) {
			resized := m
			resized.Shape = append([]int{rows}, m.Shape[1:]...)
			_, after, err := f.plan(path, resized) // whose header is as long: it ends at a page
			if err != nil {
				return err
			}
			w.shape, header = resized.Shape, after
			return w.out.Resize(size(resized))
		}
	}
	return w.begin(l.File, size(m), fmt.Sprintf("%s %v %s%s", f.Name, m.Shape, m.DType, w.order), m)
}

// plan rejects what a file cannot hold, and returns its header.
func (f FlatFormat) plan(path string, m store.Meta) (l FlatFile, header []byte, err error) {
	if l, err = f.cutNew(path); err != nil {
		return l, nil, err
	}
	if m.DType == dtype.Invalid {
		return l, nil, errors.New("no dtype is given")
	}
	if err := grid.Check(m.Shape, m.DType.Size()); err != nil {
		return l, nil, err
	}
	if err := noCodec(f.Name, m); err != nil {
		return l, nil, err
	}
	if f.Header != nil {
		header, err = f.Header(m.Shape, m.DType, l.Fortran, l.Big)
	}
	if err == nil {
		err = l.agree(m)
	}
	return l, header, err
}

// layout returns how a flat file is filled: in boxes of any form, through a buffer where elements
// lie in another order than in memory.
func (l FlatFile) layout() store.Layout {
	layout := store.Layout{Open: true}
	if l.Fortran || l.Big {
		layout.Work.Heap = scratchBytes
	}
	return layout
}

// agree rejects a path that says something other than the array to be written.
func (l FlatFile) agree(m store.Meta) error {
	switch {
	case l.Shape != nil && !slices.Equal(l.Shape, m.Shape):
		return fmt.Errorf("shape=%s in the path, the array has %s", grid.Format(l.Shape), grid.Format(m.Shape))
	case l.DType != dtype.Invalid && l.DType != m.DType:
		return fmt.Errorf("dtype=%s in the path, the array has %s", l.DType, m.DType)
	case l.Offset != 0:
		return errors.New("offset= is for reading: what is written begins at 0")
	}
	return nil
}

// Stored returns the path that opens what Create(path, m) writes. The path of a raw file
// has to describe its elements.
func Stored(path string, m store.Meta) string {
	f, ok := flatOf(formatOf(path))
	if !ok {
		return path
	}
	l, err := f.cut(path)
	if err == nil && f.Header != nil {
		return l.File // whose header says all
	}
	if err != nil || l.Shape != nil && l.DType != dtype.Invalid {
		return path
	}
	shape := "()"
	if len(m.Shape) > 0 {
		shape = strings.Trim(strings.ReplaceAll(grid.Format(m.Shape), " ", ""), "(,)")
	}
	query := fmt.Sprintf("%s?shape=%s&dtype=%s", l.File, shape, m.DType)
	if l.Big {
		query = fmt.Sprintf("%s?shape=%s&dtype=>%s", l.File, shape, m.DType)
	}
	if l.Fortran {
		query += "&order=F"
	}
	return query
}
