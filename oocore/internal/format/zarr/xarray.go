package zarr

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/store"
)

// What xarray wants of an array: a name for every dimension, the same length for the
// same name in all arrays of a group, and the marker of missing values as an attribute,
// encoded in a way of its own. See docs.xarray.dev, "Zarr Encoding Specification".

const (
	// dimsAttribute names the dimensions of an array of version 2, which has no other
	// place for them.
	dimsAttribute = "_ARRAY_DIMENSIONS"
	// missingAttribute is the marker of missing values. In version 2 it is the fill
	// value itself.
	missingAttribute = "_FillValue"
)

// takeDims moves the names of the dimensions from the attributes to where version 3
// has them, and reports whether they are there: an array without dimensions has an empty list.
func (m *meta) takeDims(o object) bool {
	var dims []string
	fits := json.Unmarshal(o[dimsAttribute], &dims) == nil && dims != nil && len(dims) == len(m.shape)
	if m.dims == nil && fits && len(dims) > 0 {
		m.dims = dims
	}
	if fits || m.dims != nil {
		delete(o, dimsAttribute)
	}
	return fits || m.dims != nil
}

// CastDetails returns the details of an array whose elements are cast to
// another type: what marks missing values becomes what the elements that have it
// become.
func CastDetails(d store.Details, from, to dtype.Type) store.Details {
	if from == to {
		return d
	}
	fill := d.Fill
	d.Fill = ""
	if v, err := parseFillText(fill, from); err == nil && fill != "" {
		d.Fill = fillText(castValue(v, from, to), to)
	}
	all, err := parseMembers(d.Attributes)
	if err != nil {
		return d
	}
	d.AttributeTypes = maps.Clone(d.AttributeTypes)
	for name, encode := range map[string]func([]byte, dtype.Type) json.RawMessage{missingAttribute: encodeMissing, "missing_value": encodeNumber} {
		raw := all.get(name)
		if from.Kind() != dtype.KindComplex {
			raw = bytes.Trim(raw, "[] ") // netCDF's attributes are lists of one
		}
		if v, ok := parseMissing(raw, from); ok {
			all = all.set(name, encode(castValue(v, from, to), to))
			delete(d.AttributeTypes, name)
			d.Attributes = all.encode()
		}
	}
	return d
}

// CheckFill rejects a fill value, in the form of store.Details, that a type cannot hold.
func CheckFill(text string, t dtype.Type) error {
	_, err := parseFillText(text, t)
	return err
}

// castValue casts one element as a run casts all.
func castValue(v []byte, from, to dtype.Type) []byte {
	out := make([]byte, to.Size())
	cast, ok := kernel.Cast(from, to)
	if !ok {
		return out
	}
	cast(1, out, v, nil, nil)
	return out
}

// parseMissing reads the marker of missing values, as xarray encodes it in version 3:
// floats as the base64 of a float64. It also takes the plain form of fill values.
func parseMissing(raw json.RawMessage, t dtype.Type) (v []byte, ok bool) {
	if raw == nil {
		return nil, false
	}
	if parts, ok := base64Floats(raw, t); ok {
		b := make([]byte, 16)
		dtype.FromComplex(t, complex(parts[0], parts[1])).Put(b)
		if t.Kind() == dtype.KindFloat && parts[0] != parts[0] {
			canonicalNaN(t).Put(b)
		}
		return b[:t.Size()], true
	}
	v, err := parseFillText(strings.ReplaceAll(string(withBareNumbers(raw)), `"`, ""), t)
	return v, err == nil
}

// base64Floats reads one number, or for complex types two.
func base64Floats(raw json.RawMessage, t dtype.Type) (parts [2]float64, ok bool) {
	var list []string
	switch t.Kind() {
	case dtype.KindFloat:
		list = make([]string, 1)
		if json.Unmarshal(raw, &list[0]) != nil {
			return parts, false
		}
	case dtype.KindComplex:
		if json.Unmarshal(raw, &list) != nil || len(list) != 2 {
			return parts, false
		}
	default:
		return parts, false
	}
	for i, text := range list {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(b) != 8 {
			return parts, false
		}
		parts[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return parts, true
}

// encodeNumber writes an element as an attribute has it.
func encodeNumber(v []byte, t dtype.Type) json.RawMessage {
	raw := encodeFill(v, t)
	if t.Kind() != dtype.KindFloat {
		return raw
	}
	if bytes.HasPrefix(raw, []byte(`"0x`)) { // other bits of it
		return bareNumbers([]byte("NaN"))
	}
	return bareNumbers(bytes.Trim(raw, `"`))
}

// encodeMissing writes what parseMissing reads.
func encodeMissing(v []byte, t dtype.Type) json.RawMessage {
	packed := func(x float64) string {
		return `"` + base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))) + `"`
	}
	var b [16]byte
	copy(b[:], v)
	x := dtype.Value{Type: t, Lo: binary.LittleEndian.Uint64(b[:]), Hi: binary.LittleEndian.Uint64(b[8:])}
	switch t.Kind() {
	case dtype.KindFloat:
		f := x.Float()
		if f != f { // with the bits that others write
			f = math.Float64frombits(0x7ff8 << 48)
		}
		return json.RawMessage(packed(f))
	case dtype.KindComplex:
		c := x.Complex()
		return json.RawMessage("[" + packed(real(c)) + ", " + packed(imag(c)) + "]")
	}
	return json.RawMessage(x.String())
}

// setMissing gives attributes the marker of missing values. One that they have stays,
// in the form that xarray reads.
func (m *meta) setMissing(fill bool) {
	all, err := parseMembers(m.attributes)
	if err != nil {
		all = members{}
	}
	v, ok := parseMissing(all.get(missingAttribute), m.dtype)
	if !ok && (all.get(missingAttribute) != nil || !fill) {
		return
	}
	if !ok {
		v = m.fill
	}
	m.attributes = all.set(missingAttribute, encodeMissing(v, m.dtype)).encode()
}

// nameDims names the dimensions of a new array in a group, without which xarray could
// not open the group: those without a name after the array, and so those whose name was
// carried over from another array and does not fit here. What the user has chosen
// stays.
func (m *meta) nameDims(ctx context.Context, name string, chosen bool) {
	root, inner := split(name)
	if len(m.shape) == 0 || chosen && !slices.Contains(m.dims, "") || inner == "" && !inGroup(root) {
		return
	}
	var taken map[string]int
	if !chosen {
		taken = groupDims(ctx, name)
	}
	m.nameDimsAmong(taken, path.Base(strings.TrimRight(name, "/")), chosen)
}

// nameDimsAmong is nameDims for an array called base whose group has dimensions of these lengths.
func (m *meta) nameDimsAmong(taken map[string]int, base string, chosen bool) {
	dims := slices.Clone(m.dims)
	if dims == nil {
		dims = make([]string, len(m.shape))
	}
	for d, dim := range dims {
		n, ok := taken[dim]
		if i := slices.Index(dims[:d], dim); i >= 0 && !ok {
			n, ok = m.shape[i], true
		}
		twice := slices.Contains(dims[:d], dim) || dim == base && len(dims) > 1
		if dim == "" || ok && n != m.shape[d] || twice && !chosen {
			dims[d] = fmt.Sprintf("%s_dim_%d", base, d)
		}
	}
	m.dims = dims
}

// inGroup reports an array in a folder that is a group, whose path does not say so.
func inGroup(array string) bool {
	if !blob.PlaceOf(array).Files {
		return false
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Clean(array)), v3File))
	return err == nil && isGroup(text)
}

// groupDims are the names of dimensions, with their lengths, of the other arrays in the
// group of an array. In an object store only consolidated metadata tell: listing all
// chunks of a group would take too long.
func groupDims(ctx context.Context, array string) map[string]int {
	array = strings.TrimRight(array, "/")
	folder, base := path.Split(array)
	all := map[string]int{}
	add := func(name string, m *meta, err error) {
		if err != nil || name == base {
			return
		}
		for d, dim := range m.dims {
			if dim != "" {
				all[dim] = m.shape[d]
			}
		}
	}
	b, err := bucketOf(folder)
	if err != nil {
		return all
	}
	if b.Can().Files {
		list, _ := os.ReadDir(b.String())
		for _, e := range list {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				m, _, err := loadMeta(ctx, blob.Dir(filepath.Join(b.String(), e.Name())))
				add(e.Name(), m, err)
			}
		}
		return all
	}
	text, _, err := ReadMetadata(ctx, b, v3File)
	if err != nil {
		return all
	}
	group, _ := parseMembers(bareNumbers(text))
	inline, _ := parseMembers(group.get(consolidatedField))
	nodes, _ := parseMembers(inline.get("metadata"))
	for _, n := range nodes {
		if !strings.Contains(n.name, "/") {
			m, err := parseV3(n.value)
			add(n.name, m, err)
		}
	}
	return all
}
