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
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestLayouts(t *testing.T) {
	for name, c := range map[string]struct {
		m           store.Meta
		unit, chunk []int
		codec       string
		open        bool
	}{
		"defaults":                {store.Meta{Shape: []int{10000, 512}}, []int{2048, 512}, nil, "zstd:1", false},
		"defaults of long rows":   {store.Meta{Shape: []int{10, 4 << 20}}, []int{1, 1 << 20}, nil, "zstd:1", false},
		"defaults of a small one": {store.Meta{Shape: []int{10, 3}}, []int{10, 3}, nil, "zstd:1", false},
		"an empty axis":           {store.Meta{Shape: []int{0, 3}}, []int{1, 3}, nil, "zstd:1", false},
		"a scalar":                {store.Meta{Shape: []int{}}, []int{}, nil, "zstd:1", false},
		"chunks beyond the shape": {store.Meta{Shape: []int{10, 3}, Chunks: []int{64, 2}}, []int{10, 2}, nil, "zstd:1", false},
		"shards": {store.Meta{Shape: []int{100, 100}, Chunks: []int{10, 5}, Shards: []int{40, 50}},
			[]int{40, 50}, []int{10, 5}, "zstd:1", false},
		"shards beyond the shape": {store.Meta{Shape: []int{33, 4}, Chunks: []int{10, 5}, Shards: []int{100, 50}},
			[]int{40, 4}, []int{10, 4}, "zstd:1", false},
		"shards alone": {store.Meta{Shape: []int{5000, 3000}, Shards: []int{1000, 3000}},
			[]int{1000, 3000}, []int{50, 3000}, "zstd:1", false},
		"open":   {store.Meta{Shape: []int{100}, Chunks: []int{30}, Codec: "none"}, []int{30}, nil, "none", true},
		"filled": {store.Meta{Shape: []int{100}, Chunks: []int{30}, Codec: "blosc"}, []int{30}, nil, "blosc:lz4:5:shuffle", false},
		"shards are not open": {store.Meta{Shape: []int{100}, Chunks: []int{10}, Shards: []int{20}, Codec: "none"},
			[]int{20}, []int{10}, "none", false},
	} {
		t.Run(name, func(t *testing.T) {
			c.m.DType = dtype.Float32
			l, err := storage.LayoutOf(filepath.Join(t.TempDir(), "a.zarr"), c.m)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(l.Unit, c.unit) || !slices.Equal(l.Chunk, c.chunk) || l.Codec != c.codec || l.Open != c.open {
				t.Errorf("got %+v, want units %v of %v, %s, open %v", l, c.unit, c.chunk, c.codec, c.open)
			}
			if l.Work.Stream > l.Work.Whole {
				t.Errorf("a stream takes %d bytes, a whole chunk %d", l.Work.Stream, l.Work.Whole)
			}
		})
	}
}

// TestStreamWork wants chunks of any size to be written in memory of one size.
func TestStreamWork(t *testing.T) {
	for _, codec := range writtenCodecs {
		m := store.Meta{Shape: []int{1000, 1 << 20}, DType: dtype.Float32, Chunks: []int{300, 1 << 20}, Codec: codec}
		m.Shards = []int{600, 1 << 20}
		l, err := storage.LayoutOf("a.zarr", m)
		if err != nil {
			t.Fatal(err)
		}
		if l.Work.Stream > 16<<20 {
			t.Errorf("%s: chunks of 1.2 GB take %d bytes", codec, l.Work.Stream)
		}
	}
}

func TestRefusedMeta(t *testing.T) {
	for want, m := range map[string]store.Meta{
		"not whole numbers of chunks": {Shape: []int{10}, Chunks: []int{3}, Shards: []int{10}},
		"chunks: (0,)":                {Shape: []int{10}, Chunks: []int{0}},
		"chunks: (-1,)":               {Shape: []int{10}, Chunks: []int{-1}},
		"chunks: (2147483648,)":       {Shape: []int{10}, Chunks: []int{1 << 31}},
		"chunks: (3, 3)":              {Shape: []int{10}, Chunks: []int{3, 3}},
		"shards: (0,)":                {Shape: []int{10}, Chunks: []int{1}, Shards: []int{0}},
		"shards: (2, 2)":              {Shape: []int{10}, Chunks: []int{1}, Shards: []int{2, 2}},
		"lz9":                         {Shape: []int{10}, Codec: "lz9"},
		"fill value":                  {Shape: []int{10}, Details: store.Details{Fill: "black"}},
		"dimension names":             {Shape: []int{10}, Details: store.Details{Dims: []string{"x", "y"}}},
		"attributes":                  {Shape: []int{10}, Details: store.Details{Attributes: []byte("[1]")}},
		"no dtype":                    {Shape: []int{10}, DType: 200},
	} {
		if m.DType == 0 {
			m.DType = dtype.Float32
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "a.zarr")
		if _, err := storage.LayoutOf(path, m); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
		if w, err := store.Create(path, m); err == nil {
			w.Abort()
			t.Errorf("%+v was created", m)
		}
		if left := files(t, dir); len(left) > 0 {
			t.Errorf("%+v: %v is left", m, left)
		}
	}
}

var smallMeta = store.Meta{Shape: []int{6, 5}, DType: dtype.Int32, Chunks: []int{2, 5}}

func smallData() []byte { return storetest.Elements(dtype.Int32, 30) }

func TestGroups(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.zarr", "group", "inner", "a")
	w, err := store.Create(path, smallMeta)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("an abort leaves %v", left)
	}
	saveAll(t, path, smallMeta, smallData())
	want := []string{"x.zarr", "x.zarr/group", "x.zarr/group/inner", "x.zarr/group/inner/a",
		"x.zarr/group/inner/a/zarr.json", "x.zarr/group/inner/zarr.json", "x.zarr/group/zarr.json", "x.zarr/zarr.json"}
	names := slices.DeleteFunc(files(t, dir), func(name string) bool { return strings.Contains(name, "/a/c") })
	if !slices.Equal(names, want) {
		t.Errorf("there is %v, want %v", names, want)
	}
	if got, _ := readAll(t, path); !bytes.Equal(got, smallData()) {
		t.Error("other elements were stored")
	}
	// A group that is there stays as it is.
	group := filepath.Join(dir, "x.zarr", "group", v3File)
	text := []byte(`{"zarr_format": 3, "node_type": "group", "attributes": {"mine": 1}}`)
	testcases.WriteFile(t, group, text, 0o666)
	second := filepath.Join(dir, "x.zarr", "group", "b")
	saveAll(t, second, smallMeta, smallData())
	if now, _ := os.ReadFile(group); !bytes.Equal(now, text) {
		t.Errorf("the group was changed: %s", now)
	}
	if got, _ := readAll(t, second); !bytes.Equal(got, smallData()) {
		t.Error("other elements were stored")
	}
}

// TestOccupied wants nothing but an array to be replaced.
func TestOccupied(t *testing.T) {
	group := `{"zarr_format": 3, "node_type": "group"}`
	for name, c := range map[string]struct {
		files map[string]string // made before, by their paths
		path  string            // that is created
		want  string            // in the error
	}{
		"a group":               {map[string]string{"x.zarr/zarr.json": group}, "x.zarr", "group"},
		"a group of version 2":  {map[string]string{"x.zarr/.zgroup": `{"zarr_format": 2}`}, "x.zarr", "group"},
		"a file":                {map[string]string{"x.zarr": "text"}, "x.zarr", "a file of this name"},
		"other things":          {map[string]string{"x.zarr/thesis.txt": "text"}, "x.zarr", "other things"},
		"damaged metadata":      {map[string]string{"x.zarr/zarr.json": "{"}, "x.zarr", "remove it first"},
		"in version 2":          {map[string]string{"x.zarr/.zgroup": `{"zarr_format": 2}`}, "x.zarr/a", "version 2"},
		"in an array":           {map[string]string{"x.zarr/.zarray": `{"zarr_format":2,"shape":[1],"chunks":[1],"dtype":"<i4","fill_value":0,"order":"C","compressor":null,"filters":null}`}, "x.zarr/a", "is an array"},
		"a name that leads out": {nil, "x.zarr/../../a", "does not name an array"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				file = filepath.Join(dir, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, dir)
			w, err := store.Create(dir+"/"+c.path, smallMeta)
			if err == nil {
				w.Abort()
				t.Fatal("it was created")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if after := files(t, dir); !slices.Equal(before, after) {
				t.Errorf("there is %v, was %v", after, before)
			}
		})
	}
}

// What lies in an array's folder and is no part of it is named and stays, also where it comes
// there while the array that is to replace it is written.
func TestForeignFilesInAnArrayStay(t *testing.T) {
	for _, path := range []string{"a.zarr", "g.zarr/group/a"} {
		for _, name := range []string{"notes.txt", "results/figures.csv", "c/readme", "c/0/x/deep", "other.zarr/zarr.json"} {
			path := filepath.Join(t.TempDir(), path)
			foreign := filepath.Join(path, name)
			saveAll(t, path, smallMeta, smallData())
			put := func() {
				t.Helper()
				if err := errors.Join(os.MkdirAll(filepath.Dir(foreign), 0o777), os.WriteFile(foreign, []byte("mine"), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			w, err := store.Create(path, smallMeta)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(t.Context(), make([]byte, 120), grid.Whole(smallMeta.Shape).Box(0)); err != nil {
				t.Fatal(err)
			}
			put()
			if err := w.Commit(t.Context()); err == nil || !strings.Contains(err.Error(), foreign) {
				t.Errorf("%s: the commit says %v", name, err)
			}
			if err := w.Abort(); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Create(path, smallMeta); err == nil || !strings.Contains(err.Error(), foreign) {
				t.Errorf("%s: creating says %v", name, err)
			}
			if text, err := os.ReadFile(foreign); string(text) != "mine" {
				t.Errorf("%s is %q: %v", name, text, err)
			}
			if got, _ := readAll(t, path); !bytes.Equal(got, smallData()) {
				t.Errorf("%s: the array that was there has changed", name)
			}
			if err := os.Remove(foreign); err != nil {
				t.Fatal(err)
			}
			saveAll(t, path, smallMeta, make([]byte, 120))
		}
	}
}

// A save that is rejected, since it would lie in an array, leaves what a killed run has computed
// of that array's next values. What one left of a group that is there is removed.
func TestUnfinishedWorkBesideAnArrayStays(t *testing.T) {
	dir := t.TempDir()
	saveAll(t, filepath.Join(dir, "array.zarr"), smallMeta, smallData())
	saveAll(t, filepath.Join(dir, "group.zarr", "a"), smallMeta, smallData())
	for name, stays := range map[string]bool{"array.zarr": true, "group.zarr": false} {
		ws, err := storage.NewStagingDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		note := ws.Join("progress")
		if err := errors.Join(os.WriteFile(note, []byte("hours of work"), 0o600), ws.Close()); err != nil {
			t.Fatal(err)
		}
		other, err := storage.NewStagingDir(filepath.Join(dir, name, "b"))
		if err == nil {
			err = other.Remove()
		}
		if _, gone := os.Stat(note); err != nil || (gone == nil) != stays {
			t.Errorf("what is unfinished beside %s: %v, want that it stays to be %v; %v", name, gone, stays, err)
		}
	}
}

func TestEmptyFolderIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zarr")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	saveAll(t, path, smallMeta, smallData())
	if got, _ := readAll(t, path); !bytes.Equal(got, smallData()) {
		t.Error("other elements were stored")
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o700 {
		t.Errorf("the folder's mode became %v", st.Mode())
	}
}

// TestReplacesThroughLink puts the array where a link leads.
func TestReplacesThroughLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.zarr"), filepath.Join(dir, "link.zarr")
	saveAll(t, real, smallMeta, make([]byte, 120))
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	saveAll(t, link, smallMeta, smallData())
	if got, _ := readAll(t, real); !bytes.Equal(got, smallData()) {
		t.Error("what the link leads to was not replaced")
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

// TestDetails keeps what stands beside the elements.
func TestDetails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zarr")
	m := smallMeta
	m.DType = dtype.Float32
	m.Details = store.Details{Fill: "NaN", Dims: []string{"y", "x"}, Attributes: []byte(`{"units": "K"}`)}
	saveAll(t, path, m, make([]byte, 120))
	got, info := readAll(t, path)
	if !bytes.Equal(got, make([]byte, 120)) {
		t.Error("zeros became something else")
	}
	d := info.Details
	if d.Fill != "NaN" || !slices.Equal(d.Dims, m.Details.Dims) || !bytes.Contains(d.Attributes, []byte(`"K"`)) {
		t.Errorf("kept %+v", d)
	}
}

// TestZerosTakeNoRoom leaves out chunks that are the fill value.
func TestZerosTakeNoRoom(t *testing.T) {
	for _, m := range []store.Meta{
		{Shape: []int{100}, DType: dtype.Float64, Chunks: []int{30}},
		{Shape: []int{100}, DType: dtype.Float64, Chunks: []int{10}, Shards: []int{50}},
	} {
		for _, stream := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "a.zarr")
			w, err := store.Create(path, m)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort()
			l, err := storage.LayoutOf(path, m)
			if err != nil {
				t.Fatal(err)
			}
			size, slab := l.Work.Whole, 0
			if stream {
				size, slab = l.Work.Stream, 64
			}
			s, err := w.(storage.CodedWriter).Session(make([]byte, size))
			if err != nil {
				t.Fatal(err)
			}
			data := make([]byte, 800)
			n, err := feed(context.Background(), s, l, data, m.Shape, 8, grid.Box{Start: []int{0}, Shape: []int{100}}, slab)
			if err := errors.Join(err, s.Close(), w.Commit(context.Background())); err != nil {
				t.Fatal(err)
			}
			if left := files(t, path); n != 0 || !slices.Equal(left, []string{v3File}) {
				t.Errorf("%v, stream %v: %d bytes were stored in %v", m.Shards, stream, n, left)
			}
			if got, _ := readAll(t, path); !bytes.Equal(got, data) {
				t.Error("zeros became something else")
			}
		}
	}
}

// TestResume ends a writing in the middle and continues.
func TestResume(t *testing.T) {
	for _, codec := range []string{"none", "zstd:1"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a.zarr")
		saveAll(t, path, smallMeta, make([]byte, 120))
		m := smallMeta
		m.Codec = codec
		data := smallData()
		rows := func(w store.Writer, from, n int) {
			t.Helper()
			b := grid.Box{Start: []int{from, 0}, Shape: []int{n, 5}}
			if err := w.Write(context.Background(), data[from*20:(from+n)*20], b); err != nil {
				t.Fatal(err)
			}
		}
		w, err := store.Create(path, m)
		if err != nil {
			t.Fatal(err)
		}
		rows(w, 0, 2)
		rows(w, 2, 1)
		if err := w.Suspend(); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil { // does nothing any more
			t.Fatal(err)
		}
		if got, _ := readAll(t, path); !bytes.Equal(got, make([]byte, 120)) {
			t.Error("the array that is to be replaced was changed")
		}
		m.Resume = true
		if w, err = store.Create(path, m); err != nil {
			t.Fatal(err)
		}
		rows(w, 3, 3)
		if err := w.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got, _ := readAll(t, path); !bytes.Equal(got, data) {
			t.Errorf("%s: %x, want %x", codec, got, data)
		}
		if names, _ := os.ReadDir(dir); len(names) != 1 {
			t.Errorf("%s: %v is there", codec, names)
		}
	}
}

// TestResumeAfterMove resumes where a run was killed just after the array was put under its
// name: its chunks are all there, unless one has changed since. Those of the array that was
// there before are none of them.
func TestResumeAfterMove(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		for _, changed := range []bool{false, true} {
			resumeAfterMove(t, replaced, changed)
		}
	}
}

// TestResumeOfAnotherArrayAfterMove begins anew where the array that a killed run has put under
// its name is not the one that is made: its version alone does not say so.
func TestResumeOfAnotherArrayAfterMove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zarr")
	ws, err := storage.NewStagingDir(path)
	if err != nil {
		t.Fatal(err)
	}
	m := smallMeta
	m.StagingDir = ws
	w, err := store.Create(path, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(t.Context(), smallData(), grid.Whole(m.Shape).Box(0)), w.Commit(t.Context())); err != nil {
		t.Fatal(err) // and the staging folder is still there
	}
	m.Resume, m.Details.Attributes = true, []byte(`{"units":"K"}`)
	if w, err = store.Create(path, m); err != nil {
		t.Fatal(err)
	}
	if storage.Placed(w) || storage.Resumed(w) {
		t.Errorf("placed %v, resumed %v", storage.Placed(w), storage.Resumed(w))
	}
	if err := errors.Join(w.Abort(), ws.Remove()); err != nil {
		t.Fatal(err)
	}
}

func resumeAfterMove(t *testing.T, replaced, changed bool) {
	path := filepath.Join(t.TempDir(), "a.zarr")
	if replaced {
		saveAll(t, path, smallMeta, make([]byte, 120))
	}
	ws, err := storage.NewStagingDir(path)
	if err != nil {
		t.Fatal(err)
	}
	m := smallMeta
	m.StagingDir = ws
	w, err := store.Create(path, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(context.Background(), smallData(), grid.Whole(m.Shape).Box(0)); err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	target := w.(*writer).target.(*localTarget)
	if err := errors.Join(target.prepare(t.Context(), target.made.encodeV3()), target.publish(t.Context(), nil)); err != nil {
		t.Fatal(err) // this much of Commit, and no more
	}
	if changed {
		if err := os.Remove(filepath.Join(path, "c", "0", "0")); err != nil {
			t.Fatal(err)
		}
	}
	m.Resume = true
	if w, err = store.Create(path, m); err != nil {
		t.Fatal(err)
	}
	if storage.Placed(w) == changed || storage.Resumed(w) == changed {
		t.Errorf("replaced %v, changed %v: placed %v, resumed %v", replaced, changed, storage.Placed(w), storage.Resumed(w))
	}
	if changed {
		if err := w.Write(context.Background(), smallData(), grid.Whole(m.Shape).Box(0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Commit(context.Background()), ws.Remove()); err != nil {
		t.Fatal(err)
	}
	if got, _ := readAll(t, path); !bytes.Equal(got, smallData()) {
		t.Errorf("replaced %v, changed %v: %x, want %x", replaced, changed, got, smallData())
	}
}

func TestNewGroupHasNothingThatKilledRunLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zarr", "g", "a")
	w, err := store.Create(path, smallMeta)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), smallData(), grid.Whole(smallMeta.Shape).Box(0)); err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(filepath.Dir(path))
	left := filepath.Join(filepath.Dir(root), ".x.zarr.gonbext", "out.zarr", "g", ".zarr.json.gonbext")
	if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(root, "g"))
	if err != nil || len(entries) != 2 || entries[0].Name() != "a" || entries[1].Name() != "zarr.json" {
		t.Errorf("the new group has %v, error %v", entries, err)
	}
}
