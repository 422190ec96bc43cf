package exec_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/store"
)

var errDisk = errors.New("the disk failed")

// jobs are one expression for each kind of stage, over a file.
func jobs(t *testing.T, f *graph.Node) map[string]*graph.Node {
	return map[string]*graph.Node{
		"map":     must[*graph.Node](t)(graph.Apply(site, kernel.Sqrt, f)),
		"reduce":  must[*graph.Node](t)(graph.Aggregate(site, kernel.Sum, f, graph.ReduceOptions{Axes: []int{0}})),
		"matmul":  must[*graph.Node](t)(graph.Product(site, must[*graph.Node](t)(graph.Transpose(site, f)), f)),
		"centred": must[*graph.Node](t)(graph.Apply(site, kernel.Subtract, f, must[*graph.Node](t)(graph.Aggregate(site, kernel.Mean, f, graph.ReduceOptions{Axes: []int{0}})))),
	}
}

// Every read, write and commit of every kind of run fails once, wholly or half
// way: the error comes out, and nothing is left but what was there.
func TestEveryFaultEndsCleanly(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.npy")
	run(t, ramp(t, 3000, 300), src)
	for name, n := range jobs(t, open(t, src)) {
		for _, op := range []storeOp{readOp, writeOp, commitOp} {
			for at := int64(1); ; at++ {
				out := filepath.Join(dir, "o.npy")
				fault := &storeFault{Op: op, N: at, Err: errDisk, Short: at%2 == 0}
				env := exec.Env{
					Open: func(path string) (store.Array, error) {
						a, err := store.Open(path)
						if err != nil {
							return nil, err
						}
						return fault.Array(a), nil
					},
					Create: func(path string, m store.Meta) (store.Writer, error) {
						w, err := store.Create(path, m)
						if err != nil {
							return nil, err
						}
						return fault.Writer(w), nil
					},
				}
				p := must[*size.Plan](t)(sized(n, compile.Target{Path: out}, size.Options{Budget: 64 * mebi, Workers: 2}))
				_, err := exec.Run(context.Background(), p, env)
				if fault.Count() < at { // the run has fewer operations than this
					if err != nil {
						t.Errorf("%s without a fault: %v", name, err)
					}
					_ = os.Remove(out)
					break
				}
				if !errors.Is(err, errDisk) {
					t.Fatalf("%s: operation %d of kind %d failed, and the run gave %v", name, at, op, err)
				}
				for _, e := range must[[]os.DirEntry](t)(os.ReadDir(dir)) {
					if e.Name() != "x.npy" {
						t.Fatalf("%s: operation %d of kind %d left %s", name, at, op, e.Name())
					}
				}
			}
		}
	}
}

func TestInputChangedSincePlanning(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.npy")
	run(t, ramp(t, 3000, 300), src)
	n := must[*graph.Node](t)(graph.Apply(site, kernel.Sqrt, open(t, src)))
	p := must[*size.Plan](t)(sized(n, compile.Target{Path: filepath.Join(dir, "o.npy")}, size.Options{Budget: 64 * mebi, Workers: 2}))
	run(t, ramp(t, 300, 3000), src)
	_, err := exec.Run(context.Background(), p, exec.Env{})
	if err == nil || !strings.Contains(err.Error(), "x.npy has changed") {
		t.Errorf("got %v, want that x.npy has changed", err)
	}
}

// A plan that leaves the process does the same there.
func TestPlanRunsInAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.npy")
	run(t, must[*graph.Node](t)(graph.Uniform(site, dtype.Float32, 5, 3000, 300)), src)
	for name, n := range jobs(t, open(t, src)) {
		here, there := filepath.Join(dir, "here.npy"), filepath.Join(dir, "there.npy")
		run(t, n, here)
		p := must[*size.Plan](t)(sized(n, compile.Target{Path: there}, size.Options{Budget: 64 * mebi, Overhead: 20 * mebi, Workers: 2}))
		encoded := must[[]byte](t)(p.Encode())
		file := filepath.Join(dir, "plan.json")
		if err := os.WriteFile(file, encoded, 0o600); err != nil {
			t.Fatal(err)
		}
		elsewhere(t, file)
		a, b := must[[]byte](t)(os.ReadFile(here)), must[[]byte](t)(os.ReadFile(there))
		if string(a) != string(b) {
			t.Errorf("%s: the other process wrote other bytes", name)
		}
	}
}
