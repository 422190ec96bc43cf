package gomlx_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/dtypes/bfloat16"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/x448/float16"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/gomlx"
)

func Example() {
	ctx := context.Background()
	a := gomlx.From(tensors.FromValue([][]float32{{1, 2}, {3, 4}}))
	t, err := gomlx.Tensor(ctx, a.Sub(a.Mean(0)), oocore.Memory("64MiB"))
	if err != nil {
		panic(err)
	}
	fmt.Println(t.Shape(), t.Value())
	// Output: (Float32)[2 2] [[-1 -1] [1 1]]
}

// Elements of every type are the same on both sides, as float64 or complex128 of the tensor's own library.
func TestElementsOfEveryTypeAreTheSame(t *testing.T) {
	for _, x := range []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions([]bool{true, false, true}, 3),
		tensors.FromFlatDataAndDimensions([]int8{-128, 0, 127}, 3), tensors.FromFlatDataAndDimensions([]int16{-3, 0, 300}, 3, 1),
		tensors.FromFlatDataAndDimensions([]int32{-3, 0, 70000}, 1, 3), tensors.FromFlatDataAndDimensions([]int64{-3, 0, 1 << 40}, 3),
		tensors.FromFlatDataAndDimensions([]uint8{0, 1, 255}, 3), tensors.FromFlatDataAndDimensions([]uint16{0, 1, 65535}, 3),
		tensors.FromFlatDataAndDimensions([]uint32{0, 1, 1 << 31}, 3), tensors.FromFlatDataAndDimensions([]uint64{0, 1, 1 << 63}, 3),
		tensors.FromFlatDataAndDimensions([]float16.Float16{float16.Fromfloat32(1.5), float16.Fromfloat32(-65504)}, 2),
		tensors.FromFlatDataAndDimensions([]bfloat16.BFloat16{bfloat16.FromFloat32(1.5), bfloat16.FromFloat32(-3e38)}, 2),
		tensors.FromFlatDataAndDimensions([]float32{1.5, -3e38, 0, 1, 2, 3}, 2, 3), tensors.FromFlatDataAndDimensions([]float64{1.5, -3e300}, 2),
		tensors.FromFlatDataAndDimensions([]complex64{1 + 2i}, 1), tensors.FromFlatDataAndDimensions([]complex128{1 + 2i, -1}, 2),
		tensors.FromScalar(float32(7)), tensors.FromShape(shapes.Make(dtypes.Float32, 0, 3)),
	} {
		a := gomlx.From(x)
		if !slices.Equal(a.Shape(), x.Shape().Dimensions) && x.Rank() > 0 || !strings.EqualFold(a.DType().String(), x.DType().String()) {
			t.Errorf("%s is %s of shape %v, %v", x.Shape(), a.DType(), a.Shape(), a.Err())
		}
		if x.DType().IsFloat() {
			got, err := oocore.Collect[float64](t.Context(), a.AsType(oocore.Float64))
			if want := floats(x); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v; want %v", x.Shape(), got, err, want)
			}
		}
		back, err := gomlx.Tensor(t.Context(), a)
		if err != nil || !back.Shape().Equal(x.Shape()) || !reflect.DeepEqual(flat(back), flat(x)) {
			t.Errorf("%s comes back as %v, %v", x.Shape(), back, err)
		}
	}
}

func flat(t *tensors.Tensor) (v any) {
	t.MustConstFlatData(func(f any) { v = f })
	return v
}

func floats(t *tensors.Tensor) (all []float64) {
	v := reflect.ValueOf(flat(t))
	for i := range v.Len() {
		switch e := v.Index(i).Interface().(type) {
		case float16.Float16:
			all = append(all, float64(e.Float32()))
		case bfloat16.BFloat16:
			all = append(all, float64(e.Float32()))
		default:
			all = append(all, v.Index(i).Float())
		}
	}
	return all
}

// An array does not change with the tensor that it was made of.
func TestFromCopies(t *testing.T) {
	x := tensors.FromValue([]int32{1, 2})
	a := gomlx.From(x)
	tensors.MustMutableFlatData(x, func(v []int32) { v[0] = 9 })
	if got, err := oocore.Collect[int32](t.Context(), a); err != nil || !slices.Equal(got, []int32{1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWhatIsNoTensorIsRejected(t *testing.T) {
	gone := tensors.FromValue([]int32{1})
	gone.MustFinalizeAll()
	for name, x := range map[string]*tensors.Tensor{"nil": nil, "gone": gone} {
		if err := gomlx.From(x).Err(); err == nil {
			t.Errorf("%s is an array", name)
		}
	}
	if _, err := gomlx.Tensor(t.Context(), oocore.Open("none.npy")); err == nil {
		t.Error("a file that is not there is a tensor")
	}
	if _, err := gomlx.Tensor(t.Context(), oocore.FromSlice([]float32{1}).AsType(oocore.Float8E4M3FN)); err == nil || !strings.Contains(err.Error(), "AsType") {
		t.Errorf("float8: %v", err)
	}
}
