package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
)

// Number is an element as JSON has it in attributes: a number or a bool; nil for complex ones.
func Number(t dtype.Type, b []byte, big bool) any {
	v := dtype.Value{Type: t}
	size := t.Size()
	if size > 8 || t.Kind() == dtype.KindComplex {
		return nil
	}
	var element [8]byte
	copy(element[:], b[:size])
	if big {
		slices.Reverse(element[:size])
	}
	v.Lo = binary.LittleEndian.Uint64(element[:])
	switch t.Kind() {
	case dtype.KindBool:
		return v.Lo != 0
	case dtype.KindFloat:
		return v.Float()
	case dtype.KindInt:
		return v.Int()
	}
	return v.Lo
}

// Finite is a value that JSON has: what is not finite is a text as store.Details has it. A float without a fraction keeps its point, or
// readers of JSON would take it for an integer.
func Finite(v any) any {
	x, ok := v.(float64)
	switch {
	case !ok:
		return v
	case !math.IsNaN(x) && !math.IsInf(x, 0):
		text, _ := json.Marshal(x) // which is finite
		if !bytes.ContainsAny(text, ".e") {
			text = append(text, ".0"...)
		}
		return json.RawMessage(text)
	case math.IsNaN(x):
		return json.RawMessage(`"\u004eaN"`)
	case x > 0:
		return json.RawMessage(`"\u0049nfinity"`)
	}
	return json.RawMessage(`"-\u0049nfinity"`)
}

// Common returns what the details of two arrays have in common.
func Common(a, b store.Details) store.Details {
	if !slices.Equal(a.Dims, b.Dims) {
		a.Dims, a.ChosenDims = nil, false
	}
	if a.Fill != b.Fill || a.Marks != b.Marks {
		a.Fill, a.Marks = "", false
	}
	if !maps.Equal(a.Lines, b.Lines) {
		a.Lines = nil
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
