package oocore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// tinySum is a run of a thousand elements.
func tinySum(tb testing.TB, x *oocore.Array) {
	tb.Helper()
	if v, err := oocore.Item[float64](tb.Context(), x.Sum()); err != nil || v != 499500 {
		tb.Fatal(v, err)
	}
}

func BenchmarkTinyRun(b *testing.B) {
	b.Setenv("GONBEXT_RUNS", b.TempDir())
	x := oocore.Arange(0, 1000, 1).AsType(oocore.Float64)
	for b.Loop() {
		tinySum(b, x)
	}
}

// What a run asks of files is counted as the difference of two processes that make some runs, and
// some more. The log is written.
func TestTinyRunAsksLittleOfFiles(t *testing.T) {
	const child, most = "GONBEXT_TEST_TINY", 40
	if n, err := strconv.Atoi(os.Getenv(child)); err == nil {
		x := oocore.Arange(0, 1000, 1).AsType(oocore.Float64)
		for range n {
			tinySum(t, x)
		}
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	calls := func(runs int) int {
		dir := t.TempDir()
		trace := filepath.Join(dir, "trace")
		c := exec.Command(strace, "-f", "-e", "trace=%file,read,pread64,write,pwrite64,close,fstat,getdents64,fcntl,ftruncate,fdatasync,flock,epoll_ctl", "-o", trace,
			os.Args[0], "-test.run=^TestTinyRunAsksLittleOfFiles$")
		c.Env = append(os.Environ(), child+"="+strconv.Itoa(runs), "GONBEXT_RUNS="+filepath.Join(dir, "runs"))
		out, err := c.CombinedOutput()
		text, _ := os.ReadFile(trace)
		if err != nil && len(text) == 0 {
			t.Skipf("strace cannot trace here: %s", out)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return len(regexp.MustCompile(`(?m)^\d+ +\w+\(`).FindAll(text, -1))
	}
	if n := (calls(15) - calls(5)) / 10; n > most {
		t.Errorf("a run of a thousand elements calls the system for files %d times, want at most %d", n, most)
	} else {
		t.Logf("%d calls a run", n)
	}
}
