package zarr

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Elements that are records of named fields: NumPy's structured types in version 2, and zarr-extensions' struct, with its older form
// structured, in version 3. Fields lie one behind the other, without gaps but for those of NumPy's that have no name. x.zarr#NAME is an
// array of one field, x.zarr#NAME.INNER of one that is in another.

// element is a type of elements.
type element struct {
	size   int
	dtype  dtype.Type
	err    error // why there is no dtype
	big    bool
	times  json.RawMessage // attributes of dates and durations
	fields []field         // of a record
}

// field is one of a record.
type field struct {
	element
	name  string
	at    int
	inner []int // lengths of an array of elements
}

// maxNested is how deep records may lie in records.
const maxNested = 4

var errNested = fmt.Errorf("records in more than %d others are not supported", maxNested)

// readFields adds the fields of a record. Of each as the metadata have it one returns the name, the element, and of an array its lengths.
func (e *element) readFields(list []json.RawMessage, one func(raw json.RawMessage) (name string, of element, inner []int, err error)) error {
	seen := map[string]bool{}
	for _, raw := range list {
		name, of, inner, err := one(raw)
		switch {
		case err != nil:
		case seen[name] && name != "":
			err = errors.New("two fields have this name")
		case slices.ContainsFunc(inner, func(n int) bool { return n < 1 }):
			err = fmt.Errorf("it is an array of shape %s", grid.Format(inner))
		default:
			err = grid.Check(inner, of.size)
		}
		if err == nil && grid.Size(inner)*of.size > math.MaxInt32-e.size {
			err = errors.New("records of more than 2 GiB are not supported")
		}
		if err != nil {
			return fmt.Errorf("field %.80q: %w", name, err)
		}
		if name != "" {
			e.fields = append(e.fields, field{of, name, e.size, inner})
		}
		seen[name], e.size = true, e.size+grid.Size(inner)*of.size
	}
	if e.fields == nil {
		return errors.New("records without fields are not supported")
	}
	return nil
}

// v2Element reads a dtype of version 2: NumPy's code, or a list of fields.
func v2Element(raw json.RawMessage, depth int) (e element, err error) {
	var code string
	if json.Unmarshal(raw, &code) == nil {
		if m := v2Times.FindSubmatch(raw); m != nil {
			e.dtype, e.big = dtype.Int64, string(m[1]) == ">"
			e.times, e.err = npy.TimeAttributes(m[2][0], string(m[3]))
		} else {
			e.dtype, e.big, e.err = v2Type(code)
		}
		if e.size = e.dtype.Size(); e.err != nil && depth > 0 {
			e.size, err = npy.CodeBytes(code)
		}
		return e, err
	}
	var list []json.RawMessage
	switch {
	case json.Unmarshal(raw, &list) != nil:
		return e, fmt.Errorf("elements of type %s are not supported", shorten(raw))
	case depth > maxNested:
		return e, errNested
	}
	return e, e.readFields(list, func(raw json.RawMessage) (name string, of element, inner []int, err error) {
		var parts []json.RawMessage
		if json.Unmarshal(raw, &parts) != nil || len(parts) < 2 || len(parts) > 3 || json.Unmarshal(parts[0], &name) != nil {
			return "", of, nil, fmt.Errorf("%s is no list of a name, a type and a shape", shorten(raw))
		}
		if of, err = v2Element(parts[1], depth+1); err == nil && name == "" && !strings.HasPrefix(string(parts[1]), `"|V`) {
			err = errors.New("it has no name")
		}
		if length := 0; err == nil && len(parts) == 3 && json.Unmarshal(parts[2], &inner) != nil {
			err = json.Unmarshal(parts[2], &length)
			inner = []int{length}
		}
		return name, of, inner, err
	})
}

// v3Element reads a data_type of version 3.
func v3Element(raw json.RawMessage, depth int) (e element, err error) {
	n, err := parseNamed(raw)
	if err != nil {
		return e, err
	}
	if n.name != "struct" && n.name != "structured" {
		if _, times := timeExtensions[n.name]; times {
			e.dtype = dtype.Int64
			e.times, e.err = v3Times(n)
		} else {
			e.dtype, e.err = v3Type(n.name)
		}
		if e.size = e.dtype.Size(); e.err != nil && depth > 0 && n.configuration.field("length_bytes", &e.size) != nil || e.size < 0 {
			err = e.err
		}
		return e, err
	}
	var list []json.RawMessage
	if err := n.configuration.field("fields", &list); err != nil || depth > maxNested {
		return e, cmp.Or(err, errNested)
	}
	return e, e.readFields(list, func(raw json.RawMessage) (name string, of element, inner []int, err error) {
		var o object
		var pair []json.RawMessage
		if json.Unmarshal(raw, &pair) == nil && len(pair) == 2 { // the older form
			o = object{"name": pair[0], "data_type": pair[1]}
		} else if json.Unmarshal(raw, &o) != nil || o["data_type"] == nil {
			return "", of, nil, fmt.Errorf("%s has no name and data_type", shorten(raw))
		}
		if err = o.field("name", &name); err == nil && name == "" {
			err = errors.New("it has no name")
		}
		if err == nil {
			of, err = v3Element(o["data_type"], depth+1)
		}
		return name, of, nil, err
	})
}

// choose takes the type of the elements, or of the field of records that is to be read.
func (m *meta) choose(e element) error {
	chosen := field{element: e}
	for rest, more := m.fieldName, m.fieldName != ""; more; {
		i := slices.IndexFunc(chosen.fields, func(f field) bool { return f.name == rest })
		if i < 0 {
			i = slices.IndexFunc(chosen.fields, func(f field) bool { return f.fields != nil && strings.HasPrefix(rest, f.name+".") })
		}
		switch {
		case i < 0:
			return fmt.Errorf("no field %.80q: its elements have %s", rest, chosen.names())
		case chosen.inner != nil:
			return fmt.Errorf("fields of records in an array, as %.80q is, are not supported", chosen.name)
		}
		at, name := chosen.at, chosen.fields[i].name
		chosen = chosen.fields[i]
		chosen.at, m.way = chosen.at+at, append(m.way, name)
		_, rest, more = strings.Cut(rest[len(name):], ".")
	}
	switch {
	case chosen.fields != nil && m.way != nil:
		return fmt.Errorf("field %.80q has %s: add .NAME to the path", m.fieldName, chosen.names())
	case chosen.fields != nil:
		return fmt.Errorf("the elements have %s as fields: add #NAME to the path", chosen.names())
	case chosen.err != nil:
		return chosen.err
	}
	m.dtype, m.big, m.times = chosen.dtype, chosen.big, chosen.times
	if m.way != nil {
		m.inner, m.field = chosen.inner, codec.Field{Skip: chosen.at, Take: chosen.size * grid.Size(chosen.inner), Of: e.size}
	}
	return nil
}

// names lists the names of the fields.
func (e element) names() string {
	var all []string
	for _, f := range e.fields {
		all = append(all, f.name)
	}
	return storage.QuoteNames("field", all)
}

// itemBytes is the size of an element as it is stored: of the whole record of a field.
func (m *meta) itemBytes() int { return max(m.field.Of, m.dtype.Size()) }

// recordFill takes the field's fill value out of that of a record: of its bytes in base64, or of an object, for which it returns the JSON.
func (m *meta) recordFill(raw json.RawMessage) (json.RawMessage, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		for _, name := range m.way {
			var o object
			if json.Unmarshal(raw, &o) != nil || o[name] == nil {
				return nil, fmt.Errorf("fill_value: %s has no value of field %.80q", shorten(raw), name)
			}
			raw = o[name]
		}
		return raw, nil
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != m.field.Of {
		return nil, fmt.Errorf("fill_value: %s is not the base64 of a record of %d bytes", shorten(raw), m.field.Of)
	}
	b = slices.Clone(b[m.field.Skip:][:m.field.Take]) // where words begin at words
	size := m.dtype.Size()
	if string(b[size:]) != string(b[:len(b)-size]) {
		return nil, errors.New("fill_value: several fill values in one field are not supported")
	}
	if m.fill = b[:size]; m.big && m.dtype.Kind() == dtype.KindComplex {
		kernel.Swap(m.fill, size/2)
	} else if m.big {
		kernel.Swap(m.fill, size)
	}
	return nil, nil
}

// addAxes adds those of a field that is an array, once all else is read.
func (m *meta) addAxes() {
	if m.inner == nil {
		return
	}
	axes := len(m.shape)
	m.shape, m.chunks = slices.Concat(m.shape, m.inner), slices.Concat(m.chunks, m.inner)
	for i := range m.shards {
		l := &m.shards[i]
		l.shape, l.inner = slices.Concat(l.shape, m.inner), slices.Concat(l.inner, m.inner)
		for d := range m.inner {
			if l.order != nil {
				l.order = append(slices.Clip(l.order), axes+d)
			}
		}
	}
	for range m.inner {
		if m.dims != nil {
			m.dims = append(slices.Clip(m.dims), "")
		}
		if m.runs != nil {
			m.runs = append(slices.Clip(m.runs), nil)
		}
	}
}
