package exec_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// A product stops when all its tiles have half of their panels, resumes with a budget
// whose super-tile has a few of them, and stops in the first of these: the last run takes
// the half of all others from the snapshot nevertheless.
func TestProductSnapshotHasTilesThatNobodyReadYet(t *testing.T) {
	const m, n, k = 600, 650, 20_000
	dir := t.TempDir()
	saved := func(name string, seed uint64, shape ...int) *graph.Node {
		path := filepath.Join(dir, name)
		run(t, must[*graph.Node](t)(graph.Uniform(site, dtype.Float32, seed, shape...)), path)
		return open(t, path)
	}
	product := must[*graph.Node](t)(graph.Product(site, saved("a.npy", 1, m, k), saved("b.npy", 2, k, n)))
	want, out := filepath.Join(dir, "want.npy"), filepath.Join(dir, "o.npy")
	run(t, product, want)
	_, err := sized(product, compile.Target{Path: out}, size.Options{Budget: 1, Workers: 1})
	short := new(types.MemoryError)
	if !errors.As(err, &short) {
		t.Fatal(err)
	}
	var by exec.Executor
	reads := func(budget, fails int64, ends bool) int64 {
		t.Helper()
		p := must[*size.Plan](t)(sized(product, compile.Target{Path: out}, size.Options{Budget: budget, Workers: 1}))
		keep := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("", nil), false))
		keep.Eager = true
		fault := &storeFault{Op: readOp, N: fails, Err: errDisk}
		var end record.End
		end, err := exec.Run(context.Background(), p, exec.Env{Checkpoint: keep, Executor: by, Open: func(path string) (store.Array, error) {
			a, err := store.Open(path)
			if err != nil {
				return nil, err
			}
			return fault.Array(a), nil
		}})
		if (err == nil) != ends {
			t.Fatalf("after %d reads of %d bytes the run gave %v", fault.Count(), end.Read, err)
		}
		return fault.Count()
	}
	whole := reads(200*mebi, 0, true)
	small := reads(short.Need, 0, true)
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	for _, by = range []exec.Executor{exec.Slots{}, delegating, oneByOne(exec.Slots{})} {
		backwards := by == oneByOne(exec.Slots{}) // tile by tile: those that it has not begun have nothing
		reads(200*mebi, whole/2, false)
		reads(short.Need, 12, false)
		if rest := reads(short.Need, 0, true); rest > small*3/4 && !backwards { // the super-tile that was begun may have lost what panels in flight had brought
			t.Errorf("%T: the last run made %d reads of %d, though half of each tile was there", by, rest, small)
		}
		if !bytes.Equal(must[[]byte](t)(os.ReadFile(out)), must[[]byte](t)(os.ReadFile(want))) {
			t.Errorf("%T: the result differs", by)
		}
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	}
}
