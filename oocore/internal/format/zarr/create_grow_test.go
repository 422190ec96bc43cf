package zarr

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// appending is an array of bytes that rows are appended to.
type appending struct {
	path string
	old  []byte
}

const appendColumns = 5

func newAppending(t *testing.T, path string, rows int) *appending {
	t.Helper()
	a := &appending{path, storetest.Elements(dtype.Uint8, rows*appendColumns)}
	saveAll(t, path, store.Meta{Shape: []int{rows, appendColumns}, DType: dtype.Uint8, Chunks: []int{2, appendColumns}}, a.old)
	return a
}

// meta is that of the array with more rows, of which those are to be written.
func (a *appending) meta(rows int) store.Meta {
	before := len(a.old) / appendColumns
	return store.Meta{
		Shape: []int{before + rows, appendColumns}, DType: dtype.Uint8, Grow: true,
		Region: &grid.Box{Start: []int{before, 0}, Shape: []int{rows, appendColumns}},
	}
}

// begin writes rows, which are not committed.
func (a *appending) begin(t *testing.T, more []byte) store.Writer {
	t.Helper()
	m := a.meta(len(more) / appendColumns)
	w, err := store.Create(a.path, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(t.Context(), more, *m.Region), w.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	return w
}

func (a *appending) check(t *testing.T, want []byte) {
	t.Helper()
	shape := []int{len(want) / appendColumns, appendColumns}
	info, err := storage.Describe(a.path)
	if err != nil || !slices.Equal(info.Shape, shape) {
		t.Fatalf("shape %v, %v, want %v", info.Shape, err, shape)
	}
	if state := storetest.State(t, a.path, shape, want, nil); state != "old" {
		t.Errorf("the elements are %s", state)
	}
}

func moreRows(rows int) []byte { return bytes.Repeat([]byte{7}, rows*appendColumns) }

func (a *appending) zarrJSON() string { return filepath.Join(a.path, v3File) }

// edit changes the metadata as another program would.
func (a *appending) edit(t *testing.T, old, change string) {
	t.Helper()
	text, err := os.ReadFile(a.zarrJSON())
	if err == nil && !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s has no %q", text, old)
	}
	if err == nil {
		err = errors.Join(os.Remove(a.zarrJSON()), os.WriteFile(a.zarrJSON(), bytes.Replace(text, []byte(old), []byte(change), 1), 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAppendRejectsCommitToArrayChangedMeanwhile(t *testing.T) {
	a := newAppending(t, filepath.Join(t.TempDir(), "x.zarr"), 3)
	w := a.begin(t, moreRows(9))
	a.edit(t, "{", `{"attributes": {"units": "K"},`)
	if err := w.Commit(t.Context()); !errors.Is(err, errChangedMeanwhile) {
		t.Errorf("Commit returned %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	a.check(t, a.old)
	if text, err := os.ReadFile(a.zarrJSON()); err != nil || !bytes.Contains(text, []byte(`"K"`)) {
		t.Errorf("the metadata are %s, %v", text, err)
	}
}

func TestAppendAbortLeavesChunksOfArrayGrownMeanwhile(t *testing.T) {
	a := newAppending(t, filepath.Join(t.TempDir(), "x.zarr"), 4)
	more := moreRows(6)
	w := a.begin(t, more)
	text, err := reshaped(readText(t, a.zarrJSON()), []int{10, appendColumns})
	if err == nil {
		err = errors.Join(os.Remove(a.zarrJSON()), os.WriteFile(a.zarrJSON(), text, 0o666))
	}
	if err = errors.Join(err, w.Abort()); err != nil {
		t.Fatal(err)
	}
	a.check(t, slices.Concat(a.old, more))
}

func readText(t *testing.T, name string) []byte {
	t.Helper()
	text := testcases.ReadFile(t, name)
	return text
}

func TestAppendDoesNotResumeIntoAnotherArrayOfSameMetadata(t *testing.T) {
	for _, recreated := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "x.zarr")
		a := newAppending(t, path, 3)
		more := moreRows(9)
		if err := a.begin(t, more).Suspend(); err != nil {
			t.Fatal(err)
		}
		if recreated {
			// Beside the array, so that what is left of the append stays.
			b := newAppending(t, filepath.Join(t.TempDir(), "y.zarr"), 3)
			if err := errors.Join(os.RemoveAll(path), os.CopyFS(path, os.DirFS(b.path))); err != nil {
				t.Fatal(err)
			}
		}
		m := a.meta(9)
		m.Resume = true
		w, err := store.Create(path, m)
		if err != nil {
			t.Fatal(err)
		}
		if storage.Resumed(w) == recreated {
			t.Errorf("recreated %t, resumed %t", recreated, storage.Resumed(w))
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}
}

func TestAppendRemovesChunksThatKilledOneLeft(t *testing.T) {
	a := newAppending(t, filepath.Join(t.TempDir(), "x.zarr"), 3)
	if err := a.begin(t, moreRows(40)).Suspend(); err != nil { // 22 chunks in all
		t.Fatal(err)
	}
	more := moreRows(4)
	if err := a.begin(t, more).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.check(t, slices.Concat(a.old, more))
	chunks, err := fs.Glob(os.DirFS(a.path), "c/*/0")
	if want := []string{"c/0/0", "c/1/0", "c/2/0", "c/3/0"}; err != nil || !slices.Equal(chunks, want) {
		t.Errorf("the chunks are %v, %v, want %v", chunks, err, want)
	}
}

func TestAppendRejectsMoreThanDiskHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zarr")
	saveAll(t, path, store.Meta{Shape: []int{4}, DType: dtype.Uint8, Codec: "none"}, make([]byte, 4))
	_, err := store.Create(path, store.Meta{
		Shape: []int{1 << 60}, DType: dtype.Uint8, Grow: true, Region: &grid.Box{Start: []int{4}, Shape: []int{1<<60 - 4}},
	})
	if err == nil || !strings.Contains(err.Error(), "and the disk has") {
		t.Errorf("Create returned %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAppendFaultsLeaveArrayWhole has every operation of a commit fail, one by one, in a
// group with consolidated metadata.
func TestAppendFaultsLeaveArrayWhole(t *testing.T) {
	errDisk := errors.New("the disk is on fire")
	more := moreRows(9)
	for op := range disktest.Ops {
		for n, hit := int64(1), true; hit; n++ {
			root := disktest.Dir(t)
			saveAll(t, filepath.Join(root, "s.zarr", "other"), store.Meta{Shape: []int{1}, DType: dtype.Uint8}, []byte{1})
			a := newAppending(t, filepath.Join(root, "s.zarr", "x"), 3)
			group := filepath.Join(root, "s.zarr")
			consolidate(t, group)
			w := a.begin(t, more)
			f := &disktest.Fault{Op: op, N: n, Err: errDisk}
			var err error
			t.Run("", func(t *testing.T) { // which ends the use of the fault
				disktest.Use(t, f.FS())
				err = w.Commit(context.Background())
			})
			hit = f.Hit()
			if failed := w.Abort(); failed != nil {
				t.Errorf("%s %d: Abort returned %v", op, n, failed)
			}
			info, failed := storage.Describe(a.path)
			if failed != nil {
				t.Fatal(failed)
			}
			grown := info.Shape[0] == 12
			if grown {
				a.check(t, slices.Concat(a.old, more))
			} else {
				a.check(t, a.old)
			}
			if err == nil != grown && !(err != nil && strings.Contains(err.Error(), "has grown to shape (12, 5)")) {
				t.Errorf("%s %d: grown %t, but Commit returned %v", op, n, grown, err)
			}
			if _, there := entries(t, group)["x"]; !there {
				t.Errorf("%s %d: the array is not in the consolidated metadata", op, n)
			}
		}
	}
}
