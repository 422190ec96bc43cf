package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/disk/disktest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var errDisk = errors.New("the disk failed")

// small are runs of every kind that end within a moment, on npy and on zarr, with
// what they read.
func small(t *testing.T) (dir string, all []job) {
	t.Helper()
	dir = disktest.Dir(t)
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs"))
	x := oocore.Random(oocore.Float32, 7, 900, 700)
	for _, ext := range []string{".npy", ".zarr"} {
		var opts []oocore.Option
		if ext == ".zarr" {
			opts = []oocore.Option{oocore.Chunks(200, 350), oocore.Shards(400, 350)}
		}
		if _, err := x.Save(context.Background(), filepath.Join(dir, "x"+ext), opts...); err != nil {
			t.Fatal(err)
		}
	}
	for _, j := range jobs() {
		j.opts = nil
		switch {
		case j.ext == ".zarr" && j.name == "reduction":
			j.opts = []oocore.Option{oocore.Chunks(100), oocore.Shards(300)}
		case j.ext == ".zarr":
			j.opts = []oocore.Option{oocore.Chunks(300, 300), oocore.Shards(600, 600), oocore.Codec("zstd:1")}
		case j.name == "elementwise":
			all = append(all, job{name: "open chunks", expr: j.expr, ext: ".zarr", opts: []oocore.Option{oocore.Chunks(300, 300), oocore.Codec("none")}})
		}
		if j.name == "product" {
			j.expr = "matmul(x, transpose(x))"
		}
		all = append(all, j)
	}
	return dir, all
}

func (j job) source() string { return "x" + j.ext }

// elements are what an array holds; nil where there is none.
func elements(t *testing.T, path string) []float32 {
	t.Helper()
	a := oocore.Open(path)
	if errors.Is(a.Err(), fs.ErrNotExist) {
		return nil
	}
	v, err := oocore.Collect[float32](context.Background(), a)
	if err != nil {
		t.Fatalf("what is under the name is not whole: %v", err)
	}
	return v
}

// remains lists what is in a folder beside the arrays that belong there.
func remains(t *testing.T, dir string, belong ...string) (left []string) {
	for _, e := range entries(t, dir) {
		if !slices.Contains(belong, e) {
			left = append(left, e)
		}
	}
	return left
}

// failure is one file operation of a run that fails.
type failure struct {
	op disktest.Op
	n  int64 // which of its kind, from 1
}

// failures are the operations of a run that its counts tell of.
func failures(counts *disktest.Fault) (all []failure) {
	for op := range disktest.Ops {
		for n := range counts.Count(op) {
			all = append(all, failure{op, n + 1})
		}
	}
	return all
}

// Every file operation of every kind of run fails once, or a sample of each kind of
// operation: with an error, half way, or late. The run says so or ends well, what is under the name is whole, and the next
// run brings it about.
func TestEveryFileOperationFails(t *testing.T) {
	dir, all := small(t)
	operations := 0
	for _, j := range all {
		t.Run(j.name+j.ext, func(t *testing.T) {
			source, out := filepath.Join(dir, j.source()), filepath.Join(dir, "out"+j.ext)
			counts := new(disktest.Fault)
			restore := disk.Use(counts)
			err := j.run(source, out)
			restore()
			check(t, err)
			want := elements(t, out)
			check(t, os.RemoveAll(out))
			for _, c := range testcases.Sample(t, failures(counts), 5, func(c failure) []string { return []string{c.op.String()} }) {
				f := &disktest.Fault{Op: c.op, N: c.n, Err: errDisk, Short: c.n%2 == 0}
				if c.n%7 == 3 {
					f.Err, f.Delay = nil, time.Millisecond
				}
				restore := disk.Use(f)
				err := j.run(source, out)
				restore()
				what := fmt.Sprintf("%s %d", c.op, c.n)
				if err != nil && !errors.Is(err, errDisk) {
					t.Fatalf("%s failed, and the run gave %v", what, err)
				}
				if got := elements(t, out); got != nil && !slices.Equal(got, want) || got == nil && err == nil {
					t.Fatalf("after %s other elements are under the name (the run gave %v)", what, err)
				}
				if err != nil {
					if err := j.run(source, out); err != nil {
						t.Fatalf("after %s the next run gave %v", what, err)
					}
					if !slices.Equal(elements(t, out), want) {
						t.Fatalf("after %s the next run wrote other elements", what)
					}
				}
				check(t, os.RemoveAll(out))
				if left := remains(t, dir, "x.npy", "x.zarr", "runs"); left != nil {
					t.Fatalf("after %s there is %v (the run gave %v)", what, left, err)
				}
				if f.Hit() {
					operations++
				}
			}
		})
	}
	t.Logf("%d operations failed", operations)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
