// Package netcdf reads the variables of NetCDF files of the classic format: CDF-1, CDF-2 with offsets of 64 bits, and CDF-5, whose lengths
// have 64 bits too (NetCDF User's Guide, appendix B; CDF-5 File Format Specification). x.nc#name names a variable; the name may be left out
// where there is one. Names of dimensions and attributes are those that a NetCDF-4 file would have, which package hdf5 reads.
//
// What lets the same bytes mean something else, and what is done with it:
//   - Variables along the record dimension lie record by record, each record with a part of every such variable. Parts are padded to
//     four bytes, but for those of an only one. The record dimension has to be a variable's first.
//   - The number of records may be left open (STREAMING) by a program that was still writing: an error.
//   - vsize is derived from the shape, and not read: that of large variables does not fit into it.
//   - Types: integers and floats are big-endian; text (char) is an error where a variable is opened, and that of two dimensions may
//     label a dimension.
//   - Two dimensions, variables or attributes of one name, lengths that overflow, unknown types and dimensions, and elements that begin in the
//     header or end behind the file are errors.
package netcdf

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Names that end in .nc are those of HDF5; the first bytes of a file lead here.
func init() {
	store.Register(format{"NetCDF files of the classic format are read only: save to NAME.nc, which is NetCDF-4", storage.NamedArrays{
		Extensions: storage.Extensions{".cdf", ".nc3"},
		Names:      headers.Names}})
}

type format struct {
	store.ReadOnly
	storage.NamedArrays
}

const formatName = "netcdf"

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	return x.open(ctx, path, nil)
}

// Texts returns the texts that lie in the characters of an array of two dimensions, which zeros fill up, and its attributes.
func (x format) Texts(ctx context.Context, path string) ([]string, json.RawMessage, error) {
	var v variable
	a, err := x.open(ctx, path, &v)
	if v.kind != char || len(v.shape) != 2 {
		if err == nil { // one that is no array of texts
			err = a.Close()
		}
		return nil, nil, err
	}
	if err != nil {
		return []string{}, nil, err
	}
	return storage.ReadTexts(ctx, a, v.shape[0], func(b []byte) (string, bool) {
		b = bytes.TrimRight(b, "\x00")
		return string(b), utf8.Valid(b)
	})
}

// open is Open, or where there is a place for the variable that is found, that of the bytes of text.
func (x format) open(ctx context.Context, path string, found *variable) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return storage.OpenHeader(ctx, path, file, formatName, func(r io.ReaderAt, size int64) (e storage.Header, err error) {
		h, err := headers.Read(file, r, size)
		if err != nil {
			return e, err
		}
		i, err := h.Find(name)
		if err != nil {
			return e, err
		}
		v := h.variables[i]
		if found != nil {
			*found = v
		} else if v.kind == char {
			err = errors.New("arrays of text (char) are not supported")
		}
		var records chunked.Records
		if err == nil {
			records, err = h.records(&v)
		}
		if err == nil {
			e, err = records.Header(path, formatName, size)
		}
		if err != nil {
			err = fmt.Errorf("variable %.80q: %w", v.name, err)
		}
		return e, err
	})
}

// Groups returns the attributes of a file, which is one group.
func (x format) Groups(ctx context.Context, path string) (map[string]store.Details, error) {
	file, _, _ := x.Cut(path)
	all := map[string]store.Details{}
	_, err := storage.InFile(ctx, file, "", func(r io.ReaderAt, size int64) ([]string, error) {
		h, err := headers.Read(file, r, size)
		if err != nil {
			return nil, err
		}
		all[""] = h.details
		return nil, nil
	})
	return all, err
}

// header is what a file says before the elements.
type header struct {
	bytes      int64 // of it
	length     int   // of the record dimension
	stride     int64 // bytes of a record
	dimensions []dimension
	variables  []variable
	storage.Names
	details store.Details
}

// dimension is one of the file's. The record dimension has the length 0 in the file.
type dimension struct {
	name   string
	length int
	record bool
}

type variable struct {
	name     string
	shape    []int
	recorded bool
	kind     uint32
	begin    int64
	details  store.Details
}

// types are the codes of elements; CDF-1 and CDF-2 have those up to double.
var types = map[uint32]dtype.Type{
	1: dtype.Int8, char: dtype.Uint8, 3: dtype.Int16, 4: dtype.Int32, 5: dtype.Float32, double: dtype.Float64,
	7: dtype.Uint8, 8: dtype.Uint16, 9: dtype.Uint32, 10: dtype.Int64, 11: dtype.Uint64,
}

const (
	char   = 2
	double = 6
)

// records says where the elements of a variable lie.
func (h *header) records(v *variable) (r chunked.Records, err error) {
	r = chunked.Records{Extent: store.Extent{Offset: v.begin, Shape: v.shape, DType: types[v.kind], Big: true, Details: v.details}}
	if v.recorded {
		r.Axes, r.Stride = 1, h.stride
	}
	if v.begin < h.bytes && grid.Size(v.shape) > 0 {
		err = fmt.Errorf("its elements begin at %d, in the header of %d bytes: the file is damaged", v.begin, h.bytes)
	}
	return r, err
}

var headers = storage.Catalog[*header]{Parse: func(r io.ReaderAt, size int64, take func(bytes int64) error) (*header, error) {
	d := &decoder{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10), left: size, room: take}
	return d.header()
}}

// decoder takes the fields of a header in their order. After the first error all are zero.
type decoder struct {
	r       *bufio.Reader
	left    int64 // bytes of the file
	version byte
	room    func(bytes int64) error
	err     error
}

var errCut = errors.New("the header is cut short or damaged")

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// take takes n bytes.
func (d *decoder) take(n int64) []byte {
	if n < 0 || n > d.left {
		d.fail(errCut)
	}
	if d.err == nil {
		d.fail(d.room(n))
	}
	if d.err != nil {
		return make([]byte, 8)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(d.r, b)
	d.left -= n
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errCut
	}
	d.fail(err)
	return b
}

func (d *decoder) u32() uint32 { return binary.BigEndian.Uint32(d.take(4)) }

// length takes a count or a length, of 64 bits in CDF-5.
func (d *decoder) length() int64 {
	if d.version < 5 {
		return int64(d.u32())
	}
	return d.long()
}

func (d *decoder) long() int64 {
	n := binary.BigEndian.Uint64(d.take(8))
	if n > math.MaxInt64 {
		d.fail(fmt.Errorf("a length or offset of %d: the file is damaged", n))
		return 0
	}
	return int64(n)
}

// padded takes n bytes, and what fills four.
func (d *decoder) padded(n int64) []byte {
	b := d.take(n)
	d.take(-n & 3)
	return b
}

func (d *decoder) name() string {
	name := string(d.padded(d.length()))
	if name == "" {
		d.fail(errors.New("a name is empty: the file is damaged"))
	}
	return name
}

// list calls item for each item of a list with a tag. Without items it has no tag either.
func (d *decoder) list(tag uint32, item func()) {
	const least = 8 // bytes of an item
	got, n := d.u32(), d.length()
	switch {
	case d.err != nil:
		return
	case got != tag && (got != 0 || n != 0):
		d.fail(fmt.Errorf("a list has the tag %d and should have %d: the file is damaged", got, tag))
	case n > d.left/least:
		d.fail(errCut)
	}
	for i := int64(0); i < n && d.err == nil; i++ {
		if d.fail(d.room(itemBytes)); d.err == nil {
			item()
		}
	}
}

// itemBytes is about what an item takes of memory besides its name and value.
const itemBytes = 256

const (
	tagDimension = 10
	tagVariable  = 11
	tagAttribute = 12
)

func (d *decoder) header() (*header, error) {
	size := d.left
	h := &header{}
	start := d.take(4)
	if d.err != nil || string(start[:3]) != "CDF" {
		return nil, errors.New("not a NetCDF file of the classic format: it does not begin with CDF")
	}
	if d.version = start[3]; d.version != 1 && d.version != 2 && d.version != 5 {
		return nil, fmt.Errorf("version %d of the classic format is unknown: 1, 2 and 5 can be read", d.version)
	}
	number, open := uint64(d.u32()), uint64(math.MaxUint32)
	if d.version == 5 {
		number, open = number<<32|uint64(d.u32()), math.MaxUint64
	}
	switch {
	case number == open:
		return nil, errors.New("its number of records is left open (STREAMING), as by a program that still writes it: close the file there, or copy it with that program")
	case number > math.MaxInt64:
		return nil, fmt.Errorf("%d records: the file is damaged", number)
	}
	h.length = int(number)
	d.list(tagDimension, func() {
		x := dimension{name: d.name(), length: int(d.length())}
		if x.record = x.length == 0; x.record {
			for _, y := range h.dimensions {
				if y.record {
					d.fail(fmt.Errorf("dimensions %.80q and %.80q are both of records: the file is damaged", y.name, x.name))
				}
			}
			x.length = h.length
		}
		h.dimensions = append(h.dimensions, x)
	})
	if d.err == nil {
		_, d.err = storage.NewNames("dimension", len(h.dimensions), func(i int) string { return h.dimensions[i].name })
	}
	d.attributes(&h.details)
	d.list(tagVariable, func() { h.variables = append(h.variables, d.variable(h)) })
	h.bytes = size - d.left
	if d.err == nil {
		h.Names, d.err = storage.NewNames("variable", len(h.variables), func(i int) string { return h.variables[i].name })
	}
	if d.err == nil {
		d.err = h.measure()
	}
	return h, d.err
}

func (d *decoder) variable(h *header) (v variable) {
	v.name = d.name()
	n := d.length()
	if n > grid.MaxDims {
		d.fail(fmt.Errorf("variable %.80q has %d dimensions: at most %d are supported", v.name, n, grid.MaxDims))
	}
	for i := 0; i < int(n) && d.err == nil; i++ {
		id := d.length()
		if id >= int64(len(h.dimensions)) {
			d.fail(fmt.Errorf("variable %.80q has dimension %d of %d: the file is damaged", v.name, id, len(h.dimensions)))
			break
		}
		of := h.dimensions[id]
		if v.recorded = v.recorded || of.record; of.record && i > 0 {
			d.fail(fmt.Errorf("variable %.80q has the record dimension %.80q behind others: the file is damaged", v.name, of.name))
		}
		v.shape, v.details.Dims = append(v.shape, of.length), append(v.details.Dims, of.name)
	}
	d.attributes(&v.details)
	v.kind = d.element()
	_ = d.length() // vsize
	if v.begin = 0; d.version == 1 {
		v.begin = int64(d.u32())
	} else {
		v.begin = d.long()
	}
	return v
}

// element takes the code of a type.
func (d *decoder) element() uint32 {
	kind := d.u32()
	if _, ok := types[kind]; d.err == nil && (!ok || kind > double && d.version < 5) {
		d.fail(fmt.Errorf("elements of type %d are unknown: the file is damaged", kind))
	}
	return kind
}

// maxAttribute is the most elements of an attribute that is kept.
const maxAttribute = 1 << 16

// attributes takes a list of attributes.
func (d *decoder) attributes(to *store.Details) {
	all := map[string]json.RawMessage{}
	d.list(tagAttribute, func() {
		name, kind, n := d.name(), d.element(), d.length()
		if _, twice := all[name]; twice {
			d.fail(fmt.Errorf("two attributes have the name %.80q", name))
		}
		item := int64(max(types[kind].Size(), 1))
		if n > d.left/item {
			d.fail(errCut)
		}
		if d.err != nil {
			return
		}
		b := d.padded(n * item)
		if kind != char && n > maxAttribute {
			to.Unread = append(to.Unread, name)
			return
		}
		var value any = strings.ToValidUTF8(strings.TrimRight(string(b), "\x00"), "?")
		if kind != char {
			list := make([]any, 0, n)
			for ; len(b) > 0 && d.err == nil; b = b[item:] {
				list = append(list, storage.Finite(storage.Number(types[kind], b, true)))
			}
			if value = list; n == 1 {
				value = list[0]
			}
			if to.AttributeTypes == nil {
				to.AttributeTypes = map[string]dtype.Type{}
			}
			to.AttributeTypes[name] = types[kind]
		}
		text, err := json.Marshal(value)
		all[name] = text
		d.fail(err)
		d.fail(d.room(4 * int64(len(text))))
	})
	if len(all) > 0 && d.err == nil {
		to.Attributes, d.err = json.Marshal(all)
	}
}

// measure adds up what a record has.
func (h *header) measure() error {
	recorded, last := 0, int64(0)
	for i := range h.variables {
		v := &h.variables[i]
		if !v.recorded {
			continue
		}
		item := max(types[v.kind].Size(), 1)
		if err := grid.Check(v.shape[1:], item); err != nil {
			return fmt.Errorf("a record of variable %.80q: %w", v.name, err)
		}
		last = int64(grid.Size(v.shape[1:]) * item)
		if h.stride += (last + 3) &^ 3; h.stride < 0 {
			return errors.New("a record has more bytes than a file can have: the file is damaged")
		}
		recorded++
	}
	if recorded == 1 {
		h.stride = last
	}
	return nil
}
