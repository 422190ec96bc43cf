package n5

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// errGroup is returned for attributes without an array.
var errGroup = errors.New("it is a group, not an array")

// parse reads attributes.json, with axes in C order: N5's first one is the last.
func parse(b []byte) (*zarr.Blocks, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil || all == nil {
		return nil, errors.New("attributes.json: not a JSON object")
	}
	if _, ok := all["dimensions"]; !ok {
		return nil, errGroup
	}
	m := &zarr.Blocks{Format: "n5", Head: header}
	if multiset := false; json.Unmarshal(all["isLabelMultiset"], &multiset) == nil && multiset {
		return nil, errors.New("attributes.json: label multisets (isLabelMultiset), which are sets of labels with their counts, are not supported")
	}
	var kind string
	for key, into := range map[string]any{"dimensions": &m.Shape, "blockSize": &m.Chunks, "dataType": &kind} {
		if raw, ok := all[key]; !ok {
			return nil, fmt.Errorf("attributes.json: %s is missing", key)
		} else if json.Unmarshal(raw, into) != nil {
			return nil, fmt.Errorf("attributes.json: %s: %.60s is not of the right form", key, raw)
		}
	}
	switch kind {
	case "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64":
		m.DType, _ = dtype.Parse(kind)
	default:
		return nil, fmt.Errorf("attributes.json: elements of type %.60q are not supported", kind)
	}
	if len(m.Chunks) != len(m.Shape) || len(m.Shape) == 0 {
		return nil, fmt.Errorf("attributes.json: %d dimensions in blocks of %d", len(m.Shape), len(m.Chunks))
	}
	slices.Reverse(m.Shape)
	slices.Reverse(m.Chunks)
	for _, shape := range [][]int{m.Shape, m.Chunks} {
		if err := grid.Check(shape, m.DType.Size()); err != nil {
			return nil, fmt.Errorf("attributes.json: %w", err)
		}
	}
	compressor, err := compressor(all)
	if err == nil {
		m.Pipeline, err = codec.FromV2(compressor, nil, "C", m.DType.Size() > 1, m.Chunks, m.DType)
	}
	if err != nil {
		return nil, fmt.Errorf("attributes.json: compression: %w", err)
	}
	if json.Unmarshal(all["axes"], &m.Dims) != nil || len(m.Dims) != len(m.Shape) {
		m.Dims = nil
	}
	slices.Reverse(m.Dims)
	for _, key := range []string{"dimensions", "blockSize", "dataType", "compression", "compressionType", "n5"} {
		delete(all, key)
	}
	if m.Dims != nil {
		delete(all, "axes")
	}
	if len(all) > 0 {
		m.Attributes, err = json.Marshal(all)
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
