package linalg_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/linalg"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// saved is an expression in a file.
func saved(t *testing.T, expression string, names oocore.Names) *oocore.Array {
	t.Helper()
	a, err := oocore.Eval(expression, names).Save(t.Context(), filepath.Join(t.TempDir(), "a.npy"), oocore.Memory("256MiB"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// largest is the largest magnitude of an expression's elements.
func largest(t *testing.T, expression string, names oocore.Names) float64 {
	t.Helper()
	got, err := oocore.Collect[float64](t.Context(), oocore.Eval("max(abs(astype("+expression+`, "float64")))`, names), oocore.Memory("512MiB"))
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

func collected(t *testing.T, a *oocore.Array, opts ...oocore.Option) []float64 {
	t.Helper()
	got, err := oocore.Collect[float64](t.Context(), a, append(opts, oocore.Memory("512MiB"))...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A matrix of several blocks of rows, whose columns are of different lengths and whose
// mean is not zero.
func tallMatrix(t *testing.T) *oocore.Array {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	return saved(t, `random(3, 90000, 50) * slice(linspace(1, 20, 50), "newaxis, :") + 3`, nil)
}

func TestFactorsOfSeveralBlocks(t *testing.T) {
	a := tallMatrix(t)
	q, r := linalg.QR(a)
	u, s, vt := linalg.SVD(a)
	names := oocore.Names{"a": a, "q": q, "r": r, "u": u, "s": s, "vt": vt, "p": linalg.PInv(a, -1), "eye": linalg.Inv(linalg.Inv(oocore.Eval("where(slice(arange(50), \"newaxis, :\") == slice(arange(50), \":, newaxis\"), 1.0, 0.0)", nil)))}
	for _, c := range []struct {
		expression string
		most       float64
	}{
		{"matmul(q, r) - a", 3e-11},
		{"matmul(q.T, q) - eye", 1e-13},
		{"matmul(u * s, vt) - a", 1e-11},
		{"matmul(u.T, u) - eye", 1e-13},
		{"matmul(vt, vt.T) - eye", 1e-13},
		{"matmul(p, a) - eye", 1e-11},
	} {
		if got := largest(t, c.expression, names); !(got < c.most) {
			t.Errorf("%s has elements of up to %g", c.expression, got)
		}
	}
	values := collected(t, s)
	if alone := collected(t, linalg.SVDVals(a)); !near(alone, values, 1e-12) {
		t.Errorf("svdvals gives %v, svd %v", alone, values)
	}
	if !slices.IsSortedFunc(values, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("singular values do not fall: %v", values)
	}
	if rank, err := oocore.Collect[int64](t.Context(), linalg.MatrixRank(a, -1)); err != nil || rank[0] != 50 {
		t.Errorf("rank %v, %v", rank, err)
	}
}

// near is whether numbers are the same but for so much of the largest.
func near(a, b []float64, most float64) bool {
	size := 0.0
	for _, f := range b {
		size = max(size, math.Abs(f))
	}
	return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Abs(a-b) <= most*size })
}

func TestLeastSquaresFindsWhatMadeTheData(t *testing.T) {
	a := tallMatrix(t)
	x := oocore.Eval("sin(arange(50) + 1.0)", nil)
	b := saved(t, "matmul(a, x) + (random(5, 90000) - 0.5) * 1e-3", oocore.Names{"a": a, "x": x})
	got := linalg.Lstsq(a, b, -1)
	if want := collected(t, x); !near(collected(t, got.X), want, 1e-4) {
		t.Errorf("x is %v, want %v", collected(t, got.X), want)
	}
	left := collected(t, oocore.Eval("sum(square(matmul(a, x) - b))", oocore.Names{"a": a, "b": b, "x": got.X}))
	if r := collected(t, got.Residuals); math.Abs(r[0]/left[0]-1) > 1e-9 {
		t.Errorf("residual %g, and what is left has %g", r[0], left[0])
	}
	if s := collected(t, got.S); !near(s, collected(t, linalg.SVDVals(a)), 1e-12) {
		t.Errorf("singular values %v", s)
	}
}

// Many right-hand sides have the solutions and residuals that each has by itself.
func TestLeastSquaresOfManyRightHandSides(t *testing.T) {
	a := oocore.Eval("random(7, 400, 5) - 0.5", nil)
	b := oocore.Eval("random(8, 400, 600) - 0.5", nil)
	all := linalg.Lstsq(a, b, -1)
	one := linalg.Lstsq(a, b.Slice(":, 100:103"), -1)
	if x := collected(t, all.X.Slice(":, 100:103")); !near(x, collected(t, one.X), 1e-12) {
		t.Errorf("x is %v, want %v", x, collected(t, one.X))
	}
	if r := collected(t, all.Residuals.Slice("100:103")); !near(r, collected(t, one.Residuals), 1e-12) {
		t.Errorf("residuals are %v, want %v", r, collected(t, one.Residuals))
	}
}

// The default cutoff is that of float64, in which the factors are computed: a tall float32
// matrix keeps a column that is small compared with another.
func TestTallFloat32KeepsItsSmallColumn(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	a := saved(t, `astype((random(3, 1000000, 2) - 0.5) * slice(linspace(1, 0.01, 2), "newaxis, :"), "float32")`, nil)
	b := saved(t, `matmul(a, astype(arange(2) + 1, "float32"))`, oocore.Names{"a": a})
	for name, x := range map[string]*oocore.Array{"lstsq": linalg.Lstsq(a, b, -1).X, "pinv": oocore.Eval("matmul(p, b)", oocore.Names{"p": linalg.PInv(a, -1), "b": b})} {
		if got := collected(t, x.AsType(oocore.Float64)); !near(got, []float64{1, 2}, 1e-4) {
			t.Errorf("%s: x is %v, want [1 2]", name, got)
		}
	}
	if rank, err := oocore.Collect[int64](t.Context(), linalg.Lstsq(a, b, -1).Rank); err != nil || rank[0] != 2 {
		t.Errorf("rank %v, %v, want 2", rank, err)
	}
}

// By float32's precision every singular value of 9,000,000 rows would count as zero.
func TestMatrixRankRejectsADefaultCutoffOfOne(t *testing.T) {
	a := linalg.MatrixRank(oocore.Eval(`astype(random(1, 9000000, 2), "float32")`, nil), -1)
	if err := a.Err(); err == nil || !strings.Contains(err.Error(), "give an rcond less than 1") {
		t.Errorf("got %v", err)
	}
}

// Components are the covariance's eigenvectors.
func TestComponentsDiagonalizeTheCovariance(t *testing.T) {
	a := tallMatrix(t)
	all := map[string]linalg.Components{"exact": linalg.PCA(a, 3)}
	if testcases.Full() {
		all["randomized"] = linalg.RandomizedPCA(a, 3, linalg.RandomOptions{Iterations: 40, Seed: 2})
	}
	for name, c := range all {
		mean := collected(t, a.Mean(0))
		if got := collected(t, c.Mean); !near(got, mean, 1e-14) {
			t.Errorf("%s: mean %v", name, got)
		}
		centred := a.Sub(a.Mean(0))
		covariance := saved(t, "matmul(x.T, x) / 89999", oocore.Names{"x": centred})
		values, vectors := linalg.EigH(covariance)
		all := collected(t, values)
		want := []float64{all[49], all[48], all[47]}
		if got := collected(t, c.ExplainedVariance); !near(got, want, 1e-6) {
			t.Errorf("%s: variances %v, want %v", name, got, want)
		}
		total := 0.0
		for _, v := range all {
			total += v
		}
		if got := collected(t, c.ExplainedRatio); math.Abs(got[0]-want[0]/total) > 1e-6 {
			t.Errorf("%s: share %g, want %g", name, got[0], want[0]/total)
		}
		names := oocore.Names{"c": c.Components, "v": vectors, "scores": c.Scores, "x": centred}
		if e := largest(t, `c - slice(v, ":, :-4:-1").T`, names); e > 1e-3 {
			t.Errorf("%s: components are off by %g", name, e)
		}
		if e := largest(t, "scores - matmul(x, c.T)", names); e > 1e-10 {
			t.Errorf("%s: scores are off by %g", name, e)
		}
	}
}

// What is of low rank but for little is found in that, the same for the same seed, and
// with any number of workers.
func TestRandomizedFindsLowRank(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	a := saved(t, `matmul(random(1, 40000, 6) - 0.3, random(2, 6, 120) - 0.4) + (random(3, 40000, 120) - 0.5) * 1e-3`, nil)
	exact := collected(t, linalg.SVDVals(a))
	u, s, vt := linalg.RandomizedSVD(a, 6, linalg.RandomOptions{Seed: 9})
	if got := collected(t, s); !near(got, exact[:6], 1e-9) {
		t.Errorf("singular values %v, want %v", got, exact[:6])
	}
	if e := largest(t, "matmul(u * s, vt) - a", oocore.Names{"a": a, "u": u, "s": s, "vt": vt}); e > 1.2e-3 {
		t.Errorf("the approximation is off by %g, with noise of 5e-4", e)
	}
	again, _, _ := linalg.RandomizedSVD(a, 6, linalg.RandomOptions{Seed: 9})
	if !slices.Equal(collected(t, u, oocore.Workers(1)), collected(t, again, oocore.Workers(3))) {
		t.Error("the same seed gives other vectors with other workers")
	}
}

func TestLargeDefiniteMatrix(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	a := saved(t, `where(slice(arange(2100), "newaxis, :") == slice(arange(2100), ":, newaxis"), 60.0, 0.0) + matmul(x, x.T)`,
		oocore.Names{"x": oocore.Eval("random(4, 2100, 40) - 0.5", nil)})
	names := oocore.Names{"a": a, "l": linalg.Cholesky(a)}
	if e := largest(t, "matmul(l, l.T) - a", names); e > 1e-11 {
		t.Errorf("L·Lᵀ is off by %g", e)
	}
	b := oocore.Eval("random(5, 2100, 3)", nil)
	names["b"], names["x"], names["y"] = b, linalg.SolvePositive(a, b), linalg.Solve(a, b)
	for _, expression := range []string{"matmul(a, x) - b", "x - y"} {
		if e := largest(t, expression, names); e > 1e-12 {
			t.Errorf("%s is off by %g", expression, e)
		}
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	a := oocore.FromSlice(make([]float64, 9), 3, 3)
	for _, c := range []struct {
		a    *oocore.Array
		want string
	}{
		{linalg.Solve(a, oocore.FromSlice(make([]float64, 4))), "solve: the right-hand side has 4 rows, for matrices of 3 (linalg_test.go:"},
		{linalg.PCA(a, 4).Scores, "pca: a matrix of shape (3, 3) has 1 to 3 components, not 4 (linalg_test.go:"},
		{linalg.PInv(oocore.FromSlice(make([]float64, 3)), -1), "pinv: takes matrices, not an array of shape (3,) (linalg_test.go:"},
		{linalg.Det(oocore.Zeros(oocore.Float16, 2, 2)), "det: does not take float16: bring it to float32 with AsType (linalg_test.go:"},
		{linalg.Norm(a, linalg.P(3)), "norm: order 3 is not of matrices: 1, 2, -1, -2 and infinities are (linalg_test.go:"},
	} {
		if err := c.a.Err(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := oocore.Collect[float64](t.Context(), linalg.Inv(a)); err == nil || !strings.Contains(err.Error(), "the matrix is singular: pivot 0 is zero") {
		t.Errorf("the inverse of zeros: %v", err)
	}
}
