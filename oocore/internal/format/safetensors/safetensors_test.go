package safetensors_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/safetensors"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// types are those that the format has.
var types = slices.DeleteFunc(dtype.All(), func(t dtype.Type) bool { return t == dtype.Complex128 })

func TestConformance(t *testing.T) {
	t.Run("array", func(t *testing.T) {
		storetest.TestArray(t, types, func(t testing.TB, m store.Meta, data []byte) store.Array {
			path := filepath.Join(t.TempDir(), "a.safetensors")
			storetest.Save(t, path, m, data)
			return storetest.Open(t, path)
		})
	})
	t.Run("writer", func(t *testing.T) { storetest.TestWriter(t, types, place) })
	t.Run("resume", func(t *testing.T) { storetest.TestResume(t, dtype.Float32, place) })
}

// place is an array beside another one.
func place(t testing.TB) storetest.Place {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.safetensors#weights")
	return storetest.Place{
		Create: func(m store.Meta) (store.Writer, error) { return store.Create(path, m) },
		Open:   func(m store.Meta) (store.Array, error) { return store.Open(path) },
		Left:   func() []string { return storetest.List(t, dir) },
	}
}

func TestOpenReadsWhatTheReferenceWrote(t *testing.T) {
	storetest.NoLeaks(t)
	for name, want := range map[string]struct {
		shape []int
		dtype dtype.Type
	}{"w": {[]int{8, 5}, dtype.Float32}, "h": {[]int{3, 4}, dtype.Float16}, "i": {[]int{3, 4}, dtype.Int32}} {
		a := storetest.Open(t, "testdata/model.safetensors#"+name)
		info := a.Info()
		if !slices.Equal(info.Shape, want.shape) || info.DType != want.dtype || info.Format != "safetensors" {
			t.Errorf("%s is %s of %v", name, info.DType, info.Shape)
		}
		if got := string(info.Details.Attributes); got != `{"format":"np"}` {
			t.Errorf("attributes are %s", got)
		}
		if int(info.Bytes) != grid.Size(want.shape)*want.dtype.Size() {
			t.Errorf("%s has %d bytes", name, info.Bytes)
		}
		expected := storetest.Open(t, "testdata/expected/"+name+".npy")
		if got, want := storetest.ReadAll(t, a), storetest.ReadAll(t, expected); got != want {
			t.Errorf("%s: values %x, want %x", name, got, want)
		}
		a.Close()
		expected.Close()
	}
}

func TestOpenNamesTheTensors(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/model.safetensors":   `the file has "w", "i", "h": add #NAME to the path`,
		"testdata/model.safetensors#x": `no tensor "x": the file has "w", "i", "h"`,
		"s3://bucket/a.safetensors#x":  "s3:// needs its package",
	} {
		_, err := store.Open(path)
		storetest.CheckError(t, err, path, want)
	}
}

func TestIndexErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.safetensors.index.json")
	for text, want := range map[string]string{
		`{"weight_map": {"x": "a.safetensors", "x": "b.safetensors"}}`:                 `weight_map: key "x" stands twice`,
		`{"weight_map": {"x": "a.safetensors"}, "weight_map": {"y": "b.safetensors"}}`: `key "weight_map" stands twice`,
		`{"weight_map": {"x": 5}}`:                `tensor "x": it is not a string`,
		`{"weight_map": {"x": "/a.safetensors"}}`: `which is no .safetensors file beside the index`,
		`{"weight_map": [`:                        "weight_map: it is not an object",
		`{"weight_map": {"x": "a.safetensors"`:    "it ends too early",
		`{"metadata": {"weight_map": {}}}`:        "it has no weight_map",
		`[]`:                                      "it is not an object",
		`{"weight_map": {"x": "a.safetensors"}}`:  `the index names "x": add #NAME to the path`,
		`{"metadata": {"a": [1]}, "weight_map": {"x": "a.safetensors", "y": "a.safetensors"}}`: `the index names "x", "y": add #NAME`,
		`{"weight_map": {}}`: "the index names 0 of them",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestOpenOfNoTensorsAsksForNoName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.safetensors")
	if err := os.WriteFile(file, []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(file)
	storetest.CheckError(t, err, file, "the file has no tensor")
	if strings.Contains(err.Error(), "#NAME") {
		t.Error(err)
	}
}

func TestOpenRefusesBadFiles(t *testing.T) {
	storetest.NoLeaks(t)
	for name, want := range map[string]string{
		"header_length": "the header claims 4611686018427387904 bytes, the format allows 100000000",
		"offsets":       `tensor "x": shape (4,) of F32 has 16 bytes, data_offsets [0, 999] have 999`,
	} {
		path := "testdata/bad/" + name + ".safetensors"
		_, err := store.Open(path)
		storetest.CheckError(t, err, path, want)
	}
}

func TestTensorsAreAddedAndReplaced(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "m.safetensors")
	want := map[string]string{}
	add := func(name string, dt dtype.Type, attributes string, shape ...int) {
		t.Helper()
		data := storetest.Elements(dt, grid.Size(shape))
		storetest.Save(t, file+"#"+name, store.Meta{Shape: shape, DType: dt, Details: store.Details{Attributes: json.RawMessage(attributes)}}, data)
		want[name] = string(data)
		for name, elements := range want {
			a := storetest.Open(t, file+"#"+name)
			if got := storetest.ReadAll(t, a); got != elements {
				t.Errorf("%s: %x, want %x", name, got, elements)
			}
			a.Close()
		}
	}
	add("odd", dtype.Uint8, `{"title": "of the file", "list": [1, 2]}`, 13) // shifts what follows
	add("layers.0/w#1", dtype.Float64, "", 700, 300)                        // longer than a window
	add("b", dtype.Bool, `{"by": "b"}`, 3)
	add("half", dtype.BFloat16, "", 5, 1, 7)
	add("odd", dtype.Int16, "", 2, 2)
	add("none", dtype.Float32, "", 0, 4)
	add("scalar", dtype.Complex64, "")
	a := storetest.Open(t, file+"#b")
	defer a.Close()
	if got := string(a.Info().Details.Attributes); got != `{"by":"b","list":"[1, 2]","title":"of the file"}` {
		t.Errorf("attributes %s", got)
	}
	if left := storetest.List(t, dir); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
}

func TestEachTensorIsAligned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.safetensors")
	for i, dt := range types {
		storetest.Save(t, file+"#"+dt.String(), store.Meta{Shape: []int{2*i + 1}, DType: dt}, storetest.Elements(dt, 2*i+1))
	}
	b := testcases.ReadFile(t, file)
	head, _, _ := strings.Cut(string(b[8:]), "\x00")
	var h map[string]struct {
		DType string `json:"dtype"`
		At    [2]int `json:"data_offsets"`
	}
	if err := json.NewDecoder(strings.NewReader(head)).Decode(&h); err != nil {
		t.Fatal(err)
	}
	if len(h) != len(types) {
		t.Fatalf("%d tensors, want %d", len(h), len(types))
	}
	for _, dt := range types {
		if at := h[dt.String()].At[0]; at%dt.Size() != 0 {
			t.Errorf("%s begins at byte %d of the data", dt, at)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.safetensors")
	testcases.WriteFile(t, bad, []byte("something else"), 0o666)
	two := filepath.Join(dir, "two.safetensors")
	for _, name := range []string{"a", "b"} {
		storetest.Save(t, two+"#"+name, store.Meta{Shape: []int{2}, DType: dtype.Int8}, []byte{1, 2})
	}
	before := storetest.List(t, dir)
	m := func(dt dtype.Type, change func(*store.Meta)) store.Meta {
		m := store.Meta{Shape: []int{4}, DType: dt}
		if change != nil {
			change(&m)
		}
		return m
	}
	for _, c := range []struct {
		path, want string
		m          store.Meta
	}{
		{filepath.Join(dir, "a.safetensors#x"), "the safetensors format has no complex128", m(dtype.Complex128, nil)},
		{filepath.Join(dir, "a.safetensors#__metadata__"), "which the format keeps for itself", m(dtype.Int8, nil)},
		{filepath.Join(dir, "a.safetensors#\xff"), "the name is not UTF-8", m(dtype.Int8, nil)},
		{filepath.Join(dir, "a.safetensors"), `no codec "zstd:3"`, m(dtype.Int8, func(m *store.Meta) { m.Codec = "zstd:3" })},
		{filepath.Join(dir, "a.safetensors"), "no shards", m(dtype.Int8, func(m *store.Meta) { m.Shards = []int{4} })},
		{filepath.Join(dir, "a.safetensors"), "not a JSON object", m(dtype.Int8, func(m *store.Meta) { m.Details.Attributes = json.RawMessage("[]") })},
		{filepath.Join(dir, "no/a.safetensors"), "the folder", m(dtype.Int8, nil)},
		{bad + "#x", "the file is there and cannot be added to", m(dtype.Int8, nil)},
		{two, `which tensor? the file has "a", "b"`, m(dtype.Int8, nil)},
		{two + "#a", "regions of safetensors files are not written", m(dtype.Int8, func(m *store.Meta) { m.Region = &grid.Box{Start: []int{0}, Shape: []int{1}} })},
		{"s3://bucket/a.safetensors", "over s3", m(dtype.Int8, nil)},
	} {
		_, err := store.Create(c.path, c.m)
		storetest.CheckError(t, err, c.path, c.want)
	}
	if after := storetest.List(t, dir); !slices.Equal(before, after) {
		t.Errorf("%v is left, there was %v", after, before)
	}
}

// A tensor that another program adds in the meantime is not lost in silence.
func TestCommitRefusesAChangedFile(t *testing.T) {
	storetest.NoLeaks(t)
	file := filepath.Join(t.TempDir(), "m.safetensors")
	m := store.Meta{Shape: []int{2}, DType: dtype.Int8}
	storetest.Save(t, file+"#a", m, []byte{1, 2})
	w, err := store.Create(file+"#b", m)
	if err != nil {
		t.Fatal(err)
	}
	other := testcases.ReadFile(t, file)
	testcases.WriteFile(t, file, append(other[:len(other)-1], 9), 0o666)
	storetest.CheckError(t, w.Commit(t.Context()), file+"#b", "was changed by another program")
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	a := storetest.Open(t, file)
	defer a.Close()
	if got := storetest.ReadAll(t, a); got != "\x01\x09" {
		t.Errorf("the file has %x", got)
	}
}

func TestAPlaceThatMoved(t *testing.T) { storetest.TestMovedMember(t, ".safetensors") }
