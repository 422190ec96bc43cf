// Package npy reads and writes npy files: x.npy. x.npy#field is a field of a file of records, which is read only.
package npy

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/format/raw"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// The npy format: magic, version, length of the header, then the header, a
// Python dictionary padded with spaces (NumPy, numpy/lib/format.py). What it lets change the meaning of bytes: the version, shape
// and fortran_order (all are read), and descr: byte order and numbers are read, dates and durations are integers with units, and
// objects, texts and other units are errors by name. Of structured types the fields of numbers are read, one by one. What follows the elements is left alone, as np.load leaves it. Of a
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
	return !described && extensions.Owns(file)
}

var extensions = storage.Extensions{".npy"}

func cut(path string) (f storage.FlatFile, err error) {
	file, query, ok := storage.CutQuery(path)
	if ok {
		f, err = raw.Parse(query)
	}
	f.File, f.Field, _ = extensions.Cut(file)
	return f, err
}

func extent(f storage.FlatFile, r io.ReaderAt, size int64) (h storage.Header, err error) {
	x, err := readField(r, size, f.Field)
	if errors.Is(err, errNoFields) {
		err = fmt.Errorf("an npy file holds one array, which has no name, and its elements have no fields: name %s", f.File)
	}
	if err != nil {
		return h, err
	}
	return x.Header(f.Path, formatName, size)
}

// ReadHeader reads the header of an npy file of the given size, which may be
// a part of another. It rejects one that needs more bytes than there are, and
// allocates at most 1 MiB, whatever the header claims.
func ReadHeader(r io.ReaderAt, size int64) (store.Extent, error) {
	x, err := readField(r, size, "")
	if _, structured := errors.AsType[fieldsError](err); structured {
		err = errors.New("header: descr: arrays with structured dtype cannot be read: save each field as an array of its own")
	}
	return x.Extent, err
}

var errNoFields = errors.New("the elements have no fields")

// fieldsError is the error of a file of records of which no field is named.
type fieldsError string

func (e fieldsError) Error() string { return string(e) }

// readField is ReadHeader of a file whose elements have fields.
func readField(r io.ReaderAt, size int64, field string) (x chunked.Records, err error) {
	if r == nil || size <= 0 {
		return x, errors.New("the file is empty")
	}
	var start [headerBytes]byte
	n, err := r.ReadAt(start[:min(size, headerBytes)], 0)
	if err != nil && err != io.EOF {
		return x, err
	}
	if n < len(magic) || string(start[:len(magic)]) != magic {
		return x, errors.New("not an npy file: it does not begin with \\x93NUMPY")
	}
	major, minor := start[6], start[7]
	var at, length int64
	switch {
	case n < 10:
		return x, fmt.Errorf("the header is cut short: the file has only %d bytes", size)
	case major == 1 && minor == 0:
		at, length = 10, int64(binary.LittleEndian.Uint16(start[8:]))
	case (major == 2 || major == 3) && minor == 0 && n >= 12:
		at, length = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	default:
		return x, fmt.Errorf("npy version %d.%d is unknown: 1.0, 2.0 and 3.0 can be read", major, minor)
	}
	if length > maxHeader {
		return x, fmt.Errorf("the header claims %d bytes, more than %d are not read", length, maxHeader)
	}
	if at+length > size {
		return x, fmt.Errorf("the header claims %d bytes, the file has only %d", length, size)
	}
	var text []byte
	if at+length <= int64(n) {
		text = start[at : at+length]
	} else {
		text = make([]byte, length)
		if _, err := r.ReadAt(text, at); err != nil {
			return x, err
		}
	}
	if major < 3 { // in Latin-1
		runes := make([]rune, len(text))
		for i, b := range text {
			runes[i] = rune(b)
		}
		text = []byte(string(runes))
	}
	if x, err = parseHeader(string(text), field); err != nil {
		return x, fmt.Errorf("header: %w", err)
	}
	records := int64(grid.Size(x.Shape[:x.Axes]))
	if need := at + length + records*x.Stride; need > size || need < at {
		return x, fmt.Errorf("the file is cut short: shape %s of %s needs %d bytes, it has %d",
			grid.Format(x.Shape), x.DType, need, size)
	}
	x.Offset += at + length
	return x, nil
}

// parseHeader reads the dictionary. The records of elements that have no fields are the elements.
func parseHeader(text, field string) (e chunked.Records, err error) {
	v, err := parseLiteral(text)
	if err != nil {
		return e, err
	}
	d, ok := v.(pyDict)
	if !ok {
		return e, errors.New("it is not a dictionary")
	}
	for key := range d {
		if key != "descr" && key != "fortran_order" && key != "shape" {
			return e, fmt.Errorf("key %.40q is unknown", key)
		}
	}
	if e.Fortran, ok = d["fortran_order"].(bool); !ok {
		return e, errors.New("fortran_order is neither True nor False")
	}
	descr := d["descr"]
	var inner []int // axes of a field
	if list, ok := descr.(pyList); ok || field != "" {
		of, bytes, err := parseFields(list, field)
		if err != nil {
			return e, fmt.Errorf("descr: %w", err)
		}
		descr, inner, e.Offset, e.Stride = of.descr, of.shape, of.offset, bytes
	}
	if code, ok := descr.(string); ok && len(code) > 0 {
		if integers, attributes, date := cutDate(code[1:]); date {
			descr, e.Details.Attributes = code[:1]+integers, attributes
		}
	}
	if e.DType, e.Big, err = parseDescr(descr); err != nil {
		return e, fmt.Errorf("descr: %w", err)
	}
	if e.Shape, err = parseShape(d["shape"]); err != nil {
		return e, err
	}
	e.Axes = len(e.Shape)
	if e.Stride == 0 {
		e.Stride = int64(e.DType.Size())
	}
	if err := grid.Check(e.Shape, int(e.Stride)); err != nil {
		return e, err
	}
	e.Shape = append(e.Shape, inner...)
	return e, grid.Check(e.Shape, e.DType.Size())
}

// member is a field of records: its type, and where it lies in them.
type member struct {
	descr  literal
	shape  []int
	offset int64
}

// parseFields finds a field by its name, that of a field and what is in it with a dot between, and returns how many bytes a record has.
func parseFields(list pyList, name string) (found member, bytes int64, err error) {
	if list == nil {
		return found, 0, errNoFields
	}
	var names []string
	var missing error // of a field in a field
	for _, v := range list {
		t, ok := v.(pyTuple)
		if !ok || len(t) < 2 || len(t) > 3 {
			return found, 0, errors.New("a field is no tuple of name, type and shape")
		}
		label, ok := t[0].(string)
		if titled, is := t[0].(pyTuple); is && len(titled) == 2 {
			label, ok = titled[1].(string)
		}
		if !ok {
			return found, 0, errors.New("a field has no name")
		}
		m := member{t[1], nil, bytes}
		if len(t) == 3 {
			if m.shape, err = parseShape(t[2]); err != nil {
				return found, 0, err
			}
		}
		size, err := descrBytes(t[1])
		if err == nil {
			err = grid.Check(m.shape, size)
		}
		if err == nil && bytes > math.MaxInt32 {
			err = errors.New("records have more than 2 GiB")
		}
		if err != nil {
			return found, 0, fmt.Errorf("field %.80q: %w", label, err)
		}
		bytes += int64(grid.Size(m.shape) * size)
		if label == "" {
			continue // what pads the record
		}
		names = append(names, label)
		rest, within := strings.CutPrefix(name, label+".")
		switch list, nested := t[1].(pyList); {
		case label == name:
			found = m
		case !within || !nested || found.descr != nil:
		case len(m.shape) > 0:
			missing = fmt.Errorf("fields of records in an array, as %.80q is, are not supported: save the field as an array of its own", label)
		default:
			found, _, missing = parseFields(list, rest)
			found.offset += m.offset
		}
	}
	switch {
	case name == "":
		err = fieldsError(fmt.Sprintf("the elements have %s as fields: add #NAME to the path", storage.QuoteNames("field", names)))
	case found.descr == nil && missing != nil:
		err = missing
	case found.descr == nil:
		err = fmt.Errorf("no field %.80q: the elements have %s", name, storage.QuoteNames("field", names))
	}
	return found, bytes, err
}

// descrBytes is the size of an element of any type that has one.
func descrBytes(v literal) (int, error) {
	if list, ok := v.(pyList); ok {
		_, bytes, err := parseFields(list, "\x00")
		if list != nil && bytes > 0 {
			err = nil // whatever the name is
		}
		return int(bytes), err
	}
	code, _ := v.(string)
	return CodeBytes(code)
}

// CodeBytes is the size of an element of a type code of NumPy's, such as <U4.
func CodeBytes(code string) (int, error) {
	code = strings.TrimLeft(code, "<>|=")
	if len(code) < 2 {
		return 0, fmt.Errorf("dtype %.40q is unknown", code)
	}
	digits, _, _ := strings.Cut(code[1:], "[") // of dates and their unit
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil || n < 0 || n > math.MaxInt32 || !strings.Contains("biufcSaUVMm", code[:1]):
		return 0, fmt.Errorf("dtype %.40q is unknown, or of no fixed size", code)
	case code[0] == 'U':
		n *= 4
	}
	return n, nil
}

// parseShape reads a tuple of lengths.
func parseShape(v literal) ([]int, error) {
	lengths, ok := v.(pyTuple)
	if !ok {
		return nil, errors.New("shape is not a tuple")
	}
	shape := make([]int, len(lengths))
	for i, v := range lengths {
		n, ok := v.(int64)
		if !ok {
			return nil, errors.New("shape holds something other than integers")
		}
		shape[i] = int(n)
	}
	return shape, nil
}

// parseDescr reads a type code such as <f4, and names what it rejects.
func parseDescr(v literal) (t dtype.Type, big bool, err error) {
	if _, ok := v.(pyList); ok {
		return 0, false, errors.New("the field has fields: add .NAME of one of them to the path")
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

// timeUnits are NumPy's units of dates and durations, as CF names them.
var timeUnits = map[string]string{
	"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds",
}

// cutDate reads NumPy's type code of a date or a duration, such as M8[ns]: that of the
// integers which it is stored as, and the attributes that say what these count.
func cutDate(code string) (integers string, attributes json.RawMessage, ok bool) {
	kind, unit, _ := strings.Cut(strings.TrimSuffix(code, "]"), "[")
	if !strings.HasSuffix(code, "]") || kind != "M8" && kind != "m8" {
		return "", nil, false
	}
	attributes, err := TimeAttributes(kind[0], unit)
	return "i8", attributes, err == nil
}

// TimeAttributes are the attributes that say by CF's conventions what the integers of NumPy's
// dates, whose kind is 'M', or durations, 'm', of a unit count. A date that is not one, NaT, is
// the least integer.
func TimeAttributes(kind byte, unit string) (json.RawMessage, error) {
	name, known := timeUnits[unit]
	switch {
	case !known:
		return nil, fmt.Errorf("times of this unit, %q, are not supported: D, h, m, s, ms, us and ns are", unit)
	case kind == 'M':
		return json.RawMessage(`{"units":"` + name + ` since 1970-01-01","calendar":"proleptic_gregorian"}`), nil
	}
	return json.RawMessage(`{"units":"` + name + `"}`), nil
}
