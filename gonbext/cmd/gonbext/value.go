package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
)

// result is the value of an array of no dimensions, or the text of another.
type result struct{ value any }

// collectResult computes an array that is printed.
func collectResult(ctx context.Context, a *oocore.Array, opts []oocore.Option) (*result, error) {
	if a.Dims() == 0 {
		return collectValue(ctx, a, opts)
	}
	var text strings.Builder
	if err := a.Print(ctx, &text, opts...); err != nil {
		return nil, err
	}
	return &result{strings.TrimSuffix(text.String(), "\n")}, nil
}

// collectValue computes an array of no dimensions.
func collectValue(ctx context.Context, a *oocore.Array, opts []oocore.Option) (*result, error) {
	if collect, ok := singles[a.DType()]; ok {
		return collect(ctx, a, opts)
	}
	return single[float32](ctx, a.AsType(dtype.Float32), opts) // a shorter float
}

var singles = map[dtype.Type]func(ctx context.Context, a *oocore.Array, opts []oocore.Option) (*result, error){
	dtype.Bool: single[bool], dtype.Int8: single[int8], dtype.Int16: single[int16], dtype.Int32: single[int32], dtype.Int64: single[int64],
	dtype.Uint8: single[uint8], dtype.Uint16: single[uint16], dtype.Uint32: single[uint32], dtype.Uint64: single[uint64],
	dtype.Float32: single[float32], dtype.Float64: single[float64], dtype.Complex64: single[complex64], dtype.Complex128: single[complex128],
}

func single[T oocore.Element](ctx context.Context, a *oocore.Array, opts []oocore.Option) (*result, error) {
	v, err := oocore.Collect[T](ctx, a, opts...)
	if err != nil {
		return nil, err
	}
	return &result{v[0]}, nil
}

// String is the value with the digits that its type has.
func (r *result) String() string { return fmt.Sprint(r.value) }

// MarshalJSON writes a number or a bool, and a complex number as [re, im]. JSON has no NaN
// and no infinity: they are "NaN", "Infinity" and "-Infinity".
func (r *result) MarshalJSON() ([]byte, error) {
	switch v := r.value.(type) {
	case float32:
		return json.Marshal(finite(v))
	case float64:
		return json.Marshal(finite(v))
	case complex64:
		return json.Marshal([2]any{finite(real(v)), finite(imag(v))})
	case complex128:
		return json.Marshal([2]any{finite(real(v)), finite(imag(v))})
	}
	return json.Marshal(r.value)
}

// finite is v as JSON has it.
func finite[T float32 | float64](v T) any {
	switch f := float64(v); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return v
}
