package oocore_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func ExampleOpenAll() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	model := filepath.Join(dir, "model.safetensors")
	for i, name := range []string{"layer.0.weight", "layer.0.bias", "layer.1.weight"} {
		oocore.Full(float32(i), 2, 3).Save(context.Background(), model+"#"+name)
	}
	fmt.Println(oocore.OpenAll(model))
	doubled := oocore.OpenAll(model).Match("*.weight").Map(func(_ string, x *oocore.Array) *oocore.Array { return x.Mul(2) })
	for name, x := range doubled.All() {
		sum, _ := oocore.Item[float32](context.Background(), x.Sum())
		fmt.Println(name, x.Shape(), sum)
	}
	// Output:
	// 3 arrays: layer.0.bias, layer.0.weight, layer.1.weight
	// layer.0.weight [2 3] 0
	// layer.1.weight [2 3] 24
}

// TestOpenAll lists what each kind of collection has, and opens each array of it.
func TestOpenAll(t *testing.T) {
	dir := t.TempDir()
	save := func(path string, v int) {
		t.Helper()
		saved(t, oocore.Full(float32(v), 2), filepath.Join(dir, path))
	}
	save("a.npz#x", 0)
	save("a.npz#y", 1)
	save("z.zarr/g/x", 0)
	save("z.zarr/y", 1)
	save("one.npy", 0)
	if err := os.Mkdir(filepath.Join(dir, "m"), 0o700); err != nil {
		t.Fatal(err)
	}
	save("m/s1.safetensors#x", 0)
	save("m/s2.safetensors#y", 1)
	index := `{"metadata": {}, "weight_map": {"y": "s2.safetensors", "x": "s1.safetensors"}}`
	testcases.WriteFile(t, filepath.Join(dir, "m", "model.safetensors.index.json"), []byte(index), 0o600)
	for path, want := range map[string][]string{
		"a.npz": {"x", "y"}, "z.zarr": {"g/x", "y"}, "z.zarr/g": {"x"}, "one.npy": {"one"}, "m/s2.safetensors": {"y"},
		"m/model.safetensors.index.json": {"x", "y"}, "a.npz#y": {"y"},
	} {
		c := oocore.OpenAll(filepath.Join(dir, path))
		if err := c.Err(); err != nil || !slices.Equal(c.Names(), want) {
			t.Errorf("%s: %v, %v", path, c.Names(), err)
			continue
		}
		for name, x := range c.All() {
			v, err := oocore.Item[float32](t.Context(), x.Max())
			if wants := float32(strings.Count(name, "y")); path != "one.npy" && v != wants || err != nil {
				t.Errorf("%s of %s: %v, %v", name, path, v, err)
			}
		}
	}
	if names := oocore.OpenAll(dir).Names(); !slices.Equal(names, []string{"a/x", "a/y", "m/model.safetensors.index/x", "m/model.safetensors.index/y", "one", "z/g/x", "z/y"}) {
		t.Errorf("the folder has %q", names)
	}
	if got := oocore.OpenAll(filepath.Join(dir, "a.npz")).Match("[").Err(); got == nil {
		t.Error("a malformed pattern is no error")
	}
}

// TestCheckpointOfPyTorchBecomesSafetensors converts folders as Hugging Face had models before safetensors: in one file, and in two with an index.
func TestCheckpointOfPyTorchBecomesSafetensors(t *testing.T) {
	views := testcases.ReadFile(t, "internal/format/pytorch/testdata/views.pt")
	nested := testcases.ReadFile(t, "internal/format/pytorch/testdata/nested.pt")
	for _, files := range []map[string][]byte{
		{"pytorch_model.bin": views},
		{"pytorch_model-00001-of-00002.bin": views, "pytorch_model-00002-of-00002.bin": nested, "pytorch_model.bin.index.json": []byte(`{"weight_map":
			{"permuted": "pytorch_model-00001-of-00002.bin", "transposed": "pytorch_model-00001-of-00002.bin", "parameter": "pytorch_model-00002-of-00002.bin"}}`)},
	} {
		from, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
		files["config.json"] = []byte("{}")
		for name, b := range files {
			testcases.WriteFile(t, filepath.Join(from, name), b, 0o600)
		}
		made, err := oocore.OpenAll(from).Save(t.Context(), to)
		if err != nil {
			t.Fatal(err)
		}
		entries, _ := filepath.Glob(filepath.Join(to, "*"))
		want := []string{"config.json", "model.safetensors"}
		if len(files) > 2 {
			want = []string{"config.json", "model-00001-of-00001.safetensors", "model.safetensors.index.json"}
		} else if text := testcases.ReadFile(t, filepath.Join(to, "model.safetensors")); !strings.Contains(string(text[:4096]), `"format":"pt"`) {
			t.Error("model.safetensors does not say that its format is pt")
		}
		for i, path := range entries {
			entries[i] = filepath.Base(path)
		}
		if !slices.Equal(entries, want) {
			t.Errorf("the folder has %q", entries)
		}
		got, err := oocore.Collect[float32](t.Context(), made.Get("permuted"))
		again, err2 := oocore.Collect[float32](t.Context(), oocore.OpenAll(from).Get("permuted"))
		if err != nil || err2 != nil || !slices.Equal(got, again) || got[1] != 1 { // base[0, 1, 0] of range(120) - 5
			t.Errorf("%v, %v, %v, %v", got, err, again, err2)
		}
	}
}

// A pipe that nobody writes to would be waited for.
func TestOpenAllRejectsPipes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"pipe.npz", "pipe.safetensors", "pipe.h5"} {
		path := filepath.Join(dir, name)
		if err := exec.Command("mkfifo", path).Run(); err != nil {
			t.Skip(err)
		}
		if err := oocore.OpenAll(path).Err(); err == nil || !strings.Contains(err.Error(), "regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := exec.Command("mkfifo", filepath.Join(dir, "adapter_config.json")).Run(); err != nil {
		t.Skip(err)
	}
	if err := new(oocore.Collection).With("a", oocore.FromSlice([]int8{1})).MergeLoRA(dir).Err(); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("adapter_config.json: %v", err)
	}
}

func TestOpenAllCarriesErrors(t *testing.T) {
	dir := t.TempDir()
	escaping := filepath.Join(dir, "model.safetensors.index.json")
	testcases.WriteFile(t, escaping, []byte(`{"weight_map": {"x": "../../etc/x.safetensors"}}`), 0o600)
	for path, want := range map[string]string{
		filepath.Join(dir, "none.npz"): "no such file", dir: "beside the index", escaping: "beside the index", filepath.Join(dir, "x.zarr"): "x.zarr",
	} {
		c := oocore.OpenAll(path)
		for _, err := range []error{c.Err(), c.Get("x").Err(), c.Match("*").Err(), c.Map(nil).Err()} {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "collection_test.go") {
				t.Errorf("%s: %v", path, err)
			}
		}
		n := 0
		for _, x := range c.All() {
			if n++; x.Err() == nil {
				t.Errorf("%s: an array without an error", path)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d arrays", path, n)
		}
	}
}

// Whatever is wrong with a file that an index names is one short error, which names the array.
func TestIndexOfFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	shard := func(name, header string, n int) {
		b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
		testcases.WriteFile(t, filepath.Join(dir, name+".safetensors"), append(b, make([]byte, n)...), 0o600)
	}
	long := strings.Repeat("n", 2<<20) // the last header that was read stays in memory, beside the budgets of other tests
	shard("good", `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2)
	shard("overlap", `{"b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"c":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, 4)
	shard("dtype", `{"b":{"dtype":"U3","shape":[2],"data_offsets":[0,2]}}`, 2)
	shard("huge", `{"b":{"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,2]}}`, 2)
	shard("long", `{"`+long+`":{"dtype":"U3","shape":[2],"data_offsets":[0,2]}}`, 2)
	for _, c := range []struct{ name, shard, want string }{
		{"b", "absent", "no such file"},
		{"b", "good", `no tensor "b": the file has "a"`},
		{"b", "overlap", "overlap those of"},
		{"b", "dtype", `dtype "U3" is unknown`},
		{"b", "huge", "has 9223372036854775807 bytes"},
		{long, "long", `dtype "U3" is unknown`},
		{long, "absent", "no such file"},
		{"b", long, "name too long"},
	} {
		index := filepath.Join(dir, "m.safetensors.index.json")
		text := fmt.Sprintf(`{"weight_map":{"a":"good.safetensors",%q:"%s.safetensors"}}`, c.name, c.shard)
		testcases.WriteFile(t, index, []byte(text), 0o600)
		_, err := oocore.OpenAll(index).Save(t.Context(), filepath.Join(dir, "out.safetensors"))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprintf("%.80q", c.name)) || len(err.Error()) > 800 {
			t.Errorf("%.10s in %.10s: %.900v, want %q", c.name, c.shard, err, c.want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*out*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

func TestCollectionWithArraysInOrder(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	one := new(oocore.Collection).With("b", oocore.FromSlice([]int8{1}))
	two := one.With("a", oocore.FromSlice([]float32{2, 3}))
	other := one.With("c", oocore.FromSlice([]float32{4}))
	if one.Len() != 1 || !slices.Equal(two.Names(), []string{"b", "a"}) || !slices.Equal(other.Names(), []string{"b", "c"}) {
		t.Errorf("%v, %v, %v", one, two, other)
	}
	saved := saved(t, two, filepath.Join(t.TempDir(), "x.npz"))
	if got, err := oocore.Collect[float32](t.Context(), saved.Get("a")); err != nil || !slices.Equal(got, []float32{2, 3}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := two.With("a", oocore.FromSlice([]int8{1})).Save(t.Context(), filepath.Join(t.TempDir(), "x.npz")); err == nil || !strings.Contains(err.Error(), "two arrays have the name") {
		t.Errorf("a name twice: %v", err)
	}
}

// Attributes of groups of Zarr, in either version, are those of their copies; arrays and groups without any have none.
func TestCopiedGroupsKeepTheirAttributes(t *testing.T) {
	array := func(version int) map[string]string {
		if version == 2 {
			return map[string]string{".zarray": `{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"|u1","compressor":null,"filters":null,"fill_value":7,"order":"C"}`}
		}
		return map[string]string{"zarr.json": `{"zarr_format":3,"node_type":"array","shape":[2],"data_type":"uint8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":{"name":"default"},"fill_value":7,"codecs":[{"name":"bytes"}]}`}
	}
	group := func(version int, attributes string) map[string]string {
		if version == 2 {
			return map[string]string{".zgroup": `{"zarr_format":2}`, ".zattrs": attributes}
		}
		return map[string]string{"zarr.json": `{"zarr_format":3,"node_type":"group","attributes":` + attributes + `}`}
	}
	want := map[string]string{"": `{"title":"all","levels":[1,2.5,null]}`, "s": `{"who":"<me>"}`, "s/d": `{}`}
	for version := 2; version <= 3; version++ {
		dir := t.TempDir()
		for name, files := range map[string]map[string]string{"a": array(version), "s/d/b": array(version), "": group(version, want[""]), "s": group(version, want["s"]), "s/d": group(version, "{}")} {
			if err := os.MkdirAll(filepath.Join(dir, "in.zarr", name), 0o777); err != nil {
				t.Fatal(err)
			}
			for file, text := range files {
				testcases.WriteFile(t, filepath.Join(dir, "in.zarr", name, file), []byte(text), 0o666)
			}
		}
		out := filepath.Join(dir, "out.zarr")
		if _, err := oocore.OpenAll(filepath.Join(dir, "in.zarr")).Save(t.Context(), out); err != nil {
			t.Fatal(err)
		}
		for name, attributes := range want {
			var got, wanted struct{ Attributes map[string]any }
			err := errors.Join(json.Unmarshal(testcases.ReadFile(t, filepath.Join(out, name, "zarr.json")), &got), json.Unmarshal([]byte(`{"attributes":`+attributes+`}`), &wanted))
			if err != nil || len(got.Attributes) != len(wanted.Attributes) || len(wanted.Attributes) > 0 && !reflect.DeepEqual(got, wanted) {
				t.Errorf("version %d: the group %q has %v, want %v (%v)", version, name, got.Attributes, wanted.Attributes, err)
			}
		}
	}
}

// hdf5Attributes has attributes that h5py reads as NaN, infinity, the text NaN, compounds, a reference and an opaque value.
const hdf5Attributes = "internal/format/hdf5/testdata/attributes.h5"

// What is not finite is written as Python's json has it, and the text NaN stays a text, also in a copy of the copy.
func TestCopiedAttributesStayNumbers(t *testing.T) {
	dir := t.TempDir()
	from := hdf5Attributes
	for _, to := range []string{filepath.Join(dir, "a.zarr"), filepath.Join(dir, "b.zarr")} {
		if _, err := oocore.OpenAll(from).Save(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][]string{
			"g":   {`"missing":NaN`, `"text":"NaN"`, `"units":"m"`},
			"g/w": {`"range":[-Infinity,NaN]`, `"scale":NaN`, `"units":"m"`},
		} {
			text := strings.Join(strings.Fields(string(testcases.ReadFile(t, filepath.Join(to, name, "zarr.json")))), "")
			for _, want := range want {
				if !strings.Contains(text, want) {
					t.Errorf("%s of %s has not %s: %s", name, filepath.Base(to), want, text)
				}
			}
		}
		from = to
	}
}

func TestCopyNamesAttributesThatItLeavesOut(t *testing.T) {
	dir := t.TempDir()
	var said []string
	warn := host.Warn(func(w string) { said = append(said, w) })
	if _, err := oocore.OpenAll(hdf5Attributes).Save(t.Context(), filepath.Join(dir, "all.zarr"), warn); err != nil {
		t.Fatal(err)
	}
	if _, err := oocore.Open(hdf5Attributes+"#g/w").Save(t.Context(), filepath.Join(dir, "w.zarr"), warn); err != nil {
		t.Fatal(err)
	}
	const left = "attributes that JSON has no form for, such as compounds and references, are left out: "
	if want := []string{left + `["g/of_g" "g/w/of_w" "reference"] and 2 more`, `axes without names are named in copies: ["g/w" "v"]`, left + `["of_w"]`}; !slices.Equal(said, want) {
		t.Errorf("the copies warn %q, want %q", said, want)
	}
}
