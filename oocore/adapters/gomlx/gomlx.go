// Package gomlx brings tensors of github.com/gomlx/gomlx to arrays larger than memory, and back:
//
//	x, err := gomlx.Tensor(ctx, batch)    // an array as a *tensors.Tensor
//	a := gomlx.From(x)                    // a tensor as an array
//
// The types are those that both have: bool, integers and floats of 8 to 64 bits, bfloat16, and complex numbers.
package gomlx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// types are those of tensors, with what computes an array of them.
var types = map[oocore.DType]struct {
	of      dtypes.DType
	collect func(context.Context, *oocore.Array, []oocore.Option) ([]byte, error)
}{
	oocore.Bool: {dtypes.Bool, collect[bool]},
	oocore.Int8: {dtypes.Int8, collect[int8]}, oocore.Int16: {dtypes.Int16, collect[int16]}, oocore.Int32: {dtypes.Int32, collect[int32]}, oocore.Int64: {dtypes.Int64, collect[int64]},
	oocore.Uint8: {dtypes.Uint8, collect[uint8]}, oocore.Uint16: {dtypes.Uint16, collect[uint16]}, oocore.Uint32: {dtypes.Uint32, collect[uint32]}, oocore.Uint64: {dtypes.Uint64, collect[uint64]},
	oocore.Float16: {dtypes.Float16, collect[dtype.Float16Bits]}, oocore.BFloat16: {dtypes.BFloat16, collect[dtype.BFloat16Bits]},
	oocore.Float32: {dtypes.Float32, collect[float32]}, oocore.Float64: {dtypes.Float64, collect[float64]},
	oocore.Complex64: {dtypes.Complex64, collect[complex64]}, oocore.Complex128: {dtypes.Complex128, collect[complex128]},
}

func collect[T oocore.Element](ctx context.Context, a *oocore.Array, opts []oocore.Option) ([]byte, error) {
	v, err := oocore.Collect[T](ctx, a, opts...)
	return dtype.Bytes(v), err
}

// From returns a copy of a tensor as an array, wherever its elements are: those of a device are fetched.
func From(t *tensors.Tensor) *oocore.Array {
	site := graph.Caller()
	reject := func(err error) *oocore.Array {
		return door.Made[oocore.Array](nil, &oocore.Error{Op: "array", Site: site, Err: err})
	}
	if t == nil {
		return reject(errors.New("the *tensors.Tensor is nil"))
	}
	for as, of := range types {
		if of.of != t.DType() {
			continue
		}
		var data []byte
		if err := t.CheckValid(); err != nil {
			return reject(err)
		} else if t.Size() == 0 { // whose bytes ConstBytes cannot take
		} else if err := t.ConstBytes(func(b []byte) { data = slices.Clone(b) }); err != nil {
			return reject(err)
		}
		return door.Made[oocore.Array](graph.FromBytes(site, data, as, t.Shape().Dimensions...))
	}
	return reject(fmt.Errorf("a tensor of %s has no type of an array: convert it before", t.DType()))
}

// Tensor computes an array into a tensor in the program's memory, by oocore.Collect, whose result is part of
// the budget. The tensor is a copy of that, which is not.
func Tensor(ctx context.Context, a *oocore.Array, opts ...oocore.Option) (*tensors.Tensor, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	of, ok := types[a.DType()]
	if !ok {
		return nil, &oocore.Error{Op: "collect", Shapes: [][]int{a.Shape()}, Types: []oocore.DType{a.DType()}, Site: graph.Caller(),
			Err: fmt.Errorf("a tensor has no elements of %s: AsType brings the array to another type", a.DType())}
	}
	data, err := of.collect(ctx, a, opts)
	if err != nil {
		return nil, err
	}
	t := tensors.FromShape(shapes.Make(of.of, a.Shape()...))
	if len(data) == 0 {
		return t, nil
	}
	return t, t.MutableBytes(func(b []byte) { copy(b, data) })
}
