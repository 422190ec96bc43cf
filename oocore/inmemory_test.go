package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
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
	s, err := storage.TempStagingDir()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Remove()
	if disk.InMemory(s.Path) {
		t.Errorf("%s is in memory", s.Path)
	}
}

// What a run whose length follows from values, or an algorithm, has in files in a tmpfs counts before its first run.
// A process of its own holds nothing of other tests, which may be collected or grow meanwhile.
func TestFilesInMemoryCountBeforeValuesAreKnown(t *testing.T) {
	const child = "GONBEXT_TEST_IN_MEMORY"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	runLog(t)
	dir := inMemory(t)
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_CACHE_HOME", dir)
	x, err := oocore.Random(oocore.Float32, 1, 2<<20).Save(context.Background(), filepath.Join(t.TempDir(), "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	for limit, opts := range map[string]func(bytes int64) []oocore.Option{
		"memory": func(bytes int64) []oocore.Option { return []oocore.Option{oocore.MemoryBytes(bytes)} },
		"share": func(bytes int64) []oocore.Option {
			return []oocore.Option{oocore.MemoryBytes(bytes), oocore.In(oocore.NewPool("1GiB"))}
		},
		"pool": func(bytes int64) []oocore.Option {
			return []oocore.Option{oocore.In(oocore.NewPool(fmt.Sprintf("%dB", bytes)))}
		},
	} {
		for _, e := range []string{"unique(x)", "mask(x, x > 0.5)", "sort(x, 0)", "x + 1"} {
			for _, name := range []string{"o.npy", "o.zarr"} {
				save := func(budget int64) error {
					y := oocore.EvalContext(context.Background(), e, oocore.Names{"x": x}, opts(budget)...)
					_, err := y.Save(context.Background(), filepath.Join(dir, name), opts(budget)...)
					return err
				}
				small, ok := errors.AsType[*oocore.MemoryError](save(1 << 20))
				if !ok || small.Limit != 1<<20 {
					t.Fatalf("%s %s %s: %v", limit, e, name, small)
				}
				if err := save(small.Need); err != nil {
					t.Errorf("%s %s %s: %d bytes, which the error named: %v", limit, e, name, small.Need, err)
				}
				os.RemoveAll(filepath.Join(dir, name))
			}
		}
	}
}

// A file in a tmpfs takes whole pages and an inode: of many small chunks that is most.
func TestSmallChunksInMemoryCountAsPages(t *testing.T) {
	runLog(t)
	x := oocore.Random(oocore.Float32, 1, 1<<20) // 4 MiB in 16,384 files
	var need [2]int64
	for i, dir := range []string{t.TempDir(), inMemory(t)} {
		p, err := x.Plan(filepath.Join(dir, "o.zarr"), oocore.Chunks(64), oocore.Memory("1GiB"))
		if err != nil {
			t.Fatal(err)
		}
		need[i] = p.Need
	}
	least := int64(16384 * (os.Getpagesize() + 1<<10))
	if more := need[1] - need[0]; more < least || more > 2*least {
		t.Errorf("need is %d on a disk and %d in memory, where the files take %d", need[0], need[1], least)
	}
}
