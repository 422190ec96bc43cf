package decomp_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/decomp"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/record"
)

// waves is a tensor of rank three, in a file.
func waves(t *testing.T) *oocore.Array {
	t.Helper()
	v := make([]float64, 0, 12*10*8)
	for i := range 12 {
		for j := range 10 {
			for k := range 8 {
				v = append(v, float64((i+1)*(j+2)*(k+3))+float64((i%3)*(j%2)*(k%4))*9+float64(i%5*(j%3)))
			}
		}
	}
	x, err := oocore.FromSlice(v, 12, 10, 8).Save(t.Context(), filepath.Join(t.TempDir(), "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func titles(t *testing.T, dir string) (all []string) {
	t.Helper()
	runs, err := record.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		all = append(all, r.Header.Title)
	}
	slices.Reverse(all)
	return all
}

// An expression's parts are those of Go's functions, and those of one decomposition cost
// one.
func TestExpression(t *testing.T) {
	x := waves(t)
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	names := oocore.Names{"x": x}
	y := oocore.Eval(`tucker(x, 3, 3, 3, "iterations=4", "core") * 0 + norm(tucker(x, 3, 3, 3, "iterations=4", "factor=1"))`, names)
	if y.Err() != nil {
		t.Fatal(y.Err())
	}
	if all := titles(t, dir); len(all) != 1 || !strings.HasPrefix(all[0], "tucker of ranks [3 3 3]") {
		t.Errorf("recorded %q, want one decomposition", all)
	}
	p, err := decomp.CP(t.Context(), x, 3, decomp.CPOptions{Iterations: 4, SVD: true, Tolerance: -1})
	if err != nil {
		t.Fatal(err)
	}
	const cp = `cp(x, 3, "iterations=4", "svd", "tolerance=0"`
	for part, want := range map[string]*oocore.Array{
		"": p.Reconstruct(), `, "weights"`: oocore.FromSlice(p.Weights), `, "factor=0"`: p.Factors[0], `, "factor=2"`: p.Factors[2], `, "errors"`: oocore.FromSlice(p.Errors),
	} {
		a, err := oocore.Collect[float64](t.Context(), oocore.Eval(cp+part+")", names))
		if err != nil {
			t.Fatal(err)
		}
		b, err := oocore.Collect[float64](t.Context(), want)
		if err != nil || !slices.Equal(a, b) {
			t.Errorf("%s%s) is %v, want %v (%v)", cp, part, a[:3], b[:3], err)
		}
	}
}

// How the result is stored is no business of the algorithm's, whose own files may not have
// such chunks.
func TestExpressionOptions(t *testing.T) {
	x := waves(t)
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	opts := []oocore.Option{oocore.Chunks(4, 4, 4), oocore.Shards(8, 8, 8), oocore.Codec("zstd"), host.Cell("here"), oocore.Memory("96MiB"), oocore.Workers(1)}
	for _, e := range []string{`hosvd(x, 3, 3, 3)`, `tucker(x+0, 3, 3, 3, "iterations=2")`, `cp(astype(x, "int16"), 2, "iterations=2")`} {
		y := oocore.EvalContext(t.Context(), e, oocore.Names{"x": x}, append(opts, oocore.Region("0:2"))...)
		if y.Err() != nil {
			t.Fatalf("%s: %v", e, y.Err())
		}
		z, err := y.Save(t.Context(), filepath.Join(t.TempDir(), "y.zarr"), opts...)
		if err != nil || !slices.Equal(z.Chunks(), []int{4, 4, 4}) {
			t.Errorf("%s: %v, %v", e, z, err)
		}
	}
	runs, err := record.List(dir)
	if err != nil || len(runs) != 6 {
		t.Fatalf("%d records, %v", len(runs), err)
	}
	for _, r := range runs {
		if h := r.Header; h.Cell != "here" || h.Budget != 96<<20 || h.Workers != 1 {
			t.Errorf("%s: cell %q, %d bytes, %d workers", h.Title, h.Cell, h.Budget, h.Workers)
		}
	}
}

// A plan runs nothing, and has the shapes that the run will have.
func TestExpressionPlanned(t *testing.T) {
	x := waves(t)
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	names := oocore.Names{"x": x}
	for _, e := range []string{"cp(x, 3)", `cp(x, 3, "weights")`, `cp(x, 3, "factor=1")`, "tucker(x, 3, 4, 5)", `tucker(x, 3, 4, 5, "core")`,
		`tucker(astype(x, "float32"), 3, 4, "modes=2,0", "core")`, `hosvd(x, 2, "modes=1", "factor=0")`, `hosvd(astype(x, "int8"), 2, 2, 2)`} {
		planned := oocore.EvalContext(t.Context(), e, names, host.PlanOnly())
		if planned.Err() != nil {
			t.Errorf("%s: %v", e, planned.Err())
			continue
		}
		if all := titles(t, dir); len(all) > 0 {
			t.Fatalf("%s runs %q", e, all)
		}
		t.Setenv("GONBEXT_RUNS", t.TempDir())
		y := oocore.Eval(e, names)
		if y.Err() != nil || y.DType() != planned.DType() || !slices.Equal(y.Shape(), planned.Shape()) {
			t.Errorf("%s is %v, planned as %v", e, y, planned)
		}
		a, err := y.Plan("y.npy", oocore.Memory("1GiB"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := planned.Plan("y.npy", oocore.Memory("1GiB"))
		if err != nil || a.Peak != b.Peak || door.PlanOf(a).Tasks() != door.PlanOf(b).Tasks() {
			t.Errorf("%s: a peak of %v, planned as %v (%v)", e, a.Peak, b.Peak, err)
		}
		t.Setenv("GONBEXT_RUNS", dir)
	}
	for e, want := range map[string]string{
		`cp(x, 3, "errors")`:  "column 10: how many errors there are",
		"cp(x, 0)":            "cp: a rank of 0 is less than one",
		"tucker(x, 3, 4, 50)": "tucker: a rank of 50 for mode 2 of shape [12 10 8]",
		"mask(x, x > 3)":      "mask: a shape follows from values, and nothing was computed: this is a plan only",
	} {
		if err := oocore.EvalContext(t.Context(), e, names, host.PlanOnly()).Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", e, err, want)
		}
	}
}

func TestExpressionRejected(t *testing.T) {
	x := waves(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	for e, want := range map[string]string{
		"cp(x, 0)":               "cp: a rank of 0 is less than one",
		"cp(x / 0, 2)":           "cp: the tensor has NaN or infinite elements",
		"tucker(x, 3, 3)":        "tucker: 2 ranks are given for 3 modes of shape [12 10 8]",
		`hosvd(x, 3, "modes=7")`: "hosvd: mode 7 is none of shape [12 10 8]",
		"hosvd(mean(x), 3)":      "hosvd: a tensor has two modes or more",
	} {
		err := oocore.Eval(e, oocore.Names{"x": x}).Err()
		rejected, ok := errors.AsType[*oocore.Error](err)
		if !ok || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "expr_test.go:") {
			t.Errorf("%s: %v, want %s", e, err, want)
			continue
		}
		if len(rejected.Shapes) != 1 || len(rejected.Types) != 1 {
			t.Errorf("%s: rejected for %v", e, rejected.Shapes)
		}
	}
}

// A core that is too large to keep is computed when it is saved, from the tensor and not
// from a copy that is gone by then.
func TestLargeCore(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	x := oocore.Random(oocore.Float64, 1, 200, 150, 64)
	k, err := decomp.HOSVD(t.Context(), x, []int{40}, decomp.TuckerOptions{Modes: []int{2}}, oocore.Memory("128MiB"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := oocore.Collect[float64](t.Context(), k.Core.Square().Sum())
	if err != nil {
		t.Fatal(err)
	}
	all, err := oocore.Collect[float64](t.Context(), x.Square().Sum())
	if err != nil || v[0] <= 0.7*all[0] || v[0] > all[0] {
		t.Errorf("a core of norm² %v, and a tensor of %v (%v)", v, all, err)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
