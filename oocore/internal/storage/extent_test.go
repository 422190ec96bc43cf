package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/blob/memblob"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npz"
	_ "github.com/gonbext/gonbext/oocore/internal/format/safetensors"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// parts are files in which one array is replaced, and another kept.
var parts = []string{"x.npz", "x.safetensors"}

var (
	partMeta              = store.Meta{Shape: []int{8, 64}, DType: dtype.Float32}
	kept, before          = storetest.Elements(dtype.Int16, 1000), storetest.Elements(dtype.Float32, 512)
	after                 = storetest.Elements(dtype.Float32, 513)[:len(before)]
	keptMeta              = store.Meta{Shape: []int{1000}, DType: dtype.Int16}
	upperAndLower         = []grid.Box{{Start: []int{0, 0}, Shape: []int{4, 64}}, {Start: []int{4, 0}, Shape: []int{4, 64}}}
	errDiskIsOnFire       = errors.New("the disk is on fire")
	changedName, keptName = "#changed", "#kept"
)

func beginPart(t *testing.T, dir, name string) {
	t.Helper()
	storetest.Save(t, filepath.Join(dir, name)+keptName, keptMeta, kept)
	storetest.Save(t, filepath.Join(dir, name)+changedName, partMeta, before)
}

// replacePart replaces an array, and gives up after an error.
func replacePart(t *testing.T, dir, name string) error {
	w, err := storage.Create(filepath.Join(dir, name)+changedName, partMeta)
	if err != nil {
		return err
	}
	for i, b := range upperAndLower {
		if err == nil {
			err = w.Write(t.Context(), after[i*len(after)/2:][:len(after)/2], b)
		}
		if err == nil {
			err = w.Sync(t.Context())
		}
	}
	if err == nil {
		err = w.Commit(t.Context())
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}

// partState is what a folder shows: whether the one array is there, and which
// version of the other.
func partState(t *testing.T, dir, name string) string {
	t.Helper()
	elements := func(array string) ([]byte, error) {
		a, err := storage.Open(filepath.Join(dir, name) + array)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		info := a.Info()
		got := make([]byte, grid.Size(info.Shape)*info.DType.Size())
		return got, a.Read(t.Context(), got, storetest.All(info.Shape))
	}
	same, err := elements(keptName)
	if err != nil || !bytes.Equal(same, kept) {
		return fmt.Sprintf("without its other array (%v)", err)
	}
	got, err := elements(changedName)
	switch {
	case err != nil:
		return err.Error()
	case bytes.Equal(got, before):
		return "old"
	case bytes.Equal(got, after):
		return "new"
	}
	return "neither old nor new"
}

// TestFaultsInPartsOfFiles lets every operation of replacing an array in a file
// fail, one by one.
func TestFaultsInPartsOfFiles(t *testing.T) {
	for _, name := range parts {
		t.Run(name, func(t *testing.T) {
			storetest.NoLeaks(t)
			hits := 0
			for op := range disktest.Ops {
				for n, reached := int64(1), true; reached; n++ {
					for _, short := range []bool{false, true} {
						f := &disktest.Fault{Op: op, N: n, Err: errDiskIsOnFire, Short: short}
						dir := t.TempDir()
						beginPart(t, dir, name)
						var err error
						t.Run("", func(t *testing.T) { // which ends the use of the fault
							disktest.Use(t, f.FS())
							err = replacePart(t, dir, name)
						})
						if reached = f.Hit(); reached {
							hits++
						}
						state := partState(t, dir, name)
						where := fmt.Sprintf("%s %d (short %t)", op, n, short)
						switch {
						case err == nil && state != "new":
							t.Errorf("%s: no error, and the array is %s", where, state)
						case err != nil && (!errors.Is(err, errDiskIsOnFire) || !strings.Contains(err.Error(), name)):
							t.Errorf("%s: error %v", where, err)
						case state != "old" && state != "new":
							t.Errorf("%s: the array is %s", where, state)
						}
						if err := replacePart(t, dir, name); err != nil {
							t.Errorf("%s: afterwards: %v", where, err)
						}
						if state := partState(t, dir, name); state != "new" || len(storetest.List(t, dir)) != 1 {
							t.Errorf("%s: afterwards the array is %s and there is %v", where, state, storetest.List(t, dir))
						}
					}
				}
			}
			if hits < 30 {
				t.Errorf("only %d operations failed", hits)
			}
		})
	}
}

// TestCrashInPartsOfFiles looks after every operation at what a crash would leave.
func TestCrashInPartsOfFiles(t *testing.T) {
	for _, name := range parts {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			beginPart(t, dir, name)
			crash := disktest.NewCrash(t, dir)
			n := 0
			crash.Each = func() {
				n++
				for way, leave := range map[string]func(string){"lost": crash.Lost, "torn": crash.Torn} {
					to := t.TempDir()
					leave(to)
					if state := partState(t, to, name); state != "old" && state != "new" {
						t.Errorf("%s after %d operations: the array is %s", way, n, state)
					}
					os.RemoveAll(to)
				}
			}
			disktest.Use(t, crash.FS())
			if err := replacePart(t, dir, name); err != nil {
				t.Fatal(err)
			}
			crash.Each = func() {}
			to := t.TempDir()
			if crash.Lost(to); partState(t, to, name) != "new" {
				t.Errorf("after the end a crash leaves the array %s", partState(t, to, name))
			}
			if n < 10 {
				t.Errorf("only %d operations were seen", n)
			}
		})
	}
}

// Two writers of one file do not meet.
func TestPartsOfAFileHaveOneWriter(t *testing.T) {
	storetest.NoLeaks(t)
	for _, name := range parts {
		dir := t.TempDir()
		beginPart(t, dir, name)
		w, err := storage.Create(filepath.Join(dir, name)+changedName, partMeta)
		if err != nil {
			t.Fatal(err)
		}
		var locked *store.LockedError
		if _, err := storage.Create(filepath.Join(dir, name)+"#another", partMeta); !errors.As(err, &locked) || locked.PID != os.Getpid() {
			t.Errorf("%s: a second writer: %v", name, err)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		if _, err := storage.Open(filepath.Join(dir, "none"+name) + changedName); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: nothing is there: %v", name, err)
		}
	}
}

func TestOpenExtentRejectsWhatCannotBe(t *testing.T) {
	b := memblob.New()
	b.Put("x", make([]byte, 600))
	blob.Register("extents", b.Can(), func(string) (blob.Bucket, error) { return b, nil })
	local := filepath.Join(t.TempDir(), "x")
	testcases.WriteFile(t, local, make([]byte, 600), 0o600)
	for _, c := range []struct {
		e    store.Extent
		want string
	}{
		{store.Extent{Shape: []int{1 << 32, 1 << 32}, DType: dtype.Float32}, "has more bytes than 63 bits count"},
		{store.Extent{Shape: []int{1 << 61}, DType: dtype.Float64}, "has more bytes than 63 bits count"},
		{store.Extent{Shape: []int{0, 1 << 62}, DType: dtype.Float64}, "has more bytes than 63 bits count"},
		{store.Extent{Shape: []int{-4, -8}, DType: dtype.Uint8}, "has a negative length"},
		{store.Extent{Shape: make([]int, 33), DType: dtype.Uint8}, "has 33 dimensions"},
		{store.Extent{Shape: []int{4}, DType: dtype.Uint8, Offset: -1}, "is cut short"},
		{store.Extent{Shape: []int{301}, DType: dtype.Int16}, "is cut short"},
		{store.Extent{Shape: []int{300}, DType: dtype.Int16}, ""},
	} {
		for _, path := range []string{local, "extents://bucket/x"} {
			a, err := storage.OpenExtent(t.Context(), path, path, "test", func(io.ReaderAt, int64) (store.Extent, error) { return c.e, nil })
			switch {
			case err == nil:
				if failed := a.Close(); failed != nil {
					t.Error(failed)
				}
				if c.want != "" {
					t.Errorf("%s: shape %v at offset %d was opened", path, c.e.Shape, c.e.Offset)
				}
			case c.want == "" || !strings.Contains(err.Error(), c.want):
				t.Errorf("%s: shape %v at offset %d: %v, want %q", path, c.e.Shape, c.e.Offset, err, c.want)
			}
		}
	}
}
