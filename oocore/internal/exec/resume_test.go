package exec_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// attempt runs a plan that keeps what it has done, with a fault in its writes.
func attempt(t testing.TB, n *graph.Node, out string, o size.Options, fault *storeFault) (record.End, error) {
	t.Helper()
	p := must[*size.Plan](t)(sized(n, compile.Target{Path: out}, o))
	keep := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("", nil), false))
	return exec.Run(context.Background(), p, exec.Env{Checkpoint: keep, Create: func(path string, m store.Meta) (store.Writer, error) {
		w, err := store.Create(path, m)
		if err != nil {
			return nil, err
		}
		return fault.Writer(w), nil
	}})
}

// A run that fails at any of its writes resumes there, with whatever budget and
// workers, to the same bytes; chunks that were done are not done again.
func TestResumeAfterEveryWrite(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.npy")
	run(t, ramp(t, 3000, 300), src)
	for name, n := range jobs(t, open(t, src)) {
		out, want := filepath.Join(dir, "o.npy"), filepath.Join(dir, "want.npy")
		run(t, n, want)
		whole := must[[]byte](t)(os.ReadFile(want))
		tasks := int64(must[*size.Plan](t)(sized(n, compile.Target{Path: out}, size.Options{Budget: 64 * mebi, Workers: 2})).Tasks())
		resumed := false
		for at := int64(1); ; at++ {
			fault := &storeFault{Op: writeOp, N: at, Err: errDisk, Short: at%2 == 0}
			_, err := attempt(t, n, out, size.Options{Budget: 64 * mebi, Workers: 2}, fault)
			if err == nil {
				_ = os.Remove(out)
				break
			}
			if !errors.Is(err, errDisk) {
				t.Fatalf("%s: write %d failed, and the run gave %v", name, at, err)
			}
			var kept *exec.ResumableError
			errors.As(err, &kept)
			end, err := attempt(t, n, out, size.Options{Budget: 200 * mebi, Workers: 1}, &storeFault{})
			if err != nil {
				t.Fatalf("%s, after write %d: %v", name, at, err)
			}
			if end.Computed+end.Skipped != tasks {
				t.Errorf("%s, after write %d: %d chunks computed and %d skipped of %d", name, at, end.Computed, end.Skipped, tasks)
			}
			if kept != nil {
				resumed = resumed || end.Skipped > 0
			}
			if got := must[[]byte](t)(os.ReadFile(out)); !bytes.Equal(got, whole) {
				t.Fatalf("%s, after write %d: the result differs", name, at)
			}
			for _, e := range must[[]os.DirEntry](t)(os.ReadDir(dir)) {
				if e.Name() != "x.npy" && e.Name() != "want.npy" && e.Name() != "o.npy" {
					t.Fatalf("%s: %s is left", name, e.Name())
				}
			}
			_ = os.Remove(out)
		}
		if !resumed && tasks > 2 {
			t.Errorf("%s: no run resumed where one had stopped", name)
		}
	}
}

// Sums resume where they stopped.
func TestResumeInsideAReduction(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.npy")
	run(t, ramp(t, 30_000, 300), src)
	n := jobs(t, open(t, src))["reduce"]
	out := filepath.Join(dir, "o.npy")
	o := size.Options{Budget: 64 * mebi, Workers: 1}
	for stop := int64(1); ; stop++ {
		p := must[*size.Plan](t)(sized(n, compile.Target{Path: out}, o))
		keep := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("", nil), false))
		fault := &storeFault{Op: readOp, N: 200, Err: errDisk}
		end, err := exec.Run(context.Background(), p, exec.Env{Checkpoint: keep, Open: func(path string) (store.Array, error) {
			a, err := store.Open(path)
			if err != nil {
				return nil, err
			}
			return fault.Array(a), nil
		}})
		if err == nil {
			if end.Skipped == 0 {
				t.Error("nothing was kept")
			}
			break
		}
		if stop > 1000 {
			t.Fatal("the runs never come to an end")
		}
	}
	want := filepath.Join(dir, "want.npy")
	run(t, n, want)
	if !bytes.Equal(must[[]byte](t)(os.ReadFile(out)), must[[]byte](t)(os.ReadFile(want))) {
		t.Error("the result differs")
	}
}
