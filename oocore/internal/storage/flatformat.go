package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// flatFormat is the Format of npy and raw files, whose elements lie in one run. In object stores they can only be read.
type flatFormat struct{}

func (flatFormat) Owns(path string) bool {
	_, err := locate(path)
	return err == nil
}

func (flatFormat) Open(ctx context.Context, path string) (store.Array, error) {
	return openFlat(ctx, path, nil)
}

// openFlat opens an npy or raw file. It calls settle, where that is set, before the file is read.
func openFlat(ctx context.Context, path string, settle func(f disk.Handle, id store.FileVersion)) (store.Array, error) {
	loc, err := locate(path)
	if err != nil {
		return nil, err
	}
	a, err := openHeader(ctx, path, loc.file, loc.format, settle, loc.extent)
	if f, ok := a.(*flat); ok {
		f.info.Bytes = f.info.ID.Size
	}
	return a, err
}

// Place returns the path of the file; a path that names no format is its own place.
func (flatFormat) Place(path string) string {
	if loc, err := locate(path); loc.file != "" || err == nil {
		return loc.file
	}
	return path
}

func (flatFormat) Layout(path string, m store.Meta) (store.Layout, error) {
	loc, err := locateNew(path)
	if m.Region != nil { // the file is there, and agrees or is rejected by Create
		return loc.layout(), err
	}
	p, err := plan(path, m)
	return p.layout(), err
}

func (flatFormat) Create(path string, m store.Meta) (store.Writer, error) {
	if m.Region != nil {
		return createRegion(path, m)
	}
	return create(path, m)
}

// planned is a flat file that could be written.
type planned struct {
	location
	header []byte
	size   int64
}

// plan rejects what a file cannot hold.
func plan(path string, m store.Meta) (p planned, err error) {
	if p.location, err = locateNew(path); err != nil {
		return p, err
	}
	if m.DType == dtype.Invalid {
		return p, errors.New("no dtype is given")
	}
	if err := grid.Check(m.Shape, m.DType.Size()); err != nil {
		return p, err
	}
	if err := noCodec(p.format, m); err != nil {
		return p, err
	}
	if p.format == formatNpy {
		p.header, err = npyHeader(m.Shape, m.DType, p.raw.fortran, p.raw.big, dataAlign)
	}
	if agreed := p.raw.agree(m); err == nil {
		err = agreed
	}
	p.size = int64(len(p.header)) + int64(grid.Size(m.Shape)*m.DType.Size())
	return p, err
}

// layout returns how a flat file is filled: in boxes of any form, through a buffer where elements
// lie in another order than in memory.
func (loc location) layout() store.Layout {
	l := store.Layout{Open: true}
	if loc.raw.fortran || loc.raw.big {
		l.Work.Heap = scratchBytes
	}
	return l
}

// agree rejects a path that says something other than the array to be written.
func (q rawQuery) agree(m store.Meta) error {
	switch {
	case q.shape != nil && !slices.Equal(q.shape, m.Shape):
		return fmt.Errorf("shape=%s in the path, the array has %s", grid.Format(q.shape), grid.Format(m.Shape))
	case q.dtype != dtype.Invalid && q.dtype != m.DType:
		return fmt.Errorf("dtype=%s in the path, the array has %s", q.dtype, m.DType)
	case q.offset != 0:
		return errors.New("offset= is for reading: what is written begins at 0")
	}
	return nil
}
