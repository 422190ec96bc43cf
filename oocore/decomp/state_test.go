package decomp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

const (
	algorithmVariable = "GONBEXT_TEST_ALGORITHM"
	folderVariable    = "GONBEXT_TEST_FOLDER"
	iterations        = 6
	inFile            = "cp of a tensor in a temporary file"
)

func TestMain(m *testing.M) {
	if asWorker() {
		return
	}
	if algorithm := os.Getenv(algorithmVariable); algorithm != "" {
		keepEvery = 0
		afterKeep = func() { time.Sleep(time.Hour) } // to be killed
		if err := decomposeTo(algorithm, os.Getenv(folderVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// values are all numbers of a decomposition.
type values [][]float64

func collected(arrays ...*oocore.Array) (out values, err error) {
	for _, a := range arrays {
		v, err := oocore.Collect[float64](context.Background(), a.AsType(oocore.Float64), host.Cell(record.Unreported))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func run(algorithm string, x *oocore.Array, opts ...oocore.Option) (values, error) {
	ctx := context.Background()
	opts = append([]oocore.Option{oocore.Memory("128MiB"), oocore.Workers(1)}, opts...)
	switch algorithm {
	case inFile:
		x, opts = x.Add(1), append(opts, oocore.Memory("64MiB"))
		fallthrough
	case "cp":
		r, err := CP(ctx, x, 3, CPOptions{Iterations: iterations, Tolerance: -1, SVD: true}, opts...)
		if err != nil {
			return nil, err
		}
		return collected(append(r.Factors, oocore.FromSlice(r.Weights), oocore.FromSlice(r.Errors))...)
	}
	decompose := Tucker
	if algorithm == "hosvd" {
		decompose = HOSVD
	}
	r, err := decompose(ctx, x, []int{3, 4, 5}, TuckerOptions{Iterations: iterations, Tolerance: -1}, opts...)
	if err != nil {
		return nil, err
	}
	return collected(append(r.Factors, r.Core, oocore.FromSlice(r.Errors))...)
}

// decomposeTo decomposes a folder's tensor into its result.json.
func decomposeTo(algorithm, dir string) error {
	v, err := run(algorithm, oocore.Open(filepath.Join(dir, "x.npy")))
	if err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "result.json"), text, 0o600)
}

func tensorIn(t *testing.T, dir string, seed uint64, shape ...int) *oocore.Array {
	t.Helper()
	if shape == nil {
		shape = []int{30, 20, 12}
	}
	x, err := oocore.Random(oocore.Float64, seed, shape...).Save(t.Context(), filepath.Join(dir, "x.npy"), oocore.Fresh())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// states are the files that are kept in a run log, and when they were written.
func states(dir string) map[string]time.Time {
	all := map[string]time.Time{}
	names, _ := filepath.Glob(filepath.Join(dir, "states", "*.state"))
	for _, name := range names {
		if st, err := os.Stat(name); err == nil {
			all[name] = st.ModTime()
		}
	}
	return all
}

// A decomposition that is killed after each half of an iteration, or each mode of HOSVD, ends
// nevertheless, with the bits of one that nobody kills.
func TestKilledDecompositionGoesOn(t *testing.T) {
	for algorithm, least := range map[string]int{"cp": 2 * iterations, "tucker": 2*iterations + 1, "hosvd": 3} {
		t.Run(algorithm, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "whole"))
			want, err := run(algorithm, tensorIn(t, dir, 1))
			if err != nil {
				t.Fatal(err)
			}
			runs := filepath.Join(dir, "killed")
			result := filepath.Join(dir, "result.json")
			kills := 0
			for {
				c := exec.Command(os.Args[0])
				c.Env = append(os.Environ(), algorithmVariable+"="+algorithm, folderVariable+"="+dir, "GONBEXT_RUNS="+runs)
				c.Stderr = os.Stderr
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- c.Wait() }()
				// Loading a state changes its file's time, so the content decides.
				before := contents(runs)
				var failed error
				for alive := true; alive; {
					select {
					case failed = <-ended:
						alive = false
					case <-time.After(time.Millisecond):
						if !reflect.DeepEqual(contents(runs), before) {
							_ = c.Process.Kill()
							<-ended
							kills++
							alive = false
						}
					}
				}
				if failed != nil {
					t.Fatal(failed)
				}
				if _, err := os.Stat(result); err == nil {
					break
				}
				if kills > 4*iterations {
					t.Fatalf("it was killed %d times, and has not ended", kills)
				}
			}
			text := testcases.ReadFile(t, result)
			var got values
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if kills < least {
				t.Errorf("%d kills, want %d or more", kills, least)
			}
			if !reflect.DeepEqual(got, want) {
				t.Error("the result is another than that of one that was not killed")
			}
		})
	}
}

// The temporary files of a decomposition that was killed are removed by the next.
func TestKilledDecompositionLeavesNoTemporaryFiles(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	runs := filepath.Join(dir, "runs")
	t.Setenv("GONBEXT_RUNS", runs)
	x := tensorIn(t, dir, 1, 120, 100, 60)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), algorithmVariable+"="+inFile, folderVariable+"="+dir)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for len(states(runs)) == 0 {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it kept a state: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	_ = c.Process.Kill()
	<-ended
	left := func() []os.DirEntry {
		all, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if len(left()) == 0 {
		t.Fatal("the killed decomposition had no temporary files")
	}
	if _, err := run(inFile, x); err != nil {
		t.Fatal(err)
	}
	if all := left(); len(all) > 0 {
		t.Errorf("%s is left", all[0].Name())
	}
}

func contents(runs string) map[string]string {
	all := map[string]string{}
	for name := range states(runs) {
		b, _ := os.ReadFile(name)
		all[name] = string(b)
	}
	return all
}

// What was done is not computed again, unless an input, an option or its file is another.
func TestDecompositionIsReused(t *testing.T) {
	for _, algorithm := range []string{"cp", "tucker", "hosvd"} {
		t.Run(algorithm, func(t *testing.T) {
			dir := t.TempDir()
			runs := filepath.Join(dir, "runs")
			t.Setenv("GONBEXT_RUNS", runs)
			x := tensorIn(t, dir, 1)
			last := func() record.Summary {
				t.Helper()
				all, err := record.List(runs)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range all {
					if r.Header.Cell != record.Unreported {
						return r
					}
				}
				t.Fatal("no record")
				return record.Summary{}
			}
			decomposed := func(x *oocore.Array, status record.Status, opts ...oocore.Option) values {
				t.Helper()
				v, err := run(algorithm, x, opts...)
				if err != nil {
					t.Fatal(err)
				}
				if r := last(); r.Status != status || len(r.Header.Series) != 1 {
					t.Errorf("%s was %s with %d series, want %s", r.Header.Title, r.Status, len(r.Header.Series), status)
				}
				return v
			}
			want := decomposed(x, record.Done)
			if got := decomposed(x, record.Skipped); !reflect.DeepEqual(got, want) {
				t.Error("what was kept is another result")
			}
			decomposed(x, record.Done, oocore.Fresh())
			decomposed(x.Add(1), record.Done)
			for name := range states(runs) {
				b := testcases.ReadFile(t, name)
				b[len(b)/2] ^= 1
				testcases.WriteFile(t, name, b, 0o600)
			}
			if got := decomposed(x, record.Done); !reflect.DeepEqual(got, want) {
				t.Error("over a damaged state it has another result")
			}
			x = tensorIn(t, dir, 2)
			if got := decomposed(x, record.Done); reflect.DeepEqual(got, want) {
				t.Error("another tensor in the same file has the same result")
			}
			twice := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
				for i := range dst {
					dst[i] = 2 * src[i]
				}
				return nil
			}, x, oocore.MapOptions{})
			decomposed(twice, record.Done)
			decomposed(twice, record.Done)
			decomposed(twice, record.Done, oocore.Version("v1"))
			decomposed(twice, record.Skipped, oocore.Version("v1"))
		})
	}
}

func TestAnotherOptionIsAnotherDecomposition(t *testing.T) {
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	t.Setenv("GONBEXT_RUNS", runs)
	x := tensorIn(t, dir, 1)
	for i, o := range []CPOptions{{Iterations: 2}, {Iterations: 3}, {Iterations: 2, Seed: 1}, {Iterations: 2, SVD: true}, {Iterations: 2, NonNegative: true}, {Iterations: 2, Tolerance: 1}} {
		if _, err := CP(t.Context(), x, 2, o); err != nil {
			t.Fatal(err)
		}
		if n := len(states(runs)); n != i+1 {
			t.Errorf("%d states are kept of %d decompositions", n, i+1)
		}
	}
	if _, err := CP(t.Context(), x, 3, CPOptions{Iterations: 2}); err != nil || len(states(runs)) != 7 {
		t.Errorf("of another rank: %d states, %v", len(states(runs)), err)
	}
}
