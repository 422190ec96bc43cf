package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ulikunitz/xz/lzma"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// The filters of elements that numcodecs has (numcodecs.readthedocs.io), for reading: they say of which type the elements are that they take, and of which
// those that they make. Zarr v2 lists them before the compressor, zarr-python's v3 before bytes. Results are NumPy's, bit for bit.

// element is how an element lies.
type element struct {
	t   dtype.Type
	big bool
}

// parseElement reads a type as NumPy writes it: <f4, |b1, <M8[ns], float32.
func parseElement(text string) (element, error) {
	for _, t := range dtype.All() {
		kind := map[dtype.Kind]string{dtype.KindBool: "b", dtype.KindInt: "i", dtype.KindUint: "u", dtype.KindFloat: "f", dtype.KindComplex: "c"}[t.Kind()]
		code := kind + strconv.Itoa(t.Size())
		switch name := strings.TrimLeft(text, "<>=|"); {
		case t == dtype.BFloat16 && name != t.String():
		case name == code, name == t.String(), t == dtype.Int64 && len(name) > 2 && (name[:2] == "M8" || name[:2] == "m8"):
			return element{t, text[0] == '>'}, nil
		}
	}
	return element{}, fmt.Errorf("elements of type %q are not supported", text)
}

// swap changes elements between their order of bytes and the machine's.
func (e element) swap(b []byte) {
	if width := e.t.Part().Size(); e.big && width > 1 {
		kernel.Swap(b, width)
	}
}

// elementwise is one of these filters.
type elementwise struct {
	unwritten
	name          string
	configuration json.RawMessage
	stored, made  element
	undo          func(n int, dst, src []byte) // in the machine's order of bytes
}

func (e *elementwise) text() string                           { return e.name }
func (e *elementwise) v3() json.RawMessage                    { return configured("numcodecs."+e.name, e.configuration) }
func (e *elementwise) decoder(int64, []byte) (decoder, error) { return e, nil }

func (e *elementwise) bound(n int64) int64 {
	size := int64(e.made.t.Size())
	return (n + size - 1) / size * int64(e.stored.t.Size())
}

func (e *elementwise) decode(dst, src []byte) (int, error) {
	n, size := len(src)/e.stored.t.Size(), e.made.t.Size()
	switch {
	case len(src)%e.stored.t.Size() != 0:
		return 0, fmt.Errorf("%d bytes are no whole number of %s", len(src), e.stored.t)
	case n > len(dst)/size:
		return 0, errLarge
	}
	dst = dst[:n*size]
	e.stored.swap(src)
	e.undo(n, dst, src)
	e.made.swap(dst)
	return len(dst), nil
}

// parseElementwise reads the configuration of such a filter, for elements of a type; nil of another name.
func parseElementwise(name string, raw json.RawMessage, t element) (*elementwise, error) {
	var c struct {
		DType       *string  `json:"dtype"`
		AsType      *string  `json:"astype"`
		EncodeDType *string  `json:"encode_dtype"`
		DecodeDType *string  `json:"decode_dtype"`
		Scale       *float64 `json:"scale"`
		Offset      *float64 `json:"offset"`
	}
	define, ok := elementwiseOf[name]
	if !ok {
		return nil, nil
	}
	var all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &c), json.Unmarshal(raw, &all)); err != nil {
		return nil, err
	}
	delete(all, "id")
	e := &elementwise{name: name, configuration: marshal(all), made: t}
	read := func(to *element, text *string) (err error) {
		if text != nil {
			*to, err = parseElement(*text)
		}
		return err
	}
	if err := errors.Join(read(&e.made, c.DType), read(&e.made, c.DecodeDType)); err != nil {
		return nil, err
	}
	e.stored = e.made
	if err := errors.Join(read(&e.stored, c.AsType), read(&e.stored, c.EncodeDType)); err != nil {
		return nil, err
	}
	if name == "fixedscaleoffset" && (c.Scale == nil || c.Offset == nil) {
		return nil, errors.New("it has no scale or no offset")
	}
	cast, ok := kernel.Cast(e.stored.t, e.made.t)
	if ok {
		ok = define(e, func(n int, dst, src []byte) { cast(n, dst, src, nil, nil) }, c.Scale, c.Offset)
	}
	if !ok {
		return nil, fmt.Errorf("from %s to %s it is not supported", e.stored.t, e.made.t)
	}
	return e, nil
}

// elementwiseOf has the filters by their names in numcodecs. Each is given a conversion from what is stored, and tells whether there is such a filter.
var elementwiseOf = map[string]func(e *elementwise, cast func(n int, dst, src []byte), scale, offset *float64) bool{
	"astype": func(e *elementwise, cast func(int, []byte, []byte), _, _ *float64) bool { e.undo = cast; return true },
	// What rounds does so as it is written.
	"bitround": func(e *elementwise, cast func(int, []byte, []byte), _, _ *float64) bool { e.undo = cast; return true },
	"quantize": func(e *elementwise, cast func(int, []byte, []byte), _, _ *float64) bool { e.undo = cast; return true },
	"delta": func(e *elementwise, cast func(int, []byte, []byte), _, _ *float64) bool {
		part := e.made.t.Part()
		apart, sum := e.made.t.Size()/part.Size(), sums[part]
		e.undo = func(n int, dst, src []byte) {
			cast(n, dst, src)
			sum(dst, apart)
		}
		return sum != nil
	},
	"fixedscaleoffset": func(e *elementwise, _ func(int, []byte, []byte), scale, offset *float64) bool {
		of := dtype.Float64 // as NumPy divides integers
		if e.stored.t.Kind() == dtype.KindFloat {
			of = e.stored.t
		}
		unscale := unscales[of]
		from, ok := kernel.Cast(e.stored.t, of)
		to, done := kernel.Cast(of, e.made.t)
		e.undo = func(n int, dst, src []byte) {
			var block [512]float64
			b := dtype.Bytes(block[:])
			for at := 0; at < n; at += len(block) {
				k := min(n-at, len(block))
				from(k, b, src[at*e.stored.t.Size():], nil, nil)
				unscale(b[:k*of.Size()], *scale, *offset)
				to(k, dst[at*e.made.t.Size():], b, nil, nil)
			}
		}
		return ok && done && unscale != nil
	},
}

// sums add up elements in place, each to that so many before it.
var sums = map[dtype.Type]func(b []byte, apart int){
	dtype.Int8: sumOf[uint8], dtype.Int16: sumOf[uint16], dtype.Int32: sumOf[uint32], dtype.Int64: sumOf[uint64],
	dtype.Uint8: sumOf[uint8], dtype.Uint16: sumOf[uint16], dtype.Uint32: sumOf[uint32], dtype.Uint64: sumOf[uint64],
	dtype.Float32: sumOf[float32], dtype.Float64: sumOf[float64],
	dtype.Float16: func(b []byte, apart int) {
		all := dtype.Slice[dtype.Float16Bits](b)
		for i := apart; i < len(all); i++ {
			all[i] = dtype.ToFloat16(all[i].Float32() + all[i-apart].Float32())
		}
	},
}

func sumOf[T uint8 | uint16 | uint32 | uint64 | float32 | float64](b []byte, apart int) {
	all := dtype.Slice[T](b)
	accumulate(all, len(all), apart)
}

// unscales divide by a scale and add an offset, in the arithmetic of a type.
var unscales = map[dtype.Type]func(b []byte, scale, offset float64){
	dtype.Float64: unscaleOf[float64], dtype.Float32: unscaleOf[float32],
	dtype.Float16: func(b []byte, scale, offset float64) {
		s, o := dtype.ToFloat16(float32(scale)).Float32(), dtype.ToFloat16(float32(offset)).Float32()
		for i, x := range dtype.Slice[dtype.Float16Bits](b) {
			dtype.Slice[dtype.Float16Bits](b)[i] = dtype.ToFloat16(dtype.ToFloat16(x.Float32()/s).Float32() + o)
		}
	},
}

func unscaleOf[T float32 | float64](b []byte, scale, offset float64) {
	all := dtype.Slice[T](b)
	for i, x := range all {
		quotient := x / T(scale)
		all[i] = quotient + T(offset)
	}
}

// packBits is numcodecs' filter of that name: eight bools a byte, the first in the highest bit, behind the number of bits that the last byte has too many.
type packBits struct{ unwritten }

func (packBits) text() string                             { return "packbits" }
func (packBits) v3() json.RawMessage                      { return configured("numcodecs.packbits", struct{}{}) }
func (packBits) bound(n int64) int64                      { return 1 + (n+7)/8 }
func (p packBits) decoder(int64, []byte) (decoder, error) { return p, nil }

func (packBits) decode(dst, src []byte) (int, error) {
	if len(src) == 0 {
		return 0, ErrShort
	}
	n := 8*(len(src)-1) - int(src[0])
	switch {
	case n > len(dst):
		return 0, errLarge
	case n < 0 || src[0] > 7:
		return 0, fmt.Errorf("the last byte has %d bits too many", src[0])
	}
	unpackBits(dst[:n], src[1:], 1)
	return n, nil
}

// unpackBits gives each element so many bits, of which the first is the highest.
func unpackBits(dst, src []byte, bits int) {
	for i := range dst {
		at := i * bits
		dst[i] = src[at/8] >> (8 - bits - at%8) & (1<<bits - 1)
	}
}

// lzmaFilter is LZMA as numcodecs and TIFF have it, for reading.
type lzmaFilter struct {
	unwritten
	form int // Python's lzma.FORMAT_AUTO, FORMAT_XZ, FORMAT_ALONE or FORMAT_RAW
}

func parseLZMA(raw json.RawMessage) (filter, error) {
	var c struct {
		Format  *int `json:"format"`
		Filters []struct {
			ID int `json:"id"`
		} `json:"filters"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	l := &lzmaFilter{form: 1}
	if c.Format != nil {
		l.form = *c.Format
	}
	const lzma2 = 0x21
	if l.form < 0 || l.form > 3 || l.form == 3 && (len(c.Filters) != 1 || c.Filters[0].ID != lzma2) {
		return nil, fmt.Errorf("format %d with filters %v is not supported: raw data are read of the filter LZMA2 alone", l.form, c.Filters)
	}
	return l, nil
}

func (*lzmaFilter) text() string { return "lzma" }
func (l *lzmaFilter) v3() json.RawMessage {
	return configured("numcodecs.lzma", map[string]int{"format": l.form})
}
func (*lzmaFilter) bound(n int64) int64                      { return n + n/16 + 1024 }
func (l *lzmaFilter) decoder(int64, []byte) (decoder, error) { return l, nil }

// decodeMemory has the library's dictionary and tables, twice: one in use and one not collected yet.
func (*lzmaFilter) decodeMemory(n int64) memory {
	const tables = 512 << 10
	return memory{heap: 2 * (dictionary(n) + tables)}
}

// dictionary is the least that LZMA takes for n bytes, whatever its header says: no repetition goes farther back.
func dictionary(n int64) int64 { return max(n, lzma.MinDictCap) }

func (l *lzmaFilter) decode(dst, src []byte) (int, error) {
	form, most := l.form, int(min(dictionary(int64(len(dst))), lzma.MaxDictCap))
	if form == 0 {
		if form = 2; bytes.HasPrefix(src, []byte(xzMagic)) {
			form = 1
		}
	}
	if form == 1 {
		return unxz(dst, src, most)
	}
	mem := memoryReader(src)
	var r io.Reader
	var err error
	switch form {
	case 2:
		if len(src) < lzma.HeaderLen {
			return 0, ErrShort
		}
		if size := binary.LittleEndian.Uint32(src[1:]); int64(size) > int64(most) {
			binary.LittleEndian.PutUint32(src[1:], uint32(most))
		}
		r, err = lzma.ReaderConfig{DictCap: most}.NewReader(&mem)
	default:
		r, err = lzma.Reader2Config{DictCap: most}.NewReader2(&mem)
	}
	if err != nil {
		return 0, ended(err)
	}
	return readAll(dst, r)
}

const xzMagic = "\xfd7zXZ\x00"

// unxz decodes an xz file (tukaani.org/xz/xz-file-format.txt) of blocks by LZMA2, before which there may be a difference of bytes, as libtiff has it.
func unxz(dst, src []byte, most int) (n int, err error) {
	const header, checkFlag = 12, 7
	if len(src) < header {
		return 0, ErrShort
	}
	if string(src[:len(xzMagic)]) != xzMagic || crc32.ChecksumIEEE(src[6:8]) != binary.LittleEndian.Uint32(src[8:]) {
		return 0, errors.New("it does not begin as an xz file")
	}
	check := src[checkFlag]
	checkBytes, ok := map[byte]int{0: 0, 1: 4, 4: 8, 10: 32}[check]
	if !ok {
		return 0, fmt.Errorf("check %d is not known", check)
	}
	for at := header; ; {
		if at >= len(src) {
			return n, ErrShort
		}
		if src[at] == 0 { // the index
			return n, nil
		}
		distance, size, err := xzBlock(src[at:])
		if err != nil {
			return n, err
		}
		at += size
		mem := memoryReader(src[at:])
		r, err := lzma.Reader2Config{DictCap: most}.NewReader2(&mem)
		if err != nil {
			return n, ended(err)
		}
		k, err := readAll(dst[n:], r)
		if err != nil {
			return n, err
		}
		block := dst[n : n+k]
		for i := distance; distance > 0 && i < k; i++ {
			block[i] += block[i-distance]
		}
		n += k
		at = (len(src) - len(mem) + 3) &^ 3
		if at+checkBytes > len(src) {
			return n, ErrShort
		}
		good := true
		switch sum := src[at : at+checkBytes]; check {
		case 1:
			good = crc32.ChecksumIEEE(block) == binary.LittleEndian.Uint32(sum)
		case 4:
			good = crc64.Checksum(block, crc64.MakeTable(crc64.ECMA)) == binary.LittleEndian.Uint64(sum)
		case 10:
			good = sha256.Sum256(block) == [32]byte(sum)
		}
		if !good {
			return n, errors.New("the checksum of a block is another: the data are damaged")
		}
		at += checkBytes
	}
}

// xzBlock reads the header of a block, of so many bytes: the distance of its difference, 0 for none.
func xzBlock(src []byte) (distance, size int, err error) {
	size = 4 * (int(src[0]) + 1)
	if size > len(src) {
		return 0, 0, ErrShort
	}
	head := src[:size-4]
	if crc32.ChecksumIEEE(head) != binary.LittleEndian.Uint32(src[size-4:]) {
		return 0, 0, errors.New("the checksum of a block's header is another: the data are damaged")
	}
	rest := head[2:]
	number := func() (v uint64) {
		v, n := binary.Uvarint(rest)
		rest = rest[max(n, 0):]
		return v
	}
	for _, bit := range []byte{0x40, 0x80} { // the block's sizes
		if head[1]&bit != 0 {
			number()
		}
	}
	const delta, lzma2 = 3, 0x21
	for filters := int(head[1]&3) + 1; filters > 0; filters-- {
		id, length := number(), number()
		switch {
		case length != 1 || len(rest) == 0:
			return 0, 0, fmt.Errorf("its filter %#x is not supported", id)
		case id == delta && filters == 2 && distance == 0:
			distance = int(rest[0]) + 1
		case id != lzma2 || filters != 1:
			return 0, 0, fmt.Errorf("its filter %#x is not supported", id)
		}
		rest = rest[1:]
	}
	return distance, size, nil
}

// numcodecNames are the codecs of numcodecs that are read.
func numcodecNames() string {
	names := []string{"zstd", "gzip", "zlib", "blosc", "lz4", "lzma", "bz2", "packbits", "shuffle", "crc32c", "crc32", "adler32"}
	for name := range elementwiseOf {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ") + " and fletcher32"
}
