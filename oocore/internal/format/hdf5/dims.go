package hdf5

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Axes have names where dimension scales are attached to them (HDF5 Dimension Scale
// Specification). The name is that of the scale's link, as NetCDF-4 has it, not the text that the
// scale may call itself. A scale of one axis names this itself. NetCDF-4 (NetCDF-4 File Format
// Specification, appendix C of the NetCDF User's Guide) adds dimensions without a variable, which
// are scales whose elements nobody wrote, and variables of several axes that have the name of a
// dimension, which list their dimensions by numbers.

const (
	bareDimension = "This is a netCDF dimension but not a netCDF variable"
	nonCoordinate = "_nc4_non_coord_" // begins the link of a variable that has the name of a dimension of which it is no coordinate
)

// scale is what an array is that names an axis of arrays.
type scale struct {
	name string
	bare bool  // it is a dimension without a variable
	id   int64 // NetCDF's number of the dimension; -1 for none
}

// scale returns what the attributes say of a scale; nil for other arrays. Where an array has many
// attributes they are read only if dense is true: a dimension without a variable has few.
func (o *object) scale(name string, dense bool) *scale {
	s, is := &scale{name: name, id: -1}, false
	_ = o.eachAttribute(dense, func(a attribute) error {
		if grid.Size(a.shape) != 1 || !slices.Contains([]string{"CLASS", "NAME", "_Netcdf4Dimid"}, a.name) {
			return nil
		}
		switch v := o.f.value(a.element, a.data).(type) {
		case string:
			is = is || a.name == "CLASS" && v == "DIMENSION_SCALE"
			s.bare = s.bare || a.name == "NAME" && strings.HasPrefix(v, bareDimension)
		case int64:
			s.id = v
		}
		return nil
	})
	if !is {
		return nil
	}
	return s
}

// isBare reports a dimension without a variable.
func (o *object) isBare() bool {
	s := o.scale("", false)
	return s != nil && s.bare
}

// variable is the name of the variable that a link of a group stands for.
func (f *file) variable(g group, link string) string {
	name, ok := strings.CutPrefix(link, nonCoordinate)
	if i, taken := g.at[name]; ok && taken {
		o, err := f.object(g.all[i].address)
		if err != nil {
			return link
		}
		ok = o.isBare()
	}
	if !ok || name == "" {
		return link
	}
	return name
}

// dimensions are the names of the axes, of which "" is none: by the scales that are attached to
// them, by the scale that the array is itself, by NetCDF's numbers, or by labels.
func (s *dataset) dimensions(own *scale, attributes map[string]attribute) []string {
	names := make([]string, len(s.shape))
	if own != nil && len(names) > 0 {
		names[0] = own.name
		if len(names) == 1 {
			s.lengthen(0, s.address)
		}
	}
	if a, ok := attributes["DIMENSION_LIST"]; ok && a.element.class == classVariable && slices.Equal(a.shape, []int{len(names)}) {
		links := s.f.scales().links
		for axis := range names {
			d := &decoder{f: s.f, b: a.data[axis*a.element.size:]}
			count, at, index := d.u32(), d.address(), d.u32()
			if count == 0 || d.err != nil {
				continue
			}
			refs, err := s.f.global(at, index)
			if err != nil {
				continue
			}
			r := &decoder{f: s.f, b: refs}
			for address := r.address(); names[axis] == "" && r.err == nil; address = r.address() {
				names[axis] = links[address]
				s.lengthen(axis, address)
			}
		}
	}
	if a, ok := attributes["_Netcdf4Coordinates"]; ok && slices.Equal(a.shape, []int{len(names)}) && (slices.Contains(names, "") || own != nil && len(names) > 1) {
		ids := s.f.scales().ids
		for axis := range names {
			if id, ok := s.f.value(a.element, a.data[axis*a.element.size:]).(int64); ok && ids[id] != "" {
				names[axis] = ids[id]
			}
		}
	}
	if a, ok := attributes["DIMENSION_LABELS"]; ok && slices.Equal(a.shape, []int{len(names)}) {
		for axis := range names {
			if label, _ := s.f.value(a.element, a.data[axis*a.element.size:]).(string); names[axis] == "" {
				names[axis] = label
			}
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
		return nil
	}
	return names
}

// lengthen makes an axis as long as the unlimited dimension of NetCDF that a scale is. HDF5 stores of each variable what was written, and the library of
// NetCDF reads fill values up to the dimension's length, which is the largest of its variables.
func (s *dataset) lengthen(axis int, scale uint64) {
	if s.chunks == nil || newGrowth(s).counts[axis] != math.MaxUint64 {
		return
	}
	d := s.f.directory
	d.mu.Lock()
	length, known := d.lengths[scale]
	d.mu.Unlock()
	if !known {
		length = s.f.unlimitedLength(scale)
		d.mu.Lock()
		if d.room(1) {
			d.lengths[scale] = length
		}
		d.mu.Unlock()
	}
	longer := slices.Clone(s.shape)
	if longer[axis] = max(s.shape[axis], length); grid.Check(longer, s.record) == nil {
		s.shape = longer
	}
}

// unlimitedLength is the length of the dimension that a scale of NetCDF is; 0 for other scales.
func (f *file) unlimitedLength(address uint64) (length int) {
	o, err := f.object(address)
	if err != nil {
		return 0
	}
	s := o.scale("", true)
	if s == nil || !s.bare && s.id < 0 {
		return 0
	}
	along := func(o *object, axis int) {
		if b, ok := o.find(msgDataspace); ok {
			if shape, err := o.decode(b).space(); err == nil && axis < len(shape) {
				length = max(length, shape[axis])
			}
		}
	}
	if !s.bare {
		along(o, 0)
	}
	_ = o.eachAttribute(true, func(a attribute) error {
		for at := 0; a.name == "REFERENCE_LIST" && a.element.size >= f.offsets+4 && at <= len(a.data)-a.element.size; at += a.element.size {
			d := &decoder{f: f, b: a.data[at:]}
			address, axis := d.address(), int(d.u32())
			if of, err := f.object(address); err == nil {
				along(of, axis)
			}
		}
		return nil
	})
	return length
}

// scales are the names of what arrays' axes may refer to: of the arrays by their addresses, and of scales by
// NetCDF's numbers.
type scales struct {
	links map[uint64]string
	ids   map[int64]string
}

// scales lists them. In a file of many arrays they are those of scales.
func (f *file) scales() *scales {
	d := f.directory
	d.mu.Lock()
	all := d.scales
	d.mu.Unlock()
	if all != nil {
		return all
	}
	all = &scales{map[uint64]string{}, map[int64]string{}}
	for n, err := range f.nodes() {
		if err != nil || n.object == nil || !n.object.isArray() {
			continue
		}
		name := path.Base(n.name)
		s := n.object.scale(name, true)
		if s != nil {
			all.ids[s.id] = name
		}
		if s != nil || len(all.links) < maxHeld/4 {
			all.links[n.address] = name
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.scales == nil && d.room(len(all.links)) {
		d.scales = all
	}
	return all
}
