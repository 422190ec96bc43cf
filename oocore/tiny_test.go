package oocore_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// tinyRuns are runs of a thousand elements, made in a folder.
var tinyRuns = []struct {
	name string
	make func(tb testing.TB, dir string) func()
	most int // calls for files, with the log
}{
	{"sum", func(tb testing.TB, dir string) func() {
		x := oocore.Arange(0, 1000, 1).AsType(oocore.Float64)
		return func() { tinySum(tb, x) }
	}, 8},
	{"sum of a file", func(tb testing.TB, dir string) func() {
		path := filepath.Join(dir, "x.npy")
		if _, err := oocore.Arange(0, 1000, 1).AsType(oocore.Float64).Save(tb.Context(), path); err != nil {
			tb.Fatal(err)
		}
		return func() { tinySum(tb, oocore.Open(path)) }
	}, 25},
	{"file to file", func(tb testing.TB, dir string) func() {
		in, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")
		if _, err := oocore.Arange(0, 1000, 1).AsType(oocore.Float64).Save(tb.Context(), in); err != nil {
			tb.Fatal(err)
		}
		return func() {
			if _, err := oocore.Open(in).Sqrt().Save(tb.Context(), out, oocore.Fresh()); err != nil {
				tb.Fatal(err)
			}
		}
	}, 300},
}

func tinySum(tb testing.TB, x *oocore.Array) {
	tb.Helper()
	if v, err := oocore.Item[float64](tb.Context(), x.Sum()); err != nil || v != 499500 {
		tb.Fatal(v, err)
	}
}

func BenchmarkTinyRun(b *testing.B) {
	for _, c := range tinyRuns {
		b.Run(c.name, func(b *testing.B) {
			b.Setenv("GONBEXT_RUNS", b.TempDir())
			run := c.make(b, b.TempDir())
			for b.Loop() {
				run()
			}
		})
	}
}

// ofSystem are calls for what the system tells of itself: their number follows from how deep the process's cgroup is, and from the clock.
var ofSystem = regexp.MustCompile(`\(\d+<(/proc/|/sys/|anon_inode:)|"/(proc|sys)/`)

// What a run asks of files is counted as the difference of two processes that make some runs, and
// some more. The log is written.
func TestTinyRunAsksLittleOfFiles(t *testing.T) {
	const child, runs = "GONBEXT_TEST_TINY", "GONBEXT_TEST_TINY_RUNS"
	if i, err := strconv.Atoi(os.Getenv(child)); err == nil {
		run := tinyRuns[i].make(t, t.TempDir())
		n, _ := strconv.Atoi(os.Getenv(runs))
		for range n {
			run()
		}
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	for i, c := range tinyRuns {
		t.Run(c.name, func(t *testing.T) {
			calls := func(n int) int {
				dir := t.TempDir()
				trace := filepath.Join(dir, "trace")
				cmd := exec.Command(strace, "-f", "-y", "-e", "trace=%file,read,pread64,write,pwrite64,close,fstat,statfs,fstatfs,getdents64,fcntl,ftruncate,fallocate,fsync,fdatasync,flock,epoll_ctl", "-o", trace,
					os.Args[0], "-test.run=^TestTinyRunAsksLittleOfFiles$")
				cmd.Env = append(os.Environ(), child+"="+strconv.Itoa(i), runs+"="+strconv.Itoa(n), "GONBEXT_RUNS="+filepath.Join(dir, "runs"))
				out, err := cmd.CombinedOutput()
				text, _ := os.ReadFile(trace)
				if err != nil && len(text) == 0 {
					t.Skipf("strace cannot trace here: %s", out)
				}
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				all := regexp.MustCompile(`(?m)^\d+ +\w+\(.*`).FindAllString(string(text), -1)
				return len(slices.DeleteFunc(all, ofSystem.MatchString))
			}
			least := math.MaxInt
			for range 8 { // the clock only adds calls: samples of memory, threads that are woken
				if least = min(least, (calls(15)-calls(5))/10); least <= c.most {
					t.Logf("%d calls a run", least)
					return
				}
			}
			t.Errorf("a run of a thousand elements calls the system for files %d times, want at most %d", least, c.most)
		})
	}
}
