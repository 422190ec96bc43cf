package hdf5

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// The classes of types.
const (
	classInteger   = 0
	classFloat     = 1
	classString    = 3
	classBitfield  = 4
	classOpaque    = 5
	classCompound  = 6
	classReference = 7
	classEnum      = 8
	classVariable  = 9
	classArray     = 10
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

	inner []int // axes of an array, of whose elements are dtype and big

	names  []string // of an enumeration
	values []byte

	members []member // of a compound that is no complex number
}

// member is a field of a compound.
type member struct {
	name   string
	offset int
	element
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
	case depth > 8:
		return e, errors.New("types that are nested more than eight deep are not supported: write it anew by h5py with fewer")
	}
	e.big = flags&1 != 0
	switch e.class {
	case classInteger, classBitfield:
		offset, precision := int(d.u16()), int(d.u16())
		signed := flags&8 != 0 && e.class == classInteger
		if offset != 0 || precision != 8*e.size {
			if depth > 0 || d.bits == nil || precision < 1 || offset+precision > 8*e.size {
				return e, unsupported(fmt.Sprintf("integers of %d bits in %d bytes are not supported", precision, e.size))
			}
			*d.bits = codec.Bits{At: offset, N: precision, Size: e.size, Signed: signed, Big: e.big}
		}
		if e.dtype = integer(e.size, signed); e.dtype == dtype.Invalid {
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
	case classOpaque:
		d.skip(int(flags & 0xff)) // its tag
	case classArray:
		rank := int(d.u8())
		if version < 3 {
			d.skip(3)
		}
		for range rank {
			e.inner = append(e.inner, int(d.u32()))
		}
		if version < 3 {
			d.skip(4 * rank) // an order of the axes, which says nothing
		}
		var of element
		if of, err = d.element(depth + 1); grid.Check(e.inner, of.size) == nil && e.size == of.size*grid.Size(e.inner) {
			e.dtype, e.big, e.inner = of.dtype, of.big, append(e.inner, of.inner...)
		}
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
		return unsupported(fmt.Sprintf("floats of %d bits with %d of exponent and %d of mantissa are not supported: write them as float64 by h5py", precision, exponent, mantissa))
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

// compound takes the fields of a compound, which is a complex number where they are two floats of one byte order: as h5py writes them.
// A field of a type that is not supported has none, where the next one's place is known.
func (e *element) compound(d *decoder, version uint32, members, depth int) error {
	for range members {
		m := member{name: d.field(version)}
		axes := byte(0)
		if version < 3 {
			m.offset = int(d.u32())
		} else {
			m.offset = int(d.uint(encoded(uint64(e.size))))
		}
		if version == 1 {
			axes = d.u8()
			d.skip(27)
		}
		var err error
		m.element, err = d.element(depth + 1)
		if _, other := errors.AsType[unsupported](err); other && m.class <= classFloat {
			err = nil
		}
		if err != nil {
			return err
		}
		if m.offset < 0 || m.size > e.size || m.offset > e.size-m.size {
			return errCut
		}
		if axes > 0 { // it is an array, as version 1 has them
			m.class, m.dtype = classArray, dtype.Invalid
		}
		e.members = append(e.members, m)
	}
	if len(e.members) != 2 {
		return nil
	}
	re, im := e.members[0], e.members[1]
	names := [2]string{strings.ToLower(re.name), strings.ToLower(im.name)}
	switch known := names == [2]string{"r", "i"} || names == [2]string{"real", "imag"}; {
	case !known || re.class != classFloat || re.dtype == dtype.Invalid || re.dtype != im.dtype || e.size != 2*re.size || re.offset != 0 || im.offset != re.size:
	case re.big != im.big:
		return unsupported("complex numbers whose parts differ in byte order are not supported: h5repack or h5py can write them anew")
	default:
		e.dtype, e.big = map[dtype.Type]dtype.Type{dtype.Float32: dtype.Complex64, dtype.Float64: dtype.Complex128}[re.dtype], re.big
		e.members = nil
	}
	return nil
}

// choose makes the element one of its fields, which may have fields too, and returns where that lies.
func (e *element) choose(field string) (at int, err error) {
	name, rest, more := field, "", false
	for {
		i := slices.IndexFunc(e.members, func(m member) bool { return m.name == name })
		if i >= 0 {
			at, *e = e.members[i].offset, e.members[i].element
			break
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return 0, fmt.Errorf("no field %.80q: its elements have %s", field, e.fields())
		}
		name, rest, more = field[:dot], field[dot+1:], true
	}
	if more {
		inner, err := e.choose(rest)
		return at + inner, err
	}
	return at, nil
}

// fields lists the names of the fields.
func (e *element) fields() string {
	var names []string
	for _, m := range e.members {
		names = append(names, m.name)
	}
	return storage.QuoteNames("field", names)
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
	if e.dtype == dtype.Invalid || e.inner != nil {
		return nil
	}
	return storage.Number(e.dtype, b, e.big)
}
