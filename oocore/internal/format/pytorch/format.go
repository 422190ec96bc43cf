// Package pytorch reads the tensors of files that torch.save has written, as x.pt#name; the name may be left out where there is one
// tensor. Nothing of their pickles is run.
//
// A file is a zip archive: X/data.pkl is a pickle of what was saved, X/data/KEY the elements of a storage, X/byteorder their order
// (torch/serialization.py). Files from before PyTorch 1.6 are pickles, and the storages behind them. Tensors in dictionaries, lists and
// tuples are named by their keys and positions, with dots between them. All else in a file is left out; a pickle that asks
// for a function or a class which no tensor needs is rejected by its name.
//
// What changes the meaning of bytes: the class of a storage, or the dtype beside it; a tensor's offset, shape and strides in a storage
// that several may share; the byte order; views that are conjugated or negated, sparse and quantized tensors, which are errors of
// the tensor by name.
package pytorch

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/format/npz"
	"github.com/gonbext/gonbext/oocore/internal/format/safetensors"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

const readOnly store.ReadOnly = "files of PyTorch are only read: save to NAME.safetensors, which PyTorch reads by safetensors.torch.load_file"

func init() {
	store.Register(format{storage.NamedArrays{
		Extensions: storage.Extensions{".pt", ".pth", ".ckpt", "pytorch_model.bin", "adapter_model.bin"},
		Names:      headers.Names}, readOnly})
	store.Register(index{safetensors.Index{Extensions: storage.Extensions{".bin.index.json"}, Files: ".bin"}, readOnly})
}

const kind = "tensor"

var errNone = errors.New("the pickle of this file of PyTorch has no tensor")

type format struct {
	storage.NamedArrays
	store.ReadOnly
}

// index is a checkpoint in several files: pytorch_model.bin.index.json.
type index struct {
	safetensors.Index
	store.ReadOnly
}

// Members lists the tensors of a file.
func (x format) Members(ctx context.Context, path string) ([]store.Member, error) {
	if err := storage.OnDisk("a file of PyTorch", x.Place(path)); err != nil {
		return nil, err
	}
	return x.NamedArrays.Members(ctx, path)
}

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	if err := storage.OnDisk("a file of PyTorch", file); err != nil {
		return nil, err
	}
	return storage.OpenHeader(ctx, path, file, "PyTorch", func(r io.ReaderAt, size int64) (e storage.Header, err error) {
		h, err := headers.Read(file, r, size)
		if err != nil {
			return e, err
		}
		if len(h.tensors) == 0 {
			return e, errNone
		}
		i, err := h.Find(name)
		if err != nil {
			return e, err
		}
		t := h.tensors[i]
		if t.why != "" {
			return e, fmt.Errorf("tensor %.80q: %s", t.name, t.why)
		}
		e.Extent = store.Extent{Offset: t.at, Shape: t.shape, DType: t.dtype, Big: h.big}
		switch {
		case dense(t.shape, t.strides, false):
		case dense(t.shape, t.strides, true):
			e.Fortran = true
		default:
			e.Build = func(o storage.Object, id store.FileVersion) (store.Array, error) {
				a, err := storage.NewApart(path, "PyTorch", e.Extent, t.strides, o, id)
				if err != nil {
					err = fmt.Errorf("tensor %.80q: %w", t.name, err)
				}
				return a, err
			}
		}
		return e, nil
	})
}

// dense reports elements that lie in one run, in C order or in Fortran's.
func dense(shape []int, strides []int64, fortran bool) bool {
	n := int64(1)
	for i := range shape {
		if !fortran {
			i = len(shape) - 1 - i
		}
		if shape[i] != 1 && strides[i] != n {
			return grid.Size(shape) == 0
		}
		n *= int64(shape[i])
	}
	return true
}

// header is what a file says of its tensors.
type header struct {
	tensors []member
	storage.Names
	big bool
}

type member struct {
	name string
	*tensor
	at int64 // of the first element in the file
}

var headers = storage.Catalog[header]{Parse: read}

// oldMagic begins a file from before PyTorch 1.6: a pickle of a number by which these are known.
const oldMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."

// place is where a storage lies in the file.
type place struct{ at, bytes int64 }

func read(r io.ReaderAt, size int64, take func(bytes int64) error) (h header, err error) {
	m := &machine{take: take}
	start := make([]byte, len(oldMagic))
	if n, err := r.ReadAt(start, 0); n < len(start) && err != io.EOF {
		return h, err
	}
	var places map[string]place
	var v any
	switch {
	case string(start) == oldMagic:
		v, places, err = m.old(r, size, &h)
	case string(start[:4]) == "PK\x03\x04":
		v, places, err = m.archive(r, size, &h)
	default:
		return h, errors.New("not a file of PyTorch, which is a zip archive with a pickle data.pkl")
	}
	if err != nil {
		return h, err
	}
	w := walker{machine: m, h: &h}
	if err = w.walk(v, "", 0); err != nil {
		return h, err
	}
	for i := range h.tensors {
		if err := h.tensors[i].locate(places); err != nil {
			return h, fmt.Errorf("tensor %.80q: %w", h.tensors[i].name, err)
		}
	}
	h.Names, err = storage.NewNames(kind, len(h.tensors), func(i int) string { return h.tensors[i].name })
	return h, err
}

// archive reads the pickle of a zip archive, and finds its storages.
func (m *machine) archive(r io.ReaderAt, size int64, h *header) (v any, places map[string]place, err error) {
	files, err := npz.Directory(r, size)
	if err != nil {
		return nil, nil, err
	}
	byName := make(map[string]*zip.File, len(files))
	prefix := ""
	for _, f := range files {
		if byName[f.Name] = f; path.Base(f.Name) == "data.pkl" && prefix == "" {
			prefix = strings.TrimSuffix(f.Name, "data.pkl")
		}
	}
	pickle := byName[prefix+"data.pkl"]
	if pickle == nil {
		return nil, nil, errors.New("not a file of PyTorch: the zip archive has no data.pkl")
	}
	if order := byName[prefix+"byteorder"]; order != nil {
		text, err := whole(order, 16)
		if h.big = text == "big"; err != nil || text != "big" && text != "little" {
			return nil, nil, cmp.Or(err, fmt.Errorf("its byteorder is %.20q, which is neither little nor big", text))
		}
	}
	// What is made of a pickle takes about this in memory; where it is more, the machine counts on.
	m.charged = 12 * int64(min(pickle.UncompressedSize64, uint64(size)))
	if err := m.take(m.charged); err != nil {
		return nil, nil, err
	}
	in, err := pickle.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", pickle.Name, err)
	}
	defer in.Close()
	m.r = bufio.NewReaderSize(in, 64<<10)
	if v, err = m.run(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", pickle.Name, err)
	}
	places = make(map[string]place, len(m.storages))
	for _, key := range slices.Sorted(maps.Keys(m.storages)) {
		f := byName[prefix+"data/"+key]
		if f == nil {
			return nil, nil, fmt.Errorf("storage %.40q, which data.pkl names, is missing in the archive", key)
		}
		var p place
		if p.at, p.bytes, err = npz.Stored(f, size); err != nil {
			return nil, nil, fmt.Errorf("%.80s: %w", f.Name, err)
		}
		places[key] = p
	}
	return v, places, nil
}

// whole reads a short member.
func whole(f *zip.File, most int64) (string, error) {
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, most))
	return string(b), err
}

// old reads the pickles of a file from before PyTorch 1.6: a number, a version, what the machine was like, what was saved, and the keys
// of the storages. These follow, each behind the number of its elements.
func (m *machine) old(r io.ReaderAt, size int64, h *header) (v any, places map[string]place, err error) {
	m.r = bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10)
	var all [5]any
	for i := range all {
		if all[i], err = m.run(); err != nil {
			return nil, nil, err
		}
	}
	if system, is := all[2].(*dict); is {
		if i := slices.Index(system.keys, any("little_endian")); i >= 0 {
			h.big = system.values[i] == any(false)
		}
	}
	keys, ok := all[4].(*list)
	if !ok {
		return nil, nil, errEnds
	}
	places = make(map[string]place, len(keys.items))
	at := m.at
	for _, key := range keys.items {
		name, _ := key.(string)
		s := m.storages[name]
		if s == nil {
			return nil, nil, fmt.Errorf("it has a storage %.40q, which no tensor lies in: %w", name, errEnds)
		}
		var b [8]byte
		if n, err := r.ReadAt(b[:], at); n < len(b) {
			return nil, nil, cmp.Or(cleared(err), errEnds)
		}
		elements := int64(binary.LittleEndian.Uint64(b[:]))
		each := classes[s.class].bytes
		if at += 8; elements < 0 || elements > (size-at)/each {
			return nil, nil, fmt.Errorf("the file is cut short: storage %.40q has %d elements of %d bytes from offset %d on", name, elements, each, at)
		}
		places[name] = place{at, elements * each}
		at += elements * each
	}
	return all[3], places, nil
}

// cleared is an error that says more than that the file ends.
func cleared(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// locate checks that all elements of a tensor lie in its storage, and finds the first.
func (t *member) locate(places map[string]place) error {
	if t.storage == nil || t.why != "" {
		return nil
	}
	size := int64(t.dtype.Size())
	if err := grid.Check(t.shape, int(size)); err != nil {
		return err
	}
	s, p := t.storage, places[t.storage.key]
	bytes := s.n * classes[s.class].bytes
	from := s.from * classes[s.class].bytes
	if s.n > p.bytes/classes[s.class].bytes {
		return fmt.Errorf("storage %.40q claims %d elements, which its %d bytes do not have", s.key, s.n, p.bytes)
	}
	left := (bytes-from)/size - 1 // elements behind the first
	if (t.offset < 0 || t.offset > left) && grid.Size(t.shape) > 0 {
		return fmt.Errorf("it begins at element %d of storage %.40q, which has %d", t.offset, s.key, left+1)
	}
	if t.at = p.at + from + t.offset*size; grid.Size(t.shape) == 0 {
		t.at = p.at
		return nil
	}
	left -= t.offset
	for i, n := range t.shape {
		if n > 1 && t.strides[i] > left/int64(n-1) {
			return fmt.Errorf("shape %s with strides %v from element %d on reaches beyond storage %.40q of %d elements", grid.Format(t.shape), t.strides, t.offset, s.key, (bytes-from)/size)
		}
		left -= int64(n-1) * t.strides[i]
	}
	return nil
}

// walker finds the tensors in a value.
type walker struct {
	*machine
	h     *header
	steps int
}

// maxDepth bounds how deep tensors lie in dictionaries and lists, and maxSteps how many of these there are: a pickle of
// few bytes can hold itself, or the same many times.
const maxDepth, maxSteps = 64, 1 << 20

func (w *walker) walk(v any, name string, depth int) error {
	switch v.(type) {
	case *tensor, *dict, *list, tuple:
	default:
		return nil
	}
	if w.steps++; depth > maxDepth || w.steps > maxSteps {
		return fmt.Errorf("its dictionaries and lists lie in each other deeper than %d times, or are more than %d with their tensors", maxDepth, maxSteps)
	}
	inner := func(key any, v any) error {
		text, is := key.(string)
		if !is {
			text = fmt.Sprint(key)
		}
		if name != "" {
			text = name + "." + text
		}
		return w.walk(v, text, depth+1)
	}
	switch of := v.(type) {
	case *tensor:
		if name == "" {
			name = kind
		}
		w.h.tensors = append(w.h.tensors, member{name: name, tensor: of})
		return w.hold(len(name) + 64)
	case *dict:
		for i, key := range of.keys {
			switch key.(type) {
			case string, int64:
			default:
				key = i
			}
			if err := inner(key, of.values[i]); err != nil {
				return err
			}
		}
	case *list:
		for i, v := range of.items {
			if err := inner(i, v); err != nil {
				return err
			}
		}
	case tuple:
		for i, v := range of {
			if err := inner(i, v); err != nil {
				return err
			}
		}
	}
	return nil
}
