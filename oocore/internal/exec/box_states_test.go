package exec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// stepped fills chunks in steps, each of which changes all elements.
type stepped struct{ Length, Chunk, Steps int }

func init() { blockwise.Register("test_stepped", stepped{}) }

// step is called within each step of a stepped, and its error is the step's.
var step struct {
	sync.Mutex
	hook func(chunk, step int) error
}

func (s stepped) Chunks() []int { return []int{s.Chunk} }

func (s stepped) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}, Scratch: int64(box[0] * 8), State: int64(box[0] * 8)}
}

func (s stepped) Fill(ctx context.Context, t *blockwise.Task) error {
	state := t.Scratch[:t.Box.Size()*8]
	x := dtype.Slice[float64](state)
	steps := t.Steps(ctx, func(int) [][]byte { return [][]byte{state[:8], state[8:]} })
	if !steps.Skips() {
		if err := t.In[0].Read(ctx, t.Box, state); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		for k := range s.Steps {
			if !steps.Next() {
				continue
			}
			for i, v := range x {
				x[i] = float64(v*0.75) + float64(k+i)
			}
			step.Lock()
			hook := step.hook
			step.Unlock()
			if err := hook(t.Box.Start[0]/s.Chunk, k+1); err != nil {
				return err
			}
			if err := steps.End(); err != nil {
				return err
			}
		}
		copy(t.Dst, state)
		return nil
	})
}

// want is what a stepped makes of 0, 1, 2 …
func (s stepped) want() []byte {
	x := make([]float64, s.Length)
	for i := range x {
		x[i] = float64(i)
		for k := range s.Steps {
			x[i] = float64(x[i]*0.75) + float64(k+i%s.Chunk)
		}
	}
	return dtype.Bytes(x)
}

// steppedRun is a stepped that is saved again and again.
type steppedRun struct {
	t    *testing.T
	op   stepped
	root *graph.Node
	out  string
	by   exec.Executor // nil for slots
}

func newSteppedRun(t *testing.T, op stepped) *steppedRun {
	x := ramp(t, op.Length)
	root := must[*graph.Node](t)(graph.NewBlockwise(site, "stepped", op, x.Shape, dtype.Float64, []*graph.Node{x}))
	return &steppedRun{t: t, op: op, root: root, out: filepath.Join(t.TempDir(), "o.npy")}
}

// run runs it with so many workers. It returns how often a step was done, by chunk.
func (r *steppedRun) run(workers int, hook func(cancel func(), chunk, step int) error) (steps map[int]int, err error) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	steps = map[int]int{}
	step.hook = func(chunk, k int) error {
		step.Lock()
		steps[chunk]++
		step.Unlock()
		if hook == nil {
			return nil
		}
		return hook(cancel, chunk, k)
	}
	p := must[*size.Plan](r.t)(sized(r.root, compile.Target{Path: r.out}, size.Options{Budget: 64 * mebi, Workers: workers}))
	c := must[*checkpoint.Checkpoint](r.t)(checkpoint.New(p.Plan, p.Fingerprint("", nil), false))
	_, err = exec.Run(ctx, p, exec.Env{Checkpoint: c, Executor: r.by})
	return steps, err
}

// whole fails the test where the output is not what it should be, or its folder has another file.
func (r *steppedRun) whole() {
	r.t.Helper()
	if b := must[[]byte](r.t)(os.ReadFile(r.out)); !bytes.HasSuffix(b, r.op.want()) {
		r.t.Error("the result is another")
	}
	for _, e := range must[[]os.DirEntry](r.t)(os.ReadDir(filepath.Dir(r.out))) {
		if e.Name() != filepath.Base(r.out) {
			r.t.Errorf("%s is left", e.Name())
		}
	}
}

// left returns what a run has left: the files of its staging folder whose names begin so, and
// how many steps they have of each chunk.
func (r *steppedRun) left(prefix string) (files []string, steps map[int]int) {
	r.t.Helper()
	steps = map[int]int{}
	err := filepath.WalkDir(filepath.Dir(r.out), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), prefix) {
			files = append(files, path)
		}
		if d.Name() == "journal" {
			b := must[[]byte](r.t)(os.ReadFile(path))
			s, _, err := checkpoint.ReadJournal(bytes.NewReader(b))
			if err != nil {
				return err
			}
			if s.Snapshots[0] != nil {
				steps = savedSteps(r.t, s.Snapshots[0].Meta)
			}
			if done := s.Done[0]; done != nil {
				for chunk := range done.All() {
					steps[int(chunk)] = r.op.Steps
				}
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return files, steps
}

// rest fails the test unless a run does just the steps that another has not saved.
func (r *steppedRun) rest(saved, done map[int]int) {
	r.t.Helper()
	for chunk := range (r.op.Length + r.op.Chunk - 1) / r.op.Chunk {
		if want := r.op.Steps - saved[chunk]; done[chunk] != want {
			r.t.Errorf("%d steps of chunk %d are done, and %d were saved of %d", done[chunk], chunk, saved[chunk], r.op.Steps)
		}
	}
}

// A run that is cancelled in any step resumes after it, and after that once more, with as many
// slots or fewer, or under an executor that delegates: no step is done twice, and the bytes are
// the same.
func TestCancelledBoxResumesAfterItsLastStep(t *testing.T) {
	rng := testcases.Rand(t)
	saveStatesAfter(t, 0)
	for i := range 6 {
		r := newSteppedRun(t, stepped{Length: 5500, Chunk: 1000, Steps: 40})
		if i%3 == 2 {
			r.by = oneByOne(exec.Slots{})
		}
		saved := map[int]int{}
		for _, workers := range []int{3, 1 + rng.IntN(3), 1} {
			at := 1 + rng.IntN(39)
			begun := time.Now()
			done, err := r.run(workers, func(cancel func(), chunk, k int) error {
				if k >= at && chunk > 0 {
					cancel()
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cancelled in step %d, the run gave %v", at, err)
			}
			_, now := r.left("snapshot")
			once := time.Since(begun) < 90*time.Millisecond // there was no other snapshot before the last
			some := false
			for chunk := range 6 {
				some = some || now[chunk] > saved[chunk]
				if most := saved[chunk] + done[chunk]; now[chunk] > most || once && now[chunk] < most {
					t.Errorf("chunk %d had %d steps, %d were done, and %d are saved", chunk, saved[chunk], done[chunk], now[chunk])
				}
			}
			if !some {
				t.Error("nothing was saved")
			}
			saved = now
		}
		done, err := r.run(2, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.rest(saved, done)
		r.whole()
	}
}

// What is noted while a run computes is there when it is killed.
func TestKilledBoxResumesAfterTheLastSnapshot(t *testing.T) {
	saveStatesAfter(t, 0)
	r := newSteppedRun(t, stepped{Length: 1000, Chunk: 1000, Steps: 20_000})
	dir := filepath.Dir(r.out)
	killed := filepath.Join(t.TempDir(), "killed")
	_, err := r.run(1, func(cancel func(), _, k int) error {
		if _, saved := r.left("snapshot"); saved[0] > 0 {
			cancel()
			return os.CopyFS(killed, os.DirFS(dir)) // as a kill leaves it
		}
		time.Sleep(time.Millisecond)
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	entries := must[[]os.DirEntry](t)(os.ReadDir(dir))
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, os.DirFS(killed)); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries { // which nobody else can write to
		if err := os.Chmod(filepath.Join(dir, e.Name()), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	_, saved := r.left("snapshot")
	if saved[0] == 0 {
		t.Fatal("nothing was saved")
	}
	done, err := r.run(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.rest(saved, done)
	r.whole()
}

// A snapshot that is damaged, cut short or another's is not used: its boxes begin anew.
func TestDamagedStateBeginsTheBoxAnew(t *testing.T) {
	rng := testcases.Rand(t)
	saveStatesAfter(t, 0)
	for name, damage := range map[string]func(rng *rand.Rand, b []byte) []byte{
		"a bit": func(rng *rand.Rand, b []byte) []byte {
			b[rng.IntN(8000)] ^= 1 << rng.IntN(8)
			return b
		},
		"cut short": func(rng *rand.Rand, b []byte) []byte { return b[:rng.IntN(8000)] },
		"zeros":     func(_ *rand.Rand, b []byte) []byte { return make([]byte, len(b)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newSteppedRun(t, stepped{Length: 1000, Chunk: 1000, Steps: 9})
			_, err := r.run(1, func(cancel func(), _, k int) error {
				if k == 5 {
					cancel()
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			files, saved := r.left("snapshot")
			if len(files) == 0 || saved[0] == 0 {
				t.Fatalf("%d files have %v steps", len(files), saved)
			}
			for _, f := range files {
				if err := os.WriteFile(f, damage(rng, must[[]byte](t)(os.ReadFile(f))), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			done, err := r.run(1, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.rest(nil, done)
			r.whole()
		})
	}
}

// A box whose step has failed has no state, and one that was begun a moment ago is not worth
// one: nothing is left to resume from.
func TestBoxThatFailedOrJustBeganSavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		err   error
	}{"failed": {0, errDisk}, "just began": {time.Hour, nil}} {
		t.Run(name, func(t *testing.T) {
			saveStatesAfter(t, c.after)
			r := newSteppedRun(t, stepped{Length: 1000, Chunk: 1000, Steps: 9})
			_, err := r.run(1, func(cancel func(), _, k int) error {
				if k == 7 && c.err == nil {
					cancel()
				}
				if k == 7 {
					return c.err
				}
				return nil
			})
			var resumable *exec.ResumableError
			if err == nil || errors.As(err, &resumable) {
				t.Errorf("the run gave %v", err)
			}
			if entries := must[[]os.DirEntry](t)(os.ReadDir(filepath.Dir(r.out))); len(entries) > 0 {
				t.Errorf("%s is left", entries[0].Name())
			}
		})
	}
}

// saveStatesAfter sets how long a box is filled before its state is saved.
func saveStatesAfter(t testing.TB, d time.Duration) {
	before := slots.SaveStatesAfter
	slots.SaveStatesAfter = d
	t.Cleanup(func() { slots.SaveStatesAfter = before })
}

// savedSteps returns the steps that a snapshot has, by task.
func savedSteps(t testing.TB, meta []byte) map[int]int {
	t.Helper()
	var states []struct{ Task, Steps int }
	if err := json.Unmarshal(meta, &states); err != nil {
		t.Fatal(err)
	}
	steps := map[int]int{}
	for _, s := range states {
		steps[s.Task] = s.Steps
	}
	return steps
}
