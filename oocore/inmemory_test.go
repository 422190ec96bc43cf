package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
)

// inMemory is a folder of a tmpfs.
func inMemory(t *testing.T) string {
	t.Helper()
	const shm = "/dev/shm"
	if !disk.InMemory(shm) {
		t.Skip("there is no tmpfs at ", shm)
	}
	dir, err := os.MkdirTemp(shm, "gonbext-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// An output in a tmpfs counts against the budget, before it is begun, and what the error names
// will do.
func TestOutputInMemoryCounts(t *testing.T) {
	runLog(t)
	dir := inMemory(t)
	x := oocore.Random(oocore.Float32, 1, 24<<20) // 96 MiB
	path := filepath.Join(dir, "x.npy")
	_, err := x.Save(context.Background(), path, oocore.Memory("96MiB"))
	small, ok := errors.AsType[*oocore.MemoryError](err)
	if !ok || small.Need <= 96<<20 || !strings.Contains(err.Error(), "tmpfs") {
		t.Fatalf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	if _, err := x.Save(context.Background(), path, oocore.Memory(fmt.Sprintf("%dB", small.Need))); err != nil {
		t.Errorf("%d bytes, which the error named: %v", small.Need, err)
	}
	if _, err := x.Save(context.Background(), filepath.Join(t.TempDir(), "x.npy"), oocore.Memory("96MiB")); err != nil {
		t.Errorf("on a disk: %v", err)
	}
}

// What is spilled beside an output in a tmpfs counts too.
func TestSpillInMemoryCounts(t *testing.T) {
	runLog(t)
	x := oocore.Random(oocore.Float32, 1, 2048, 4096) // 32 MiB
	sorted := x.Sort(0).Sort(1).Mean()
	if _, err := sorted.Save(context.Background(), filepath.Join(t.TempDir(), "o.npy"), oocore.Memory("64MiB")); err != nil {
		t.Fatal(err)
	}
	_, err := sorted.Save(context.Background(), filepath.Join(inMemory(t), "o.npy"), oocore.Memory("64MiB"))
	small, ok := errors.AsType[*oocore.MemoryError](err)
	if !ok || small.Need <= 64<<20 {
		t.Fatalf("got %v", err)
	}
	if _, err := sorted.Save(context.Background(), filepath.Join(inMemory(t), "o.npy"), oocore.Memory(fmt.Sprintf("%dB", small.Need))); err != nil {
		t.Errorf("%d bytes, which the error named: %v", small.Need, err)
	}
}

// Where temporary files would lie in memory they lie in the user's cache.
func TestTemporaryFilesAvoidMemory(t *testing.T) {
	cache, dir := t.TempDir(), inMemory(t)
	if disk.InMemory(cache) {
		t.Skip("the system's temporary files are in memory")
	}
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_CACHE_HOME", cache)
	s, err := store.TempStagingDir()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Remove()
	if disk.InMemory(s.Path) {
		t.Errorf("%s is in memory", s.Path)
	}
}
