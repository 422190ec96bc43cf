package exec_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// squares returns x² with three side reductions: the greatest x, the mean of x² and the variance of x.
func squares(t *testing.T, x *graph.Node) (*graph.Node, []*graph.Node) {
	y := must[*graph.Node](t)(graph.Apply(site, kernel.Multiply, x, x))
	all := func(kind kernel.Reduction, n *graph.Node) *graph.Node {
		return must[*graph.Node](t)(graph.Aggregate(site, kind, n, graph.ReduceOptions{}))
	}
	return y, []*graph.Node{all(kernel.Max, x), all(kernel.Mean, y), all(kernel.Var, x)}
}

// Side reductions equal those computed from formulas, and do not depend on the
// number of tasks in flight; the array is what it is without.
func TestSideReductionsEqualTheFormulas(t *testing.T) {
	const n = 1200 * 700
	dir := t.TempDir()
	src, out, want := filepath.Join(dir, "x.npy"), filepath.Join(dir, "o.npy"), filepath.Join(dir, "want.npy")
	run(t, ramp(t, 1200, 700), src)
	y, folds := squares(t, open(t, src))
	run(t, y, want)
	// Of 0 … n-1: the last, (n-1)(2n-1)/6 and (n²-1)/12, of which the first two round once.
	truth := []float64{n - 1, (n - 1) * (2*n - 1) / 6., (n*n - 1) / 12.}
	var first []float64
	for _, o := range []size.Options{{Budget: 8 * mebi, Workers: 1}, {Budget: 64 * mebi, Workers: 1}, {Budget: 64 * mebi, Workers: 8}} {
		got := make([]float64, len(folds))
		p := must[*size.Plan](t)(sized(y, compile.Target{Path: out, Chunks: []int{100, 70}, SideReductions: folds}, o))
		if len(p.Stages) != 1 || p.Stages[0].Read != 8*n {
			t.Fatalf("%d stages, of which the first reads %d bytes", len(p.Stages), p.Stages[0].Read)
		}
		end, err := exec.Run(context.Background(), p, exec.Env{SideReductions: places(got)})
		if err != nil {
			t.Fatal(err)
		}
		if end.Peak > p.Peak.Host() {
			t.Errorf("%d bytes of %d predicted", end.Peak, p.Peak.Host())
		}
		for i, v := range got {
			if d := v - truth[i]; d > 1e-12*truth[i] || d < -1e-12*truth[i] {
				t.Errorf("%+v: %s is %v, want %v", o, folds[i], v, truth[i])
			}
		}
		if first == nil {
			first = got
		} else if !slices.Equal(first, got) {
			t.Errorf("%+v: %v, and before %v", o, got, first)
		}
		if !bytes.Equal(must[[]byte](t)(os.ReadFile(out)), must[[]byte](t)(os.ReadFile(want))) {
			t.Errorf("%+v: the array differs", o)
		}
	}
}

// Side reductions of an array that is read by stored chunks, or across its rows, do not depend on
// the budget either.
func TestSideReductionsDoNotDependOnTheBudgetWhereReadByChunks(t *testing.T) {
	const side = 1200
	dir := t.TempDir()
	src, cut := filepath.Join(dir, "x.npy"), filepath.Join(dir, "x.zarr")
	run(t, ramp(t, side, side), src)
	p := must[*size.Plan](t)(sized(open(t, src), compile.Target{Path: cut, Chunks: []int{100, 100}}, size.Options{Budget: 64 * mebi, Workers: 1}))
	if _, err := exec.Run(context.Background(), p, exec.Env{}); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*graph.Node{"chunks": open(t, cut), "transposed": must[*graph.Node](t)(graph.Transpose(site, open(t, src)))} {
		y, folds := squares(t, x)
		var first []float64
		for _, budget := range []int64{1 * mebi, 3 * mebi / 2, 5 * mebi, 64 * mebi} {
			target := compile.Target{Path: filepath.Join(dir, "o.npy"), SideReductions: folds}
			p, err := sized(y, target, size.Options{Budget: budget, Workers: 2})
			if short := new(types.MemoryError); errors.As(err, &short) {
				p, err = sized(y, target, size.Options{Budget: short.Need, Workers: 2})
			}
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, len(folds))
			if _, err := exec.Run(context.Background(), p, exec.Env{SideReductions: places(got)}); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			} else if !slices.Equal(first, got) {
				t.Errorf("%s with %d bytes: %v, and before %v", name, budget, got, first)
			}
		}
	}
}

func places(v []float64) (all [][]byte) {
	for i := range v {
		all = append(all, dtype.Bytes(v[i:i+1]))
	}
	return all
}

// Side reductions resume where they stopped, with the elements that were written until then.
func TestSideReductionsResume(t *testing.T) {
	dir := t.TempDir()
	src, out, want := filepath.Join(dir, "x.npy"), filepath.Join(dir, "o.npy"), filepath.Join(dir, "want.npy")
	run(t, ramp(t, 30_000, 300), src)
	y, folds := squares(t, open(t, src))
	whole, got := make([]float64, len(folds)), make([]float64, len(folds))
	once := func(out string, into []float64, fault *storeFault) (skipped int64, err error) {
		p := must[*size.Plan](t)(sized(y, compile.Target{Path: out, SideReductions: folds}, size.Options{Budget: 64 * mebi, Workers: 1}))
		keep := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("", nil), false))
		keep.Eager = true
		end, err := exec.Run(context.Background(), p, exec.Env{Checkpoint: keep, SideReductions: places(into), Open: func(path string) (store.Array, error) {
			a, err := store.Open(path)
			if err != nil {
				return nil, err
			}
			return fault.Array(a), nil
		}})
		return end.Skipped, err
	}
	if _, err := once(want, whole, &storeFault{}); err != nil {
		t.Fatal(err)
	}
	for runs := 1; ; runs++ {
		// Six tasks are in flight, of some 20 reads each: after fewer than 120 reads none may be done.
		skipped, err := once(out, got, &storeFault{Op: readOp, N: 200, Err: errDisk})
		if err == nil {
			if skipped == 0 {
				t.Error("nothing was kept")
			}
			break
		}
		if runs > 1000 {
			t.Fatal("the runs never come to an end")
		}
	}
	if !slices.Equal(got, whole) {
		t.Errorf("after an interruption %v, and without %v", got, whole)
	}
	if !bytes.Equal(must[[]byte](t)(os.ReadFile(out)), must[[]byte](t)(os.ReadFile(want))) {
		t.Error("the array differs")
	}
}

// Only what is computed elementwise has side reductions, of its own shape.
func TestSideReductionsRejectProductsAndOtherShapes(t *testing.T) {
	x := ramp(t, 40, 30)
	_, folds := squares(t, x)
	product := must[*graph.Node](t)(graph.Product(site, x, must[*graph.Node](t)(graph.Transpose(site, x))))
	rows := must[*graph.Node](t)(graph.Aggregate(site, kernel.Max, x, graph.ReduceOptions{Axes: []int{1}}))
	p := must[*size.Plan](t)(sized(x, compile.Target{Path: filepath.Join(t.TempDir(), "o.npy"), SideReductions: folds}, size.Options{Budget: 64 * mebi, Workers: 1}))
	if _, err := exec.Run(context.Background(), p, exec.Env{SideReductions: places(make([]float64, 1))}); err == nil {
		t.Error("three side reductions are accepted with one buffer")
	}
	for _, c := range []struct {
		root *graph.Node
		side *graph.Node
	}{{product, folds[0]}, {x, rows}, {ramp(t, 30, 40), folds[0]}, {ramp(t, 7), folds[0]}} {
		if _, err := sized(c.root, compile.Target{Path: filepath.Join(t.TempDir(), "o.npy"), SideReductions: []*graph.Node{c.side}}, size.Options{Budget: 64 * mebi, Workers: 1}); err == nil {
			t.Errorf("%s is accepted as a side reduction of %s", c.side, c.root)
		}
	}
}
