package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

const shardingCodec = "sharding_indexed"

// parseCodecs takes the codecs of a chunk apart: the levels of its shards, and the
// pipeline of what is innermost. order has the axes as transpositions in front left
// them, nil for none: they act on the way that a shard's index goes through its
// parts, and on the parts.
func (m *meta) parseCodecs(list []json.RawMessage, shape, order []int) error {
	at := slices.IndexFunc(list, func(raw json.RawMessage) bool {
		n, err := parseNamed(raw)
		return err == nil && n.name == shardingCodec
	})
	if at < 0 {
		return m.setPipeline(list, shape, order)
	}
	order, err := transposed(list[:at], order, len(shape))
	if err != nil {
		return err
	}
	if at < len(list)-1 {
		n, _ := parseNamed(list[at+1])
		return fmt.Errorf("%q after %s is not supported: no part of a shard could be read by itself", n.name, shardingCodec)
	}
	n, _ := parseNamed(list[at])
	l, inner, err := parseLevel(n.configuration, shape, order)
	if err == nil {
		err = checkChunk(l.inner, len(shape), m.itemBytes())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", shardingCodec, err)
	}
	m.shards, m.chunks = append(m.shards, l), l.inner
	if len(m.shards) > maxLevels {
		return fmt.Errorf("%s: more than %d of them in one another are not supported", shardingCodec, maxLevels)
	}
	return m.parseCodecs(inner, l.inner, order)
}

// maxLevels bounds the nesting of shards in shards; two is the most in use.
const maxLevels = 8

// setPipeline makes the pipeline of the innermost chunks.
func (m *meta) setPipeline(list []json.RawMessage, shape, order []int) (err error) {
	if order != nil {
		first, err := json.Marshal(map[string]any{"name": "transpose", "configuration": map[string]any{"order": order}})
		if err != nil {
			return err
		}
		list = append([]json.RawMessage{first}, list...)
	}
	m.pipeline, err = m.field.FromV3(list, shape, m.inner, m.dtype)
	return err
}

// transposed is the order of axes after more transpositions. Nothing else may stand
// in front of shards.
func transposed(list []json.RawMessage, order []int, dims int) ([]int, error) {
	for _, raw := range list {
		n, err := parseNamed(raw)
		if err != nil {
			return nil, err
		}
		if n.name != "transpose" {
			return nil, fmt.Errorf("%q in front of %s is not supported", n.name, shardingCodec)
		}
		var next []int
		if err := n.configuration.field("order", &next); err != nil {
			return nil, fmt.Errorf("transpose: %w", err)
		}
		if !slices.Equal(slices.Sorted(slices.Values(next)), grid.UpTo(dims)) {
			return nil, fmt.Errorf("transpose: order %s does not name each of %d axes once", grid.Format(next), dims)
		}
		for i, a := range next {
			if order != nil {
				next[i] = order[a]
			}
		}
		order = next
	}
	return order, nil
}

// parseLevel reads the configuration of sharding_indexed. Shapes are in the array's
// own order of axes; those of the file are in the order that it was transposed to.
func parseLevel(o object, shape, order []int) (l shardLevel, inner []json.RawMessage, err error) {
	if err := o.onlyNames("chunk_shape", "codecs", "index_codecs", "index_location"); err != nil {
		return l, nil, err
	}
	l = shardLevel{shape: shape, order: order}
	stored, err := o.lengths("chunk_shape", 1)
	if err != nil {
		return l, nil, err
	}
	if len(stored) != len(shape) {
		return l, nil, fmt.Errorf("chunk_shape %s has %d dimensions, the array has %d", grid.Format(stored), len(stored), len(shape))
	}
	l.inner = stored
	if order != nil {
		l.inner = make([]int, len(stored))
		for d, axis := range order {
			l.inner[axis] = stored[d]
		}
	}
	counts := make([]int, len(shape))
	for d := range shape {
		if shape[d]%l.inner[d] != 0 {
			return l, nil, fmt.Errorf("chunk_shape %s does not divide the shard's %s", grid.Format(l.inner), grid.Format(shape))
		}
		counts[d] = l.count(d)
	}
	if grid.Check(counts, 2*entryBytes) != nil { // with room for a checksum
		return l, nil, fmt.Errorf("chunk_shape %s makes more parts than can be counted", grid.Format(l.inner))
	}
	if err := o.field("codecs", &inner); err != nil {
		return l, nil, err
	}
	l.index, err = parseIndexForm(o)
	return l, inner, err
}

// onlyNames rejects members that it does not know.
func (o object) onlyNames(known ...string) error {
	for name := range o {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%q is unknown", shorten([]byte(name)))
		}
	}
	return nil
}

func parseIndexForm(o object) (f shardIndexEncoding, err error) {
	location := "end"
	if _, ok := o["index_location"]; ok {
		if err := o.field("index_location", &location); err != nil {
			return f, err
		}
	}
	switch location {
	case "start":
		f.atStart = true
	case "end":
	default:
		return f, fmt.Errorf("index_location: %q is neither start nor end", shorten([]byte(location)))
	}
	var list []json.RawMessage
	if err := o.field("index_codecs", &list); err != nil {
		return f, err
	}
	for i, raw := range list {
		n, err := parseNamed(raw)
		if err != nil {
			return f, fmt.Errorf("index_codecs: %w", err)
		}
		switch {
		case i == 0 && n.name == "bytes":
			var endian string
			if err := n.configuration.field("endian", &endian); err != nil {
				return f, fmt.Errorf("index_codecs: bytes: %w", err)
			}
			if f.big = endian == "big"; !f.big && endian != "little" {
				return f, fmt.Errorf("index_codecs: bytes: endian %q is neither little nor big", shorten([]byte(endian)))
			}
		case i == 1 && n.name == "crc32c":
			f.crc = true
		default:
			return f, fmt.Errorf("index_codecs: %q is not supported there, only bytes and then crc32c", n.name)
		}
	}
	if len(list) == 0 {
		return f, errors.New("index_codecs: bytes is missing")
	}
	return f, nil
}

// encodeCodecs is the inverse of parseCodecs.
func (m *meta) encodeCodecs() []json.RawMessage {
	list := m.pipeline.V3()
	for _, l := range slices.Backward(m.shards) {
		list = []json.RawMessage{l.encode(list)}
	}
	return list
}

func (l *shardLevel) encode(inner []json.RawMessage) json.RawMessage {
	endian, location := "little", "end"
	if l.index.big {
		endian = "big"
	}
	if l.index.atStart {
		location = "start"
	}
	index := []any{map[string]any{"name": "bytes", "configuration": map[string]any{"endian": endian}}}
	if l.index.crc {
		index = append(index, map[string]any{"name": "crc32c"})
	}
	b, err := json.Marshal(map[string]any{"name": shardingCodec, "configuration": map[string]any{
		"chunk_shape": append([]int{}, l.inner...), "codecs": inner, "index_codecs": index, "index_location": location,
	}})
	if err != nil {
		panic("zarr: codecs that were checked do not encode: " + err.Error())
	}
	return b
}
