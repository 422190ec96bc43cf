// Package raw reads and writes files of bare elements, which their paths describe: x.bin?shape=10,20&dtype=float32. Its size has to agree. With
// offset=N elements begin behind N bytes, and more may follow them; with stride=N each index of the first axis has a record, N bytes behind that before it.
package raw

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	storage.RegisterLast(format{storage.FlatFormat{Name: "raw", Cut: cut, Extent: extent}})
}

type format struct{ storage.FlatFormat }

// Owns reports a path with a query, whatever file that is behind, or the extension of raw files.
func (format) Owns(path string) bool {
	if _, _, ok := storage.CutQuery(path); ok {
		return true
	}
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".bin" || ext == ".raw"
}

func cut(path string) (storage.FlatFile, error) {
	file, query, ok := storage.CutQuery(path)
	if !ok {
		return storage.FlatFile{File: path}, nil
	}
	f, err := Parse(query)
	// At an offset elements lie in a file of any format.
	if f.File = file; f.Offset == 0 && storage.Named(file) && !(format{}).Owns(file) {
		err = storage.DescribedError(file)
	}
	return f, err
}

// Parse reads what follows the question mark in a path, but for the path.
func Parse(query string) (f storage.FlatFile, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return f, fmt.Errorf("%q is not of the form shape=10,20&dtype=float32", query)
	}
	for key, v := range values {
		if len(v) > 1 {
			return f, fmt.Errorf("%s= is given twice", key)
		}
		switch key {
		case "shape":
			f.Shape, err = grid.Parse(v[0])
		case "dtype":
			f.DType, f.Big, err = parseDType(v[0])
		case "offset":
			f.Tail = true
			if f.Offset, err = strconv.ParseInt(v[0], 10, 64); err != nil || f.Offset < 0 {
				err = fmt.Errorf("offset=%s is not a number of bytes", v[0])
			}
		case "stride":
			if f.Stride, err = strconv.ParseInt(v[0], 10, 64); err != nil || f.Stride < 1 {
				err = fmt.Errorf("stride=%s is not a number of bytes", v[0])
			}
		case "order":
			if f.Fortran = v[0] == "F"; v[0] != "F" && v[0] != "C" {
				err = fmt.Errorf("order=%s is neither C nor F", v[0])
			}
		default:
			err = fmt.Errorf("%q is unknown: a raw file has shape=, dtype=, offset=, stride= and order=", key)
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// Codes are NumPy's type codes without their byte order. It has none for bfloat16 and floats of 8 bits.
var Codes = map[dtype.Type]string{
	dtype.Bool: "b1", dtype.Int8: "i1", dtype.Int16: "i2", dtype.Int32: "i4", dtype.Int64: "i8",
	dtype.Uint8: "u1", dtype.Uint16: "u2", dtype.Uint32: "u4", dtype.Uint64: "u8",
	dtype.Float16: "f2", dtype.Float32: "f4", dtype.Float64: "f8",
	dtype.Complex64: "c8", dtype.Complex128: "c16",
}

// TypeOf returns the type of a code without its byte order.
func TypeOf(code string) (t dtype.Type, ok bool) {
	for t, known := range Codes {
		if code == known {
			return t, true
		}
	}
	return dtype.Invalid, false
}

// parseDType reads a dtype by its name, or by NumPy's code, with its byte order before it:
// float32, <f4, >f4, >float32.
func parseDType(text string) (t dtype.Type, big bool, err error) {
	name := strings.TrimLeft(text, "<>=|")
	if len(text)-len(name) > 1 {
		return 0, false, fmt.Errorf("dtype=%s has more than one byte order", text)
	}
	big = text != name && text[0] == '>'
	if t, ok := TypeOf(name); ok {
		return t, big, nil
	}
	t, err = dtype.Parse(name)
	return t, big, err
}

// extent checks a query against the size of its file.
func extent(f storage.FlatFile, r io.ReaderAt, size int64) (h storage.Header, err error) {
	switch {
	case f.Shape != nil && f.DType == dtype.Invalid:
		return h, errors.New("a raw file does not say the type of what it holds: add &dtype=float32")
	case f.Shape == nil && f.DType != dtype.Invalid:
		return h, errors.New("a raw file does not say the shape of what it holds: add &shape=10,20")
	case f.Shape == nil:
		return h, errors.New("a raw file does not say what it holds: add ?shape=10,20&dtype=float32")
	case f.Stride > 0 && (len(f.Shape) == 0 || f.Fortran):
		return h, errors.New("stride= is of the first axis of a shape in C order")
	}
	h.Extent = store.Extent{Offset: f.Offset, Shape: f.Shape, DType: f.DType, Fortran: f.Fortran, Big: f.Big}
	if err := grid.Check(f.Shape, f.DType.Size()); err != nil {
		return h, err
	}
	if f.Stride > 0 {
		return chunked.Records{Extent: h.Extent, Axes: 1, Stride: f.Stride}.Header(f.Path, "raw", size)
	}
	switch bytes, rest := h.Bytes(), size-f.Offset; {
	case bytes < rest && !f.Tail:
		return h, fmt.Errorf("shape %s of %s has %d bytes, the file has %d: &offset=0 reads the first of them", grid.Format(f.Shape), f.DType, bytes, rest)
	case bytes > rest:
		return h, fmt.Errorf("shape %s of %s has %d bytes, the file has %d from offset %d on", grid.Format(f.Shape), f.DType, bytes, max(rest, 0), f.Offset)
	}
	return h, nil
}
