package oocore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/linalg"
)

// What NumPy 2.4 gives for arrays without elements; the residuals of lstsq are those of each
// right-hand side, also where NumPy leaves them out.
func TestArraysWithoutElements(t *testing.T) {
	names := oocore.Names{"b": oocore.Arange(1, 7, 1.0).Reshape(3, 2)}
	for letter, dt := range map[string]oocore.DType{"d": oocore.Float64, "f": oocore.Float32, "i": oocore.Int64, "z": oocore.Complex128, "c": oocore.Complex64, "t": oocore.Bool} {
		names[letter+"03"], names[letter+"30"] = oocore.Zeros(dt, 0, 3), oocore.Zeros(dt, 3, 0)
	}
	for expression, want := range map[string]string{
		"pinv(d03)": "(3, 0) float64", "pinv(f30)": "(0, 3) float32", "pinv(i03)": "(3, 0) int64", "pinv(z03)": "(3, 0) complex128", "pinv(t30)": "(0, 3) bool",
		`qr(d03, "q")`: "(0, 0) float64", `qr(d03, "r")`: "(0, 3) float64", `qr(f30, "q")`: "(3, 0) float32", `qr(i30, "r")`: "(0, 0) float64", `qr(c30, "q")`: "(3, 0) complex64", `qr(z03, "r")`: "(0, 3) complex128",
		`svd(z03, "u")`: "(0, 0) complex128", `svd(c30, "s")`: "(0,) float32", `svd(i03, "vt")`: "(0, 3) float64",
		"lstsq(d30, b)":               "(0, 2) float64",
		`lstsq(d03, slice(b, "0:0"))`: "(3, 2) float64 [0 0 0 0 0 0]", `lstsq(z03, slice(b, "0:0, 0"))`: "(3,) complex128 [(0+0i) (0+0i) (0+0i)]",
		`lstsq(b, slice(b, ":, 0:0"))`: "(2, 0) float64",
		"nanmedian(d03, 0)":            "(3,) float64 [NaN NaN NaN]", "nanmedian(d03, 1)": "(0,) float64", "nanmedian(f03)": "() float32 [NaN]", "nanmedian(i03, 0)": "(3,) float64 [NaN NaN NaN]", "nanmedian(t30)": "() float64 [NaN]",
		"nanquantile(d03, 0.3, 0)": "(3,) float64 [NaN NaN NaN]", `nanquantile(f30, "0.3, 0.4", 1)`: "(3,) float32 [NaN NaN NaN]", `nanquantile(i03, 0.3, 0, "nearest")`: "(3,) float64 [NaN NaN NaN]", `nanquantile(t03, 0.3, 0, "keepdims")`: "(1, 3) float64 [NaN NaN NaN]",
	} {
		a := oocore.Eval(expression, names)
		if got := described(t, a); got != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
	b := names["b"]
	for name, c := range map[string]struct {
		a, b               *oocore.Array
		residuals, rank, s string
	}{
		"no columns":          {names["d30"], b, "(2,) float64 [35 56]", "() int64 [0]", "(0,) float64"},
		"no columns, complex": {names["z30"], b, "(2,) float64 [35 56]", "() int64 [0]", "(0,) float64"},
		"no rows":             {names["f03"], b.Slice("0:0"), "(2,) float64 [0 0]", "() int64 [0]", "(0,) float64"},
		"no rows, complex64":  {names["c03"], b.Slice("0:0").AsType(oocore.Float32), "(2,) float32 [0 0]", "() int64 [0]", "(0,) float32"},
		"neither":             {names["d03"].Slice(":, 0:0"), b.Slice("0:0, 0"), "(1,) float64 [0]", "() int64 [0]", "(0,) float64"},
		"no right-hand sides": {oocore.Eye(2, 2, 0).Mul(2), b.Slice("0:2, 0:0"), "(0,) float64", "() int64 [2]", "(2,) float64 [2 2]"},
	} {
		l := linalg.Lstsq(c.a, c.b, -1)
		if residuals, rank, s := described(t, l.Residuals), described(t, l.Rank), described(t, l.S); residuals != c.residuals || rank != c.rank || s != c.s {
			t.Errorf("%s: %s, %s, %s", name, residuals, rank, s)
		}
	}
	for expression, says := range map[string]string{
		"lstsq(d30, d03)": "0 rows, for a matrix of 3", "nanquantile(z03, 0.3, 0)": "real numbers", "nanquantile(d03, 1.3, 0)": "between 0 and 1", "nanmedian(d03, 2)": "axis 2",
		`qr(slice(d03, ":, 0"), "q")`: "matri",
	} {
		if err := oocore.Eval(expression, names).Err(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", expression, err, says)
		}
	}
}

// described is the shape, dtype and values of an array.
func described(t *testing.T, a *oocore.Array) string {
	t.Helper()
	if a.Err() != nil {
		return a.Err().Error()
	}
	shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(a.Shape()), "[]"), " ", ", ")
	if a.Dims() == 1 {
		shape += ","
	}
	text := fmt.Sprintf("(%s) %s", shape, a.DType())
	collect := func(v any, err error) string {
		if values := fmt.Sprint(v); err != nil {
			return err.Error()
		} else if values != "[]" {
			return text + " " + values
		}
		return text
	}
	switch a.DType() {
	case oocore.Complex128:
		return collect(oocore.Collect[complex128](t.Context(), a))
	case oocore.Complex64:
		return collect(oocore.Collect[complex64](t.Context(), a))
	case oocore.Float32:
		return collect(oocore.Collect[float32](t.Context(), a))
	case oocore.Float64:
		return collect(oocore.Collect[float64](t.Context(), a))
	case oocore.Int64:
		return collect(oocore.Collect[int64](t.Context(), a))
	}
	return collect(oocore.Collect[bool](t.Context(), a))
}
