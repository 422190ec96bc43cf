package oocore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// settledFrames is frames of npy, written so long ago that the files' times tell what they hold.
func settledFrames(t *testing.T, files int) string {
	t.Helper()
	dir := frames(t, files, 5, 6, func(i int) string { return fmt.Sprintf("f%03d.npy", i) })
	reliable, err := disk.Settle(filepath.Join(dir, fmt.Sprintf("f%03d.npy", files-1)))
	if err != nil {
		t.Fatal(err)
	}
	if !reliable {
		t.Skip("the times of files here do not tell what the files hold")
	}
	return dir
}

// copiedFrames is settledFrames of equal files, any number of which is made soon.
func copiedFrames(t *testing.T, files int) string {
	t.Helper()
	dir := frames(t, 1, 5, 6, func(i int) string { return fmt.Sprintf("f%03d.npy", i) })
	one, err := os.ReadFile(filepath.Join(dir, "f000.npy"))
	for i := 1; i < files && err == nil; i++ {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d.npy", i)), one, 0o644)
	}
	if err == nil {
		_, err = disk.Settle(filepath.Join(dir, fmt.Sprintf("f%03d.npy", files-1)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestStackOpensEachFileOncePerRun(t *testing.T) {
	const files, others = 300, 40
	dir := settledFrames(t, files)
	count := &disktest.Fault{}
	disktest.Use(t, count.FS())
	var opens, reads int64
	more := func(step string, most int64) {
		t.Helper()
		if n := count.Count(disktest.Open) - opens; n > files+others {
			t.Errorf("%s opens %d files of %d", step, n, files)
		}
		if n := count.Count(disktest.Read) - reads; n > most*files+others {
			t.Errorf("%s reads %d times of %d files", step, n, files)
		}
		opens, reads = count.Count(disktest.Open), count.Count(disktest.Read)
	}
	x := oocore.OpenStack(filepath.Join(dir, "*.npy"), 0)
	more("opening", 2)
	if _, err := oocore.Collect[int32](t.Context(), x); err != nil {
		t.Fatal(err)
	}
	more("collecting", 1)
	saved(t, x.Mean(1), filepath.Join(t.TempDir(), "y.npy"))
	more("saving", 1)
}

// Opening a stack looks at each file and reads its header; a run that saves looks at it before, opens
// it, reads it and looks at it again.
func TestStackFilesAreLookedAtTwiceAndReadOncePerSave(t *testing.T) {
	const child = "GONBEXT_TEST_STACK"
	if dir := os.Getenv(child); dir != "" {
		saved(t, oocore.OpenStack(filepath.Join(dir, "*.npy"), 0).Mean(1), filepath.Join(dir, "y.zarr"))
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	dir := settledFrames(t, 20)
	trace := filepath.Join(t.TempDir(), "trace")
	c := exec.Command(strace, "-f", "-y", "-e", "trace=open,openat,stat,lstat,newfstatat,statx,fstat,read,pread64", "-o", trace, os.Args[0], "-test.run=^TestStackFilesAreLookedAtTwiceAndReadOncePerSave$")
	c.Env = append(os.Environ(), child+"="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		if text, _ := os.ReadFile(trace); len(text) == 0 {
			t.Skipf("strace cannot trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	text := testcases.ReadFile(t, trace)
	for calls, most := range map[string]int{`open(at)?`: 2, `(l|newf|f)?stat(at|x)?`: 3, `p?read(64)?`: 2} {
		began := regexp.MustCompile(`(?m)^\d+ +` + calls + `\(.*f007\.npy`)
		if n := len(began.FindAll(text, -1)); n == 0 || n > most {
			t.Errorf("opening a stack and saving its mean call %s %d times a file, want at most %d", calls, n, most)
		}
	}
}

// rewrite replaces what a file holds, and gives it its old time of modification.
func rewrite(t *testing.T, path string, change func(b []byte) []byte) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b := testcases.ReadFile(t, path)
	if err := errors.Join(os.WriteFile(path, change(b), 0o644), os.Chtimes(path, st.ModTime(), st.ModTime())); err != nil {
		t.Fatal(err)
	}
}

func TestStackNoticesEveryChange(t *testing.T) {
	last := func(b []byte) []byte { b[len(b)-1] ^= 1; return b }
	for name, change := range map[string]func(t *testing.T, path string){
		"elements": func(t *testing.T, path string) { rewrite(t, path, last) },
		"header": func(t *testing.T, path string) {
			rewrite(t, path, func(b []byte) []byte { return []byte(strings.Replace(string(b), "<i4", "<f4", 1)) })
		},
		"torn":     func(t *testing.T, path string) { rewrite(t, path, func(b []byte) []byte { return b[:len(b)-8] }) },
		"vanished": func(t *testing.T, path string) { _ = os.Remove(path) },
		"another file": func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			if err = errors.Join(err, os.WriteFile(path+".new", last(b), 0o644), os.Rename(path+".new", path)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := settledFrames(t, 30)
			pattern, victim := filepath.Join(dir, "*.npy"), filepath.Join(dir, "f017.npy")
			x := oocore.OpenStack(pattern, 0)
			change(t, victim)
			if _, err := oocore.Collect[int32](t.Context(), x); err == nil {
				t.Error("a change between opening and running went unnoticed")
			}
			// Another array of the stack is of what is there now.
			y := oocore.OpenStack(pattern, 0)
			if name == "elements" || name == "another file" {
				got, err := oocore.Collect[int32](t.Context(), y.Slice("17"))
				if b, _ := os.ReadFile(victim); err != nil || string(dtype.Bytes(got)) != string(b[len(b)-120:]) {
					t.Errorf("the stack after the change: %v, %v", got, err)
				}
			} else if name != "vanished" && y.Err() == nil {
				t.Error("the stack can be opened after the change")
			}
		})
		t.Run(name+" while it is read", func(t *testing.T) {
			dir := settledFrames(t, 30)
			victim := filepath.Join(dir, "f017.npy")
			x := oocore.OpenStack(filepath.Join(dir, "*.npy"), 0)
			done := false
			disktest.Use(t, beforeOpen{disk.System(), func(path string) {
				if path == victim && !done {
					done = true
					change(t, victim)
				}
			}})
			_, err := oocore.Collect[int32](t.Context(), x, oocore.Workers(1))
			if err == nil || !strings.Contains(err.Error(), "f017.npy") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line that names the file", err)
			}
		})
	}
}

// beforeOpen calls a function before a file is opened.
type beforeOpen struct {
	disk.FS
	each func(path string)
}

func (b beforeOpen) OpenFile(name string, flag int, perm fs.FileMode) (disk.Handle, error) {
	b.each(name)
	return b.FS.OpenFile(name, flag, perm)
}

func BenchmarkManyFiles(b *testing.B) {
	const files = 2000
	dir := b.TempDir()
	path := filepath.Join(dir, "00000.npy")
	if _, err := oocore.Arange(0, 50, 1).AsType(oocore.Float32).Save(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	one, err := os.ReadFile(path)
	for i := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.npy", i)), one, 0o644))
	}
	if err != nil {
		b.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // so that their times tell what they hold
	for b.Loop() {
		if _, err := oocore.Collect[float32](b.Context(), oocore.OpenStack(filepath.Join(dir, "*.npy"), 0).Mean()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*files), "µs/file")
}

// A stack of several groups of files that are opened at once, one of which is not as the others.
func TestStackNamesTheFileThatIsNotAsTheOthers(t *testing.T) {
	const files = 600
	for name, change := range map[string]func(b []byte) []byte{
		"torn": func(b []byte) []byte { return b[:len(b)-8] },
		"another shape, as many bytes": func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "(5, 6)", "(6, 5)", 1))
		},
		"another type, as many bytes": func(b []byte) []byte { return []byte(strings.Replace(string(b), "<i4", "<f4", 1)) },
		"no header":                   func(b []byte) []byte { return make([]byte, len(b)) },
		"empty":                       func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := copiedFrames(t, files)
			for _, at := range []int{1, 255, 257, files - 1} {
				victim := filepath.Join(dir, fmt.Sprintf("f%03d.npy", at))
				whole, err := os.ReadFile(victim)
				if err != nil {
					t.Fatal(err)
				}
				rewrite(t, victim, change)
				err = oocore.OpenStack(filepath.Join(dir, "*.npy"), 0).Err()
				if err == nil || !strings.Contains(err.Error(), filepath.Base(victim)) || strings.Contains(err.Error(), "\n") {
					t.Errorf("file %d: %v, want one line that names it", at, err)
				}
				rewrite(t, victim, func([]byte) []byte { return whole })
			}
			if err := oocore.OpenStack(filepath.Join(dir, "*.npy"), 0).Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where few files can be open at once, stacks and arrays of many chunks are read and written.
func TestManyFilesUnderALimitOfOpenFiles(t *testing.T) {
	const child, files = "GONBEXT_TEST_DESCRIPTORS", 300
	if dir := os.Getenv(child); dir != "" {
		x := oocore.OpenStack(filepath.Join(dir, "*.npy"), 0)
		y := saved(t, x.Add(1), filepath.Join(dir, "y.zarr"), oocore.Chunks(1, 5, 1))
		z := saved(t, y.Sub(1), filepath.Join(dir, "z.zarr"), oocore.Chunks(1, 5, 1)) // while its chunks are read, too
		a, err := oocore.Collect[int32](t.Context(), x)
		b, other := oocore.Collect[int32](t.Context(), z)
		if err = errors.Join(err, other); err != nil || string(dtype.Bytes(a)) != string(dtype.Bytes(b)) || len(a) != files*30 {
			t.Fatalf("%d and %d elements differ: %v", len(a), len(b), err)
		}
		return
	}
	dir := copiedFrames(t, files)
	c := exec.Command("sh", "-c", `ulimit -n 64 && exec "$0" "$@"`, os.Args[0], "-test.run=^TestManyFilesUnderALimitOfOpenFiles$")
	c.Env = append(os.Environ(), child+"="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
