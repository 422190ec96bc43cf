package zarr

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/codec"
)

const (
	v2File       = ".zarray"
	v2Attributes = ".zattrs"
	v2Group      = ".zgroup"
	// v2Consolidated is a copy of the metadata of all that is in a group.
	v2Consolidated = ".zmetadata"
)

// parseV2 reads a .zarray and, where it is not nil, a .zattrs. Errors name the file
// and field.
func parseV2(zarray, zattrs []byte) (*meta, error) {
	m, err := readV2(zarray)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v2File, err)
	}
	if zattrs != nil {
		if err := m.readAttributes(zattrs); err != nil {
			return nil, fmt.Errorf("%s: %w", v2Attributes, err)
		}
	}
	return m, nil
}

func readV2(b []byte) (*meta, error) {
	o, err := parseObject(b)
	if err != nil {
		return nil, err
	}
	var version int
	if err := o.field("zarr_format", &version); err != nil {
		return nil, err
	}
	if version != 2 {
		return nil, fmt.Errorf("zarr_format: version %d is not supported", version)
	}
	m := &meta{version: 2}
	if err := m.readShape(o); err != nil {
		return nil, err
	}
	if _, ok := o["dtype"]; !ok {
		return nil, errors.New("dtype is missing")
	}
	t, big, err := v2Type(o["dtype"])
	if err != nil {
		return nil, fmt.Errorf("dtype: %w", err)
	}
	m.dtype = t
	if err := checkShape(m.shape, t); err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	if err := o.field("chunks", &m.chunks); err != nil {
		return nil, err
	}
	if err := checkChunk(m.chunks, len(m.shape), t); err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	m.fill = make([]byte, t.Size())
	if !o.absent("fill_value") { // null leaves it open: zero, as for the others that read it
		if err := o.fill(m); err != nil {
			return nil, err
		}
	}
	m.keys = keyEncoding{v2: true, separator: "."}
	if !o.absent("dimension_separator") {
		if err := o.field("dimension_separator", &m.keys.separator); err != nil {
			return nil, err
		}
	}
	if err := m.keys.check("dimension_separator"); err != nil {
		return nil, err
	}
	var order string
	if err := o.field("order", &order); err != nil {
		return nil, err
	}
	if order != "C" && order != "F" {
		return nil, fmt.Errorf("order: %q is neither C nor F", shorten([]byte(order)))
	}
	for _, name := range []string{"compressor", "filters"} {
		if o.absent(name) {
			o[name] = json.RawMessage("null")
		}
	}
	m.pipeline, err = codec.FromV2(o["compressor"], o["filters"], order, big, m.chunks, t)
	if err != nil {
		return nil, fmt.Errorf("compressor and filters: %w", err)
	}
	return m, nil
}

// readAttributes keeps the attributes. Among them may be the names of dimensions,
// in xarray's way.
func (m *meta) readAttributes(b []byte) error {
	o, err := parseObject(b)
	if err != nil || len(o) == 0 {
		return err
	}
	if m.attributes, err = json.Marshal(o); err != nil {
		return err
	}
	var dims []string
	if json.Unmarshal(o["_ARRAY_DIMENSIONS"], &dims) == nil && len(dims) == len(m.shape) && len(dims) > 0 {
		m.dims = dims
	}
	return nil
}
