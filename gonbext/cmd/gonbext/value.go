package main

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
)

// collectText computes an array of no dimensions and writes its value out, with
// the digits that its type has.
func collectText(ctx context.Context, a *oocore.Array, opts []oocore.Option) (string, error) {
	switch a.DType() {
	case dtype.Bool:
		return text[bool](ctx, a, opts)
	case dtype.Int8:
		return text[int8](ctx, a, opts)
	case dtype.Int16:
		return text[int16](ctx, a, opts)
	case dtype.Int32:
		return text[int32](ctx, a, opts)
	case dtype.Int64:
		return text[int64](ctx, a, opts)
	case dtype.Uint8:
		return text[uint8](ctx, a, opts)
	case dtype.Uint16:
		return text[uint16](ctx, a, opts)
	case dtype.Uint32:
		return text[uint32](ctx, a, opts)
	case dtype.Uint64:
		return text[uint64](ctx, a, opts)
	case dtype.Float16, dtype.BFloat16, dtype.Float32:
		return text[float32](ctx, a.AsType(dtype.Float32), opts)
	case dtype.Complex64:
		return text[complex64](ctx, a, opts)
	case dtype.Complex128:
		return text[complex128](ctx, a, opts)
	}
	return text[float64](ctx, a, opts)
}

func text[T oocore.Element](ctx context.Context, a *oocore.Array, opts []oocore.Option) (string, error) {
	v, err := oocore.Collect[T](ctx, a, opts...)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(v[0]), nil
}
