package flock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/flock"
)

func TestLocksExcludeEachOther(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		t.Helper()
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(), open()
	if err := flock.Exclusive(a); err != nil {
		t.Fatal(err)
	}
	if err := flock.Exclusive(b); !errors.Is(err, flock.ErrLocked) {
		t.Errorf("a second exclusive lock: %v", err)
	}
	if err := flock.Shared(b); !errors.Is(err, flock.ErrLocked) {
		t.Errorf("a shared lock beside an exclusive one: %v", err)
	}
	if err := flock.Unlock(a); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(flock.Shared(a), flock.Shared(b)); err != nil {
		t.Errorf("two shared locks: %v", err)
	}
}
