package oracle

import (
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// TestValuesAtTheEdgesOfTypes has values that NumPy 2.4 gives, each of which needs care:
// infinite and subnormal numbers, the ends of integer ranges, no elements.
func TestValuesAtTheEdgesOfTypes(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	inf, nan := math.Inf(1), math.NaN()
	names := oocore.Names{
		"z":     oocore.FromSlice([]complex128{complex(inf, 0), complex(1.234, -inf), 1.234 - 5.678i}),
		"w":     oocore.FromSlice([]complex64{complex64(complex(inf, 0)), 1.25 - 5.375i}),
		"tiny":  oocore.FromSlice([]complex128{5e-324, complex(5e-324, 5e-324), 1e-310i}),
		"flags": oocore.FromSlice([]bool{true, true, true}),
		"u":     oocore.FromSlice([]uint64{1 << 63, 1, 2}),
		"i8":    oocore.FromSlice([]int8{100, 100, 100}),
		"i64":   oocore.FromSlice([]int64{1000, 1000, 1000}),
		"f2":    oocore.FromSlice([]float32{1, 2, 3}).AsType(oocore.Float16),
		"none":  oocore.FromSlice([]int32{}, 3, 0),
	}
	for _, c := range []struct {
		expression string
		dtype      oocore.DType
		want       []complex128
	}{
		{"arange(-72057594037927945, -72057594037927938, 1.0)", oocore.Float64, slices.Repeat([]complex128{-72057594037927944}, 7)},
		{"arange(9223372036854775800, 9223372036854775807, 2.0)", oocore.Float64, slices.Repeat([]complex128{9223372036854775808}, 4)},
		{"vdot(flags, flags)", oocore.Bool, []complex128{1}},
		{"vdot(flags, u) == u", oocore.Bool, []complex128{0, 0, 0}},
		{"vdot(flags, u) - 3 - (u >> 0)", oocore.Uint64, []complex128{0, 1<<63 - 1, 1<<63 - 2}},
		{"round(z, 2)", oocore.Complex128, []complex128{complex(inf, 0), complex(1.23, -inf), 1.23 - 5.68i}},
		{"round(w, 1)", oocore.Complex64, []complex128{complex(inf, 0), complex(float64(float32(1.2)), -float64(float32(5.4)))}},
		{"round(z, -1)", oocore.Complex128, []complex128{complex(inf, 0), complex(0, -inf), -10i}},
		{"cumprod(z)", oocore.Complex128, []complex128{complex(inf, 0), complex(nan, -inf), complex(nan, nan)}},
		{"power(z, 1)", oocore.Complex128, []complex128{complex(inf, 0), complex(1.234, -inf), 1.234 - 5.678i}},
		{"power(slice(z, \"0:1\"), 1.5)", oocore.Complex128, []complex128{complex(inf, nan)}},
		{"power(slice(z, \"0:1\"), 2+1i)", oocore.Complex128, []complex128{complex(inf, nan)}},
		{"power(slice(z, \"0:1\"), 3)", oocore.Complex128, []complex128{complex(nan, nan)}},
		{"log(tiny)", oocore.Complex128, []complex128{-744.4400719213813, -744.0934983311014 + 0.7853981633974483i, -713.8013788281543 + 1.5707963267948966i}},
		{"log2(slice(tiny, \"0\"))", oocore.Complex128, []complex128{-1074}},
		{"irfft(f2)", oocore.Float16, []complex128{2, -0.5, 0, -0.5}},
		{"hfft(f2)", oocore.Float16, []complex128{8, -2, 0, -2}},
		{`quantile(none, 0.5, 1, "nearest")`, 0, nil},
		{`quantile(none, 0.5, 0, "nearest")`, oocore.Int32, []complex128{}},
		{`quantile(none, 0.5, 0, "closest_observation")`, oocore.Int32, []complex128{}},
		{"median(full(7))", oocore.Float64, []complex128{7}},
		{"nanmedian(full(nan))", oocore.Float64, []complex128{complex(nan, 0)}},
		{`quantile(full(7), 0.25, "nearest")`, oocore.Int64, []complex128{7}},
		{`percentile(full(2.5), "10, 50")`, oocore.Float64, []complex128{2.5, 2.5}},
		{`einsum("i,i,i->", i8, i8, i64)`, oocore.Int64, []complex128{3e7}},
		{`einsum("i,j->", i8, i64)`, oocore.Int64, []complex128{9e5}},
	} {
		a := oocore.Eval(c.expression, names)
		if c.dtype == 0 {
			if a.Err() == nil {
				t.Errorf("%s is accepted", c.expression)
			}
			continue
		}
		got, err := oocore.Collect[complex128](t.Context(), a.AsType(oocore.Complex128), oocore.Memory("256MiB"))
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		if a.DType() != c.dtype || !slices.EqualFunc(got, c.want, alike) {
			t.Errorf("%s is %s %v, want %s %v", c.expression, a.DType(), got, c.dtype, c.want)
		}
	}
}

// alike compares to within the last places, NaN and infinite parts by kind.
func alike(a, b complex128) bool {
	one := func(a, b float64) bool {
		return a == b || a != a && b != b || math.Abs(a-b) <= 4e-15*math.Abs(b)
	}
	return one(real(a), real(b)) && one(imag(a), imag(b)) || cmplx.Abs(a-b) <= 4e-16
}

// Parameters that would take memory or time without bound are rejected when the
// expression is read, and those with a short answer have it.
func TestUnboundedParametersAreRejected(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	names := parameterNames()
	for expression, want := range map[string]string{
		"tensordot(v, v, 1000000000)":               "tensordot: sums over 1000000000 axes, where arrays of shapes (3,) and (3,) have 1 in common",
		"diff(arange(1000000), 99999)":              "differences are taken 12 times at the most, not 99999",
		`randomized_svd(m, 1, 1099511627776, "s")`:  "1099511627776 iterations are more than 1000",
		"median_filter(m, 1099511627776)":           "reaches 549755813888 elements, more than 16777216",
		"median_filter(m, 4000)":                    "has 16000000 elements, more than 131072",
		`gaussian_filter(v, 1, "reflect", 0, 9999)`: "the order 9999 along axis 0 is more than 64",
		"convolve(full(1.0), full(1.0))":            "takes arrays of one dimension or more",
		"correlate(zero, zero)":                     "takes arrays of one dimension or more",
		"round(v, 1099511627776)":                   "1099511627776 decimals are beyond what floats have",
	} {
		if err := oocore.Eval(expression, names).Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
	if a := oocore.Eval("diff(v, 99999)", names); a.Err() != nil || !slices.Equal(a.Shape(), []int{0}) {
		t.Errorf("diff of more times than elements: %v, want no elements", a)
	}
	got, err := oocore.Collect[float64](t.Context(), oocore.Eval("matrix_power(eye(3), -9223372036854775807-1)", nil), oocore.Memory("64MiB"))
	if err != nil || !slices.Equal(got, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}) {
		t.Errorf("the power of the smallest integer: %v, %v", got, err)
	}
}
