package exec_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/udf"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// failing is a function that adds one, and fails from its n-th call on, where n is
// not 0.
func failing(x *graph.Node, name string, calls *atomic.Int64, fails *atomic.Int64, chunks ...int) (*graph.Node, error) {
	return udf.Map(site, func(dst []byte, src [][]byte, _ grid.Box) error {
		if n, at := calls.Add(1), fails.Load(); at > 0 && n >= at {
			return errDisk
		}
		out := dtype.Slice[float64](dst)
		for i, v := range dtype.Slice[float64](src[0]) {
			out[i] = v + 1
		}
		return nil
	}, dtype.Float64, udf.MapOptions{Name: name, Chunks: chunks}, x)
}

// Three runs of two functions, the first of which fills a temporary array, and the
// second the output: each fails somewhere but the last, and each has a budget with
// which the temporary array is in memory or in a file. What one left in a file is
// never taken for what another had in memory.
func TestResumeWithAnotherPlaceForTemporaries(t *testing.T) {
	const rows, cols, each = 64, 4096, 4
	for _, budgets := range [][]int64{{1, 200, 1}, {200, 1, 200}, {1, 200, 200}, {1, 1, 200}, {200, 200, 1}} {
		for _, stops := range [][2][2]int64{ // calls of the first and of the second function that fail, in the first and the second run
			{{9, 0}, {9, 0}}, {{9, 0}, {0, 9}}, {{9, 0}, {5, 0}}, {{0, 9}, {0, 5}}, {{0, 9}, {9, 0}}, {{14, 0}, {2, 0}},
		} {
			dir := t.TempDir()
			out := filepath.Join(dir, "o.npy")
			var calls, fails [2]atomic.Int64
			x := ramp(t, rows, cols)
			y := must[*graph.Node](t)(failing(x, "first", &calls[0], &fails[0], each, cols))
			z := must[*graph.Node](t)(failing(y, "second", &calls[1], &fails[1], each, cols))
			for i, budget := range budgets {
				for k := range fails {
					calls[k].Store(0)
					fails[k].Store(0)
					if i < len(stops) {
						fails[k].Store(stops[i][k])
					}
				}
				o := size.Options{Budget: budget * mebi, Workers: 1}
				p, err := sized(z, compile.Target{Path: out}, o)
				if short := new(types.MemoryError); errors.As(err, &short) {
					o.Budget = short.Need
					p, err = sized(z, compile.Target{Path: out}, o)
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Place(p.Stages[0].Outputs[0]); (got == size.InArena) != (budget > 1) {
					t.Fatalf("with %d MiB the temporary array is in %s", budget, got)
				}
				keep := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("1", nil), false))
				if _, err = exec.Run(context.Background(), p, exec.Env{Checkpoint: keep}); err != nil && !errors.Is(err, errDisk) {
					t.Fatalf("%v %v, run %d: %v", budgets, stops, i, err)
				}
				if err == nil {
					break
				}
			}
			want := filepath.Join(dir, "want.npy")
			run(t, must[*graph.Node](t)(graph.Apply(site, kernel.Add, x, must[*graph.Node](t)(graph.Full(site, dtype.ValueOf(2.0))))), want)
			if !bytes.Equal(must[[]byte](t)(os.ReadFile(out)), must[[]byte](t)(os.ReadFile(want))) {
				t.Errorf("budgets %v, stops %v: the result differs", budgets, stops)
			}
		}
	}
}

// The same with sums over rows, which a snapshot has with or without the results.
func TestResumeReductionWithAnotherPlace(t *testing.T) {
	dir := t.TempDir()
	src, want, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "want.npy"), filepath.Join(dir, "o.npy")
	cols, step := 200_000, int64(53)
	if testing.Short() || !testcases.Full() {
		cols, step = 100_000, 26
	}
	run(t, ramp(t, 40, cols), src)
	n := jobs(t, open(t, src))["centred"]
	run(t, n, want)
	resumed := false
	for _, budgets := range [][]int64{{1, 200}, {200, 1}, {200, 200}, {1, 1}} {
		for at := int64(1); at <= 1+2*step; at += step {
			var end record.End
			for i, budget := range budgets {
				p, err := sized(n, compile.Target{Path: out}, size.Options{Budget: budget * mebi, Workers: 1})
				if short := new(types.MemoryError); errors.As(err, &short) {
					p, err = sized(n, compile.Target{Path: out}, size.Options{Budget: short.Need, Workers: 1})
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Place(p.Stages[0].Outputs[0]); (got == size.InArena) != (budget > 1) {
					t.Fatalf("with %d MiB the means are in %s", budget, got)
				}
				fault := &storeFault{Op: readOp, Err: errDisk}
				if i == 0 {
					fault.N = at
				}
				keep := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("", nil), false))
				end, err = exec.Run(context.Background(), p, exec.Env{Checkpoint: keep, Open: func(path string) (store.Array, error) {
					a, err := store.Open(path)
					if err != nil {
						return nil, err
					}
					return fault.Array(a), nil
				}})
				if (err != nil) != (i == 0) {
					t.Fatalf("budgets %v, read %d, run %d: %v", budgets, at, i, err)
				}
			}
			resumed = resumed || end.Skipped > 0
			if !bytes.Equal(must[[]byte](t)(os.ReadFile(out)), must[[]byte](t)(os.ReadFile(want))) {
				t.Errorf("budgets %v, read %d: the result differs", budgets, at)
			}
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !resumed {
		t.Error("nothing was ever kept")
	}
}

// corner is the first row of an array.
type corner struct{ Cols int }

func init() { blockwise.Register("test_corner", corner{}) }

func (c corner) Chunks() []int { return []int{1, c.Cols} }

func (c corner) Requirements([]int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{{1, c.Cols}}}
}

func (c corner) Fill(ctx context.Context, t *blockwise.Task) error {
	return t.In[0].Read(ctx, t.Box, t.Dst)
}

// A stage reads a little of a large file, as the last one, and takes no time: the file goes all
// the same, and not only with the run.
func TestLargeFileGoesWhenASmallResultOfItIsSaved(t *testing.T) {
	const rows, cols, each = 64, 4096, 4
	out := filepath.Join(t.TempDir(), "o.npy")
	var calls, never atomic.Int64
	x := ramp(t, rows, cols)
	y := must[*graph.Node](t)(failing(x, "first", &calls, &never, each, cols))
	row := must[*graph.Node](t)(graph.NewBlockwise(site, "corner", corner{cols}, []int{1, cols}, dtype.Float64, []*graph.Node{y}))
	var file string
	z := must[*graph.Node](t)(udf.Map(site, func(dst []byte, src [][]byte, _ grid.Box) error {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			return errDisk
		}
		copy(dst, src[0])
		return nil
	}, dtype.Float64, udf.MapOptions{Name: "second", Chunks: []int{each, cols}}, must[*graph.Node](t)(graph.Apply(site, kernel.Add, x, row))))
	o := size.Options{Budget: 1, Workers: 1}
	_, err := sized(z, compile.Target{Path: out}, o)
	short := new(types.MemoryError)
	if !errors.As(err, &short) {
		t.Fatal(err)
	}
	o.Budget = short.Need
	p := must[*size.Plan](t)(sized(z, compile.Target{Path: out}, o))
	large, small := p.Stages[0].Outputs[0], p.Stages[1].Outputs[0]
	if p.Place(large) != size.InSpill || p.Place(small) != size.InArena {
		t.Fatalf("they are in %s and %s", p.Place(large), p.Place(small))
	}
	keep := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("1", nil), false))
	staging := must[*storage.StagingDir](t)(keep.StagingDir())
	file = staging.Join(checkpoint.ArrayFile(large))
	if _, err := exec.Run(t.Context(), p, exec.Env{Checkpoint: keep}); err != nil {
		t.Error("the large file is there while the last stage runs:", err)
	}
}
