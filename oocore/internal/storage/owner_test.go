package storage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// lockless is a file system on which locking gives an error.
type lockless struct {
	disk.FS
	err error
}

type unlockable struct {
	disk.Handle
	err error
}

func (h unlockable) Lock() error { return h.err }

func (f lockless) OpenFile(name string, flag int, perm fs.FileMode) (disk.Handle, error) {
	h, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unlockable{h, f.err}, nil
}

func withoutLocks() disk.FS { return lockless{disk.System(), errors.ErrUnsupported} }

// locklessVariable makes a process of this test see no locks.
const locklessVariable = "GONBEXT_TEST_LOCKLESS"

func checkLocked(t *testing.T, err error, pid int, words ...string) {
	t.Helper()
	locked, ok := errors.AsType[*store.LockedError](err)
	if !ok || locked.PID != pid {
		t.Errorf("got %v, want that process %d writes", err, pid)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q lacks %q", err, word)
		}
	}
}

func TestWorkspaceWithoutLocksHasOneOwner(t *testing.T) {
	storetest.NoLeaks(t)
	disktest.Use(t, withoutLocks())
	dir := t.TempDir()
	output := filepath.Join(dir, "x.npy")
	ws, err := storage.NewStagingDir(output)
	try(t, err)
	_, err = storage.NewStagingDir(output)
	checkLocked(t, err, os.Getpid())
	try(t, ws.Remove())
	if left := storetest.List(t, dir); len(left) != 0 {
		t.Errorf("there is %v", left)
	}
	try(t, saveSmall(t, output))
	if left := storetest.List(t, dir); len(left) != 1 {
		t.Errorf("there is %v", left)
	}
}

// A process that has a lock and one that gets none keep each other out.
func TestWorkspaceOwnersAndLocksExcludeEachOther(t *testing.T) {
	for name, sees := range map[string]struct{ first, second bool }{ // locks
		"both without": {false, false}, "the first with": {true, false}, "the second with": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.NoLeaks(t)
			if !sees.first {
				t.Setenv(locklessVariable, "1")
			}
			dir := t.TempDir()
			output := filepath.Join(dir, "x.npy")
			other := hold(t, output)
			if !sees.second {
				disktest.Use(t, withoutLocks())
			}
			_, err := storage.NewStagingDir(output)
			checkLocked(t, err, other.Process.Pid, "process")
			try(t, other.Process.Kill())
			other.Wait()
			ws, err := storage.NewStagingDir(output)
			if runtime.GOOS != "linux" && !sees.first {
				checkLocked(t, err, other.Process.Pid, "remove")
				return
			}
			if err != nil {
				t.Fatalf("what a killed process held: %v", err)
			}
			if left, err := os.ReadFile(ws.Join("unfinished")); string(left) != "by another" {
				t.Errorf("it has left %q, %v", left, err)
			}
			try(t, ws.Remove())
			if left := storetest.List(t, dir); len(left) != 0 {
				t.Errorf("there is %v", left)
			}
		})
	}
}

// An owner of another host may be alive: only its user can know.
func TestWorkspaceOfAnotherHostSaysWhatToDo(t *testing.T) {
	storetest.NoLeaks(t)
	disktest.Use(t, withoutLocks())
	output := filepath.Join(t.TempDir(), "x.npy")
	ws, err := storage.NewStagingDir(output)
	try(t, err)
	file := ws.Join("owner")
	try(t, os.WriteFile(ws.Join("kept"), nil, 0o600))
	try(t, ws.Close())
	text, err := json.Marshal(map[string]any{"host": "elsewhere", "pid": 77, "process": "boot/pid:[1] 77@5"})
	try(t, errors.Join(err, os.WriteFile(file, text, 0o600)))
	_, err = storage.NewStagingDir(output)
	checkLocked(t, err, 77, "process 77 of elsewhere", "remove "+file)
	for _, broken := range []string{"", "{", `{"pid":"x"}`} {
		try(t, os.WriteFile(file, []byte(broken), 0o600))
		_, err = storage.NewStagingDir(output)
		checkLocked(t, err, 0, "remove "+file)
	}
	try(t, os.Remove(file))
	ws, err = storage.NewStagingDir(output)
	try(t, err)
	try(t, ws.Remove())
}

// Of many who see that an owner has ended one takes its place.
func TestWorkspaceOfAnEndedOwnerIsTakenOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells whether a process has ended")
	}
	t.Setenv(locklessVariable, "1")
	disktest.Use(t, withoutLocks())
	for range 20 {
		output := filepath.Join(t.TempDir(), "x.npy")
		other := hold(t, output)
		try(t, other.Process.Kill())
		other.Wait()
		var wg sync.WaitGroup
		var mu sync.Mutex
		var taken []*storage.StagingDir
		for range 8 {
			wg.Go(func() {
				ws, err := storage.NewStagingDir(output)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					taken = append(taken, ws)
				} else if _, ok := errors.AsType[*store.LockedError](err); !ok {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(taken) > 1 {
			t.Fatalf("%d have it", len(taken))
		}
		for _, ws := range taken {
			try(t, ws.Remove())
		}
	}
}

// No error of locking is taken for a lock.
func TestWorkspaceReportsErrorsOfLocking(t *testing.T) {
	storetest.NoLeaks(t)
	for _, cause := range []error{syscall.EIO, syscall.EINTR, syscall.EBADF} {
		dir := t.TempDir()
		disktest.Use(t, lockless{disk.System(), fmt.Errorf("flock: %w", cause)})
		if _, err := storage.NewStagingDir(filepath.Join(dir, "x.npy")); !errors.Is(err, cause) {
			t.Errorf("got %v, want %v", err, cause)
		}
	}
}
