package hdf5

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// The classes of types.
const (
	classInteger   = 0
	classFloat     = 1
	classString    = 3
	classBitfield  = 4
	classCompound  = 6
	classReference = 7
	classEnum      = 8
	classVariable  = 9
)

var classNames = [...]string{"integers", "floats", "times", "strings", "bit fields", "opaque bytes", "compounds", "references", "enumerations", "values of variable length", "arrays", "complex numbers"}

// element is the type of an array's elements, or an attribute's.
type element struct {
	class int
	size  int
	big   bool
	dtype dtype.Type // Invalid where there is none
	of    *element   // of a variable length or an enumeration
	text  bool       // a variable length is one of text
	pad   byte       // what follows a text: 0 is a zero and anything, 1 are zeros, 2 spaces

	names  []string // of an enumeration
	values []byte
}

// unsupported is the error of a type that this package does not know.
type unsupported string

func (e unsupported) Error() string { return string(e) }

// element takes a datatype. Types in types are few.
func (d *decoder) element(depth int) (e element, err error) {
	head := d.u32()
	e.class, e.size = int(head&15), int(d.u32())
	version, flags := head>>4&15, head>>8
	switch {
	case d.err != nil || e.size == 0 || version < 1:
		return e, errCut
	case version > 5:
		return e, unsupported(fmt.Sprintf("types of version %d are not supported", version))
	case depth > 4:
		return e, unsupported("types that are nested more than four deep are not supported")
	}
	e.big = flags&1 != 0
	switch e.class {
	case classInteger, classBitfield:
		offset, precision := d.u16(), int(d.u16())
		if offset != 0 || precision != 8*e.size {
			return e, unsupported(fmt.Sprintf("integers of %d bits in %d bytes are not supported", precision, e.size))
		}
		if e.dtype = integer(e.size, flags&8 != 0 && e.class == classInteger); e.dtype == dtype.Invalid {
			return e, unsupported(fmt.Sprintf("integers of %d bytes are not supported", e.size))
		}
	case classFloat:
		err = e.float(d, flags)
	case classString:
		e.pad = byte(flags & 15)
	case classCompound:
		err = e.compound(d, version, int(flags&0xffff), depth)
	case classEnum:
		err = e.enum(d, version, int(flags&0xffff), depth)
	case classVariable:
		var of element
		e.text = flags&15 == 1
		of, err = d.element(depth + 1)
		e.of = &of
	}
	return e, cmp.Or(d.err, err)
}

func integer(size int, signed bool) dtype.Type {
	unsigned := map[int]dtype.Type{1: dtype.Uint8, 2: dtype.Uint16, 4: dtype.Uint32, 8: dtype.Uint64}
	if signed {
		return map[int]dtype.Type{1: dtype.Int8, 2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64}[size]
	}
	return unsigned[size]
}

// floats are the forms of floats by exponent's and mantissa's bits.
var floats = map[[2]byte]dtype.Type{{5, 10}: dtype.Float16, {8, 7}: dtype.BFloat16, {8, 23}: dtype.Float32, {11, 52}: dtype.Float64}

func (e *element) float(d *decoder, flags uint32) error {
	offset, precision := d.u16(), int(d.u16())
	exponentAt, exponent, mantissaAt, mantissa := d.u8(), d.u8(), d.u8(), d.u8()
	bias := d.u32()
	t, ok := floats[[2]byte{exponent, mantissa}]
	if !ok || t.Size() != e.size || offset != 0 || precision != 8*e.size || mantissaAt != 0 || exponentAt != mantissa ||
		bias != 1<<(exponent-1)-1 || flags>>8&0xff != uint32(8*e.size-1) || flags&0x40 != 0 || flags>>4&3 != 2 {
		return unsupported(fmt.Sprintf("floats of %d bits with %d of exponent and %d of mantissa are not supported", precision, exponent, mantissa))
	}
	e.dtype = t
	return nil
}

// field takes the name of a member.
func (d *decoder) field(version uint32) string {
	at := d.at
	name := d.text()
	if version < 3 {
		d.skip(-(d.at - at) & 7)
	}
	return name
}

// compound takes a compound, which is a complex number where its two members are floats of one byte
// order: as h5py writes them.
func (e *element) compound(d *decoder, version uint32, members, depth int) error {
	if members != 2 {
		return nil
	}
	var parts [2]element
	var names [2]string
	for i := range parts {
		names[i] = strings.ToLower(d.field(version))
		offset, axes := 0, byte(0)
		if version < 3 {
			offset = int(d.u32())
		} else {
			offset = int(d.uint(encoded(uint64(e.size))))
		}
		if version == 1 {
			axes = d.u8()
			d.skip(27)
		}
		part, err := d.element(depth + 1)
		if err != nil {
			return err
		}
		if parts[i] = part; offset != i*part.size || axes != 0 || part.class != classFloat {
			return nil
		}
	}
	re, im := parts[0], parts[1]
	switch known := names == [2]string{"r", "i"} || names == [2]string{"real", "imag"}; {
	case !known || re.dtype != im.dtype || e.size != 2*re.size:
	case re.big != im.big:
		return unsupported("complex numbers whose parts differ in byte order are not supported: h5repack or h5py can write them anew")
	default:
		e.dtype, e.big = map[dtype.Type]dtype.Type{dtype.Float32: dtype.Complex64, dtype.Float64: dtype.Complex128}[re.dtype], re.big
	}
	return nil
}

// enum takes an enumeration: bools are one of FALSE and TRUE, as h5py writes them; others are
// their numbers.
func (e *element) enum(d *decoder, version uint32, members, depth int) error {
	of, err := d.element(depth + 1)
	if err != nil {
		return err
	}
	e.dtype, e.big, e.of = of.dtype, of.big, &of
	for range members {
		e.names = append(e.names, d.field(version))
		if d.err != nil {
			return d.err
		}
	}
	if e.values = d.take(members * of.size); of.size != e.size {
		return errCut
	}
	if e.size == 1 && slices.Equal(e.names, []string{"FALSE", "TRUE"}) && slices.Equal(e.values, []byte{0, 1}) {
		e.dtype = dtype.Bool
	}
	return d.err
}

// name says what elements are that have no type here.
func (e *element) name() string {
	if e.text {
		return "strings of variable length"
	}
	if e.class < len(classNames) {
		return classNames[e.class]
	}
	return fmt.Sprintf("elements of class %d", e.class)
}

// swap brings an element into this machine's order, which is little-endian.
func (e *element) swap(b []byte) []byte {
	b = slices.Clone(b)
	part := e.dtype.Size()
	if e.dtype.Kind() == dtype.KindComplex {
		part /= 2
	}
	for i := 0; e.big && i+part <= len(b); i += part {
		slices.Reverse(b[i : i+part])
	}
	return b
}

// value is an element as JSON has it: a number, a bool or a text; nil for others.
func (f *file) value(e element, b []byte) any {
	if len(b) < e.size {
		return nil
	}
	b = b[:e.size]
	switch e.class {
	case classString:
		text := string(b)
		switch e.pad {
		case 0:
			text, _, _ = strings.Cut(text, "\x00")
		case 1:
			text = strings.TrimRight(text, "\x00")
		default:
			text = strings.TrimRight(text, " ")
		}
		return strings.ToValidUTF8(text, "?")
	case classVariable:
		d := &decoder{f: f, b: b}
		n, at, index := d.u32(), d.address(), d.u32()
		if !e.text || d.err != nil {
			return nil
		}
		text, err := f.global(at, index)
		if err != nil || uint64(n) > uint64(len(text)) {
			return nil
		}
		return strings.ToValidUTF8(strings.TrimRight(string(text[:n]), "\x00"), "?")
	}
	if e.dtype == dtype.Invalid || e.size > 8 {
		return nil
	}
	v := dtype.Value{Type: e.dtype}
	var whole [8]byte
	copy(whole[:], e.swap(b))
	v.Lo = binary.LittleEndian.Uint64(whole[:])
	switch {
	case e.dtype == dtype.Bool:
		return v.Lo != 0
	case e.dtype.Kind() == dtype.KindFloat:
		return v.Float()
	case e.dtype.Kind() == dtype.KindInt:
		shift := 64 - 8*e.size
		return int64(v.Lo<<shift) >> shift
	}
	return v.Lo
}
