package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// stated is a codec in the metadata of Zarr v3, which may be its name alone.
type stated struct {
	Name          string          `json:"name"`
	Configuration json.RawMessage `json:"configuration,omitempty"`
}

func (n *stated) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &n.Name)
	}
	type plain stated
	return strict(b, (*plain)(n))
}

// strict reads JSON that has no other fields than a struct.
func strict(b []byte, into any) error {
	if len(b) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// configured is a codec as Zarr v3 writes it.
func configured(name string, configuration any) json.RawMessage {
	n := stated{Name: name}
	if configuration != nil {
		n.Configuration = marshal(configuration)
	}
	return marshal(n)
}

// marshal writes a struct of this package, which cannot fail.
func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

type transposeConfig struct {
	Order []int `json:"order"`
}

type bytesConfig struct {
	Endian string `json:"endian,omitempty"`
}

// parseV3 reads codecs in their order: of arrays, then bytes, then of bytes.
func parseV3(codecs []json.RawMessage, axes int, t dtype.Type) (order []int, big bool, filters []filter, err error) {
	order = grid.UpTo(axes)
	laid := false // by the codec that makes bytes of an array
	lies := t     // what that codec takes
	for i, raw := range codecs {
		var c stated
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, false, nil, fmt.Errorf("codec %d: %w", i, err)
		}
		fail := func(err error) ([]int, bool, []filter, error) {
			return nil, false, nil, fmt.Errorf("codec %q: %w", c.Name, err)
		}
		switch c.Name {
		case "transpose":
			if laid || len(filters) > 0 {
				return fail(errors.New("it comes after bytes or a filter of elements, and belongs before it"))
			}
			next, err := parseTranspose(c.Configuration, axes)
			if err != nil {
				return fail(err)
			}
			for i, axis := range next {
				next[i] = order[axis]
			}
			order = next
		case "bytes":
			if laid {
				return fail(errors.New("it comes twice"))
			}
			laid = true
			if big, err = parseBytes(c.Configuration, lies); err != nil {
				return fail(err)
			}
			if n := len(filters); n > 0 { // after which the elements are in the machine's order
				if e, ok := filters[n-1].(*elementwise); ok {
					e.stored.big = big
				}
				big = false
			}
		case "sharding_indexed":
			return fail(errors.New("it is not supported inside of other codecs"))
		default:
			f, err := parseFilter(c, lies)
			if err != nil {
				return fail(err)
			}
			switch f := f.(type) {
			case *elementwise:
				f.made.big, f.stored.big = false, false
				lies = f.stored.t
			case packBits:
				lies = dtype.Uint8
			default:
				if !laid {
					return fail(errors.New("it comes before bytes, and belongs after it"))
				}
				filters = append(filters, f)
				continue
			}
			if laid {
				return fail(errors.New("it comes after bytes, and belongs before it"))
			}
			filters = append(filters, f)
		}
	}
	if !laid {
		return nil, false, nil, errors.New("codecs: there is no bytes codec")
	}
	return order, big, filters, nil
}

func parseTranspose(b json.RawMessage, axes int) ([]int, error) {
	var c transposeConfig
	if err := strict(b, &c); err != nil {
		return nil, err
	}
	sorted := slices.Sorted(slices.Values(c.Order))
	if !slices.Equal(sorted, grid.UpTo(axes)) {
		return nil, fmt.Errorf("order %v is no order of %d axes", c.Order, axes)
	}
	return c.Order, nil
}

func parseBytes(b json.RawMessage, t dtype.Type) (big bool, err error) {
	var c bytesConfig
	if err := strict(b, &c); err != nil {
		return false, err
	}
	switch {
	case c.Endian == "big", c.Endian == "little":
	case c.Endian != "":
		return false, fmt.Errorf("endian %q is neither little nor big", c.Endian)
	case t.Size() > 1:
		return false, fmt.Errorf("%s needs an endian, little or big", t)
	}
	return c.Endian == "big", nil
}

// parseFilter reads a codec of bytes. The names that begin with "numcodecs." are those
// with which zarr-python writes codecs that Zarr v3 does not have.
func parseFilter(n stated, t dtype.Type) (filter, error) {
	if f, err := newRegistered(n.Name, n.Configuration, t); f != nil || err != nil {
		return f, err
	}
	switch n.Name {
	case "crc32c":
		return newCRC32C(), strict(n.Configuration, &struct{}{})
	case "zstd":
		c := zstdConfig{}
		if err := strict(n.Configuration, &c); err != nil {
			return nil, err
		}
		return newZstd(c.Level, c.Checksum)
	case "gzip":
		c := levelConfig{defaultDeflate}
		if err := strict(n.Configuration, &c); err != nil {
			return nil, err
		}
		return newDeflate("gzip", c.Level)
	case "blosc":
		return parseBlosc(n.Configuration, t)
	}
	if id, ok := strings.CutPrefix(n.Name, "numcodecs."); ok {
		if len(n.Configuration) == 0 {
			n.Configuration = json.RawMessage("{}")
		}
		return parseNumcodec(id, n.Configuration, t)
	}
	return nil, errors.New("it is not supported: supported are bytes, transpose, gzip, zstd, blosc, crc32c and sharding_indexed")
}
