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

// result is the value of an array of no dimensions, the text of another, or its elements as nested lists.
type result struct{ value any }

// collectResult computes an array that is printed, as text or as JSON.
func collectResult(ctx context.Context, a *oocore.Array, asJSON bool, opts []oocore.Option) (*result, error) {
	if a.Dims() > 0 && !asJSON {
		var text strings.Builder
		if err := a.Print(ctx, &text, opts...); err != nil {
			return nil, err
		}
		return &result{strings.TrimSuffix(text.String(), "\n")}, nil
	}
	collect := collectors[a.DType()]
	if collect == nil { // a shorter float
		a, collect = a.AsType(dtype.Float32), collected[float32]
	}
	v, err := collect(ctx, a, opts)
	if err != nil {
		return nil, err
	}
	return &result{nested(v, a.Shape())}, nil
}

var collectors = map[dtype.Type]func(ctx context.Context, a *oocore.Array, opts []oocore.Option) ([]any, error){
	dtype.Bool: collected[bool], dtype.Int8: collected[int8], dtype.Int16: collected[int16], dtype.Int32: collected[int32], dtype.Int64: collected[int64],
	dtype.Uint8: collected[uint8], dtype.Uint16: collected[uint16], dtype.Uint32: collected[uint32], dtype.Uint64: collected[uint64],
	dtype.Float32: collected[float32], dtype.Float64: collected[float64], dtype.Complex64: collected[complex64], dtype.Complex128: collected[complex128],
}

func collected[T oocore.Element](ctx context.Context, a *oocore.Array, opts []oocore.Option) ([]any, error) {
	v, err := oocore.Collect[T](ctx, a, opts...)
	all := make([]any, len(v))
	for i := range v {
		all[i] = v[i]
	}
	return all, err
}

// nested are elements as lists of lists; one element alone where there are no dimensions.
func nested(v []any, shape []int) any {
	if len(shape) == 0 {
		return v[0]
	}
	rows := make([]any, shape[0])
	for i, n := 0, len(v)/max(shape[0], 1); i < shape[0]; i++ {
		rows[i] = nested(v[i*n:(i+1)*n], shape[1:])
	}
	return rows
}

// String is the value with the digits that its type has.
func (r *result) String() string { return fmt.Sprint(r.value) }

// MarshalJSON writes a number or a bool, and a complex number as [re, im]. JSON has no NaN
// and no infinity: they are "NaN", "Infinity" and "-Infinity".
func (r *result) MarshalJSON() ([]byte, error) { return json.Marshal(inJSON(r.value)) }

func inJSON(v any) any {
	switch v := v.(type) {
	case float32:
		return finite(v)
	case float64:
		return finite(v)
	case complex64:
		return [2]any{finite(real(v)), finite(imag(v))}
	case complex128:
		return [2]any{finite(real(v)), finite(imag(v))}
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = inJSON(v[i])
		}
		return all
	}
	return v
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
