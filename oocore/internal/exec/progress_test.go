package exec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// kill is what a run sees of a kill: after so many reads of its inputs it gets no more,
// and what it has left by then is what is left.
type kill struct {
	t       *testing.T
	staging string
	copy    string
	after   int64
	noted   func(*checkpoint.State) bool // what the journal has to say by then
	reads   atomic.Int64
}

func killOf(t *testing.T, out string, after int64, noted func(*checkpoint.State) bool) *kill {
	return &kill{t: t, staging: filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".gonbext"), copy: filepath.Join(t.TempDir(), "copy"), after: after, noted: noted}
}

// array is an input whose reads are counted.
type array struct {
	store.Array
	kill *kill
}

func (a array) Read(ctx context.Context, dst []byte, r grid.Region) error {
	if n := a.kill.reads.Add(1); n == a.kill.after {
		a.kill.now()
	} else if n < a.kill.after {
		return a.Array.Read(ctx, dst, r)
	}
	return errDisk
}

func (k *kill) open(path string) (store.Array, error) {
	a, err := store.Open(path)
	return array{a, k}, err
}

// now waits until the journal says what it has to, and copies the staging folder.
func (k *kill) now() {
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(k.staging, "journal")); err == nil {
			if state, _, err := checkpoint.ReadJournal(bytes.NewReader(b)); err == nil && k.noted(state) {
				break
			}
		}
		if time.Since(begun) > time.Minute {
			k.t.Error("nothing was noted in a minute")
			break
		}
	}
	if err := os.CopyFS(k.copy, os.DirFS(k.staging)); err != nil {
		k.t.Error(err)
	}
}

// run runs a plan until it is killed.
func (k *kill) run(p *size.Plan) {
	k.t.Helper()
	c := must[*checkpoint.Checkpoint](k.t)(checkpoint.New(p.Plan, p.Fingerprint("1", nil), false))
	c.Eager = true
	if _, err := exec.Run(context.Background(), p, exec.Env{Checkpoint: c, Open: k.open}); !errors.Is(err, errDisk) {
		k.t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(k.staging), os.Rename(k.copy, k.staging)); err != nil {
		k.t.Fatal(err)
	}
}

func resumed(t *testing.T, p *size.Plan) record.End {
	t.Helper()
	c := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("1", nil), false))
	if !c.Resumes() {
		t.Fatal("nothing is left of the run that was killed: ", c.Reason)
	}
	return must[record.End](t)(exec.Run(context.Background(), p, exec.Env{Checkpoint: c}))
}

// A product that is killed in the middle of its only super-tile resumes with the panels
// that are missing, also where the next budget has room for smaller super-tiles only. Its
// elements are small whole numbers, so that its bits are those of exact sums.
func TestProductResumesInsideASuperTile(t *testing.T) {
	const m, n, k = 600, 600, 12_000
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(5, 6))
	matrix := func(name string, rows, cols int) *graph.Node {
		v := make([]float64, rows*cols)
		for i := range v {
			v[i] = float64(random.IntN(64)) / 7
		}
		path := filepath.Join(dir, name+".npy")
		run(t, must[*graph.Node](t)(graph.FromBytes(site, dtype.Bytes(v), dtype.Float64, rows, cols)), path)
		return open(t, path)
	}
	product := must[*graph.Node](t)(graph.Product(site, matrix("a", m, k), matrix("b", k, n)))
	sizedFor := func(out string, o size.Options) *size.Plan {
		return must[*size.Plan](t)(sized(product, compile.Target{Path: out}, o))
	}
	want, out := filepath.Join(dir, "want.npy"), filepath.Join(dir, "o.npy")
	large := size.Options{Budget: 256 << 20, Workers: 2}
	whole := must[record.End](t)(exec.Run(context.Background(), sizedFor(want, large), exec.Env{}))
	_, err := sized(product, compile.Target{Path: out}, size.Options{Budget: 1, Workers: 2})
	short := new(types.MemoryError)
	if !errors.As(err, &short) {
		t.Fatal(err)
	}
	panels := sizedFor(out, large).Stages[0].MatMul.Panels().Len()
	snapshot := func(s *checkpoint.State) bool {
		var bands []struct{ Steps []int }
		if s.Snapshots[0] == nil || json.Unmarshal(s.Snapshots[0].Meta, &bands) != nil {
			return false
		}
		for _, b := range bands {
			if slices.Min(b.Steps) < panels/2 {
				return false
			}
		}
		return true
	}
	for _, o := range []size.Options{large, {Budget: short.Need, Workers: 1}, {Budget: short.Need + 2<<20, Workers: 3}} {
		k := killOf(t, out, int64(2*panels*3/4), snapshot)
		k.run(sizedFor(out, large))
		end := resumed(t, sizedFor(out, o))
		if o.Budget == large.Budget && end.Read > whole.Read*6/10 {
			t.Errorf("after three quarters of the panels the next run reads %d of %d bytes", end.Read, whole.Read)
		}
		if !bytes.Equal(must[[]byte](t)(os.ReadFile(out)), must[[]byte](t)(os.ReadFile(want))) {
			t.Errorf("another product with %+v", o)
		}
	}
}

// What a stage has put into an array in memory is not computed again, before the stage has
// ended.
func TestStageInMemoryResumes(t *testing.T) {
	const rows, cols, each = 64, 4096, 4
	dir := t.TempDir()
	src, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "o.npy")
	run(t, ramp(t, rows, cols), src)
	var calls, fails [2]atomic.Int64
	x := open(t, src)
	y := must[*graph.Node](t)(failing(x, "first", &calls[0], &fails[0], each, cols))
	z := must[*graph.Node](t)(failing(y, "second", &calls[1], &fails[1], each, cols))
	for _, workers := range []int{1, 3} {
		p := must[*size.Plan](t)(sized(z, compile.Target{Path: out}, size.Options{Budget: 200 * mebi, Workers: workers}))
		if place := p.Place(p.Stages[0].Outputs[0]); place != size.InArena {
			t.Fatalf("the temporary array is in %s", place)
		}
		const after = 12
		var kept int64
		killOf(t, out, after, func(s *checkpoint.State) bool {
			kept = int64(s.Done[0].Len())
			return kept >= after-int64(p.Stages[0].Slots)
		}).run(p)
		calls[0].Store(0)
		if end := resumed(t, p); end.Skipped != kept || calls[0].Load() != rows/each-kept {
			t.Errorf("%d tasks were kept, and the next run skips %d and does %d", kept, end.Skipped, calls[0].Load())
		}
		got := dtype.Slice[float64](must[[]byte](t)(os.ReadFile(out))[4096:])
		if want := []float64{2, 3, 4}; !slices.Equal(got[:3], want) || got[rows*cols-1] != rows*cols+1 {
			t.Errorf("the result begins with %v and ends with %v", got[:3], got[rows*cols-1])
		}
	}
}
