package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/zeebo/xxh3"
)

const v3File = "zarr.json"

// errGroup is returned where a group's metadata lie in place of an array's.
var errGroup = errors.New("it is a group, not an array")

// parseV3 reads a zarr.json. Errors name the field; for a group they are errGroup.
func parseV3(b []byte) (*meta, error) { return parseV3Field(b, "") }

// parseV3Field is parseV3 of an array of records, of which a field is read.
func parseV3Field(b []byte, field string) (*meta, error) {
	m, err := readV3(b, field)
	if err != nil && err != errGroup {
		return nil, fmt.Errorf("%s: %w", v3File, err)
	}
	return m, err
}

func readV3(b []byte, field string) (*meta, error) {
	o, err := parseObject(b)
	if err != nil {
		return nil, err
	}
	var version int
	if err := o.field("zarr_format", &version); err != nil {
		return nil, err
	}
	if version != 3 {
		return nil, fmt.Errorf("zarr_format: version %d is not supported", version)
	}
	var node string
	if err := o.field("node_type", &node); err != nil {
		return nil, err
	}
	switch node {
	case "array":
	case "group":
		return nil, errGroup
	default:
		return nil, fmt.Errorf("node_type: %q is neither array nor group", node)
	}
	if err := o.only("zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value",
		"codecs", "attributes", "dimension_names", "storage_transformers"); err != nil {
		return nil, err
	}
	m := &meta{version: 3, fieldName: field}
	for _, read := range []func(object) error{m.readShape, m.readType, m.readGrid, m.readKeys, m.readCodecs, m.readDetails} {
		if err := read(o); err != nil {
			return nil, err
		}
	}
	m.addAxes()
	return m, m.addTimes()
}

func (m *meta) readShape(o object) (err error) {
	if m.shape, err = o.lengths("shape", 0); err != nil {
		return err
	}
	rest := maps.Clone(o)
	delete(rest, "shape")
	text, err := json.Marshal(rest)
	m.rest = xxh3.Hash(text)
	return err
}

func (m *meta) readType(o object) error {
	if _, ok := o["data_type"]; !ok {
		return errors.New("data_type is missing")
	}
	e, err := v3Element(o["data_type"], 0)
	if err == nil {
		err = m.choose(e)
	}
	if err != nil {
		return fmt.Errorf("data_type: %w", err)
	}
	if err := checkShape(m.shape, m.itemBytes()); err != nil {
		return fmt.Errorf("shape: %w", err)
	}
	return o.fill(m)
}

func (o object) fill(m *meta) (err error) {
	if _, ok := o["fill_value"]; !ok {
		return errors.New("fill_value is missing")
	}
	raw := o["fill_value"]
	if m.field.Of > 0 {
		if raw, err = m.recordFill(raw); raw == nil {
			return err
		}
	}
	if m.times != nil {
		raw = timeFill(raw)
	}
	if m.fill, err = parseFill(raw, m.dtype); err != nil {
		return fmt.Errorf("fill_value: %w", err)
	}
	return nil
}

// checkShape rejects what cannot be counted, also with the last chunks full.
func checkShape(shape []int, itemsize int) error {
	if err := grid.Check(shape, itemsize); err != nil {
		return err
	}
	for _, n := range shape {
		if n > math.MaxInt64/2 {
			return fmt.Errorf("length %d is too large", n)
		}
	}
	return nil
}

// checkChunk rejects the shape of a chunk that cannot be.
func checkChunk(chunk []int, dims, itemsize int) error {
	if len(chunk) != dims {
		return fmt.Errorf("%s has %d dimensions, the array has %d", grid.Format(chunk), len(chunk), dims)
	}
	for _, n := range chunk {
		if n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("%s has a length that is not from 1 to %d", grid.Format(chunk), math.MaxInt32)
		}
	}
	return grid.Check(chunk, itemsize)
}

func (m *meta) readGrid(o object) error {
	n, err := o.named("chunk_grid")
	if err != nil {
		return err
	}
	switch n.name {
	case "regular":
	case "rectilinear":
		if err := m.readRectilinear(n.configuration); err != nil {
			return fmt.Errorf("chunk_grid: %w", err)
		}
		return nil
	default:
		return fmt.Errorf("chunk_grid: %q is not supported: regular and rectilinear ones are", n.name)
	}
	if err := n.configuration.field("chunk_shape", &m.chunks); err != nil {
		return fmt.Errorf("chunk_grid: %w", err)
	}
	if err := checkChunk(m.chunks, len(m.shape), m.itemBytes()); err != nil {
		return fmt.Errorf("chunk_grid: chunk_shape %w", err)
	}
	return nil
}

// readRectilinear reads a grid whose chunks differ in length (zarr-extensions, chunk-grids/rectilinear): of each axis one length, or the length of each
// chunk, of which equal ones may be a pair of the length and their number. What is beyond the array is stored, too.
func (m *meta) readRectilinear(o object) error {
	var kind string
	var axes []json.RawMessage
	if err := o.field("kind", &kind); err != nil {
		return err
	}
	if err := o.field("chunk_shapes", &axes); err != nil {
		return err
	}
	if kind != "inline" {
		return fmt.Errorf("kind %q is not supported, only inline is", shorten([]byte(kind)))
	}
	if len(axes) != len(m.shape) {
		return fmt.Errorf("chunk_shapes has %d axes, the array has %d", len(axes), len(m.shape))
	}
	m.chunks, m.runs = make([]int, len(axes)), make([][]chunked.Run, len(axes))
	for d, raw := range axes {
		if json.Unmarshal(raw, &m.chunks[d]) == nil {
			continue
		}
		var lengths []json.RawMessage
		if err := json.Unmarshal(raw, &lengths); err != nil {
			return fmt.Errorf("chunk_shapes: axis %d has neither a length nor a list of them", d)
		}
		at, index := 0, 0
		for _, raw := range lengths {
			run := []int{0, 1}
			if json.Unmarshal(raw, &run[0]) != nil && (json.Unmarshal(raw, &run) != nil || len(run) != 2) || min(run[0], run[1]) < 1 || max(run[0], run[1]) > math.MaxInt32 {
				return fmt.Errorf("chunk_shapes: %s is neither a length nor a pair of a length and a number", shorten(raw))
			}
			if at >= m.shape[d] && index > 0 {
				break // beyond the array
			}
			m.runs[d] = append(m.runs[d], chunked.Run{Start: at, Length: run[0], Index: index})
			m.chunks[d] = max(m.chunks[d], run[0])
			at, index = at+run[0]*run[1], index+run[1]
		}
		if at < m.shape[d] {
			return fmt.Errorf("chunk_shapes: the chunks of axis %d are %d long, the array %d", d, at, m.shape[d])
		}
		m.chunks[d] = max(m.chunks[d], 1)
	}
	return checkChunk(m.chunks, len(m.shape), m.itemBytes())
}

func (m *meta) readKeys(o object) error {
	n, err := o.named("chunk_key_encoding")
	if err != nil {
		return err
	}
	switch n.name {
	case "default":
		m.keys = keyEncoding{separator: "/"}
	case "v2":
		m.keys = keyEncoding{v2: true, separator: "."}
	default:
		return fmt.Errorf("chunk_key_encoding: %q is not supported", n.name)
	}
	if _, ok := n.configuration["separator"]; ok {
		if err := n.configuration.field("separator", &m.keys.separator); err != nil {
			return fmt.Errorf("chunk_key_encoding: %w", err)
		}
	}
	return m.keys.check("chunk_key_encoding: separator")
}

func (k keyEncoding) check(field string) error {
	if k.separator != "/" && k.separator != "." {
		return fmt.Errorf("%s %q is neither a slash nor a dot", field, shorten([]byte(k.separator)))
	}
	return nil
}

func (m *meta) readCodecs(o object) error {
	var list []json.RawMessage
	if err := o.field("codecs", &list); err != nil {
		return err
	}
	if err := m.parseCodecs(list, m.chunks, nil); err != nil {
		return fmt.Errorf("codecs: %w", err)
	}
	if m.runs != nil && m.shards != nil {
		return errors.New("codecs: shards of a rectilinear grid are not supported")
	}
	return nil
}

func (m *meta) readDetails(o object) error {
	if !o.absent("storage_transformers") {
		var list []json.RawMessage
		if err := o.field("storage_transformers", &list); err != nil {
			return err
		}
		if len(list) > 0 {
			n, _ := parseNamed(list[0])
			return fmt.Errorf("storage_transformers: %q is not supported", n.name)
		}
	}
	if !o.absent("dimension_names") {
		var names []*string
		if err := o.field("dimension_names", &names); err != nil {
			return err
		}
		if len(names) != len(m.shape) {
			return fmt.Errorf("dimension_names: %d names for %d dimensions", len(names), len(m.shape))
		}
		m.dims = make([]string, len(names))
		for i, name := range names {
			if name != nil {
				m.dims[i] = *name
			}
		}
		if !slices.ContainsFunc(m.dims, func(s string) bool { return s != "" }) {
			m.dims = nil
		}
	}
	if !o.absent("attributes") {
		var attributes object
		if err := o.field("attributes", &attributes); err != nil {
			return err
		}
		if m.dims == nil && len(m.shape) > 0 && attributes[dimsAttribute] != nil {
			if m.takeDims(attributes) {
				b, err := json.Marshal(attributes)
				if err != nil {
					return err
				}
				o["attributes"] = b
			}
		}
		if len(attributes) > 0 {
			m.attributes = o["attributes"]
		}
	}
	return nil
}

// encodeV3 writes the zarr.json of an array of version 3 whose shards are not
// transposed, as those that are made here are not.
func (m *meta) encodeV3() []byte {
	type extension struct {
		Name          string         `json:"name"`
		Configuration map[string]any `json:"configuration,omitempty"`
	}
	file := struct {
		ZarrFormat int               `json:"zarr_format"`
		NodeType   string            `json:"node_type"`
		Shape      []int             `json:"shape"`
		DataType   string            `json:"data_type"`
		Grid       extension         `json:"chunk_grid"`
		Keys       extension         `json:"chunk_key_encoding"`
		Fill       json.RawMessage   `json:"fill_value"`
		Codecs     []json.RawMessage `json:"codecs"`
		Dims       []*string         `json:"dimension_names,omitempty"`
		Attributes json.RawMessage   `json:"attributes"`
	}{
		3, "array", append([]int{}, m.shape...), m.dtype.String(),
		extension{"regular", map[string]any{"chunk_shape": append([]int{}, m.unit()...)}},
		extension{"default", map[string]any{"separator": m.keys.separator}},
		encodeFill(m.fill, m.dtype), m.encodeCodecs(), nil, m.attributes,
	}
	if m.keys.v2 {
		file.Keys.Name = "v2"
	}
	for i := range m.dims {
		file.Dims = append(file.Dims, nil)
		if m.dims[i] != "" {
			file.Dims[i] = &m.dims[i]
		}
	}
	if file.Attributes == nil {
		file.Attributes = json.RawMessage("{}")
	}
	b, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		panic("zarr: metadata that were checked do not encode: " + err.Error())
	}
	return append(withBareNumbers(b), '\n')
}
