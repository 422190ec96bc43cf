package zarr

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// consolidate writes a group's consolidated metadata as zarr-python does: the
// metadata of all nodes below it, by their names.
func consolidate(t testing.TB, folder string) {
	t.Helper()
	nodes := map[string]json.RawMessage{}
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != v3File || filepath.Dir(name) == folder {
			return err
		}
		text, err := os.ReadFile(name)
		nodes[below(folder, filepath.Dir(name))] = bareNumbers(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(map[string]any{
		"zarr_format": 3, "node_type": "group", "attributes": map[string]any{"title": "<ä>"},
		"consolidated_metadata": map[string]any{"kind": "inline", "must_understand": false, "metadata": nodes},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"title"`), []byte(`"missing": NaN, "text": "NaN", "title"`), 1) // as Python writes it
	testcases.WriteFile(t, filepath.Join(folder, v3File), text, 0o666)
}

// entries are those of a group's consolidated metadata, in order; nil where there are none.
func entries(t testing.TB, folder string) map[string]json.RawMessage {
	t.Helper()
	text := testcases.ReadFile(t, filepath.Join(folder, v3File))
	var group struct {
		Consolidated *struct {
			Metadata map[string]json.RawMessage `json:"metadata"`
		} `json:"consolidated_metadata"`
	}
	if err := json.Unmarshal(bareNumbers(text), &group); err != nil {
		t.Fatal(err)
	}
	if group.Consolidated == nil {
		return nil
	}
	return group.Consolidated.Metadata
}

// stale says which entries of a group are not what the nodes themselves say.
func stale(t testing.TB, folder string) (wrong []string) {
	t.Helper()
	for name, entry := range entries(t, folder) {
		own, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name), v3File))
		if err != nil {
			wrong = append(wrong, name+" is not there")
			continue
		}
		if isGroup(own) {
			continue
		}
		if !jsonEqual(t, entry, own) {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

func jsonEqual(t testing.TB, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

// consolidatedSaves are saves into a store whose groups are consolidated: of an array
// that is there, with another dtype, chunks and codec, and of new ones.
var consolidatedSaves = []string{"a", "g/b", "h/i/new"}

func consolidatedStore(t testing.TB, root string) store.Meta {
	t.Helper()
	old := store.Meta{Shape: []int{6, 5}, DType: dtype.Int32, Chunks: []int{2, 5}}
	for _, name := range []string{"other", "a", "g/b", "g/c"} {
		saveAll(t, filepath.Join(root, filepath.FromSlash(name)), old, storetest.Elements(dtype.Int32, 30))
	}
	consolidate(t, filepath.Join(root, "g"))
	consolidate(t, root)
	return store.Meta{Shape: []int{6, 5}, DType: dtype.Float32, Chunks: []int{3, 2}, Codec: "gzip:5"}
}

// TestConsolidatedMetadataFollowsASave kills a save after every operation, and also
// takes from the disk what was not synced: no entry may ever be of another array than
// the one in its place, and after the save none may be missing.
func TestConsolidatedMetadataFollowsASave(t *testing.T) {
	for _, name := range consolidatedSaves {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			root := filepath.Join(dir, "x.zarr")
			m := consolidatedStore(t, root)
			before := entries(t, root)
			crash := disktest.NewCrash(t, dir)
			seen := 0
			look := func(dir string) {
				t.Helper()
				for _, group := range []string{"", "g"} {
					folder := filepath.Join(dir, "x.zarr", group)
					if wrong := stale(t, folder); wrong != nil {
						t.Errorf("the consolidated metadata of %q are stale: %v", group, wrong)
					}
				}
			}
			crash.Each = func() {
				seen++
				look(dir)
				lost := t.TempDir()
				crash.Lost(lost)
				look(lost)
				os.RemoveAll(lost)
			}
			t.Run("", func(t *testing.T) {
				disktest.Use(t, crash.FS())
				saveAll(t, filepath.Join(root, filepath.FromSlash(name)), m, make([]byte, 120))
			})
			if seen < 10 {
				t.Errorf("only %d operations were seen", seen)
			}
			look(dir)
			after := entries(t, root)
			for at := name; at != "."; at = filepath.Dir(at) {
				if after[at] == nil {
					t.Errorf("%s is missing", at)
				}
				delete(before, at)
			}
			for other, entry := range before {
				if !jsonEqual(t, after[other], entry) {
					t.Errorf("the entry of %s has changed to %s", other, after[other])
				}
			}
			if group, sub, _ := strings.Cut(name, "/"); group == "g" && entries(t, filepath.Join(root, "g"))[sub] == nil {
				t.Errorf("%s is missing in g", sub)
			}
			text, err := os.ReadFile(filepath.Join(root, v3File))
			if err != nil || !bytes.Contains(text, []byte(`"missing": NaN`)) || !bytes.Contains(text, []byte(`"text": "NaN"`)) || !bytes.Contains(text, []byte(`\u003cä\u003e`)) {
				t.Errorf("attributes of the group have changed: %s, %v", text, err)
			}
		})
	}
}

// TestConsolidatedMetadataKeepEntriesOfRunsAtOnce saves two arrays of one group with
// their operations interleaved, which each change the group's metadata.
func TestConsolidatedMetadataKeepEntriesOfRunsAtOnce(t *testing.T) {
	root := filepath.Join(t.TempDir(), "x.zarr")
	m := consolidatedStore(t, root)
	done := make(chan error)
	const writers, rounds = 4, 5
	for w := range writers {
		go func() {
			var err error
			for range rounds {
				if err == nil {
					err = trySave(filepath.Join(root, fmt.Sprint("w", w)), m)
				}
			}
			done <- err
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	all := entries(t, root)
	for w := range writers {
		if all[fmt.Sprint("w", w)] == nil {
			t.Errorf("the entry of writer %d was lost", w)
		}
	}
	if wrong := stale(t, root); wrong != nil {
		t.Error(wrong)
	}
}

func trySave(path string, m store.Meta) error {
	w, err := store.Create(path, m)
	if err != nil {
		return err
	}
	defer w.Abort()
	data := make([]byte, grid.Size(m.Shape)*m.DType.Size())
	if err := w.Write(context.Background(), data, grid.Whole(m.Shape).Box(0)); err != nil {
		return err
	}
	return w.Commit(context.Background())
}

// TestFailedSaveRestoresConsolidatedMetadata lets each renaming of a save fail: while
// the old array is in its place, so is its entry.
func TestFailedSaveRestoresConsolidatedMetadata(t *testing.T) {
	restored := 0
	for n, more := int64(1), true; more; n++ {
		root := filepath.Join(t.TempDir(), "x.zarr")
		m := consolidatedStore(t, root)
		before := entries(t, root)
		f := &disktest.Fault{Op: disktest.Rename, N: n, Err: fs.ErrPermission}
		var err error
		t.Run("", func(t *testing.T) {
			disktest.Use(t, f.FS())
			err = trySave(filepath.Join(root, "a"), m)
		})
		if more = f.Hit(); !more {
			break
		}
		if wrong := stale(t, root); wrong != nil {
			t.Errorf("renaming %d: %v", n, wrong)
		}
		_, info := readAll(t, filepath.Join(root, "a"))
		if info.DType == m.DType {
			continue
		}
		if err == nil {
			t.Errorf("renaming %d: the error was swallowed", n)
		}
		restored++
		for name, entry := range entries(t, root) {
			if !jsonEqual(t, entry, before[name]) {
				t.Errorf("renaming %d: the entry of %s is %s", n, name, entry)
			}
			delete(before, name)
		}
		if len(before) > 0 {
			t.Errorf("renaming %d: entries are missing: %v", n, before)
		}
	}
	if restored < 3 {
		t.Errorf("only %d renamings failed before the array was replaced", restored)
	}
}

// TestConsolidatedByOthers has zarr-python and xarray read a store in every state that
// a killed save leaves: the array as it was, as it is new, or not at all.
func TestConsolidatedByOthers(t *testing.T) {
	if os.Getenv("GONBEXT_TEST") != "full" {
		t.Skip("left out: reading with zarr-python and xarray, for which GONBEXT_TEST=full makes them")
	}
	python := zarrPython(t)
	dir := t.TempDir()
	root := filepath.Join(dir, "x.zarr")
	if out, err := exec.Command(python, "testdata/consolidated.py", "make", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	states := t.TempDir()
	n := 0
	var last []byte
	keep := func() {
		var now []byte
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Name() == v3File {
				text, failed := os.ReadFile(name)
				now, err = fmt.Appendf(now, "%s %s", name, text), failed
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(now, last) {
			return
		}
		last = now
		to := filepath.Join(states, fmt.Sprintf("%03d", n), "x.zarr")
		if err := os.CopyFS(to, os.DirFS(root)); err != nil {
			t.Fatal(err)
		}
		n++
	}
	for _, name := range []string{"t", "g/u", "new"} {
		crash := disktest.NewCrash(t, dir)
		crash.Each = keep
		t.Run("", func(t *testing.T) {
			disktest.Use(t, crash.FS())
			m := store.Meta{Shape: []int{3, 4}, DType: dtype.Float32, Chunks: []int{2, 3}, Codec: "gzip:5",
				Details: store.Details{Dims: []string{"time", "x"}, Attributes: []byte(`{"units": "K"}`)}}
			data := make([]float32, 12)
			for i := range data {
				data[i] = 85
			}
			saveAll(t, filepath.Join(root, filepath.FromSlash(name)), m, dtype.Bytes(data))
		})
	}
	last = nil
	keep()
	if n < 9 {
		t.Errorf("only %d states were seen", n)
	}
	out, err := exec.Command(python, "testdata/consolidated.py", "check", states).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if lines := strings.Fields(string(out)); !slices.Equal(lines[len(lines)-1:], []string{fmt.Sprint(n)}) {
		t.Errorf("%s; there are %d states", out, n)
	}
}
