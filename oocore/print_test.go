package oocore_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

// What NumPy 2.4 prints, as testdata of package arraytext has it for more arrays.
func TestPrintWritesCornersOfLargeArray(t *testing.T) {
	x := counted(t, 4096) // 16 MiB
	var out bytes.Buffer
	var r oocore.RunReport
	if err := x.Print(t.Context(), &out, oocore.Report(&r)); err != nil {
		t.Fatal(err)
	}
	const want = `[[0.000000e+00 1.000000e+00 2.000000e+00 ... 5.090000e+02 5.100000e+02
  5.110000e+02]
 [5.120000e+02 5.130000e+02 5.140000e+02 ... 1.021000e+03 1.022000e+03
  1.023000e+03]
 [1.024000e+03 1.025000e+03 1.026000e+03 ... 1.533000e+03 1.534000e+03
  1.535000e+03]
 ...
 [2.095616e+06 2.095617e+06 2.095618e+06 ... 2.096125e+06 2.096126e+06
  2.096127e+06]
 [2.096128e+06 2.096129e+06 2.096130e+06 ... 2.096637e+06 2.096638e+06
  2.096639e+06]
 [2.096640e+06 2.096641e+06 2.096642e+06 ... 2.097149e+06 2.097150e+06
  2.097151e+06]]
`
	if out.String() != want {
		t.Errorf("it prints\n%swant\n%s", out.String(), want)
	}
	if chunk := int64(16 * 512 * 8); r.Read > 4*chunk {
		t.Errorf("it reads %d bytes for 36 elements in two chunks of %d", r.Read, chunk)
	}
}

func TestPrintOfErrorWritesNothing(t *testing.T) {
	var out bytes.Buffer
	if err := oocore.Zeros(oocore.Int8, 3).Reshape(2).Print(t.Context(), &out); err == nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
	if err := oocore.Zeros(oocore.Int8, 3).Print(t.Context(), &out, host.PlanOnly()); !errors.Is(err, oocore.ErrPlanned) || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestZerosAndOnesHaveTheirType(t *testing.T) {
	for _, dtype := range []oocore.DType{oocore.Bool, oocore.Int8, oocore.Uint64, oocore.Float16, oocore.BFloat16, oocore.Float32, oocore.Complex64} {
		zeros, ones := oocore.Zeros(dtype, 2, 3), oocore.Ones(dtype, 2, 3)
		got := collect[float64](t, oocore.Concatenate(0, zeros, ones).Equal(1).AsType(oocore.Float64))
		if !slices.Equal(got, []float64{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}) || zeros.DType() != dtype || ones.DType() != dtype {
			t.Errorf("%s: %v, of %s and %s", dtype, got, zeros.DType(), ones.DType())
		}
	}
	for name, a := range map[string]*oocore.Array{"zeros: 0 stands where the type of the elements does": oocore.Zeros(0, 3), "ones": oocore.Ones(oocore.Int8, -1)} {
		if err := a.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

func TestItemTakesOneElement(t *testing.T) {
	if v, err := oocore.Item[float64](t.Context(), oocore.Arange(0, 5, 1.0).Sum()); err != nil || v != 10 {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := oocore.Item[int64](t.Context(), oocore.Full(7, 1, 1)); err != nil || v != 7 {
		t.Errorf("%v, %v", v, err)
	}
	for says, f := range map[string]func() error{
		"not one element": func() error { _, err := oocore.Item[int64](t.Context(), oocore.Arange(0, 5, 1)); return err },
		"AsType":          func() error { _, err := oocore.Item[float32](t.Context(), oocore.Full(7)); return err },
		"axis":            func() error { _, err := oocore.Item[int64](t.Context(), oocore.Full(7, 2).Sum(3)); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

func TestIndexIsSliceOfItsText(t *testing.T) {
	x := oocore.Arange(0, 5*6*7, 1.0).Reshape(5, 6, 7)
	for spec, got := range map[string]*oocore.Array{
		"":               x.Index(),
		"3":              x.Index(oocore.At(3)),
		":, -1":          x.Index(oocore.Whole, oocore.At(-1)),
		"1:4, ::2, -3:":  x.Index(oocore.Range{1, 4}, oocore.Whole.By(2), oocore.Range{-3, oocore.End}),
		"0:100, 1:5:3":   x.Index(oocore.Range{0, 100}, oocore.Range{1, 5}.By(3)),
		"2:2":            x.Index(oocore.Range{2, 2}),
		":-1, 0, 2:6:10": x.Index(oocore.Range{0, -1}, oocore.At(0), oocore.Range{2, 6}.By(10)),
	} {
		want := x.Slice(spec)
		if !slices.Equal(got.Shape(), want.Shape()) || !slices.Equal(collect[float64](t, got), collect[float64](t, want)) {
			t.Errorf("%q: shape %v, %v", spec, got.Shape(), got.Err())
		}
	}
	for says, a := range map[string]*oocore.Array{
		"out of bounds": x.Index(oocore.At(5)), "4 were indexed": x.Index(oocore.Whole, oocore.Whole, oocore.Whole, oocore.Whole),
		"nil": x.Index(nil), "takes 1 or more": x.Index(oocore.Whole.By(-1)), "index": x.Index(oocore.At(math.MinInt)),
	} {
		if err := a.Err(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
