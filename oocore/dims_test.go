package oocore_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// named is an array in a file whose dimensions are time, y and x.
func named(t *testing.T) *oocore.Array {
	t.Helper()
	a := saved(t, oocore.Arange(0, 60, 1).AsType(oocore.Float32).Reshape(3, 4, 5), filepath.Join(t.TempDir(), "a.zarr"), oocore.DimNames("time", "y", "x"))
	return a
}

func TestDimNamesFollowOperations(t *testing.T) {
	x := named(t)
	for expression, want := range map[string]string{
		"x": "time y x", "x*2 + 1": "time y x", `slice(x, "1, :, ::2")`: "y x", "transpose(x)": "x y time", "mean(x, 1)": "time x", `sum(x, 1, "keepdims")`: "time  x",
		"sort(x, 0)": "time y x", "argsort(x)": "time y x", "topk(x, 2, 1)": "time y x", "cumsum(x, 0)": "time y x", "diff(x, 1, 0)": "time y x", "argmax(x, 2)": "time y",
		"median(x, 0)": "y x", "quantile(x, 0.3, 2)": "time y", `quantile(x, "0.3, 0.4", 2)`: " time y", `quantile(x, 0.3, 2, "inverted_cdf", "weights", x + 1)`: "time y",
		"nanmedian(x, 0, 1)": "x", `rolling(x, "mean", 2, 0)`: "time y x", `sliding_window_view(x, 2, "axes=0")`: "time y x ", "gaussian_filter(x, 1)": "time y x", "median_filter(x, 3)": "time y x",
		"pad(x, 1)": "time y x", "roll(x, 1, 0)": "time y x", "concatenate(x, x, 0)": "time y x", "stack(x, x, 0)": " time y x", "repeat(x, 2, 1)": "time y x", "fft(x)": "time y x",
		"round(x, 1)": "time y x", "triu(x)": "time y x", "softmax(x, 0)": "time y x", "expand_dims(x, 0)": " time y x", "reshape(x, 12, 5)": "", "var(x)": "",
		`coarsen(x, "mean", 1, 2, 5)`: "time y x", "searchsorted(arange(0, 60, 1), x)": "time y x", "diagonal(x, 0, 0, 1)": "x ",
		// One axis is selected along, several become one.
		"take(x, arange(0, 2, 1), 1)": "time y x", "take(x, reshape(arange(0, 4, 1), 2, 2), 1)": "time   x", "repeat(x, arange(0, 4, 1), 1)": "time y x",
		"compress(slice(x, \"0, :, 0\") > 5, x, 1)": "time y x", "mask(x, slice(x, \":, 0, 0\") > 5)": "time y x", "mask(x, slice(x, \":, :, 0\") > 5)": " x", "mask(x, x > 5)": "", "mask(slice(x, \"0, 0\"), slice(x, \"0, 0\") > 2)": "x",
		"take(x, slice(argsort(x, 0), \":, 0, 0\"), 1)": "time y x", "take(slice(x, \"0\"), slice(argsort(x, 0), \":, 0, 0\"), 0)": "time x", "at(x, arange(0, 2, 1), arange(0, 2, 1))": " x", "insert(x, 1, 0, 1)": "time y x", "delete(x, 1, 1)": "time y x",
		// The outer names of products, where they differ.
		"matmul(x, slice(transpose(x), \":, :, 0\"))": "time  ", "matmul(x, ones(5, 2))": "time y ", "matmul(ones(2, 4), x)": "time  x", "matmul(x, slice(x, \"0, 0\"))": "time y",
		"matmul(slice(x, \"0\"), transpose(slice(x, \"0\")))": "", "dot(slice(x, \"0\"), ones(5, 3))": "y ", "outer(slice(x, \"0, 0\"), slice(x, \"0, :, 0\"))": "x y",
		`tensordot(x, ones(5, 2), 1)`: "time y ", `einsum("tyx,x->yt", x, ones(5))`: "y time", `einsum("tyx,yk->tkx", x, ones(4, 2))`: "time  x", `inner(slice(x, "0"), slice(x, "0, 0"))`: "y",
		`groupby(x, arange(3, -1, -1), "mean", 1)`: "time  x", `groupby(x, arange(0, 3, 1), "first", 0)`: " y x", `groupby(x, arange(0, 3, 1), "count", 0)`: "",
		// Axes of another shape, and of blocks, are new.
		`reshape(einsum("y,x->yx", slice(x, "0, :, 0"), slice(x, "0, 0")), 5, 4)`: "", `reshape(outer(slice(x, "0, :, 0"), slice(x, "0, 0")), 10, 2)`: "", `reshape(transpose(outer(slice(x, "0, :, 0"), slice(x, "0, 0"))), 4, 5)`: "",
		`reshape(coarsen(slice(x, "0"), "mean", 2, 1), 5, 2)`: "", `reshape(outer(slice(x, "0, :, 0"), slice(x, "0, 0")) + 1, 2, 10)`: "", `transpose(outer(slice(x, "0, :, 0"), slice(x, "0, 0")))`: "x y",
		"kron(slice(x, \"0\"), ones(2, 3))": "", "kron(slice(x, \"0\"), ones(2, 1))": " x", "kron(ones(1, 3), slice(x, \"0\"))": "y ",
	} {
		a := oocore.Eval(expression, oocore.Names{"x": x})
		if got := strings.Join(a.DimNames(), " "); a.Err() != nil || got != want {
			t.Errorf("%s has the dimensions %q, want %q; %v", expression, got, want, a.Err())
		}
	}
}

func TestAxesAreGivenByName(t *testing.T) {
	x := named(t)
	for by, want := range map[string]string{
		`mean(x, "y")`: "mean(x, 1)", `sum(x, "x", "time", "keepdims")`: `sum(x, 2, 0, "keepdims")`, `transpose(x, "y", "x", "time")`: "transpose(x, 1, 2, 0)", `sort(x, "time", "descending")`: `sort(x, 0, "descending")`,
		`quantile(x, 0.3, "time", "lower")`: `quantile(x, 0.3, 0, "lower")`, `cumsum(x, "x")`: "cumsum(x, 2)", `roll(x, 1, "y")`: "roll(x, 1, 1)", `rolling(x, "mean", 2, "time")`: `rolling(x, "mean", 2, 0)`,
		`sliding_window_view(x, 2, "axes=y")`: `sliding_window_view(x, 2, "axes=1")`, `concatenate(x, x, "y")`: "concatenate(x, x, 1)", `take(x, 1, "y")`: "take(x, 1, 1)", `flip(x, "y")`: "flip(x, 1)",
	} {
		a, b := oocore.Eval(by, oocore.Names{"x": x}), oocore.Eval(want, oocore.Names{"x": x})
		same, err := oocore.Collect[bool](t.Context(), a.Equal(b).All())
		if err != nil || !slices.Equal(a.Shape(), b.Shape()) || !same[0] {
			t.Errorf("%s is not %s: %v", by, want, err)
		}
	}
	if err := oocore.Eval(`mean(x, "tme")`, oocore.Names{"x": x}).Err(); err == nil || !strings.Contains(err.Error(), "is not found in the dimensions") {
		t.Errorf("a name that no dimension has: %v", err)
	}
}

// The dimensions of a matrix are obs and var, those of right-hand sides obs and rhs.
func TestDimNamesOfDecompositions(t *testing.T) {
	stored := func(a *oocore.Array, names ...string) *oocore.Array {
		return saved(t, a, filepath.Join(t.TempDir(), "a.zarr"), oocore.DimNames(names...))
	}
	names := oocore.Names{
		"a": stored(oocore.Random(oocore.Float64, 1, 5, 3), "obs", "var"), "b": stored(oocore.Random(oocore.Float64, 2, 5, 2), "obs", "rhs"),
		"s": stored(oocore.Random(oocore.Float64, 3, 4, 5, 5).Add(oocore.Eye(5, 5, 0)), "time", "obs", "var"),
		"p": stored(oocore.Eye(5, 5, 0), "obs", "var"), "z": stored(oocore.Random(oocore.Float64, 4, 3, 3).AsType(oocore.Complex128), "obs", "var"),
	}
	for expression, want := range map[string]string{
		`qr(a, "q")`: "obs ", `qr(a, "r")`: " var", `svd(a, "u")`: "obs ", `svd(a, "s")`: "", `svd(a, "vt")`: " var", `svd(s, "u")`: "time obs ", `svd(s, "vt")`: "time  var",
		"pinv(a)": "var obs", "inv(s)": "time var obs", "det(s)": "time", "cholesky(p)": "obs ", `eigh(p, "vectors")`: "obs ", `eigh(p, "values")`: "", "matrix_power(p, 3)": "obs var",
		"solve(p, b)": "var rhs", "solve(s, b)": "time var rhs", `solve(p, slice(b, ":, 0"))`: "var", "lstsq(a, b)": "var rhs", "solve_triangular(p, b)": "var rhs",
		`lu(s, "p")`: "time obs ", `lu(s, "l")`: "time  ", `lu(s, "u")`: "time  var", "inv(z)": "var obs", `svd(z, "vt")`: " var", "pinv(z)": "var obs", "norm(s)": "", `slice(svd(a, "u"), ":, 0")`: "obs", `transpose(inv(s))`: "obs var time",
	} {
		a := oocore.Eval(expression, names)
		if got := strings.Join(a.DimNames(), " "); a.Err() != nil || got != want {
			t.Errorf("%s has the dimensions %q, want %q; %v", expression, got, want, a.Err())
		}
	}
}
