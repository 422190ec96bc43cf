package hdf5

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/store"
)

// What is written is what HDF5 1.8 and everything after it reads: a superblock of version 2, object headers of version 2, and chunks in a
// B-tree of version 1. Addresses and lengths have eight bytes.

var le = binary.LittleEndian

// pack puts numbers behind each other, each with as many bytes as its type has.
func pack(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case byte:
			b = append(b, p)
		case uint16:
			b = le.AppendUint16(b, p)
		case uint32:
			b = le.AppendUint32(b, p)
		case uint64:
			b = le.AppendUint64(b, p)
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		}
	}
	return b
}

// summed is a block with its checksum.
func summed(b []byte) []byte { return le.AppendUint32(b, lookup3(b)) }

// datatype is a type of elements as a file has it.
func datatype(t dtype.Type) []byte {
	size := uint32(t.Size())
	switch t.Kind() {
	case dtype.KindBool: // as h5py writes it
		return pack(byte(0x30|classEnum), byte(2), uint16(0), uint32(1), datatype(dtype.Int8), "FALSE\x00TRUE\x00", byte(0), byte(1))
	case dtype.KindInt:
		return integerType(size, 8)
	case dtype.KindUint:
		return integerType(size, 0)
	case dtype.KindComplex:
		part := dtype.Float32
		if t == dtype.Complex128 {
			part = dtype.Float64
		}
		return pack(byte(0x30|classCompound), byte(2), uint16(0), size, "r\x00", byte(0), datatype(part), "i\x00", byte(size/2), datatype(part))
	}
	for bits, of := range floats {
		if of == t {
			return pack(byte(0x10|classFloat), byte(0x20), byte(8*size-1), byte(0), size, uint16(0), uint16(8*size),
				bits[1], bits[0], byte(0), bits[1], uint32(1)<<(bits[0]-1)-1)
		}
	}
	return nil
}

func integerType(size uint32, sign byte) []byte {
	return pack(byte(0x10|classInteger), sign, uint16(0), size, uint16(0), uint16(8*size))
}

var (
	textType      = pack(byte(0x10|classVariable), byte(1), byte(1), byte(0), uint32(16), integerType(1, 0)) // of any length, UTF-8
	referenceType = pack(byte(0x10|classReference), byte(0), uint16(0), uint32(8))
	listsType     = pack(byte(0x10|classVariable), byte(0), uint16(0), uint32(16), referenceType)
	backType      = pack(byte(0x30|classCompound), byte(2), uint16(0), uint32(16), "dataset\x00", byte(0), referenceType, "dimension\x00", byte(8), integerType(4, 8))
)

// fixedText is the type of a text of n bytes, which end with a zero.
func fixedText(n int) []byte { return pack(byte(0x10|classString), byte(0), uint16(0), uint32(n)) }

// space is a dataspace; nil is that of one element.
func space(shape []int) []byte {
	b := pack(byte(2), byte(len(shape)), byte(0), byte(min(len(shape), 1)))
	for _, n := range shape {
		b = le.AppendUint64(b, uint64(n))
	}
	return b
}

// heaps are the global heaps of a file, for what has no fixed length. at are their addresses, as far as these are known.
type heaps struct {
	at    []uint64
	parts [][]byte
	count uint16 // of objects in the last
}

// heapBytes is how long a heap becomes before the next begins.
const heapBytes = 1 << 20

// add returns what refers to an object, after its length.
func (h *heaps) add(data []byte) []byte {
	if len(h.parts) == 0 || h.count == math.MaxUint16-1 || len(h.parts[len(h.parts)-1]) > heapBytes {
		h.parts, h.count = append(h.parts, nil), 0
	}
	i := len(h.parts) - 1
	h.count++
	p := pack(h.parts[i], h.count, uint16(0), uint32(0), uint64(len(data)), data)
	h.parts[i] = append(p, make([]byte, -len(data)&7)...)
	var at uint64
	if i < len(h.at) {
		at = h.at[i]
	}
	return pack(at, uint32(h.count))
}

// collection is a heap with its head, and at its end what is free.
func collection(objects []byte) []byte {
	const least = 4096
	size := max(16+len(objects)+16, least)
	b := pack("GCOL", byte(1), byte(0), uint16(0), uint64(size), objects, uint16(0), uint16(0), uint32(0), uint64(size-16-len(objects)))
	return append(b, make([]byte, size-len(b))...)
}

// newAttribute is an attribute that is written.
type newAttribute struct {
	name  string
	kind  []byte
	shape []int
	data  []byte
	raw   []byte // the message of one that is taken over from an old object
}

// maxMessage is the most bytes that a message of an object's header has.
const maxMessage = math.MaxUint16

func (a newAttribute) message() []byte {
	if a.raw != nil {
		return a.raw
	}
	dims := space(a.shape)
	return pack(byte(3), byte(0), uint16(len(a.name)+1), uint16(len(a.kind)), uint16(len(dims)), byte(1), a.name, byte(0), a.kind, dims, a.data)
}

// attributesOf are the attributes of an array of a type, or of a group, for which that is Invalid. What JSON has and HDF5 does not, null and
// objects, is a text in JSON; of NetCDF, so are lists of lists.
func attributesOf(of store.Details, t dtype.Type, netcdf bool, h *heaps) (all []newAttribute, err error) {
	if len(of.Attributes) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(of.Attributes))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("attributes: they are not a JSON object")
	}
	for d.More() {
		name, err := d.Token()
		var raw json.RawMessage
		if err == nil {
			err = d.Decode(&raw)
		}
		if err != nil {
			return nil, fmt.Errorf("attributes: %w", err)
		}
		a := newAttribute{name: name.(string)} // the decoder takes nothing else
		if a.name == "" || strings.Contains(a.name, "\x00") || len(a.name) > 1<<12 {
			return nil, fmt.Errorf("HDF5 has no attribute of the name %.80q", a.name)
		}
		known := of.AttributeTypes[a.name]
		marker, marks := markerOf(a.name, raw, t)
		if known != dtype.Invalid || !marks {
			a.set(raw, known, netcdf, h)
			marks = marks && !bytes.Equal(a.kind, datatype(known))
		}
		if marks {
			a.kind, a.shape, a.data = datatype(t), []int{1}, marker
		}
		if len(a.message()) > maxMessage {
			return nil, fmt.Errorf("attribute %.80q has %d bytes, and numbers in attributes of HDF5 have at most 64 KiB: leave it out, or save it as an array", a.name, len(a.data))
		}
		if !slices.Contains(ownNames, a.name) {
			all = append(all, a)
		}
	}
	return all, nil
}

// ownNames are attributes that HDF5 says dimensions by.
var ownNames = []string{"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}

// Changes says what attributes become that the format does not hold as they are.
func (x format) Changes(file string, d store.Details) map[string]string {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(d.Attributes, &all) // what is no object has none
	changed := map[string]string{}
	for name, raw := range all {
		var a newAttribute
		switch a.set(raw, dtype.Invalid, isNetCDF(file), &heaps{}); {
		case slices.Contains(ownNames, name):
			changed[name] = "names that HDF5 has for itself, which are left out"
		case a.shape == nil && bytes.ContainsAny(raw[:1], "[{n"):
			changed[name] = "objects, null, lists of several types and lists of lists, which are texts in JSON there"
		case slices.Equal(a.shape, []int{1}):
			changed[name] = "lists of one, which NetCDF does not tell from one element"
		}
	}
	return changed
}

// markerOf is an attribute of which CF wants the type of the elements.
func markerOf(name string, raw json.RawMessage, t dtype.Type) ([]byte, bool) {
	if t == dtype.Invalid || name != "_FillValue" && name != "missing_value" {
		return nil, false
	}
	if t.Kind() != dtype.KindComplex {
		raw = bytes.Trim(raw, "[] ")
	}
	return zarr.ParseMarker(raw, t)
}

// set takes a value: a number, a text, or a list of either; lists of lists of one length are arrays of numbers, of the type that is known where
// it holds them.
func (a *newAttribute) set(raw json.RawMessage, known dtype.Type, netcdf bool, h *heaps) {
	var flat []json.RawMessage
	var walk func(v json.RawMessage, depth int) bool
	walk = func(v json.RawMessage, depth int) bool {
		var list []json.RawMessage
		if v[0] != '[' {
			flat = append(flat, v)
			return depth == len(a.shape)
		}
		if json.Unmarshal(v, &list) != nil {
			return false
		}
		if depth == len(a.shape) {
			if flat != nil {
				return false
			}
			a.shape = append(a.shape, len(list))
		}
		if len(list) != a.shape[depth] {
			return false
		}
		for _, v := range list {
			if !walk(v, depth+1) {
				return false
			}
		}
		return true
	}
	if !walk(raw, 0) || len(a.shape) > 32 || netcdf && len(a.shape) > 1 { // with which the library of NetCDF opens no file
		a.shape, flat = nil, []json.RawMessage{raw}
	}
	if a.numbers(flat, known) {
		return
	}
	texts := make([]string, len(flat))
	for i, v := range flat {
		if json.Unmarshal(v, &texts[i]) != nil || v[0] != '"' { // in JSON
			a.shape, texts = nil, []string{string(raw)}
			break
		}
	}
	a.kind = textType
	for _, text := range texts {
		if text == "" {
			a.data = append(a.data, make([]byte, 16)...)
			continue
		}
		a.data = pack(a.data, uint32(len(text)), h.add([]byte(text)))
	}
}

// numbers takes numbers and bools, the latter as int8.
func (a *newAttribute) numbers(all []json.RawMessage, known dtype.Type) bool {
	words := map[string]float64{`"\u004eaN"`: math.NaN(), `"\u0049nfinity"`: math.Inf(1), `"-\u0049nfinity"`: math.Inf(-1)}
	kinds := map[string]bool{}
	var ints []int64
	var uints []uint64
	var reals []float64
	for _, v := range all {
		x, word := words[string(v)]
		var i int64
		var u uint64
		var b bool
		switch {
		case word:
			kinds["float"] = true
		case json.Unmarshal(v, &b) == nil && (v[0] == 't' || v[0] == 'f'):
			if kinds["bool"] = true; b {
				i = 1
			}
		case v[0] != '-' && (v[0] < '0' || v[0] > '9'):
			return false
		case json.Unmarshal(v, &i) == nil:
			u = uint64(i)
			x, kinds["int"] = float64(i), true
			if i < 0 {
				kinds["negative"] = true
			}
		case json.Unmarshal(v, &u) == nil:
			x, kinds["uint"] = float64(u), true
		case json.Unmarshal(v, &x) == nil:
			kinds["float"] = true
		default:
			return false
		}
		ints, uints, reals = append(ints, i), append(uints, u), append(reals, x)
	}
	if kinds["bool"] && len(kinds) > 1 {
		return false
	}
	var t dtype.Type
	switch {
	case kinds["bool"]:
		t = dtype.Int8
	case kinds["float"] || len(all) == 0 || kinds["uint"] && kinds["negative"]:
		t = dtype.Float64
	case kinds["uint"]:
		t = dtype.Uint64
	default:
		t = dtype.Int64
	}
	if known != dtype.Invalid && known != dtype.Bool {
		if _, fits := elements(known, ints, uints, reals); fits {
			t = known
		}
	}
	a.data, _ = elements(t, ints, uints, reals)
	a.kind = datatype(t)
	return true
}

// elements are numbers as a type has them, and whether it has them all. Those that are no integers of 64 bits are 0 in ints or uints.
func elements(t dtype.Type, ints []int64, uints []uint64, reals []float64) (data []byte, exact bool) {
	exact = true
	for i, x := range reals {
		var v uint64
		var is bool
		bits := 8 * t.Size()
		switch t {
		case dtype.Float32:
			v, is = uint64(math.Float32bits(float32(x))), x != x || float64(float32(x)) == x
		case dtype.Float64:
			v, is = math.Float64bits(x), true
		default:
			if t.Kind() == dtype.KindInt {
				v, is = uint64(ints[i]), float64(ints[i]) == x && ints[i]<<(64-bits)>>(64-bits) == ints[i]
			} else {
				v, is = uints[i], float64(uints[i]) == x && uints[i]<<(64-bits)>>(64-bits) == uints[i]
			}
		}
		exact = exact && is
		data = append(data, le.AppendUint64(nil, v)[:t.Size()]...)
	}
	return data, exact
}

// header is an object's header; or, for an object that replaces another, the block that continues a header.
func header(messages []message, continues bool) ([]byte, error) {
	var body []byte
	attributes := 0
	for _, m := range messages {
		if len(m.body) > maxMessage {
			return nil, fmt.Errorf("a part of its header has %d bytes, and HDF5 has room for 64 KiB", len(m.body))
		}
		body = pack(body, byte(m.kind), uint16(len(m.body)), byte(0), uint16(attributes), m.body)
		if m.kind == msgAttribute {
			attributes++
		}
	}
	if continues {
		return summed(pack("OCHK", body)), nil
	}
	return summed(pack("OHDR", byte(2), byte(headerFlags|2), uint32(len(body)), body)), nil
}

// headerFlags say that attributes have an order: that in which they were made.
const headerFlags = 0x0c

// stub is what stands at the address of an object that is replaced, so that all that refers to it finds the new one.
func stub(at, size uint64) []byte {
	return summed(pack("OHDR", byte(2), byte(headerFlags), byte(22), byte(msgContinuation), uint16(16), byte(0), uint16(0), at, size))
}

// filtersMessage is the pipeline that chunks went through.
func filtersMessage(all []filter) []byte {
	b := pack(byte(2), byte(len(all)))
	for _, f := range all {
		b = le.AppendUint16(b, uint16(f.id))
		if f.id >= 256 {
			b = le.AppendUint16(b, 0)
		}
		b = pack(b, uint16(0), uint16(len(f.values)))
		for _, v := range f.values {
			b = le.AppendUint32(b, v)
		}
	}
	return b
}

// details are those of an array, as readers of HDF5 and NetCDF want them.
func (n *output) attributes(h *heaps) ([]newAttribute, error) {
	all, err := attributesOf(n.meta.Details, n.meta.DType, n.netcdf, h)
	if err != nil {
		return nil, err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(a newAttribute) bool { return a.name == name })
	}
	if n.meta.Details.Marks && n.meta.Details.Fill != "" && !has("_FillValue") {
		all = append(all, newAttribute{name: "_FillValue", kind: datatype(n.meta.DType), shape: []int{1}, data: n.chunks.Fill()})
	}
	if n.netcdf && n.meta.DType == dtype.Bool && !has("dtype") { // as xarray marks it
		a := newAttribute{name: "dtype"}
		a.set(json.RawMessage(`"bool"`), dtype.Invalid, true, h)
		all = append(all, a)
	}
	return all, nil
}

// checkType rejects elements that readers of the format do not have.
func checkType(t dtype.Type, netcdf bool) error {
	switch {
	case t == dtype.Invalid:
		return fmt.Errorf("no dtype is given")
	case t == dtype.BFloat16 || datatype(t) == nil:
		return fmt.Errorf("readers of HDF5 have no %s: cast it to float32, or save to NAME.zarr", t)
	case netcdf && t == dtype.Float16:
		return fmt.Errorf("NetCDF has no %s: cast it to float32, or save to NAME.h5", t)
	case netcdf && t.Kind() == dtype.KindComplex:
		return fmt.Errorf("NetCDF has no %s: save the real and the imaginary part, or to NAME.h5", t)
	}
	return nil
}

// checkDetails rejects what a file cannot hold, before anything is written.
func checkDetails(d store.Details, shape []int, t dtype.Type, netcdf bool) error {
	if d.Dims != nil && len(d.Dims) != len(shape) {
		return fmt.Errorf("%d dimension names for %d dimensions", len(d.Dims), len(shape))
	}
	for _, dim := range d.Dims {
		if err := checkName(dim); dim != "" && err != nil {
			return fmt.Errorf("dimension %.80q: %w", dim, err)
		}
	}
	_, err := attributesOf(d, t, netcdf, &heaps{})
	return err
}

// checkName rejects a name that a link cannot have.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 1<<10 {
		return fmt.Errorf("no object of HDF5 can have this name")
	}
	return nil
}
