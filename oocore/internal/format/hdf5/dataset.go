package hdf5

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// dataset is what the header of an array says.
type dataset struct {
	*object
	shape    []int
	element  element
	record   int // bytes of an element as it is stored, of which element may be a field
	field    codec.Field
	fill     []byte // one element as it is stored; nil is zero
	unfilled bool   // what is not stored is anything
	filters  []filter
	details  store.Details
	text     *element // of an array of texts, of which element is a byte
	inner    []int    // axes of elements that are arrays, of which element is one of their elements

	fieldName string // of compounds that are stored, whose field element is; "" for none

	// One of these says where the elements lie.
	compact    []byte
	contiguous *span  // undefined where nothing is stored
	chunks     *index // of chunks
	virtual    *virtual
}

// filter is a step that chunks go through when they are written.
type filter struct {
	id     int
	values []uint32
}

// dataset reads the header of the array at a path, which may also name a variable as NetCDF does, and a field of compounds behind a dot.
func (f *file) dataset(name string) (*dataset, error) {
	s, err := f.fieldOf(name, "")
	for dot := len(name); errors.As(err, new(*missingError)); {
		if dot = strings.LastIndexByte(name[:dot], '.'); dot <= strings.LastIndexByte(name, '/') {
			break
		}
		of, other := f.fieldOf(name[:dot], name[dot+1:])
		if link, ok := errors.AsType[*linkError](other); ok {
			link.object += name[dot:]
		}
		if !errors.As(other, new(*missingError)) {
			return of, other
		}
	}
	return s, err
}

func (f *file) fieldOf(name, field string) (*dataset, error) {
	o, err := f.lookup(name)
	bare := err == nil && o.isBare()
	if _, missing := errors.AsType[*missingError](err); missing || bare {
		folder, base := path.Split(name)
		if v, err := f.lookup(folder + nonCoordinate + base); err == nil {
			o, bare = v, false
		} else if missing {
			return nil, &missingError{name}
		}
	} else if err != nil {
		return nil, err
	}
	s := &dataset{object: o}
	layout, ok := o.find(msgLayout)
	switch {
	case !ok:
		return nil, &groupError{name}
	case bare:
		return nil, bareError(name)
	}
	if err := s.read(layout, field); err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	return s, nil
}

// bareError is returned for a dimension of which there is no array.
type bareError string

func (e bareError) Error() string {
	return fmt.Sprintf("%q is a dimension without a variable: it has a length and no elements", string(e))
}

func (bareError) Is(target error) bool { return target == fs.ErrNotExist }

func (s *dataset) read(layout []byte, field string) (err error) {
	space, ok := s.find(msgDataspace)
	kind, typed := s.find(msgDatatype)
	if !ok || !typed {
		return errors.New("its shape or type is missing: the file is damaged")
	}
	if s.shape, err = s.decode(space).space(); err != nil {
		return err
	}
	d := s.decode(kind)
	d.bits = &s.field.Bits
	if s.element, err = d.element(0); err != nil {
		return err
	}
	s.record = s.element.size
	if field != "" {
		at, err := s.element.choose(field)
		if err != nil {
			return err
		}
		s.fieldName = field
		s.field = codec.Field{Skip: at, Take: s.element.size, Of: s.record}
	}
	if len(s.element.members) > 0 {
		return fmt.Errorf("its elements have %s: add .FIELD to the name", s.element.fields())
	}
	if e := s.element; s.f.texts && (e.class == classString || e.text) && (len(s.shape) == 1 || len(s.shape) == 2 && s.record == 1) {
		s.text, s.element = &e, element{size: 1, dtype: dtype.Uint8}
		s.inner = []int{s.record}
	} else if e.dtype != dtype.Invalid && e.inner != nil {
		s.inner, s.element.inner, s.element.size = e.inner, nil, e.dtype.Size()
		if err := grid.Check(s.axes(s.shape), s.element.size); err != nil {
			return err
		}
	} else if s.element.dtype == 0 || s.element.dtype.Size() != s.element.size {
		return fmt.Errorf("arrays of %s are not supported, only numbers: write what you need of it to an array of numbers by h5py", s.element.name())
	}
	if err := grid.Check(s.shape, s.record); err != nil {
		return err
	}
	if _, ok := s.find(msgExternal); ok {
		return errors.New("its elements are in raw files beside it (external storage), which is not supported: write it anew by h5repack, or read these as FILE?shape=…&dtype=…")
	}
	if err := s.readFill(); err != nil {
		return err
	}
	if b, ok := s.find(msgFilters); ok {
		if s.filters, err = s.decode(b).filters(); err != nil {
			return err
		}
	}
	if err := s.readLayout(s.decode(layout)); err != nil {
		return err
	}
	if n := s.field.Bits.N; n > 0 && (s.contiguous != nil || s.virtual != nil) {
		return unsupported(fmt.Sprintf("integers of %d bits in %d bytes that are not in chunks are not supported", n, s.record))
	}
	if len(s.filters) > 0 && s.chunks == nil {
		return errors.New("it has filters and no chunks that went through them: the file is damaged")
	}
	return s.readAttributes()
}

// space takes a dataspace. A null one has no elements. Lengths that an array can grow to follow those
// that it has; permutations of the axes, which the format foresaw, are rejected.
func (d *decoder) space() ([]int, error) {
	version, rank, flags := d.u8(), int(d.u8()), d.u8()
	kind := byte(1)
	switch version {
	case 1:
		d.skip(5)
	case 2:
		kind = d.u8()
	default:
		return nil, fmt.Errorf("a dataspace of version %d is not supported", version)
	}
	shape := make([]int, min(rank, 64))
	for i := range shape {
		n := d.length()
		if n > math.MaxInt64 {
			return nil, fmt.Errorf("a length of %d", n)
		}
		shape[i] = int(n)
	}
	switch {
	case rank > 32:
		return nil, fmt.Errorf("%d axes are not supported", rank)
	case version == 1 && flags&2 != 0:
		return nil, errors.New("axes that are stored in an order of their own are not supported")
	case kind > 2 || kind != 1 && rank > 0:
		return nil, errCut
	case kind == 2:
		shape = []int{0}
	}
	for i := range shape {
		if flags&1 != 0 && kind != 2 && d.length() < uint64(shape[i]) {
			return nil, fmt.Errorf("an axis is longer than it can be: %w", errCut)
		}
	}
	return shape, d.err
}

// readFill takes the value of what is not stored, where one was defined.
func (s *dataset) readFill() error {
	if b, ok := s.find(msgFill); ok {
		d := s.decode(b)
		has, written := false, byte(0)
		switch version := d.u8(); version {
		case 1:
			d.skip(2)
			if defined := d.u8() != 0; !defined { // its bytes are there and say nothing
				return d.err
			}
			has = true
		case 2:
			d.skip(1)
			written, has = d.u8(), d.u8() != 0
		case 3:
			flags := d.u8()
			written, has = flags>>2&3, flags&0x20 != 0
		default:
			return fmt.Errorf("a fill value of version %d is not supported", version)
		}
		const never = 1
		s.unfilled = written == never
		if has {
			s.fill = d.take(int(d.u32()))
		}
		if d.err != nil {
			return d.err
		}
	} else if b, ok := s.find(msgOldFill); ok {
		d := s.decode(b)
		if s.fill = d.take(int(d.u32())); d.err != nil {
			return d.err
		}
	}
	if len(s.fill) != 0 && len(s.fill) != s.record {
		return fmt.Errorf("a fill value of %d bytes for elements of %d: the file is damaged", len(s.fill), s.record)
	}
	if s.text != nil {
		s.fill = nil // what is not stored is an empty text
	}
	if len(s.fill) != 0 {
		fill := s.fill[s.field.Skip:]
		s.fill = slices.Clone(fill[:s.element.size])
		if n := s.element.size * max(grid.Size(s.inner), 1); !bytes.Equal(fill[:n], bytes.Repeat(s.fill, n/s.element.size)) {
			return errors.New("a fill value that is an array of different numbers is not supported: write it anew by h5py with one")
		}
		if s.field.Bits.N > 0 {
			s.field.Bits.Widen(s.fill)
		}
	}
	return nil
}

// filters takes a pipeline.
func (d *decoder) filters() (all []filter, err error) {
	version, n := d.u8(), int(d.u8())
	switch version {
	case 1:
		d.skip(6)
	case 2:
	default:
		return nil, fmt.Errorf("filters of version %d are not supported", version)
	}
	for range n {
		f := filter{id: int(d.u16())}
		name := 0
		if version == 1 || f.id >= 256 {
			name = int(d.u16())
		}
		d.skip(2) // whether a writer may leave it out: each chunk says whether it did
		count := int(d.u16())
		if version == 1 {
			name = (name + 7) &^ 7
		}
		d.skip(name)
		for range count {
			f.values = append(f.values, d.u32())
			if d.err != nil {
				return nil, d.err
			}
		}
		if version == 1 && count%2 == 1 {
			d.skip(4)
		}
		all = append(all, f)
	}
	return all, d.err
}

// readLayout takes where the elements lie.
func (s *dataset) readLayout(d *decoder) error {
	switch version := d.u8(); version {
	case 1, 2:
		rank, class := int(d.u8()), d.u8()
		d.skip(5)
		address := uint64(undefined)
		if class != 0 {
			address = d.address()
		}
		lengths := make([]int, rank)
		for i := range lengths {
			lengths[i] = int(d.u32())
		}
		switch class {
		case 0:
			s.compact = d.take(int(d.u32()))
		case 1:
			s.contiguous = &span{address, s.bytes()}
		case 2:
			s.chunks = &index{kind: treeV1, address: address, chunk: lengths}
		default:
			return fmt.Errorf("a layout of class %d is not supported", class)
		}
	case 3, 4, 5:
		switch class := d.u8(); class {
		case 0:
			s.compact = d.take(int(d.u16()))
		case 1:
			s.contiguous = &span{d.address(), s.bytes()}
			if n := d.length(); d.err == nil && n < uint64(s.bytes()) {
				return fmt.Errorf("%d bytes are stored for %d: the file is damaged", n, s.bytes())
			}
		case 2:
			s.chunks = s.chunkIndex(d, version)
		case 3:
			s.virtual = &virtual{address: d.address(), number: d.u32()}
		default:
			return fmt.Errorf("a layout of class %d is not supported", class)
		}
	default:
		return fmt.Errorf("a layout of version %d is not supported", version)
	}
	if d.err != nil {
		return d.err
	}
	if s.compact != nil && int64(len(s.compact)) < s.bytes() {
		return fmt.Errorf("%d bytes are stored for %d: the file is damaged", len(s.compact), s.bytes())
	}
	if s.chunks != nil {
		return s.chunks.check(s)
	}
	if s.virtual != nil {
		return s.readMappings()
	}
	return nil
}

func (s *dataset) bytes() int64 { return int64(grid.Size(s.shape)) * int64(s.record) }

// readAttributes takes the names of dimensions, and the attributes that JSON can hold.
func (s *dataset) readAttributes() error {
	own := s.scale("", true)
	if own != nil {
		own.name = s.f.scales().links[s.address]
	}
	all, dimensions, err := s.attributes(own != nil, &s.details)
	if err != nil {
		return err
	}
	if s.details.Dims = s.dimensions(own, dimensions); s.details.Dims != nil && s.text == nil {
		s.details.Dims = append(s.details.Dims, make([]string, len(s.inner))...)
	}
	e := s.element
	if _, said := all["flag_meanings"]; e.class == classEnum && e.dtype != dtype.Bool && !said && !strings.ContainsAny(strings.Join(e.names, ""), " \t\n") {
		values := make([]any, len(e.names)) // as CF has the meaning of numbers
		for i := range values {
			values[i] = s.f.value(*e.of, e.values[i*e.size:])
		}
		all["flag_values"], _ = json.Marshal(values)
		all["flag_meanings"], _ = json.Marshal(strings.Join(e.names, " "))
		s.details.Notes = append(s.details.Notes, "enumerations are integers in copies, with their names in flag_values and flag_meanings")
	}
	if s.unfilled && (s.chunks != nil || s.contiguous != nil && s.contiguous.address == undefined) {
		s.details.Notes = append(s.details.Notes, "what was never written, which by the file is anything, is 0 in copies")
	}
	s.details.Attributes, err = jsonObject(all)
	return err
}

// attributes are the attributes as JSON. They leave out those that say how the file holds
// dimensions, which are returned too, and references to other places of the file and what JSON has no
// form for, of which d gets the names, as it gets the types of numbers.
func (o *object) attributes(scale bool, d *store.Details) (all map[string]json.RawMessage, dimensions map[string]attribute, err error) {
	all, dimensions = map[string]json.RawMessage{}, map[string]attribute{}
	err = o.eachAttribute(true, func(a attribute) error {
		switch a.name {
		case "DIMENSION_LIST", "DIMENSION_LABELS", "_Netcdf4Coordinates":
			dimensions[a.name] = a
			return nil
		case "REFERENCE_LIST", "_Netcdf4Dimid", "_NCProperties", "_nc3_strict":
			return nil
		case "CLASS", "NAME":
			if scale {
				return nil
			}
		}
		v, err := o.json(a)
		if err == nil && v == nil {
			d.Unread = append(d.Unread, a.name)
			return o.f.meter.Take(int64(len(a.name)) + 64)
		}
		if err != nil {
			return err
		}
		b, err := json.Marshal(v)
		all[a.name] = b
		if t := a.element.dtype; datatype(t) != nil && t != dtype.Float16 { // which NetCDF does not have
			if d.AttributeTypes == nil {
				d.AttributeTypes = map[string]dtype.Type{}
			}
			d.AttributeTypes[a.name] = t
		}
		return cmp.Or(err, o.f.spend(int64(len(b))/4), o.f.meter.Take(4*int64(len(b))))
	})
	return all, dimensions, err
}

// jsonObject is an object of members; nil where it has none.
func jsonObject(all map[string]json.RawMessage) (json.RawMessage, error) {
	if len(all) == 0 {
		return nil, nil
	}
	return json.Marshal(all)
}

// maxAttribute is the most elements of an attribute that is kept.
const maxAttribute = 1 << 16

// json is an attribute as JSON has it; nil where it has no form for it.
func (o *object) json(a attribute) (any, error) {
	n := grid.Size(a.shape)
	switch text := a.element.class == classString || a.element.text; {
	case n == 0 && text:
		return "", nil // as NetCDF writes it
	case n == 0:
		return []any{}, nil
	case n > maxAttribute:
		return nil, nil
	case n == 1: // which NetCDF does not tell from a list of one
		return storage.Finite(o.f.value(a.element, a.data)), nil
	}
	list := make([]any, n)
	for i := range list {
		v := storage.Finite(o.f.value(a.element, a.data[i*a.element.size:]))
		if text, ok := v.(string); ok {
			if err := o.f.spend(int64(len(text))); err != nil {
				return nil, err
			}
		}
		if list[i] = v; v == nil {
			return nil, nil
		}
	}
	for axis := len(a.shape) - 1; axis > 0; axis-- { // lists of lists
		var outer []any
		for row := range slices.Chunk(list, a.shape[axis]) {
			outer = append(outer, row)
		}
		list = outer
	}
	return list, nil
}

// attribute is a small array that belongs to a group or an array.
type attribute struct {
	name    string
	element element
	shape   []int
	data    []byte
}

// eachAttribute goes through the attributes of an object, of which those that lie outside of its
// header can be left out. Those of types that are not supported have no type and no elements.
func (o *object) eachAttribute(dense bool, yield func(attribute) error) error {
	one := func(b []byte) error {
		a, err := o.attribute(b)
		if _, ok := errors.AsType[unsupported](err); ok {
			a, err = attribute{name: a.name}, nil
		}
		if err != nil {
			return fmt.Errorf("attribute %.80q: %w", a.name, err)
		}
		return yield(a)
	}
	for _, m := range o.messages {
		var err error
		switch m.kind {
		case msgAttribute:
			err = one(m.body)
		case msgAttributes:
			d := o.decode(m.body)
			d.skip(1)
			if flags := d.u8(); flags&1 != 0 {
				d.skip(2)
			}
			heap, tree := d.address(), d.address()
			if err = d.err; err == nil && heap != undefined && dense {
				err = o.f.heaped(heap, tree, recordAttributes, one)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// attribute takes the body of an attribute's message.
func (o *object) attribute(b []byte) (a attribute, err error) {
	d := o.decode(b)
	version, flags := d.u8(), d.u8()
	lengths := [3]int{int(d.u16()), int(d.u16()), int(d.u16())}
	if version == 3 {
		d.skip(1)
	}
	var parts [3][]byte
	for i, n := range lengths {
		parts[i] = d.take(n)
		if version == 1 {
			d.skip(-n & 7)
		}
	}
	a.name = strings.TrimRight(string(parts[0]), "\x00")
	switch {
	case d.err != nil || version == 0 || version > 3:
		return a, errCut
	case version > 1 && flags&2 != 0:
		return a, errShared
	case version > 1 && flags&1 != 0:
		if parts[1], err = o.committed(parts[1]); err != nil {
			return a, err
		}
	}
	if a.element, err = o.decode(parts[1]).element(0); err != nil {
		return a, err
	}
	if a.shape, err = o.decode(parts[2]).space(); err != nil {
		return a, err
	}
	if err := grid.Check(a.shape, a.element.size); err != nil {
		return a, err
	}
	a.data = d.rest()
	if grid.Size(a.shape)*a.element.size > len(a.data) {
		return a, errCut
	}
	return a, nil
}
