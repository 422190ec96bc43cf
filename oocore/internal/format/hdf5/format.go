// Package hdf5 reads and writes the arrays of HDF5 files, and of what is built on them: NetCDF-4, MATLAB
// 7.3 and AnnData. x.h5#group/name names an array; the name may be left out where there is one. Of an array of compounds
// x.h5#group/name.field names a field.
//
// It reads the places of chunks and nothing else: package chunked reads the chunks. FLAGS.md lists
// what changes the meaning of bytes, and what is done with each.
//
// A file that is written has its chunks in the order in which tasks finish them; what says where they are, and headers, come last. Arrays are
// added to a file as other programs do it, behind what is there, but in a copy that takes its place: an object that is replaced keeps
// its address, so that what refers to it stays as it is.
package hdf5

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// extensions are those of files that are HDF5.
var extensions = storage.Extensions{".h5", ".hdf5", ".hdf", ".nc", ".nc4", ".mat", ".h5ad"}

func init() {
	store.Register(format{storage.NamedArrays{Extensions: extensions, Names: allNames}})
}

type format struct{ storage.NamedArrays }

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	a, err := x.open(ctx, path, nil)
	if not := (*groupError)(nil); errors.As(err, &not) {
		return x.openSparse(ctx, path, not)
	}
	return a, err
}

// open is Open, or where there is a place for what its header says, that of the bytes of an array of texts.
func (x format) open(ctx context.Context, path string, texts *dataset) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return openAt(ctx, path, file, name, texts, nil)
}

// openAt opens the array of a name in a file, or in one that a link there leads to. known are the sources of the virtual dataset that it is a source of.
func openAt(ctx context.Context, path, file, name string, texts *dataset, known *sources) (store.Array, error) {
	for range maxLinks {
		a, err := openIn(ctx, path, file, name, texts, known)
		link, ok := errors.AsType[*linkError](err)
		if !ok {
			return a, err
		}
		next, failed := storage.Beside(file, link.file)
		if failed == nil && blob.PlaceOf(next).Files {
			_, failed = disk.Settle(next) // the version of the array is that of this file
		}
		if failed != nil {
			return nil, storage.PathError("open", path, fmt.Errorf("%w: %v", link, storage.Plain(failed)))
		}
		file, name = next, link.object
	}
	return nil, storage.PathError("open", path, fmt.Errorf("its links lead through more than %d files, or in a circle", maxLinks))
}

// maxLinks is how many files links to other files lead through at most.
const maxLinks = 16

// openIn opens the array of a name in a file.
func openIn(ctx context.Context, path, file, name string, texts *dataset, known *sources) (store.Array, error) {
	return storage.OpenHeader(ctx, path, file, formatName, func(r io.ReaderAt, size int64) (e storage.Header, err error) {
		s, err := find(file, r, size, name, texts != nil)
		if err == nil && texts != nil {
			*texts = *s
		}
		switch {
		case err != nil:
		case s.virtual != nil && s.text != nil:
			err = errors.New("virtual datasets of texts are not supported")
		case s.virtual != nil && s.inner != nil:
			err = errors.New("virtual datasets whose elements are arrays are not supported: open the datasets that it consists of")
		case s.virtual != nil:
			e.Build = func(o storage.Object, id store.FileVersion) (store.Array, error) {
				a, err := newVirtual(ctx, path, file, s, id, known)
				if err == nil {
					err = o.Close()
				}
				return a, err
			}
		case s.contiguous == nil || s.contiguous.address == undefined: // in chunks, or in its header
			e.Build = func(o storage.Object, id store.FileVersion) (store.Array, error) { return newArray(path, s, o, id) }
		case s.contiguous.address > uint64(size):
			err = errCut
		default:
			e, err = chunked.Records{
				Extent: store.Extent{Offset: s.f.base + int64(s.contiguous.address) + int64(s.field.Skip), Shape: s.axes(s.shape), DType: s.element.dtype, Big: s.element.big, Details: s.details},
				Axes:   len(s.shape), Stride: int64(s.record),
			}.Header(path, formatName, size)
		}
		return e, err
	})
}

const formatName = "hdf5"

// Texts returns the texts of an array of strings of one dimension, of one length or of any, and its attributes. The characters of
// one of two dimensions are texts, as NetCDF has them.
func (x format) Texts(ctx context.Context, path string) ([]string, json.RawMessage, error) {
	var s dataset
	a, err := x.open(ctx, path, &s)
	if s.text == nil {
		if err == nil { // one that is no array of texts
			err = a.Close()
		}
		return nil, nil, err
	}
	if err != nil {
		return []string{}, nil, err
	}
	return storage.ReadTexts(ctx, a, s.shape[0], func(b []byte) (string, bool) {
		e := *s.text
		e.size = len(b)
		text, ok := s.f.value(e, b).(string)
		return text, ok || bytes.Equal(b, make([]byte, len(b)))
	})
}

// axes is a shape with those of its elements behind: that of the bytes of a text.
func (s *dataset) axes(shape []int) []int { return append(slices.Clip(shape), s.inner...) }

// find reads the header of the array of a name, or of the only one.
func find(file string, r io.ReaderAt, size int64, name string, texts bool) (*dataset, error) {
	f, err := openNamed(file, r, size)
	if err != nil {
		return nil, err
	}
	defer f.meter.Done()
	f.texts = texts
	if name == "" {
		if name, err = f.only(); err != nil {
			return nil, err
		}
	}
	s, err := f.dataset(name)
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		names, more, _ := f.names()
		return nil, fmt.Errorf("%w: the file has %s", err, quoted(names, more))
	}
	return s, err
}

// most is how many names a message lists.
const most = 12

// names are the first arrays of the file, and whether there are more, or why that is not known.
func (f *file) names() (names []string, more bool, err error) {
	for name, err := range f.arrays() {
		if err != nil || len(names) == most {
			return names, true, err
		}
		names = append(names, name)
	}
	return names, false, nil
}

// only is the name of the only array, or of the only one that is more than labels of a dimension.
func (f *file) only() (string, error) {
	names, more, err := f.names()
	if err != nil && len(names) < 2 {
		return "", err
	}
	if len(names) == 1 && !more {
		return names[0], nil
	}
	if len(names) == 0 {
		return "", errors.New("the file has no array")
	}
	var labelled []string
	for n, err := range f.nodes() {
		if err != nil || len(labelled) > 1 {
			break
		}
		if n.isArray() && n.scale == nil {
			labelled = append(labelled, n.name)
		}
	}
	if len(labelled) == 1 {
		return labelled[0], nil
	}
	return "", fmt.Errorf("the file has %s: add #NAME to the path", quoted(names, more))
}

func quoted(names []string, more bool) string {
	list := storage.QuoteNames("array", names)
	if more && names != nil {
		list += ", …"
	}
	return list
}

// stored is an array in chunks. One that is stored in its header is a chunk of the header's.
type stored struct {
	chunked.File
	dataset *dataset

	once   sync.Once
	places []place // by their numbers
	masked map[uint32]*codec.Pipeline
	err    error
}

// placeBytes is what the place of a chunk takes of Go's heap.
const placeBytes = 32

func newArray(path string, s *dataset, o storage.Object, id store.FileVersion) (store.Array, error) {
	a := &stored{dataset: s}
	a.Object = o
	a.Path, a.Shape, a.DType, a.Fill = path, s.axes(s.shape), s.element.dtype, make([]byte, s.element.size)
	if len(s.fill) > 0 {
		a.Fill = s.element.swap(s.fill)
	}
	switch {
	case s.chunks != nil:
		a.Chunk = s.axes(s.chunks.chunk)
	case s.compact != nil:
		for _, n := range a.Shape {
			a.Chunk = append(a.Chunk, max(n, 1))
		}
		a.Object, a.places = inHeader{o, s.compact}, []place{{size: s.bytes()}}
	default: // nothing is stored
		a.Chunk = grid.Auto(a.Shape, s.element.size, 1<<20)
	}
	var err error
	if a.Pipeline, err = s.pipeline(a.Chunk, 0); err != nil {
		return nil, err
	}
	a.FindIn(chunked.Source{Object: a.Object, Kind: "file", Key: path}, a.find)
	work := a.Work()
	work.Open = min(int64((grid.Grid{Shape: a.Shape, Chunks: a.Chunk}).Len()), id.Size/4) * placeBytes
	info := store.Info{Format: formatName, Bytes: -1, ID: id, Work: work, Details: s.details}
	if len(s.fill) > 0 {
		if v := s.f.value(s.element, s.fill); v != nil {
			info.Details.Fill = strings.Replace(fmt.Sprint(v), "Inf", "Infinity", 1)
			info.Details.Fill = strings.TrimPrefix(info.Details.Fill, "+")
		}
	}
	if s.chunks != nil {
		info.Chunks, info.Open, info.Codec = a.Chunk, a.Pipeline.Plain(), a.Pipeline.String()
	}
	a.Describe(info)
	return a, nil
}

// inHeader is an array that is a part of its header.
type inHeader struct {
	storage.Object
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
	return codec.FromHDF5(s.field, ids, values, s.element.big, chunk, s.element.dtype)
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

// find finds a chunk by its number.
func (a *stored) find(chunk []int, src *chunked.Source) (bool, error) {
	if err := a.load(); err != nil {
		return false, err
	}
	number := uint64(a.Number(chunk))
	at, ok := slices.BinarySearchFunc(a.places, number, func(p place, n uint64) int { return cmp.Compare(p.chunk, n) })
	if ok {
		p := a.places[at]
		src.Base, src.Bytes, src.Pipeline = p.offset, p.size, a.masked[p.mask]
	}
	return ok, nil
}

// allNames lists the arrays of a file, groups depth first.
func allNames(file string, r io.ReaderAt, size int64) (names []string, err error) {
	f, err := openNamed(file, r, size)
	if err != nil {
		return nil, err
	}
	defer f.meter.Done()
	f.listing = true
	for name, err := range f.arrays() {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// Groups returns the attributes of the groups of a file.
func (x format) Groups(ctx context.Context, path string) (map[string]store.Details, error) {
	file, _, _ := x.Cut(path)
	all := map[string]store.Details{}
	_, err := storage.InFile(ctx, file, "", func(r io.ReaderAt, size int64) ([]string, error) {
		f, err := openNamed(file, r, size)
		if err != nil {
			return nil, err
		}
		defer f.meter.Done()
		for n, err := range f.nodes() {
			if err == nil && n.object != nil && !n.object.isArray() && !n.object.isType() && !n.sparse {
				var attributes map[string]json.RawMessage
				var d store.Details
				if attributes, _, err = n.object.attributes(false, &d); err == nil {
					d.Attributes, err = jsonObject(attributes)
				}
				all[n.name] = d
			}
			if err != nil {
				return nil, fmt.Errorf("%.80q: %w", n.name, err)
			}
		}
		return nil, nil
	})
	return all, err
}
