package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var small = store.Meta{Shape: []int{2, 3}, DType: dtype.Float32}

// needsRoot skips what only root, on Linux, can set up.
func needsRoot(t *testing.T, what string) {
	t.Helper()
	if testcases.Full() {
		if runtime.GOOS != "linux" || os.Getuid() != 0 {
			t.Fatalf("%s needs root on Linux", what)
		}
		return
	}
	t.Skipf("left out: %s (GONBEXT_TEST=full as root runs it)", what)
}

func TestCreateRejectsLinkOfAnotherUser(t *testing.T) {
	needsRoot(t, "a link of another user in a folder that all can write to")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(t.TempDir(), "mine.npy")
	testcases.WriteFile(t, mine, []byte("mine"), 0o600)
	for name, owner := range map[string]int{"other.npy": 65534, "own.npy": os.Getuid()} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(mine, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(link, owner, owner); err != nil {
			t.Fatal(err)
		}
		w, err := storage.Create(link, small)
		if err == nil {
			err = w.Abort()
		}
		if name == "other.npy" && (err == nil || !strings.Contains(err.Error(), "another user") || string(testcases.ReadFile(t, mine)) != "mine") {
			t.Errorf("%s: %v", name, err)
		}
		if name == "own.npy" && err != nil && strings.Contains(err.Error(), "another user") {
			t.Error(err)
		}
	}
}

func TestOpenRefusesPaths(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "x.bin")
	testcases.WriteFile(t, file, make([]byte, 24), 0o644)
	if err := os.Mkdir(filepath.Join(dir, "folder.npy"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, cause := range map[string]string{
		filepath.Join(dir, "none.npy"):                      "no such file",
		filepath.Join(dir, "folder.npy"):                    "is a directory",
		filepath.Join(dir, "x.csv"):                         "csv files need a package",
		filepath.Join(dir, "x.dat"):                         "use NAME.npy or NAME.bin?shape=10,20&dtype=float32",
		"/dev/null?shape=0&dtype=int8":                      "not a regular file",
		file:                                                "add ?shape=10,20&dtype=float32",
		file + "?shape=2,3":                                 "add &dtype=float32",
		file + "?dtype=int8":                                "add &shape=10,20",
		file + "?shape=2,3&dtype=float64":                   "shape (2, 3) of float64 has 48 bytes, the file has 24 from offset 0",
		file + "?shape=2,3&dtype=float32&offset=4":          "has 24 bytes, the file has 20 from offset 4",
		file + "?shape=2,3&dtype=f5":                        `dtype "f5" is unknown`,
		file + "?shape=2,3&dtype=int8&dtype=int8":           "dtype= is given twice",
		file + "?shape=2,3&order=A&dtype=float32":           "order=A is neither C nor F",
		file + "?shape=2,3&offset=-1":                       "offset=-1 is not a number of bytes",
		file + "?shape=2,3&type=float32":                    `"type" is unknown`,
		file + "?shape=-2,-3&dtype=float32":                 "is not a shape",
		file + "?shape=9223372036854775807,2&dtype=float32": "more bytes than 63 bits count",
	} {
		_, err := storage.Open(path)
		storetest.CheckError(t, err, path, cause)
	}
}

func TestRawQuery(t *testing.T) {
	file := filepath.Join(t.TempDir(), "what?.dat") // a question mark alone begins no query
	testcases.WriteFile(t, file, []byte("head\x01\x02\x03\x04\x05\x06"), 0o644)
	a, err := storage.Open(file + "?shape=3x2&dtype=uint8&offset=4&order=F")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	info := a.Info()
	got := make([]byte, 6)
	if err := a.Read(t.Context(), got, storetest.All(info.Shape)); err != nil {
		t.Fatal(err)
	}
	if info.Format != "raw" || !info.Fortran || grid.Format(info.Shape) != "(2, 3)" || string(got) != "\x01\x02\x03\x04\x05\x06" {
		t.Errorf("read %q as %+v", got, info)
	}
}

func TestCreateRefuses(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("folder.npy"), 0o755); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, at("file"), nil, 0o644)
	const huge = math.MaxInt64 / 8
	for path, c := range map[string]struct {
		m     store.Meta
		cause string
	}{
		at("none/a.npy"):                     {small, "the folder " + at("none") + " does not exist"},
		at("file/a.npy"):                     {small, "is not a folder"},
		at("folder.npy"):                     {small, "is a directory"},
		at("a.txt"):                          {small, "use NAME.npy or"},
		at("b.npy"):                          {store.Meta{Shape: []int{huge}, DType: dtype.Int8}, "and the disk has"},
		at("c.npy"):                          {store.Meta{Shape: []int{2}, DType: dtype.BFloat16}, "npy format has no bfloat16"},
		at("d.npy"):                          {store.Meta{Shape: []int{2}}, "no dtype"},
		at("e.bin?shape=3,2"):                {small, "shape=(3, 2) in the path, the array has (2, 3)"},
		at("f.bin?dtype=int32"):              {small, "dtype=int32 in the path, the array has float32"},
		at("g.bin?dtype=float32&offset=128"): {small, "offset= is for reading"},
	} {
		_, err := storage.Create(path, c.m)
		storetest.CheckError(t, err, path, c.cause)
	}
	if left := storetest.List(t, dir); len(left) != 2 {
		t.Errorf("%v is left, want file and folder.npy", left)
	}
}

// TestLargeArray goes the ways that a large array goes: rows whose ends are not
// those of pages, from memory that begins at a page and at none, in boxes that
// are contiguous in the file, long runs of it, and short ones.
func TestLargeArray(t *testing.T) {
	storetest.NoLeaks(t)
	m := store.Meta{Shape: []int{4099, 4101}, DType: dtype.Uint8}
	data := storetest.Elements(m.DType, 4099*4101)
	for name, c := range map[string]struct {
		chunks []int
		align  int
	}{
		"rows": {[]int{1000, 4101}, 4096}, "rows from anywhere": {[]int{1000, 4101}, 1},
		"whole": {[]int{4099, 4101}, 4096}, "columns": {[]int{4099, 1024}, 4096}, "blocks": {[]int{300, 300}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.npy")
			w, err := storage.Create(path, m)
			if err != nil {
				t.Fatal(err)
			}
			whole := memstore.New(m.Shape, m.DType, data)
			var wg sync.WaitGroup
			for _, b := range (grid.Grid{Shape: m.Shape, Chunks: c.chunks}).All() {
				wg.Go(func() {
					r := storetest.All(b.Shape)
					r.Start = b.Start
					src := aligned(b.Size(), c.align)
					if err := whole.Read(t.Context(), src, r); err != nil {
						t.Error(err)
					}
					if err := w.Write(t.Context(), src, b); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := testcases.ReadFile(t, path)
			if len(got) != 4096+len(data) || !bytes.Equal(got[4096:], data) {
				t.Error("the file holds something else than what was written")
			}
		})
	}
}

// aligned returns n bytes whose address is a multiple of align, and not of
// twice that.
func aligned(n, align int) []byte {
	b := make([]byte, n+4*align)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := (at+uintptr(2*align)-1)/uintptr(2*align)*uintptr(2*align) - at + uintptr(align)
	return b[skip : int(skip)+n]
}

func TestCreateReplacesWhatALinkLeadsTo(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real.npy"), filepath.Join(dir, "link.npy")
	testcases.WriteFile(t, target, nil, 0o640)
	if err := os.Symlink("real.npy", link); err != nil {
		t.Fatal(err)
	}
	storetest.Save(t, link, small, make([]byte, 24))
	st, err := os.Lstat(target)
	if err != nil || st.Mode() != 0o640 || st.Size() == 0 {
		t.Errorf("the target is %v with mode %v, error %v", st.Size(), st.Mode(), err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, error %v", st.Mode(), err)
	}
}

func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	file, none := filepath.Join(dir, "a.npy"), filepath.Join(dir, "b.npy")
	storetest.Save(t, file, small, make([]byte, 24))
	if err := errors.Join(os.Chmod(file, 0), os.Chmod(dir, 0o555), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	asUser(t, func() {
		_, err := storage.Open(file)
		storetest.CheckError(t, err, file, "permission denied")
		_, err = storage.Create(none, small)
		storetest.CheckError(t, err, none, "permission denied")
	})
}

// TestFullDisk has another file take what is left of a small disk between
// Create and Write: the array has its room already.
func TestFullDisk(t *testing.T) {
	needsRoot(t, "writing to a full disk")
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	defer exec.Command("umount", dir).Run()
	storetest.NoLeaks(t)

	path := filepath.Join(dir, "big.npy")
	_, err := storage.Create(path, store.Meta{Shape: []int{30 << 20}, DType: dtype.Uint8})
	storetest.CheckError(t, err, path, "it needs 31,461,376 bytes, and the disk has 25,16")

	path = filepath.Join(dir, "a.npy")
	w, err := storage.Create(path, store.Meta{Shape: []int{20 << 20}, DType: dtype.Uint8})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), make([]byte, 12<<20), 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	_, err = storage.Create(filepath.Join(dir, "none.npy"), small)
	storetest.CheckError(t, err, filepath.Join(dir, "none.npy"), "and the disk has 0 bytes free")
	if err := w.Write(t.Context(), aligned(20<<20, 4096), grid.Box{Start: []int{0}, Shape: []int{20 << 20}}); err != nil {
		t.Error(err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if left := fmt.Sprint(storetest.List(t, dir)); left != "[other]" {
		t.Errorf("%s is left", left)
	}
}
