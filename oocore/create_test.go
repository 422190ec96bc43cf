package oocore_test

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// NumPy's calls begin with the shape, which is no type.
func TestShapeInPlaceOfTypeNamesTheRightCall(t *testing.T) {
	x := oocore.Ones(oocore.Float32, 3)
	for want, a := range map[string]*oocore.Array{
		"3 stands where the type of the elements does: write oocore.Zeros(oocore.Float64, 3, 3)": oocore.Zeros(3, 3),
		"write oocore.Ones(oocore.Float64, 10)":                                                  oocore.Ones(10),
		"write oocore.Random(oocore.Float64, 1, 3, 4)":                                           oocore.Random(3, 4),
		"write oocore.RandomNormal(oocore.Float64, 1, 3, 4, 5)":                                  oocore.RandomNormal(3, 4, 5),
		"write oocore.RandomIntegers(oocore.Int64, 1, 0, 10, 3, 5)":                              oocore.RandomIntegers(0, 10, 3, 5),
		"astype: 3 is no type of elements: write one by its name, such as oocore.Float64":        x.AsType(3),
		"11 is no type of elements":                                                              x.MatMul(x, 11),
		"12 is no type of elements":                                                              x.Reduce(oocore.ReduceSum, oocore.ReduceOptions{DType: 12}),
		"quantize: gives int8":                                                                   x.Quantize(oocore.QuantizeOptions{DType: 6}).Values,
	} {
		if err := a.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
