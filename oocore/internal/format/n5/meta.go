package n5

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// meta is what attributes.json says of a dataset, axes in C order: N5's first one is the last.
type meta struct {
	shape, chunk []int
	dtype        dtype.Type
	pipeline     *codec.Pipeline
	dims         []string
	attributes   json.RawMessage // what N5 gives no meaning
}

// errGroup is returned for attributes without an array.
var errGroup = errors.New("it is a group, not an array")

// parse reads attributes.json.
func parse(b []byte) (*meta, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil || all == nil {
		return nil, errors.New("attributes.json: not a JSON object")
	}
	if _, ok := all["dimensions"]; !ok {
		return nil, errGroup
	}
	m := &meta{}
	if multiset := false; json.Unmarshal(all["isLabelMultiset"], &multiset) == nil && multiset {
		return nil, errors.New("attributes.json: label multisets (isLabelMultiset), which are sets of labels with their counts, are not supported")
	}
	var kind string
	for key, into := range map[string]any{"dimensions": &m.shape, "blockSize": &m.chunk, "dataType": &kind} {
		if raw, ok := all[key]; !ok {
			return nil, fmt.Errorf("attributes.json: %s is missing", key)
		} else if json.Unmarshal(raw, into) != nil {
			return nil, fmt.Errorf("attributes.json: %s: %.60s is not of the right form", key, raw)
		}
	}
	switch kind {
	case "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64":
		m.dtype, _ = dtype.Parse(kind)
	default:
		return nil, fmt.Errorf("attributes.json: elements of type %.60q are not supported", kind)
	}
	if len(m.chunk) != len(m.shape) || len(m.shape) == 0 {
		return nil, fmt.Errorf("attributes.json: %d dimensions in blocks of %d", len(m.shape), len(m.chunk))
	}
	slices.Reverse(m.shape)
	slices.Reverse(m.chunk)
	for _, shape := range [][]int{m.shape, m.chunk} {
		if err := grid.Check(shape, m.dtype.Size()); err != nil {
			return nil, fmt.Errorf("attributes.json: %w", err)
		}
	}
	compressor, err := compressor(all)
	if err == nil {
		m.pipeline, err = codec.FromV2(compressor, nil, "C", m.dtype.Size() > 1, m.chunk, m.dtype)
	}
	if err != nil {
		return nil, fmt.Errorf("attributes.json: compression: %w", err)
	}
	if json.Unmarshal(all["axes"], &m.dims) != nil || len(m.dims) != len(m.shape) {
		m.dims = nil
	}
	slices.Reverse(m.dims)
	for _, key := range []string{"dimensions", "blockSize", "dataType", "compression", "compressionType", "n5"} {
		delete(all, key)
	}
	if m.dims != nil {
		delete(all, "axes")
	}
	if len(all) > 0 {
		m.attributes, err = json.Marshal(all)
	}
	return m, err
}

// compressor is N5's as one of numcodecs.
func compressor(all map[string]json.RawMessage) (json.RawMessage, error) {
	var c struct {
		Type      string `json:"type"`
		UseZlib   bool   `json:"useZlib"`
		Cname     string `json:"cname"`
		Blocksize int    `json:"blocksize"`
		Shuffle   int    `json:"shuffle"`
	}
	if raw, ok := all["compression"]; ok {
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, fmt.Errorf("%.60s is not of the right form", raw)
		}
	} else if raw, ok := all["compressionType"]; ok { // before version 2
		if json.Unmarshal(raw, &c.Type) != nil {
			return nil, fmt.Errorf("%.60s is not of the right form", raw)
		}
	}
	switch c.Type {
	case "raw":
		return nil, nil
	case "gzip", "zstd":
		if c.UseZlib {
			c.Type = "zlib"
		}
		return json.Marshal(map[string]any{"id": c.Type})
	case "blosc":
		return json.Marshal(map[string]any{"id": "blosc", "cname": c.Cname, "shuffle": c.Shuffle, "blocksize": c.Blocksize})
	}
	return nil, fmt.Errorf("%.60q is not supported: supported are raw, gzip, zstd and blosc", c.Type)
}

// key is where a block lies: its place along N5's axes.
func key(chunk []int) string {
	parts := make([]string, len(chunk))
	for d, i := range chunk {
		parts[len(chunk)-1-d] = strconv.Itoa(i)
	}
	return strings.Join(parts, "/")
}

// parseKey is the inverse of key; ok is false for what is no block of the array.
func (m *meta) parseKey(name string) (chunk []int, ok bool) {
	parts := strings.Split(name, "/")
	if len(parts) != len(m.shape) {
		return nil, false
	}
	slices.Reverse(parts)
	g := grid.Grid{Shape: m.shape, Chunks: m.chunk}
	for d, part := range parts {
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i >= g.Count(d) || strconv.Itoa(i) != part {
			return nil, false
		}
		chunk = append(chunk, i)
	}
	return chunk, true
}
