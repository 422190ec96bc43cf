package decomp_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/decomp"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func python(t *testing.T) string {
	if p := os.Getenv("GONBEXT_PYTHON"); p != "" {
		return p
	}
	if !testcases.Full() {
		t.Skip("left out: TensorLy, for which GONBEXT_TEST=full and GONBEXT_PYTHON name a Python that has it")
	}
	t.Fatal("GONBEXT_PYTHON names no Python with TensorLy")
	return ""
}

// distance is the relative error of y to x, computed by their elements.
func distance(t *testing.T, x, y *oocore.Array) float64 {
	t.Helper()
	x, y = x.AsType(oocore.Float64), y.AsType(oocore.Float64)
	v, err := oocore.Collect[float64](t.Context(), x.Sub(y).Square().Sum().Div(x.Square().Sum()))
	if err != nil {
		t.Fatal(err)
	}
	return math.Sqrt(v[0])
}

// The same tensors lose as much as in TensorLy, within 1 %, and what is reported is what
// the reconstruction has.
func TestTensorLy(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir+"/runs")
	var numbers []string
	for i := range 56 {
		numbers = append(numbers, strconv.Itoa(i))
	}
	// By what follows from a tensor's number: its type, and whether it is positive.
	numbers = testcases.Sample(t, numbers, 2, func(n string) []string {
		i, _ := strconv.Atoi(n)
		return []string{strconv.Itoa(i % 8)}
	})
	if out, err := exec.Command(python(t), "testdata/tensorly.py", dir, strings.Join(numbers, ",")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := testcases.ReadFile(t, dir+"/cases.json")
	var cases []struct {
		Number     int
		Rank       int
		Ranks      []int
		Positive   bool
		CP         float64
		Tucker     float64
		HOSVD      float64
		PositiveCP float64 `json:"positive_cp"`
		Shape      []int
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		i := c.Number
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			x := oocore.Open(filepath.Join(dir, fmt.Sprintf("%d.npy", i)))
			if i%3 == 0 { // where its elements do not lie as they are read
				var err error
				if x, err = x.Save(t.Context(), filepath.Join(dir, fmt.Sprintf("%d.zarr", i)), oocore.Codec("zstd")); err != nil {
					t.Fatal(err)
				}
			}
			near := func(what string, got, want, real float64) {
				t.Helper()
				if got > want+0.01*(1-want)+1e-6 {
					t.Errorf("%s of %v loses %.6f, TensorLy %.6f", what, c.Shape, got, want)
				}
				if math.Abs(got*got-real*real) > 4e-6 { // the difference of float32 squares
					t.Errorf("%s says that it loses %.8f, and its reconstruction loses %.8f", what, got, real)
				}
			}
			p, err := decomp.CP(t.Context(), x, c.Rank, decomp.CPOptions{SVD: true, Iterations: 200, Tolerance: 1e-8})
			if err != nil {
				t.Fatal(err)
			}
			near("CP", 1-p.Fit, c.CP, distance(t, x, p.Reconstruct()))
			if c.Positive {
				y := x.Maximum(0)
				p, err := decomp.CP(t.Context(), y, c.Rank, decomp.CPOptions{SVD: true, Iterations: 400, Tolerance: 1e-8, NonNegative: true})
				if err != nil {
					t.Fatal(err)
				}
				near("non-negative CP", 1-p.Fit, c.PositiveCP, distance(t, y, p.Reconstruct()))
				for m, f := range p.Factors {
					if v, err := oocore.Collect[float64](t.Context(), f.Min()); err != nil || v[0] < 0 {
						t.Errorf("factor %d has %v, %v", m, v, err)
					}
				}
			}
			k, err := decomp.Tucker(t.Context(), x, c.Ranks, decomp.TuckerOptions{Tolerance: 1e-7})
			if err != nil {
				t.Fatal(err)
			}
			near("Tucker", 1-k.Fit, c.Tucker, distance(t, x, k.Reconstruct()))
			h, err := decomp.HOSVD(t.Context(), x, c.Ranks, decomp.TuckerOptions{})
			if err != nil {
				t.Fatal(err)
			}
			near("HOSVD", 1-h.Fit, c.HOSVD, distance(t, x, h.Reconstruct()))
			for m, f := range k.Factors {
				n := c.Ranks[m]
				v, err := oocore.Collect[float64](t.Context(), f.Transpose().MatMul(f))
				if err != nil {
					t.Fatal(err)
				}
				for a := range v {
					want := 0.0
					if a/n == a%n {
						want = 1
					}
					if math.Abs(v[a]-want) > 1e-6 {
						t.Fatalf("the columns of factor %d are not orthonormal: %v", m, v)
					}
				}
			}
		})
	}
}

// Ranks below the tensor's own are where a decomposition depends on where it starts.
func TestTuckerBelowTheRankFitsAsTensorLy(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", "off")
	if out, err := exec.Command(python(t), "testdata/tensorly.py", dir, "below").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var cases []struct {
		Number, Iterations int
		Shape, Ranks       []int
		Tolerance, Fit     float64
	}
	if err := json.Unmarshal(testcases.ReadFile(t, dir+"/cases.json"), &cases); err != nil || len(cases) != 120 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		x := oocore.Open(filepath.Join(dir, fmt.Sprintf("%d.npy", c.Number)))
		k, err := decomp.Tucker(t.Context(), x, c.Ranks, decomp.TuckerOptions{Iterations: c.Iterations, Tolerance: c.Tolerance})
		if err != nil {
			t.Fatal(err)
		}
		if k.Fit < c.Fit-0.003 {
			t.Errorf("Tucker of ranks %v of %v has a fit of %.4f after %d iterations, TensorLy %.4f", c.Ranks, c.Shape, k.Fit, len(k.Errors)-1, c.Fit)
		}
	}
}

// Some modes stay as they are, and one alone may be shortened.
func TestPartialModes(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	v := make([]float64, 8*9*10)
	for i := range v {
		v[i] = math.Sin(float64(i/90)) * math.Cos(float64(i/10%9)) * float64(1+i%10)
	}
	x := oocore.FromSlice(v, 8, 9, 10)
	for _, modes := range [][]int{{0}, {1}, {2}, {0, 2}, {2, 1}} {
		ranks := make([]int, len(modes))
		for i := range ranks {
			ranks[i] = 1
		}
		k, err := decomp.Tucker(t.Context(), x, ranks, decomp.TuckerOptions{Modes: modes})
		if err != nil {
			t.Fatal(err)
		}
		if e := distance(t, x, k.Reconstruct()); e > 1e-6 { // x has rank one
			t.Errorf("modes %v lose %g", modes, e)
		}
		for m, n := range k.Core.Shape() {
			want := []int{8, 9, 10}[m]
			for _, s := range modes {
				if s == m {
					want = 1
				}
			}
			if n != want {
				t.Errorf("modes %v: a core of %v", modes, k.Core.Shape())
			}
		}
	}
}

// The record of a decomposition is one, with the error after each iteration.
func TestRecord(t *testing.T) {
	rng := testcases.Rand(t)
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	v := make([]float32, 20*20*20)
	for i := range v {
		v[i] = rng.Float32()
	}
	p, err := decomp.CP(t.Context(), oocore.FromSlice(v, 20, 20, 20), 3, decomp.CPOptions{Iterations: 5, Tolerance: -1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := record.List(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	if s := all[0].Header.Series; len(s) != 1 || len(s[0].Values) != 5 || s[0].Values[4] != p.Errors[4] {
		t.Errorf("noted %v, want %v", s, p.Errors)
	}
}

func TestRejected(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := oocore.FromSlice([]float64{1, 2, 3, math.NaN()}, 2, 2)
	good := oocore.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	for name, f := range map[string]func() error{
		"NaN":       func() error { _, err := decomp.CP(t.Context(), x, 1, decomp.CPOptions{}); return err },
		"rank zero": func() error { _, err := decomp.CP(t.Context(), good, 0, decomp.CPOptions{}); return err },
		"one mode":  func() error { _, err := decomp.CP(t.Context(), good.Reshape(4), 1, decomp.CPOptions{}); return err },
		"all zero":  func() error { _, err := decomp.CP(t.Context(), good.Mul(0), 1, decomp.CPOptions{}); return err },
		"rank too large": func() error {
			_, err := decomp.Tucker(t.Context(), good, []int{3, 1}, decomp.TuckerOptions{})
			return err
		},
		"too few ranks": func() error { _, err := decomp.Tucker(t.Context(), good, []int{1}, decomp.TuckerOptions{}); return err },
		"a mode twice": func() error {
			_, err := decomp.Tucker(t.Context(), good, []int{1, 1}, decomp.TuckerOptions{Modes: []int{0, 0}})
			return err
		},
		"complex": func() error {
			_, err := decomp.CP(t.Context(), good.AsType(oocore.Complex128), 1, decomp.CPOptions{})
			return err
		},
	} {
		if err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A factor whose rank is more than the product of the others has columns of which the core has
// nothing. The singular values of this matrix are the roots of 15 ± √221.
func TestTuckerTakesARankAboveTheProductOfTheOthers(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := oocore.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	out, err := decomp.Tucker(t.Context(), x, []int{2, 1}, decomp.TuckerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt((15 - math.Sqrt(221)) / 30); math.Abs(1-out.Fit-want) > 1e-9 {
		t.Errorf("the error is %v, want %v", 1-out.Fit, want)
	}
	if shape := out.Core.Shape(); !slices.Equal(shape, []int{2, 1}) {
		t.Errorf("the core has shape %v", shape)
	}
	u := out.Factors[0]
	far, err := oocore.Collect[float64](t.Context(), u.Transpose().MatMul(u).Sub(oocore.Eye(2, 2, 0)).Abs().Max())
	if err != nil || far[0] > 1e-12 {
		t.Errorf("the columns are orthonormal but for %v; %v", far, err)
	}
}
