package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
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
func parseV2(zarray, zattrs []byte) (*meta, error) { return parseV2Field(zarray, zattrs, "") }

// parseV2Field is parseV2 of an array of records, of which a field is read.
func parseV2Field(zarray, zattrs []byte, field string) (*meta, error) {
	m, err := readV2(zarray, field)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v2File, err)
	}
	if zattrs != nil {
		if err := m.readAttributes(zattrs); err != nil {
			return nil, fmt.Errorf("%s: %w", v2Attributes, err)
		}
	}
	m.addAxes()
	return m, m.addTimes()
}

func readV2(b []byte, field string) (*meta, error) {
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
	m := &meta{version: 2, fieldName: field}
	if err := m.readShape(o); err != nil {
		return nil, err
	}
	if _, ok := o["dtype"]; !ok {
		return nil, errors.New("dtype is missing")
	}
	e, err := v2Element(o["dtype"], 0)
	if err == nil {
		err = m.choose(e)
	}
	if err != nil {
		return nil, fmt.Errorf("dtype: %w", err)
	}
	if err := checkShape(m.shape, m.itemBytes()); err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	if err := o.field("chunks", &m.chunks); err != nil {
		return nil, err
	}
	if err := checkChunk(m.chunks, len(m.shape), m.itemBytes()); err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	m.fill = make([]byte, m.dtype.Size())
	if m.noFill = o.absent("fill_value"); !m.noFill { // null leaves it open: zero, as for the others that read it
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
	m.pipeline, err = m.field.FromV2(o["compressor"], o["filters"], order, m.big, m.chunks, m.inner, m.dtype)
	if err != nil {
		return nil, fmt.Errorf("compressor and filters: %w", err)
	}
	return m, nil
}

// readAttributes keeps the attributes. Those that xarray has for the dimensions and
// for missing values are brought to the form of version 3.
func (m *meta) readAttributes(b []byte) error {
	o, err := parseObject(b)
	if err != nil || len(o) == 0 {
		return err
	}
	xarrays := m.takeDims(o)
	if len(o) > 0 {
		if m.attributes, err = json.Marshal(o); err != nil {
			return err
		}
	}
	if xarrays {
		m.setMissing(!m.noFill)
	}
	return nil
}
