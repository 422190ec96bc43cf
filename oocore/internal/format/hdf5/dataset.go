package hdf5

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// dataset is what the header of an array says.
type dataset struct {
	*object
	shape   []int
	element element
	fill    []byte // one element as it is stored; nil is zero
	filters []filter
	details store.Details

	// One of these says where the elements lie.
	compact    []byte
	contiguous *span  // undefined where nothing is stored
	chunks     *index // of chunks
}

// filter is a step that chunks go through when they are written.
type filter struct {
	id     int
	values []uint32
}

// dataset reads the header of the array at a path.
func (f *file) dataset(path string) (*dataset, error) {
	o, err := f.lookup(path)
	if err != nil {
		return nil, err
	}
	s := &dataset{object: o}
	layout, ok := o.find(msgLayout)
	if !ok {
		return nil, fmt.Errorf("%q is a group, not an array", path)
	}
	if err := s.read(layout); err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return s, nil
}

func (s *dataset) read(layout []byte) (err error) {
	space, ok := s.find(msgDataspace)
	kind, typed := s.find(msgDatatype)
	if !ok || !typed {
		return errors.New("its shape or type is missing: the file is damaged")
	}
	if s.shape, err = s.decode(space).space(); err != nil {
		return err
	}
	if s.element, err = s.decode(kind).element(0); err != nil {
		return err
	}
	if s.element.dtype == 0 || s.element.dtype.Size() != s.element.size {
		return fmt.Errorf("arrays of %s are not supported", s.element.name())
	}
	if err := grid.Check(s.shape, s.element.size); err != nil {
		return err
	}
	if _, ok := s.find(msgExternal); ok {
		return errors.New("its elements are in other files, which is not supported")
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
	s.attributes()
	return nil
}

// space takes a dataspace. A null one has no elements.
func (d *decoder) space() ([]int, error) {
	version, rank := d.u8(), int(d.u8())
	d.skip(1) // whether the largest lengths follow
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
	if rank > 32 {
		return nil, fmt.Errorf("%d axes are not supported", rank)
	}
	if kind == 2 {
		shape = []int{0}
	}
	return shape, d.err
}

// readFill takes the value of what is not stored, where one was defined.
func (s *dataset) readFill() error {
	if b, ok := s.find(msgFill); ok {
		d := s.decode(b)
		has := false
		switch version := d.u8(); version {
		case 1, 2:
			d.skip(2)
			has = d.u8() != 0 || version == 1
		case 3:
			has = d.u8()&0x20 != 0
		default:
			return fmt.Errorf("a fill value of version %d is not supported", version)
		}
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
	if len(s.fill) != 0 && len(s.fill) != s.element.size {
		return fmt.Errorf("a fill value of %d bytes for elements of %d: the file is damaged", len(s.fill), s.element.size)
	}
	return nil
}

// filters takes a pipeline.
func (d *decoder) filters() (all []filter, err error) {
	version, n := d.u8(), int(d.u8())
	if version == 1 {
		d.skip(6)
	}
	for range n {
		f := filter{id: int(d.u16())}
		name := 0
		if version == 1 || f.id >= 256 {
			name = int(d.u16())
		}
		d.skip(2)
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
			s.chunks = &index{kind: treeV1, address: address, chunk: lengths[:max(rank-1, 0)]}
		default:
			return fmt.Errorf("a layout of class %d is not supported", class)
		}
	case 3, 4, 5:
		switch class := d.u8(); class {
		case 0:
			s.compact = d.take(int(d.u16()))
		case 1:
			s.contiguous = &span{d.address(), s.bytes()}
		case 2:
			s.chunks = s.chunkIndex(d, version)
		case 3:
			return errors.New("virtual datasets are not supported: open the files that they are made of, as a stack")
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
	return nil
}

func (s *dataset) bytes() int64 { return int64(grid.Size(s.shape)) * int64(s.element.size) }

// attributes keeps those that JSON can hold, and the names of dimensions.
func (s *dataset) attributes() {
	all := map[string]any{}
	s.eachAttribute(func(name string, e element, shape []int, data []byte) {
		switch {
		case name == "DIMENSION_LIST":
			s.details.Dims = s.dimensions(e, shape, data)
		case name == "_Netcdf4Dimid" || name == "_Netcdf4Coordinates" || name == "REFERENCE_LIST" || name == "CLASS" || name == "NAME" || name == "_NCProperties":
		default:
			if v := s.json(e, shape, data); v != nil {
				all[name] = v
			}
		}
	})
	if len(all) > 0 {
		if b, err := json.Marshal(all); err == nil {
			s.details.Attributes = b
		}
	}
}

// maxAttribute is the most elements of an attribute that is kept.
const maxAttribute = 1 << 16

func (s *dataset) json(e element, shape []int, data []byte) any {
	if len(shape) == 0 {
		return finite(s.f.value(e, data))
	}
	n := grid.Size(shape)
	if n > maxAttribute || n*e.size > len(data) {
		return nil
	}
	list := make([]any, n)
	for i := range list {
		if list[i] = finite(s.f.value(e, data[i*e.size:])); list[i] == nil {
			return nil
		}
	}
	if n == 1 { // as NetCDF writes a number
		return list[0]
	}
	return list
}

// finite is a value that JSON has: what is not finite is text, as Zarr writes it.
func finite(v any) any {
	x, ok := v.(float64)
	switch {
	case !ok || !math.IsNaN(x) && !math.IsInf(x, 0):
		return v
	case math.IsNaN(x):
		return "NaN"
	case x > 0:
		return "Infinity"
	}
	return "-Infinity"
}

// dimensions are the names of the scales of each axis, as far as they have one.
func (s *dataset) dimensions(e element, shape []int, data []byte) []string {
	n := len(s.shape)
	if e.class != classVariable || len(shape) != 1 || shape[0] != n || len(data) < n*e.size {
		return nil
	}
	names, any := make([]string, n), false
	for axis := range n {
		d := &decoder{f: s.f, b: data[axis*e.size:]}
		count, at, index := d.u32(), d.address(), d.u32()
		if count == 0 || d.err != nil {
			continue
		}
		ref, err := s.f.global(at, index)
		if err != nil {
			continue
		}
		r := &decoder{f: s.f, b: ref}
		if address := r.address(); r.err == nil {
			names[axis] = s.f.nameOf(address)
			any = any || names[axis] != ""
		}
	}
	if !any {
		return nil
	}
	return names
}

// nameOf is the last element of the path of an object.
func (f *file) nameOf(address uint64) string {
	d := f.directory
	d.mu.Lock()
	names := d.names
	d.mu.Unlock()
	if names == nil {
		names = map[uint64]string{}
		for l, err := range f.datasets() {
			if err == nil {
				names[l.address] = path.Base(l.name)
			}
		}
		if len(names) <= maxHeld {
			d.mu.Lock()
			d.names = names
			d.mu.Unlock()
		}
	}
	return names[address]
}

// eachAttribute goes through the attributes of an object. Those that cannot be read are left
// out: nothing depends on them.
func (o *object) eachAttribute(yield func(name string, e element, shape []int, data []byte)) {
	one := func(b []byte) error {
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
		if d.err != nil || version == 0 || version > 3 {
			return nil
		}
		if version > 1 && flags&1 != 0 {
			var err error
			if parts[1], err = o.committed(parts[1]); err != nil {
				return nil
			}
		}
		e, err := o.decode(parts[1]).element(0)
		if err != nil {
			return nil
		}
		shape, err := o.decode(parts[2]).space()
		if err != nil || grid.Check(shape, e.size) != nil {
			return nil
		}
		yield(strings.TrimRight(string(parts[0]), "\x00"), e, shape, slices.Clone(d.rest()))
		return nil
	}
	for _, m := range o.messages {
		switch m.kind {
		case msgAttribute:
			_ = one(m.body)
		case msgAttributes:
			d := o.decode(m.body)
			d.skip(1)
			if flags := d.u8(); flags&1 != 0 {
				d.skip(2)
			}
			if heap, tree := d.address(), d.address(); d.err == nil && heap != undefined {
				_ = o.f.heaped(heap, tree, 0, one)
			}
		}
	}
}
