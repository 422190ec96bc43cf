package storage_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// holdVariable makes a process of this test hold a workspace until its input ends.
const holdVariable = "GONBEXT_TEST_HOLD"

func TestMain(m *testing.M) {
	if output := os.Getenv(holdVariable); output != "" {
		if os.Getenv(locklessVariable) != "" {
			disk.Use(withoutLocks())
		}
		ws, err := storage.NewStagingDir(output)
		if err == nil {
			err = os.WriteFile(ws.Join("unfinished"), []byte("by another"), 0o600)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hold lets another process hold the workspace of an output.
func hold(t *testing.T, output string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdVariable+"="+output)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return cmd
}

func TestAnotherProcessIsRejected(t *testing.T) {
	output := filepath.Join(t.TempDir(), "x.npy")
	other := hold(t, output)
	want := fmt.Sprintf("%s is being written by process %d", output, other.Process.Pid)
	_, err := storage.NewStagingDir(output)
	if locked, ok := errors.AsType[*store.LockedError](err); !ok || locked.PID != other.Process.Pid || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("NewStagingDir: %v, want %q", err, want)
	}
	if _, err = storage.Create(output, small); !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("Create: %v, want %q", err, want)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	other.Wait()
	ws, err := storage.NewStagingDir(output)
	if err != nil {
		t.Fatalf("the lock of a killed process holds: %v", err)
	}
	if left, err := os.ReadFile(ws.Join("unfinished")); string(left) != "by another" {
		t.Errorf("it has left %q, %v", left, err)
	}
	if err := ws.Remove(); err != nil {
		t.Error(err)
	}
}

func TestThisProcessIsRefusedToo(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	output := filepath.Join(dir, "x[1]?.npy")
	w, err := storage.Create(output, small)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Create(output, small); err == nil || !strings.Contains(err.Error(), "is being written by this process already") {
		t.Errorf("a second writer: %v", err)
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Error(err)
	}
	if left := storetest.List(t, dir); !slices.Equal(left, []string{"x[1]?.npy"}) {
		t.Errorf("%v is there, want the array alone", left)
	}
}

func TestWorkspace(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	ws, err := storage.NewStagingDir(filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if left := storetest.List(t, dir); !slices.Equal(left, []string{".x.npy.gonbext"}) {
		t.Errorf("there is %v", left)
	}
	fill := func() {
		t.Helper()
		if err := errors.Join(os.MkdirAll(ws.Join("a/b"), 0o700), os.WriteFile(ws.Join("a/b/c"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	if err := ws.Clear(); err != nil {
		t.Error(err)
	}
	if left := storetest.List(t, ws.Path); !slices.Equal(left, []string{"lock"}) {
		t.Errorf("Clear leaves %v", left)
	}
	fill()
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	if left := storetest.List(t, ws.Path); !slices.Equal(left, []string{"a", "lock"}) {
		t.Errorf("Close leaves %v", left)
	}
	if ws, err = storage.NewStagingDir(filepath.Join(dir, "x.npy")); err != nil {
		t.Fatal(err)
	}
	if err := ws.Remove(); err != nil {
		t.Error(err)
	}
	if left := storetest.List(t, dir); len(left) != 0 {
		t.Errorf("Remove leaves %v", left)
	}
	if ws, err = storage.NewStagingDir(filepath.Join(dir, "x.npy")); err != nil {
		t.Fatal(err)
	}
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	if left := storetest.List(t, dir); len(left) != 0 {
		t.Errorf("closing an empty one leaves %v", left)
	}
}

func TestWorkspaceOfARemoteOutput(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	ws, err := storage.NewStagingDir("s3://bucket/x.npy")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(ws.Path, cache) {
		t.Errorf("it is at %s", ws.Path)
	}
	if _, err := storage.NewStagingDir("s3://bucket/x.npy"); err == nil {
		t.Error("two of them at once")
	}
	if err := ws.Remove(); err != nil {
		t.Error(err)
	}
}

func TestTempWorkspaces(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	left := filepath.Join(dir, ".gonbext-left")
	if err := errors.Join(os.Mkdir(left, 0o700), os.WriteFile(filepath.Join(left, "lock"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	a, err := storage.TempStagingDir()
	if err != nil {
		t.Fatal(err)
	}
	b, err := storage.TempStagingDir()
	if err != nil {
		t.Fatal(err)
	}
	if n := storetest.List(t, dir); len(n) != 2 || slices.Contains(n, ".gonbext-left") {
		t.Errorf("%v: want the two that are in use", n)
	}
	if err := errors.Join(a.Remove(), b.Remove()); err != nil {
		t.Fatal(err)
	}
	if n := storetest.List(t, dir); len(n) != 0 {
		t.Errorf("left: %v", n)
	}
}

// TestLongNames writes to the longest names that file systems have.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, base := range []string{strings.Repeat("é", 125) + "z.npy", strings.Repeat("x", 243) + ".npy", strings.Repeat("x", 251) + ".npy"} {
		path := filepath.Join(dir, base)
		w, err := storage.Create(path, small)
		if err != nil {
			t.Errorf("%d bytes: %v", len(base), err)
			continue
		}
		if err := w.Write(t.Context(), make([]byte, 24), grid.Whole(small.Shape).Box(0)); err != nil {
			t.Error(err)
		}
		if err := w.Commit(t.Context()); err != nil {
			t.Errorf("%d bytes: %v", len(base), err)
		}
	}
	if left := storetest.List(t, dir); len(left) != 3 {
		t.Errorf("there is %v", left)
	}
}

// TestQuestionMarks: a question mark begins what describes a raw file only where
// that follows.
func TestQuestionMarks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "what?a=b")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.npy", "y?c=d.npy", "z?.bin?shape=2,3&dtype=float32"} {
		path := filepath.Join(dir, name)
		storetest.Save(t, path, small, make([]byte, 24))
		a, err := storage.Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		a.Close()
	}
	if left := storetest.List(t, dir); !slices.Equal(left, []string{"x.npy", "y?c=d.npy", "z?.bin"}) {
		t.Errorf("there is %v", left)
	}
}

func TestUnfinishedRegion(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	storetest.Save(t, path, small, make([]byte, 24))
	region := func(from, to int) store.Meta {
		m := small
		m.Region = &grid.Box{Start: []int{from, 0}, Shape: []int{to - from, 3}}
		return m
	}
	w, err := storage.Create(path, region(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), make([]byte, 12), *region(1, 2).Region); err != nil {
		t.Fatal(err)
	}
	if err := w.Suspend(); err != nil {
		t.Fatal(err)
	}
	const want = "the writing of its region [1:2, 0:3] was not finished: save that region again, or the whole array"
	_, err = storage.Open(path)
	storetest.CheckError(t, err, path, want)
	_, err = storage.Create(path, region(0, 1))
	storetest.CheckError(t, err, path, want)
	if w, err = storage.Create(path, region(0, 2)); err != nil { // it holds the other
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	_, err = storage.Open(path)
	storetest.CheckError(t, err, path, "was not finished")
	if w, err = storage.Create(path, small); err != nil {
		t.Fatal(err)
	}
	_, err = storage.Open(path) // until the whole array is there
	storetest.CheckError(t, err, path, "was not finished")
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, err := storage.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if left := storetest.List(t, dir); len(left) != 1 {
		t.Errorf("there is %v", left)
	}
}

// Of those in this process that begin the same output at once, all but one are told that it is this process.
func TestStagingDirNamesThisProcess(t *testing.T) {
	for range 50 {
		output := filepath.Join(t.TempDir(), "x.npy")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				ws, err := storage.NewStagingDir(output)
				if locked, ok := errors.AsType[*store.LockedError](err); ok {
					if locked.PID != os.Getpid() {
						t.Errorf("%v", err)
					}
				} else if err != nil {
					t.Error(err)
				} else {
					t.Cleanup(func() { _ = ws.Remove() })
				}
			})
		}
		all.Wait()
	}
}
