package cgrouptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/testkit/iterations"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// iterationRequest is in the environment of the process that runs iterations.
const iterationRequest = "GONBEXT_TEST_ITERATION"

type request struct {
	Family, Side, Steps int // Steps is how many of the steps are saved one by one
	Budget              int64
	Dir                 string
}

// times are the seconds that the expression takes as a whole, and steps that are saved.
type times struct{ Whole, Steps float64 }

// iterate runs what the environment asks for, and writes the times.
func iterate(text string) error {
	var q request
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		return err
	}
	family := iterations.All()[q.Family]
	timed := func(a *oocore.Array, path string) (*oocore.Array, float64, error) {
		t := time.Now()
		saved, err := a.Save(context.Background(), path, oocore.Memory(fmt.Sprint(q.Budget)), oocore.Fresh())
		return saved, time.Since(t).Seconds(), err
	}
	at := func(name string) string { return filepath.Join(q.Dir, name) }
	x, _, err := timed(oocore.Random(oocore.Float64, 1, q.Side, q.Side), at("x.npy"))
	if err != nil {
		return err
	}
	var spent times
	if _, spent.Whole, err = timed(family.Of(x), at("whole.npy")); err != nil {
		return err
	}
	if err := os.Remove(at("whole.npy")); err != nil {
		return err
	}
	for i := range q.Steps {
		var seconds float64
		if x, seconds, err = timed(family.Step(x), at(fmt.Sprintf("step%d.npy", i))); err != nil {
			return err
		}
		spent.Steps += seconds
		if i > 0 {
			if err := os.Remove(at(fmt.Sprintf("step%d.npy", i-1))); err != nil {
				return err
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(spent)
}

// Expressions that use themselves again and again fit in a little memory. Where all cases
// run, they also take no longer than their steps do that are saved one by one, of which a
// few are timed.
func TestIterationsWithinABudget(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: iterations in memory cgroups, which need root: GONBEXT_TEST=full runs them; GONBEXT_TEST=all also large ones, on 16 GiB of disk, in an hour")
	}
	type size struct {
		side   int
		budget int64
		slower float64 // than the steps; 0 where processes and files count for more
	}
	sizes := []size{{1000, 64 << 20, 0}}
	if testcases.All() {
		sizes = append(sizes, size{20_000, 256 << 20, 1.5})
	}
	for _, size := range sizes {
		for i, family := range iterations.All() {
			t.Run(fmt.Sprintf("%d/%s", size.side, family.Name), func(t *testing.T) {
				q, err := json.Marshal(request{i, size.side, min(family.Times, 3), size.budget, t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				var spent times
				inGroup(t, size.budget, 30*time.Minute, &spent, append(os.Environ(), iterationRequest+"="+string(q)), os.Args[0])
				steps := spent.Steps / float64(min(family.Times, 3)) * float64(family.Times)
				t.Logf("%.2f s; its steps one by one %.2f s", spent.Whole, steps)
				if size.slower > 0 && spent.Whole > size.slower*steps {
					t.Errorf("it takes %.1f s, and its steps one by one %.1f s", spent.Whole, steps)
				}
			})
		}
	}
}

// inGroup runs a command in a cgroup, and decodes what it prints.
func inGroup(t *testing.T, limit int64, most time.Duration, into any, env []string, name string, args ...string) {
	t.Helper()
	g, err := testcases.NewCgroup(fmt.Sprintf("gonbext-test-%d-%d", os.Getpid(), groups.Add(1)), limit)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := g.Command(name, args...)
	c.Env = env
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	// A process at its limit may never end: it reads its own pages again and again.
	stuck := time.AfterFunc(most, func() { c.Process.Kill() })
	defer stuck.Stop()
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), into); err != nil {
		t.Fatalf("%v in %s", err, stdout.String())
	}
}
