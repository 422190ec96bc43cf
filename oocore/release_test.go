package oocore_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// released is what the release before revisions was told to compute, into chunks of 8000x250
// of a.zarr, when testdata/release was left: by a kill in its first stage, after a snapshot,
// and by one in its second, after six chunks were noted. All elements are 99.
const released = "floor(power(random(2, 160000, 250), arctan(random(3, 160000, 250)))/2) + max(floor(random(1, 800000, 250)*100), 0)"

// fingerprintOf returns the fingerprint of saving to a path as the record of a run has it.
func fingerprintOf(t *testing.T, a *oocore.Array, path string, opts ...oocore.Option) plan.Fingerprint {
	t.Helper()
	p, err := a.Plan(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return door.PlanOf(p).Fingerprint("", nil)
}

// latestRun returns the record of the last run, and its end.
func latestRun(t *testing.T) *record.Run {
	t.Helper()
	all, err := record.Latest(os.Getenv("GONBEXT_RUNS"), 1)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d runs are in the log: %v", len(all), err)
	}
	run, err := record.Read(all[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// restore puts a checkpoint of the release beside an output. Of its fingerprint the place of
// the output is this one.
func restore(t *testing.T, checkpoint, path string, f plan.Fingerprint) {
	t.Helper()
	staging := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".gonbext")
	if err := os.CopyFS(staging, os.DirFS(filepath.Join("testdata", "release", checkpoint))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(staging, "out.zarr"), 0o755); err != nil { // empty after a snapshot
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(staging, "lock"), nil, 0o600)
	journal := filepath.Join(staging, "journal")
	b := testcases.ReadFile(t, journal)
	b = regexp.MustCompile(`"output":"[0-9a-f]*"`).ReplaceAll(b, []byte(`"output":"`+f.Output+`"`))
	testcases.WriteFile(t, journal, b, 0o644)
}

func TestCheckpointOfReleaseIsResumed(t *testing.T) {
	for _, c := range []struct {
		checkpoint     string
		stage, skipped int
	}{{"snapshot", 0, 20}, {"tasks", 1, 6}} {
		t.Run(c.checkpoint, func(t *testing.T) {
			t.Setenv("GONBEXT_RUNS", t.TempDir())
			a, opts := oocore.Eval(released, nil), []oocore.Option{oocore.Chunks(8000, 250), oocore.Memory("512MiB")}
			path := filepath.Join(t.TempDir(), "a.zarr")
			restore(t, c.checkpoint, path, fingerprintOf(t, a, path, opts...))
			out, err := a.Save(context.Background(), path, opts...)
			if err != nil {
				t.Fatal(err)
			}
			run := latestRun(t)
			if run.Header.Resume != "" || run.Header.Stages[c.stage].Skipped != c.skipped {
				t.Errorf("it resumed after %d tasks of stage %d, not %d: %q", run.Header.Stages[c.stage].Skipped, c.stage, c.skipped, run.Header.Resume)
			}
			low, high := out.Min(), out.Max()
			for _, v := range []*oocore.Array{low, high} {
				if got, err := oocore.Item[float64](t.Context(), v); err != nil || got != 99 {
					t.Errorf("an element is %v, not 99: %v", got, err)
				}
			}
		})
	}
}

// A result or a checkpoint of revisions that this version does not have is computed anew, and
// the record says why.
func TestWorkOfLaterVersionIsComputedAnew(t *testing.T) {
	const later = "it was begun by a later version of gonbext"
	rewrite := func(t *testing.T, pattern, old, new string) {
		t.Helper()
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) != 1 {
			t.Fatalf("%s is %v, %v", pattern, files, err)
		}
		b, err := os.ReadFile(files[0])
		if err != nil || !strings.Contains(string(b), old) {
			t.Fatalf("%s has no %s: %v", files[0], old, err)
		}
		testcases.WriteFile(t, files[0], []byte(strings.Replace(string(b), old, new, 1)), 0o600)
	}
	for name, edit := range map[string]func(t *testing.T, a *oocore.Array, path string, opts []oocore.Option){
		"result": func(t *testing.T, a *oocore.Array, path string, opts []oocore.Option) {
			if !saveRun(t, a, path, opts...) || saveRun(t, a, path, opts...) {
				t.Fatal("the first run computes nothing, or the second something")
			}
			rewrite(t, filepath.Join(os.Getenv("GONBEXT_RUNS"), "outputs", "*.json"), `","arithmetic"`, `, floor 2","arithmetic"`)
		},
		"checkpoint": func(t *testing.T, a *oocore.Array, path string, opts []oocore.Option) {
			restore(t, "tasks", path, fingerprintOf(t, a, path, opts...))
			rewrite(t, filepath.Join(filepath.Dir(path), ".*.gonbext", "journal"), `","arithmetic"`, `, floor 2","arithmetic"`)
		},
		"checkpoint format": func(t *testing.T, a *oocore.Array, path string, opts []oocore.Option) {
			restore(t, "tasks", path, fingerprintOf(t, a, path, opts...))
			rewrite(t, filepath.Join(filepath.Dir(path), ".*.gonbext", "journal"), "}\n", `,"format":1}`+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GONBEXT_RUNS", t.TempDir())
			a, opts := oocore.Eval("floor(random(1, 16, 25)*100)", nil), []oocore.Option{oocore.Chunks(8, 25)}
			path := filepath.Join(t.TempDir(), "a.zarr")
			edit(t, a, path, opts)
			saved(t, a, path, opts...)
			run := latestRun(t)
			if run.Header.Resume != later || run.End.Skipped != 0 {
				t.Errorf("after %q it skipped %d tasks", run.Header.Resume, run.End.Skipped)
			}
		})
	}
}
