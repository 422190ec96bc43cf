package storage

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/store"
)

// Common returns what the details of two arrays have in common.
func Common(a, b store.Details) store.Details {
	if !slices.Equal(a.Dims, b.Dims) {
		a.Dims, a.ChosenDims = nil, false
	}
	if a.Fill != b.Fill || a.Marks != b.Marks {
		a.Fill, a.Marks = "", false
	}
	if bytes.Equal(a.Attributes, b.Attributes) {
		return a
	}
	x, y := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	_, _ = json.Unmarshal(a.Attributes, &x), json.Unmarshal(b.Attributes, &y)
	maps.DeleteFunc(x, func(name string, v json.RawMessage) bool { return !bytes.Equal(v, y[name]) })
	if a.Attributes = nil; len(x) > 0 {
		a.Attributes, _ = json.Marshal(x) // of what was JSON before
	}
	return a
}
