// Package npy reads and writes npy files: x.npy.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/format/raw"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// The npy format: magic, version, length of the header, then the header, a
// Python dictionary padded with spaces (NumPy, numpy/lib/format.py). What it lets change the meaning of bytes: the version, shape
// and fortran_order (all are read), and descr: byte order and numbers are read, dates and durations are integers with units, and
// fields, objects, texts and other units are errors by name. What follows the elements is left alone, as np.load leaves it. Of a
// raw file the query says shape, dtype, byte order, offset and order; its size has to agree.
const (
	magic     = "\x93NUMPY"
	maxHeader = 1 << 20
	// headerBytes are read at first: all of the header that NumPy writes of an array of few
	// dimensions, and of those written here, whose elements begin at a page.
	headerBytes = disk.Page
)

func init() {
	storage.RegisterLast(format{storage.FlatFormat{Name: formatName, Cut: cut, Extent: extent, Header: func(shape []int, t dtype.Type, fortran, big bool) ([]byte, error) {
		return header(shape, t, fortran, big, disk.Page)
	}}})
}

const formatName = "npy"

type format struct{ storage.FlatFormat }

// Owns reports the extension of npy files, and that behind which a query says how the file is to be written.
func (format) Owns(path string) bool {
	file, query, described := storage.CutQuery(path)
	if described {
		f, _ := raw.Parse(query)
		described = f.Shape != nil || f.Offset > 0
	}
	return !described && strings.EqualFold(filepath.Ext(file), ".npy")
}

func cut(path string) (f storage.FlatFile, err error) {
	file, query, ok := storage.CutQuery(path)
	if ok {
		f, err = raw.Parse(query)
	}
	f.File = file
	return f, err
}

func extent(_ storage.FlatFile, r io.ReaderAt, size int64) (store.Extent, error) {
	return ReadHeader(r, size)
}

// ReadHeader reads the header of an npy file of the given size, which may be
// a part of another. It rejects one that needs more bytes than there are, and
// allocates at most 1 MiB, whatever the header claims.
func ReadHeader(r io.ReaderAt, size int64) (store.Extent, error) {
	if r == nil || size <= 0 {
		return store.Extent{}, errors.New("the file is empty")
	}
	var start [headerBytes]byte
	n, err := r.ReadAt(start[:min(size, headerBytes)], 0)
	if err != nil && err != io.EOF {
		return store.Extent{}, err
	}
	if n < len(magic) || string(start[:len(magic)]) != magic {
		return store.Extent{}, errors.New("not an npy file: it does not begin with \\x93NUMPY")
	}
	major, minor := start[6], start[7]
	var at, length int64
	switch {
	case n < 10:
		return store.Extent{}, fmt.Errorf("the header is cut short: the file has only %d bytes", size)
	case major == 1 && minor == 0:
		at, length = 10, int64(binary.LittleEndian.Uint16(start[8:]))
	case (major == 2 || major == 3) && minor == 0 && n >= 12:
		at, length = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	default:
		return store.Extent{}, fmt.Errorf("npy version %d.%d is unknown: 1.0, 2.0 and 3.0 can be read", major, minor)
	}
	if length > maxHeader {
		return store.Extent{}, fmt.Errorf("the header claims %d bytes, more than %d are not read", length, maxHeader)
	}
	if at+length > size {
		return store.Extent{}, fmt.Errorf("the header claims %d bytes, the file has only %d", length, size)
	}
	var text []byte
	if at+length <= int64(n) {
		text = start[at : at+length]
	} else {
		text = make([]byte, length)
		if _, err := r.ReadAt(text, at); err != nil {
			return store.Extent{}, err
		}
	}
	e, err := parseHeader(string(text))
	if err != nil {
		return store.Extent{}, fmt.Errorf("header: %w", err)
	}
	e.Offset = at + length
	if need := e.Offset + int64(grid.Size(e.Shape)*e.DType.Size()); need > size || need < e.Offset {
		return store.Extent{}, fmt.Errorf("the file is cut short: shape %s of %s needs %d bytes, it has %d",
			grid.Format(e.Shape), e.DType, need, size)
	}
	return e, nil
}

// parseHeader reads the dictionary.
func parseHeader(text string) (store.Extent, error) {
	v, err := parseLiteral(text)
	if err != nil {
		return store.Extent{}, err
	}
	d, ok := v.(pyDict)
	if !ok {
		return store.Extent{}, errors.New("it is not a dictionary")
	}
	for key := range d {
		if key != "descr" && key != "fortran_order" && key != "shape" {
			return store.Extent{}, fmt.Errorf("key %.40q is unknown", key)
		}
	}
	var e store.Extent
	if e.Fortran, ok = d["fortran_order"].(bool); !ok {
		return store.Extent{}, errors.New("fortran_order is neither True nor False")
	}
	descr := d["descr"]
	if code, ok := descr.(string); ok && len(code) > 0 {
		if integers, attributes, date := cutDate(code[1:]); date {
			descr, e.Details.Attributes = code[:1]+integers, attributes
		}
	}
	if e.DType, e.Big, err = parseDescr(descr); err != nil {
		return store.Extent{}, fmt.Errorf("descr: %w", err)
	}
	lengths, ok := d["shape"].(pyTuple)
	if !ok {
		return store.Extent{}, errors.New("shape is not a tuple")
	}
	e.Shape = make([]int, len(lengths))
	for i, v := range lengths {
		n, ok := v.(int64)
		if !ok {
			return store.Extent{}, errors.New("shape holds something other than integers")
		}
		e.Shape[i] = int(n)
	}
	return e, grid.Check(e.Shape, e.DType.Size())
}

// parseDescr reads a type code such as <f4, and names what it rejects.
func parseDescr(v literal) (t dtype.Type, big bool, err error) {
	if _, ok := v.(pyList); ok {
		return 0, false, errors.New("arrays with structured dtype cannot be read: save each field as an array of its own")
	}
	descr, ok := v.(string)
	if !ok {
		return 0, false, errors.New("it is not a string")
	}
	code := strings.TrimLeft(descr, "<>|=")
	if len(descr)-len(code) > 1 {
		return 0, false, fmt.Errorf("dtype %.40q is unknown", descr)
	}
	if t, ok := raw.TypeOf(code); ok {
		return t, descr[0] == '>', nil
	}
	name, hint := "", ""
	switch code[:min(len(code), 1)] {
	case "O":
		name, hint = "object", ": it holds pickled Python objects"
	case "S", "a":
		name = "string (bytes)"
	case "U":
		name = "string (unicode)"
	case "V":
		name, hint = "void", ": it has no numeric type (bfloat16 from ml_dtypes is stored so: save it as float32, or raw as .bin?shape=…&dtype=bfloat16)"
	case "M":
		name, hint = "datetime64", " of this unit: save it as datetime64[s], or int64"
	case "m":
		name, hint = "timedelta64", " of this unit: save it as timedelta64[s], or int64"
	case "f":
		name, hint = "long double", ": save it as float64"
	case "c":
		name, hint = "long double complex", ": save it as complex128"
	default:
		return 0, false, fmt.Errorf("dtype %.40q is unknown", descr)
	}
	return 0, false, fmt.Errorf("arrays with %s dtype %.40q cannot be read%s", name, descr, hint)
}

// header is a version 1 header whose length is a multiple of align, so that
// the elements begin where direct I/O and vector loads like them.
func header(shape []int, t dtype.Type, fortran, big bool, align int) ([]byte, error) {
	descr, ok := raw.Codes[t]
	if !ok {
		return nil, fmt.Errorf("the npy format has no %s: write another dtype, or raw as .bin?shape=…&dtype=%s", t, t)
	}
	order := "<"
	switch {
	case t.Size() == 1:
		order = "|"
	case big:
		order = ">"
	}
	columns := "False"
	if fortran {
		columns = "True"
	}
	dict := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': %s, 'shape': %s, }", order, descr, columns, grid.Format(shape))
	const prefix = len(magic) + 4
	total := (prefix + len(dict) + 1 + align - 1) / align * align
	h := slices.Grow([]byte(magic), total)
	h = append(h, 1, 0)
	h = binary.LittleEndian.AppendUint16(h, uint16(total-prefix))
	h = append(h, dict...)
	for len(h) < total-1 {
		h = append(h, ' ')
	}
	return append(h, '\n'), nil
}

// Header returns the header of an npy file that begins at a place in another: so long
// that the elements begin at a page.
func Header(shape []int, t dtype.Type, at int64) ([]byte, error) {
	h, err := header(shape, t, false, false, 1)
	if err != nil {
		return nil, err
	}
	spaces := int(-(at + int64(len(h))) & (disk.Page - 1))
	h = append(h[:len(h)-1], strings.Repeat(" ", spaces)...)
	binary.LittleEndian.PutUint16(h[8:], uint16(len(h)+1-10))
	return append(h, '\n'), nil
}
