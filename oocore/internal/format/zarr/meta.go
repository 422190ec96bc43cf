package zarr

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/format/raw"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// meta is an array's metadata: what zarr.json, or .zarray and .zattrs, say.
type meta struct {
	version    int // of the format: 2 or 3
	shape      []int
	dtype      dtype.Type
	chunks     []int           // what is encoded at once: in shards their innermost parts
	runs       [][]chunked.Run // of a rectilinear grid, of whose chunks the longest are those of chunks; else nil
	shards     []shardLevel    // outermost first; nil where each chunk is an object
	keys       keyEncoding
	fill       []byte // one element, little-endian
	noFill     bool   // nobody has said one: it is zero
	big        bool   // version 2 has the elements big-endian
	pipeline   *codec.Pipeline
	dims       []string        // "" is a dimension without a name; nil where none has one
	attributes json.RawMessage // an object, or nil
	times      json.RawMessage // attributes of dates and durations, or nil
	blocks     *Blocks         // nil where it is Zarr's own
	rest       uint64          // a digest of all that Zarr's metadata say but the shape; 0 for others

	// Of an array of records, of which dtype is that of a field:
	fieldName string
	field     codec.Field
	way       []string // the names of the field and of those that it is in, outermost first
	inner     []int    // of a field that is an array: the last lengths of shape, chunks and shards, which keys do not have
}

// shardLevel is a way in which chunks are put together: a shard of an array, or a part
// of a shard that is one itself.
type shardLevel struct {
	shape []int // of the shard
	inner []int // of its parts
	order []int // axes as the index goes through the parts, nil for C order
	index shardIndexEncoding
}

// shardIndexEncoding is how the index of a shard is stored.
type shardIndexEncoding struct {
	atStart bool
	big     bool // the byte order of its numbers
	crc     bool // a crc32c follows
}

// keyEncoding is how the indices of objects become their keys.
type keyEncoding struct {
	v2        bool // without the leading "c"
	reversed  bool // from the last axis on
	separator string
}

// unit is the shape of what is one object.
func (m *meta) unit() []int {
	if len(m.shards) > 0 {
		return m.shards[0].shape
	}
	return m.chunks
}

// chunkBytes is the size of a decoded chunk.
func (m *meta) chunkBytes() int64 { return int64(grid.Size(m.chunks)) * int64(m.dtype.Size()) }

// count is the number of objects along an axis.
func (m *meta) count(d int) int {
	if m.runs == nil || len(m.runs[d]) == 0 {
		return m.objects().Count(d)
	}
	last := m.runs[d][len(m.runs[d])-1]
	return last.Index + (m.shape[d]-last.Start+last.Length-1)/last.Length
}

// objects is the grid of the objects; of a rectilinear one about that.
func (m *meta) objects() grid.Grid { return grid.Grid{Shape: m.shape, Chunks: m.unit()} }

// number is that of an object, in C order of the grid.
func (m *meta) number(unit []int) (n int) {
	for d, i := range unit {
		n = n*m.count(d) + i
	}
	return n
}

// key is where the object with an index in the grid of units lies.
func (m *meta) key(index []int) string {
	b := make([]byte, 0, 32)
	index = index[:min(len(index), m.keyed())]
	if !m.keys.v2 {
		b = append(b, 'c')
	} else if len(index) == 0 {
		return "0"
	}
	for d := range index {
		if d > 0 || !m.keys.v2 {
			b = append(b, m.keys.separator...)
		}
		b = strconv.AppendInt(b, int64(index[m.keys.axis(d, len(index))]), 10)
	}
	return string(b)
}

// keyed is the number of axes that keys have.
func (m *meta) keyed() int { return len(m.shape) - len(m.inner) }

// axis is the axis of the d-th index of a key.
func (k keyEncoding) axis(d, dims int) int {
	if k.reversed {
		return dims - 1 - d
	}
	return d
}

// parseKey is the inverse of key; ok is false for what is no object of the array.
func (m *meta) parseKey(key string, index []int) (ok bool) {
	return m.parseIndex(key, index) && m.inGrid(index)
}

// inGrid reports whether an index lies in the grid of units.
func (m *meta) inGrid(index []int) bool {
	for d, i := range index {
		if i >= m.count(d) {
			return false
		}
	}
	return true
}

// parseIndex is parseKey also for objects beyond the array's shape.
func (m *meta) parseIndex(key string, index []int) (ok bool) {
	if m.keyed() == 0 {
		return key == m.key(nil)
	}
	rest := key
	index = index[:m.keyed()]
	if !m.keys.v2 {
		if rest, ok = strings.CutPrefix(rest, "c"+m.keys.separator); !ok {
			return false
		}
	}
	for d := range index {
		part, more, found := strings.Cut(rest, m.keys.separator)
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || strconv.Itoa(i) != part || found == (d == len(index)-1) {
			return false
		}
		index[m.keys.axis(d, len(index))], rest = i, more
	}
	return true
}

// count is the number of parts along an axis.
func (l *shardLevel) count(axis int) int { return l.shape[axis] / l.inner[axis] }

// parts is the number of parts.
func (l *shardLevel) parts() int {
	n := 1
	for d := range l.shape {
		n *= l.count(d)
	}
	return n
}

// entry is the place in the shard's index of the part with an index in the shard.
func (l *shardLevel) entry(index []int) int {
	n := 0
	for d := range index {
		if l.order != nil {
			d = l.order[d]
		}
		n = n*l.count(d) + index[d]
	}
	return n
}

// part is the inverse of entry.
func (l *shardLevel) part(entry int, index []int) {
	for d := len(index) - 1; d >= 0; d-- {
		axis := d
		if l.order != nil {
			axis = l.order[d]
		}
		n := l.count(axis)
		index[axis] = entry % n
		entry /= n
	}
}

// indexBytes is the size of the shard's index as it is stored.
func (l *shardLevel) indexBytes() int64 {
	n := int64(l.parts()) * entryBytes
	if l.index.crc {
		n += crcBytes
	}
	return n
}

const (
	entryBytes = 16 // offset and length of a part
	crcBytes   = 4
	missing    = 1<<64 - 1 // offset and length of a part that is not stored
)

// v3Type is the type that a v3 array's data_type names.
func v3Type(name string) (dtype.Type, error) {
	switch name { // names that other writers have for the same elements
	case "complex_float32":
		return dtype.Complex64, nil
	case "complex_float64":
		return dtype.Complex128, nil
	}
	t, err := dtype.Parse(name)
	if err != nil {
		return t, fmt.Errorf("elements of type %q are not supported", name)
	}
	return t, nil
}

// v2Type is the type, and whether it is big-endian, that a v2 array's dtype names in
// NumPy's form, such as "<f4".
func v2Type(name string) (t dtype.Type, big bool, err error) {
	if name == "bfloat16" { // TensorStore's
		return dtype.BFloat16, false, nil
	}
	if name == "" || !strings.Contains("<>|=", name[:1]) {
		return t, false, fmt.Errorf("elements of type %q are not supported", name)
	}
	t, ok := raw.TypeOf(name[1:])
	if !ok || (name[0] == '|' && t.Size() > 1) {
		return t, false, fmt.Errorf("elements of type %q are not supported", name)
	}
	return t, name[0] == '>' && t.Size() > 1, nil
}
