package oocore

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Float8 is kept by what moves elements, and is float32 to all else.
func TestFloat8IsStoredAndComputedInFloat32(t *testing.T) {
	dir := t.TempDir()
	v := []float32{1, 1.06, -0.3, 500, 0.001, 448}
	want := []float32{1, 1, -0.3125, float32(math.NaN()), 0.001953125, 448} // the nearest of a mantissa of 3 bits
	for _, name := range []string{"x.safetensors#w", "x.zarr"} {
		x, err := FromSlice(v, 2, 3).AsType(Float8E4M3FN).Save(t.Context(), filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if x.DType() != Float8E4M3FN || x.Bytes() != 6 {
			t.Errorf("%s of %d bytes", x.DType(), x.Bytes())
		}
		for i, part := range []*Array{x.AsType(Float32), x.Mul(1), x.T().Reshape(6).Reshape(3, 2).T().AsType(Float32), x.Reduce(Sum, ReduceOptions{Axes: []int{0}}).Sub(x.Slice("1")).Add(0)} {
			if part.DType() != Float32 {
				t.Errorf("%d has %s, %v", i, part.DType(), part.Err())
			}
		}
		for _, same := range []*Array{x, x.T().T(), x.Slice("0:2"), Concatenate(0, x.Slice("0:1"), x.Slice("1:2"))} {
			if same.DType() != Float8E4M3FN {
				t.Errorf("%s after moving: %v", same.DType(), same.Err())
			}
			got, err := Collect[float32](t.Context(), same.AsType(Float32))
			if err != nil || !slices.EqualFunc(got, slices.Concat(want), func(a, b float32) bool { return a == b || a != a && b != b }) {
				t.Errorf("%v, %v, want %v", got, err, want)
			}
		}
		if codes, err := Collect[dtype.Float8E4M3FNBits](t.Context(), x.Slice("0, 0:2")); err != nil || codes[0] != 0x38 || codes[1] != 0x38 {
			t.Errorf("codes %x, %v", codes, err)
		}
		for _, of := range []string{"cumsum(x, 0)", "sort(x)", "matmul(x, transpose(x))", "where(x > 0, x, 0)", "quantize(slice(x, \"0, 0:2\"), \"int8\")"} {
			a := Eval(of, Names{"x": x})
			if _, err := a.Save(t.Context(), filepath.Join(dir, "of.npy"), Fresh()); err != nil || a.DType().Size() == 1 && a.DType() != Int8 {
				t.Errorf("%s: %s, %v", of, a.DType(), err)
			}
		}
	}
	x := FromSlice([]dtype.Float8E5M2Bits{0x3c, 0x7c}, 2)
	if got, err := Collect[float64](t.Context(), x.Add(1).AsType(Float64)); err != nil || got[0] != 2 || got[1] <= 1e300 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := x.Save(t.Context(), filepath.Join(dir, "x.npy")); err == nil || !strings.Contains(err.Error(), "has no float8_e5m2") {
		t.Errorf("saved as npy: %v", err)
	}
	for name, a := range map[string]*Array{
		"sum in float8": x.Reduce(Sum, ReduceOptions{DType: Float8E5M2}),
		"arange":        Eval("arange(0, 4, 1, \"dtype=float8_e5m2\")", nil),
	} {
		if a.Err() == nil {
			t.Errorf("%s is not rejected", name)
		}
	}
}
