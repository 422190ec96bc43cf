package storage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A run that begins anew is told of a process of an earlier one that may still write; a run that has ended leaves nothing of one.
func TestClearRejectsWhileAnotherWrites(t *testing.T) {
	defer storage.WritersEnd(time.Millisecond)()
	output := filepath.Join(t.TempDir(), "x.npy")
	ws, err := storage.NewStagingDir(output)
	if err != nil {
		t.Fatal(err)
	}
	other, err := storage.AttachStagingDir(ws.Path, output)
	if err == nil {
		err = other.Register()
	}
	if err != nil {
		t.Fatal(err)
	}
	locked, ok := errors.AsType[*store.LockedError](ws.Clear())
	if !ok || locked.PID != os.Getpid() || !strings.Contains(locked.Error(), "wait for it, or, where it has ended, remove "+ws.Path) {
		t.Fatalf("Clear: %v", locked)
	}
	if other.Lost() {
		t.Error("the run is lost before it has ended")
	}
	if err := ws.Remove(); err != nil {
		t.Fatal(err)
	}
	if !other.Lost() {
		t.Error("the run has ended, and its process does not know")
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if left := storetest.List(t, filepath.Dir(output)); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// What a process that was killed has not finished is not published.
func TestCommitSweepsWhatWasNotFinished(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.zarr")
	m := small
	ws, err := storage.NewStagingDir(path)
	if err != nil {
		t.Fatal(err)
	}
	m.StagingDir = ws
	w, err := storage.Create(path, m)
	if err == nil {
		err = w.Write(context.Background(), make([]byte, 24), grid.Whole(m.Shape).Box(0))
	}
	if err == nil {
		err = w.Sync(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	var chunks string
	_ = filepath.WalkDir(ws.Path, func(name string, d os.DirEntry, _ error) error {
		if d.IsDir() && d.Name() == "c" {
			chunks = name
		}
		return nil
	})
	testcases.WriteFile(t, filepath.Join(chunks, ".0.gonbext-1"), []byte("half a chunk"), 0o600)
	testcases.WriteFile(t, m.StagingDir.Join("writer-KILLED"), nil, 0o600)
	if err := errors.Join(w.Commit(context.Background()), ws.Remove()); err != nil {
		t.Fatal(err)
	}
	_ = filepath.WalkDir(dir, func(name string, _ os.DirEntry, _ error) error {
		if strings.Contains(name, "gonbext") {
			t.Errorf("%s is there", name)
		}
		return nil
	})
}
