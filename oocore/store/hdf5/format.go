// Package hdf5 reads the arrays of HDF5 files, and of what is built on them: NetCDF-4, MATLAB
// 7.3 and AnnData. x.h5#group/name names an array; the name may be left out where there is one.
//
// It reads the places of chunks and nothing else: package chunked reads the chunks.
package hdf5

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/codec"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/blob"
	"github.com/gonbext/gonbext/oocore/store/chunked"
)

// extensions are those of files that are HDF5.
var extensions = []string{".h5", ".hdf5", ".hdf", ".nc", ".nc4", ".mat", ".h5ad"}

func init() { store.Register(format{"HDF5 files are read only: save to NAME.zarr"}) }

type format struct{ store.ReadOnly }

// cut takes a path apart: the file, and the name in it.
func cut(path string) (file, name string, ok bool) {
	return store.CutMember(path, extensions...)
}

func (format) Owns(path string) bool {
	_, _, ok := cut(path)
	return ok
}

func (format) Place(path string) string {
	file, _, _ := cut(path)
	return file
}

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := cut(path)
	o, id, err := store.OpenObject(ctx, file)
	if err != nil {
		return nil, err
	}
	s, err := find(store.HeadOf(ctx, o), id.Size, name)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	if s.contiguous == nil || s.contiguous.address == undefined {
		a, err := newArray(path, s, o, id)
		if err != nil {
			return nil, errors.Join(err, o.Close())
		}
		return a, nil
	}
	if err := o.Close(); err != nil {
		return nil, err
	}
	return store.OpenExtent(ctx, path, file, formatName, func(r io.ReaderAt, size int64) (store.Extent, error) {
		s, err := find(r, size, name)
		if err != nil {
			return store.Extent{}, err
		}
		if s.contiguous == nil || s.contiguous.address > uint64(size) {
			return store.Extent{}, store.ErrChanged
		}
		return store.Extent{Offset: s.f.base + int64(s.contiguous.address), Shape: s.shape, DType: s.element.dtype, Big: s.element.big, Details: s.details}, nil
	})
}

const formatName = "hdf5"

// find reads the header of the array of a name, or of the only one.
func find(r io.ReaderAt, size int64, name string) (*dataset, error) {
	f, err := open(r, size)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if name, err = f.only(); err != nil {
			return nil, err
		}
	}
	s, err := f.dataset(name)
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		names, more := f.names()
		return nil, fmt.Errorf("%w: the file has %s", err, quoted(names, more))
	}
	return s, err
}

// most is how many names a message lists.
const most = 12

// names are the first arrays of the file, and whether there are more.
func (f *file) names() (names []string, more bool) {
	for l, err := range f.datasets() {
		if err != nil || len(names) == most {
			return names, true
		}
		names = append(names, l.name)
	}
	return names, false
}

// only is the name of the only array.
func (f *file) only() (string, error) {
	names, more := f.names()
	if len(names) == 1 && !more {
		return names[0], nil
	}
	return "", fmt.Errorf("the file has %s: add #NAME to the path", quoted(names, more))
}

func quoted(names []string, more bool) string {
	if len(names) == 0 {
		return "no array"
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = fmt.Sprintf("%.80q", name)
	}
	if more {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// stored is an array in chunks. One that is stored in its header is a chunk of the header's.
type stored struct {
	chunked.Array
	dataset *dataset
	info    store.Info
	object  blob.Object

	once   sync.Once
	places []place // by their numbers
	masked map[uint32]*codec.Pipeline
	err    error
}

// placeBytes is what the place of a chunk takes of Go's heap.
const placeBytes = 32

func newArray(path string, s *dataset, o blob.Object, id store.FileVersion) (*stored, error) {
	a := &stored{dataset: s, object: o}
	a.Path, a.Shape, a.DType, a.Fill = path, s.shape, s.element.dtype, make([]byte, s.element.size)
	if len(s.fill) > 0 {
		a.Fill = s.element.swap(s.fill)
	}
	switch {
	case s.chunks != nil:
		a.Chunk = s.chunks.chunk
	case s.compact != nil:
		for _, n := range s.shape {
			a.Chunk = append(a.Chunk, max(n, 1))
		}
		a.object, a.places = inHeader{o, s.compact}, []place{{size: s.bytes()}}
	default: // nothing is stored
		a.Chunk = grid.Auto(s.shape, s.element.size, 1<<20)
	}
	var err error
	if a.Pipeline, err = s.pipeline(a.Chunk, 0); err != nil {
		return nil, err
	}
	a.NewIndex = func(_ []byte, read *int64) chunked.Index {
		return &finder{stored: a, source: chunked.Source{Kind: "file", Key: path, Read: read}}
	}
	work := a.Work()
	work.Open = min(int64((grid.Grid{Shape: a.Shape, Chunks: a.Chunk}).Len()), id.Size/4) * placeBytes
	a.info = store.Info{Path: path, Format: formatName, Shape: a.Shape, DType: a.DType, Bytes: -1, ID: id, Work: work, Details: s.details}
	if len(s.fill) > 0 {
		a.info.Details.Fill = fmt.Sprint(s.f.value(s.element, s.fill))
	}
	if s.chunks != nil {
		a.info.Chunks, a.info.Codec = a.Chunk, a.Pipeline.String()
	}
	return a, nil
}

// inHeader is an array that is a part of its header.
type inHeader struct {
	blob.Object
	data []byte
}

func (o inHeader) ReadAt(_ context.Context, p []byte, at int64) error {
	if at < 0 || at > int64(len(o.data)-len(p)) {
		return io.ErrUnexpectedEOF
	}
	copy(p, o.data[at:])
	return nil
}

// pipeline is what chunks went through, less the filters that a mask names.
func (s *dataset) pipeline(chunk []int, mask uint32) (*codec.Pipeline, error) {
	var ids []int
	var values [][]uint32
	for i, f := range s.filters {
		if mask>>i&1 == 0 {
			ids, values = append(ids, f.id), append(values, f.values)
		}
	}
	return codec.FromHDF5(ids, values, s.element.big, chunk, s.element.dtype)
}

func (a *stored) Info() store.Info {
	info := a.info
	info.Shape, info.Chunks = slices.Clone(info.Shape), slices.Clone(info.Chunks)
	return info
}

func (a *stored) Close() error {
	if a.Closed() {
		return nil
	}
	return errors.Join(a.Array.Close(), a.object.Close())
}

// load reads the index of the chunks.
func (a *stored) load() error {
	a.once.Do(func() {
		if a.dataset.chunks == nil {
			return
		}
		if a.places, a.err = a.dataset.index(); a.err != nil {
			return
		}
		a.masked = map[uint32]*codec.Pipeline{0: nil}
		for _, p := range a.places {
			if _, ok := a.masked[p.mask]; !ok {
				if a.masked[p.mask], a.err = a.dataset.pipeline(a.Chunk, p.mask); a.err != nil {
					return
				}
			}
		}
	})
	return a.err
}

// finder finds chunks by their numbers.
type finder struct {
	*stored
	source chunked.Source
}

func (f *finder) Find(ctx context.Context, chunk []int) (*chunked.Source, error) {
	if err := f.load(); err != nil {
		return nil, err
	}
	number := uint64(0)
	for d, i := range chunk {
		number = number*uint64((f.Shape[d]+f.Chunk[d]-1)/f.Chunk[d]) + uint64(i)
	}
	at, ok := slices.BinarySearchFunc(f.places, number, func(p place, n uint64) int { return cmp.Compare(p.chunk, n) })
	if !ok {
		return nil, nil
	}
	p := f.places[at]
	f.source.Object, f.source.Base, f.source.Bytes, f.source.Pipeline = f.object, p.offset, p.size, f.masked[p.mask]
	return &f.source, ctx.Err()
}

func (f *finder) Close() error { return nil }

// Members lists the arrays of a file, groups depth first.
func (format) Members(ctx context.Context, path string) ([]store.Member, error) {
	file, name, _ := cut(path)
	return store.InFile(ctx, file, name, func(r io.ReaderAt, size int64) (names []string, err error) {
		f, err := open(r, size)
		if err != nil {
			return nil, err
		}
		for l, err := range f.datasets() {
			if err != nil {
				return nil, err
			}
			names = append(names, l.name)
		}
		return names, nil
	})
}
