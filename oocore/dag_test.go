package oocore_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/filter"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/plan"
)

// iterations are expressions that use what they have made again and again: a step, how
// often it is done, and what is done last. As trees they have more nodes than a machine
// has bytes.
var iterations = []struct {
	name  string
	times int
	step  func(y *oocore.Array) *oocore.Array
	last  func(y *oocore.Array) *oocore.Array
}{
	{"a chain of operations", 2000, func(y *oocore.Array) *oocore.Array { return y.Mul(0.5).Add(0.25) }, nil},
	{"sums with its own roll", 40, func(y *oocore.Array) *oocore.Array { return y.Add(y.Roll(1, 0)).Mul(0.5) }, nil},
	{"squarings", 40, func(y *oocore.Array) *oocore.Array { return y.Mul(y) }, func(y *oocore.Array) *oocore.Array { return y.Sum() }},
	{"heat equation by slices", 24, func(u *oocore.Array) *oocore.Array {
		around := u.Slice("2:, 1:-1").Add(u.Slice(":-2, 1:-1")).Add(u.Slice("1:-1, 2:")).Add(u.Slice("1:-1, :-2"))
		middle := u.Slice("1:-1, 1:-1")
		return middle.Add(around.Sub(middle.Mul(4)).Mul(0.1))
	}, nil},
	{"heat equation by rolls", 24, func(u *oocore.Array) *oocore.Array {
		around := u.Roll(1, 0).Add(u.Roll(-1, 0)).Add(u.Roll(1, 1)).Add(u.Roll(-1, 1))
		return u.Add(around.Sub(u.Mul(4)).Mul(0.1))
	}, nil},
	{"differences from a gaussian", 14, func(y *oocore.Array) *oocore.Array {
		return y.Sub(filter.Gaussian(y, []float64{1}, filter.GaussianOptions{}))
	}, nil},
}

func iterate(y *oocore.Array, times int, step, last func(*oocore.Array) *oocore.Array) *oocore.Array {
	for range times {
		y = step(y)
	}
	if last != nil {
		y = last(y)
	}
	return y
}

// node is an array's expression.
func node(t testing.TB, a *oocore.Array) (n *graph.Node) {
	t.Helper()
	oocore.Build("node", func(_ graph.Site, in []*graph.Node) (*graph.Node, error) {
		n = in[0]
		return n, nil
	}, a)
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Planning takes memory by the distinct nodes, and so does the plan, whose buffers fit
// in little.
func TestIterationsArePlannedAsGraphs(t *testing.T) {
	for _, c := range iterations {
		for _, size := range []struct {
			side int
			need int64 // beside what a process takes for itself
		}{{1000, 48 << 20}, {20_000, 240 << 20}} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			y := iterate(oocore.Random(oocore.Float64, 1, size.side, size.side), c.times, c.step, c.last)
			p, err := plan.New(node(t, y), plan.Target{Path: "y.npy"})
			if err != nil {
				t.Fatal(err)
			}
			sized, err := p.Size(plan.Options{Budget: 1 << 30, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 50_000_000 {
				t.Errorf("%s of %d²: planning allocates %d bytes", c.name, size.side, bytes)
			}
			if sized.Need > size.need {
				t.Errorf("%s of %d²: needs %d MiB", c.name, size.side, sized.Need>>20)
			}
			if len(p.Stages) > c.times+2 {
				t.Errorf("%s of %d²: %d passes", c.name, size.side, len(p.Stages))
			}
		}
	}
}

// What is computed together is what the same steps give one by one.
func TestIterationsGiveWhatTheirStepsGive(t *testing.T) {
	dir := t.TempDir()
	x, err := oocore.Random(oocore.Float64, 1, 300, 200).Save(t.Context(), filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range iterations {
		want, times := x, min(c.times, 100)
		for range times {
			step := c.step(want)
			values, err := oocore.Collect[float64](t.Context(), step)
			if err != nil {
				t.Fatal(err)
			}
			want = oocore.FromSlice(values, step.Shape()...)
		}
		if c.last != nil {
			want = c.last(want)
		}
		one, err := oocore.Collect[float64](t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		all, err := oocore.Collect[float64](t.Context(), iterate(x, times, c.step, c.last))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one, all) {
			t.Errorf("%s: other values than step by step", c.name)
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
	heat := iterations[4]
	for range heat.times {
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
	got, err := oocore.Collect[float64](t.Context(), iterate(oocore.FromSlice(x, rows, cols), heat.times, heat.step, nil))
	if err != nil {
		t.Fatal(err)
	}
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
	for _, c := range iterations {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				y := iterate(oocore.Random(oocore.Float64, 1, 1000, 1000), c.times, c.step, c.last)
				p, err := plan.New(node(b, y), plan.Target{Path: "y.npy"})
				if err == nil {
					_, err = p.Size(plan.Options{Budget: 1 << 30, Workers: 2})
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
	p, err := plan.New(node(t, y), plan.Target{})
	if err != nil {
		t.Fatal(err)
	}
	sized, err := p.Size(plan.Options{Budget: 1 << 30, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if sized.Need > 4<<20 {
		t.Errorf("500 constants need %d bytes", sized.Need)
	}
	got, err := oocore.Collect[float64](t.Context(), y)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("wrong values")
	}
}
