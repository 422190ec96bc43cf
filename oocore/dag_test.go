package oocore_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/iterations"
)

// node is an array's expression.
func node(t testing.TB, a *oocore.Array) *graph.Node {
	t.Helper()
	n, err := door.Node(a)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What uses itself again and again is computed within 64 MiB, and has NumPy's values.
func TestIterationsWithin64MiBAreNumPys(t *testing.T) {
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" {
		t.Skip("left out: values of NumPy and SciPy, whose Python GONBEXT_PYTHON names")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	families := iterations.All()
	script := fmt.Sprintf("import numpy as np, scipy.ndimage\nx = np.random.default_rng(1).random((1000, 1000))\nx[::3] = 1.0\nnp.save(%q, x)\n", at("x.npy"))
	for i, f := range families {
		script += fmt.Sprintf("y = x\nfor _ in range(%d): y = %s\n", f.Times, f.Python)
		if f.PythonLast != "" {
			script += "y = " + f.PythonLast + "\n"
		}
		script += fmt.Sprintf("np.save(%q, y)\n", at(fmt.Sprintf("%d.npy", i)))
	}
	if out, err := exec.Command(python, "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, f := range families {
		got, err := f.Of(oocore.Open(at("x.npy"))).Save(t.Context(), at("got.npy"), oocore.Memory("64MiB"), oocore.Fresh())
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		want := oocore.Open(at(fmt.Sprintf("%d.npy", i)))
		distance := got.Sub(want).Abs().Sub(want.Abs().Mul(f.Tolerance)).Max()
		far := collect[float64](t, distance)
		if !(far[0] <= 0) {
			t.Errorf("%s: an element is %g further from NumPy's than it may be", f.Name, far[0])
		}
	}
}

// Planning takes memory by the distinct nodes, and so does the plan, whose buffers fit
// in little.
func TestIterationsArePlannedAsGraphs(t *testing.T) {
	for _, c := range iterations.All() {
		for _, matrix := range []struct {
			side int
			need int64 // beside what a process takes for itself
		}{{1000, 48 << 20}, {20_000, 240 << 20}} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			y := c.Of(oocore.Random(oocore.Float64, 1, matrix.side, matrix.side))
			p, err := compile.New(node(t, y), compile.Target{Path: "y.npy"})
			if err != nil {
				t.Fatal(err)
			}
			sized, err := size.New(p, size.Options{Budget: 1 << 30, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 50_000_000 {
				t.Errorf("%s of %d²: planning allocates %d bytes", c.Name, matrix.side, bytes)
			}
			if sized.Need > matrix.need {
				t.Errorf("%s of %d²: needs %d MiB", c.Name, matrix.side, sized.Need>>20)
			}
			if len(p.Stages) > c.Times+2 {
				t.Errorf("%s of %d²: %d passes", c.Name, matrix.side, len(p.Stages))
			}
		}
	}
}

// What is computed together is what the same steps give one by one.
func TestIterationsGiveWhatTheirStepsGive(t *testing.T) {
	dir := t.TempDir()
	x := saved(t, oocore.Random(oocore.Float64, 1, 300, 200), filepath.Join(dir, "x.npy"))
	for _, c := range iterations.All() {
		want := x
		c.Times = min(c.Times, 100)
		for range c.Times {
			step := c.Step(want)
			values := collect[float64](t, step)
			want = oocore.FromSlice(values, step.Shape()...)
		}
		if c.Last != nil {
			want = c.Last(want)
		}
		one := collect[float64](t, want)
		all := collect[float64](t, c.Of(x))
		if !slices.Equal(one, all) {
			t.Errorf("%s: other values than step by step", c.Name)
		}
	}
}

// A heat equation by rolls, against its definition.
func TestHeatEquationIsItsArithmetic(t *testing.T) {
	const rows, cols = 40, 30
	x := make([]float64, rows*cols)
	for i := range x {
		x[i] = float64(i * 7919 % 1009)
	}
	want := slices.Clone(x)
	heat := iterations.All()[5]
	for range heat.Times {
		next := make([]float64, len(want))
		at := func(r, c int) float64 { return want[(r+rows)%rows*cols+(c+cols)%cols] }
		for r := range rows {
			for c := range cols {
				around := at(r-1, c) + at(r+1, c) + at(r, c-1) + at(r, c+1)
				next[r*cols+c] = at(r, c) + float64((around-float64(at(r, c)*4))*0.1)
			}
		}
		want = next
	}
	got := collect[float64](t, heat.Of(oocore.FromSlice(x, rows, cols)))
	if !slices.Equal(got, want) {
		t.Error("wrong values")
	}
}

// Building an operation does not walk its input as a tree.
func TestIndicesOfSharedExpressions(t *testing.T) {
	y := oocore.Random(oocore.Float64, 1, 10)
	for range 60 {
		y = y.Mul(y)
	}
	if err := y.Take(oocore.FromSlice([]int64{1, 2}, 2), 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkPlanIterations(b *testing.B) {
	for _, c := range iterations.All() {
		b.Run(c.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				y := c.Of(oocore.Random(oocore.Float64, 1, 1000, 1000))
				p, err := compile.New(node(b, y), compile.Target{Path: "y.npy"})
				if err == nil {
					_, err = size.New(p, size.Options{Budget: 1 << 30, Workers: 2})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Many different constants do not take a register each: what is computed with them
// takes no more memory than with one.
func TestConstantsDoNotGrowMemory(t *testing.T) {
	x := make([]float64, 1000)
	for i := range x {
		x[i] = float64(i)
	}
	y := oocore.FromSlice(x, len(x))
	want := make([]float64, len(x))
	copy(want, x)
	row := oocore.FromSlice([]float64{3}, 1)
	for i := range 500 {
		y = y.Mul(0.5).Add(float64(i)).Sub(row)
		for k := range want {
			want[k] = want[k]*0.5 + float64(i) - 3
		}
	}
	p, err := compile.New(node(t, y), compile.Target{})
	if err != nil {
		t.Fatal(err)
	}
	sized, err := size.New(p, size.Options{Budget: 1 << 30, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if sized.Need > 4<<20 {
		t.Errorf("500 constants need %d bytes", sized.Need)
	}
	got := collect[float64](t, y)
	if !slices.Equal(got, want) {
		t.Error("wrong values")
	}
}
