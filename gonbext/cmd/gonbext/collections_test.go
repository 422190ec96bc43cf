package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// newModel writes a checkpoint of three tensors, a.weight, a.bias and b.weight, all of n and its
// multiples.
func newModel(t *testing.T, path string, n float32) {
	t.Helper()
	var outputs []oocore.Output
	for i, name := range []string{"a.weight", "a.bias", "b.weight"} {
		outputs = append(outputs, oocore.Output{Array: oocore.FromSlice([]float32{n, n * float32(i+2)}), Path: path + "#" + name})
	}
	if _, err := oocore.SaveAll(t.Context(), outputs); err != nil {
		t.Fatal(err)
	}
}

// sums are those of the arrays of a collection.
func sums(t *testing.T, path string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	c := oocore.OpenAll(path)
	for name, a := range c.All() {
		v, err := oocore.Item[float64](t.Context(), a.AsType(oocore.Float64).Sum())
		if err != nil {
			t.Fatal(err)
		}
		all[name] = v
	}
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	return all
}

func TestConvertWritesWholeCollections(t *testing.T) {
	dir := t.TempDir()
	newModel(t, filepath.Join(dir, "m.safetensors"), 1)
	os.Mkdir(filepath.Join(dir, "half"), 0o777)
	want := map[string]float64{"a.weight": 3, "a.bias": 4, "b.weight": 5}
	check := func(path string, want map[string]float64) {
		t.Helper()
		got := sums(t, filepath.Join(dir, path))
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s: %v, want %v", path, got, want)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	for _, to := range []string{"m.npz", "m.zarr", "half/m.safetensors.index.json", "folder"} {
		succeed(t, dir, "convert", "m.safetensors", to, "--memory", "64MiB")
		check(to, want)
	}
	succeed(t, dir, "convert", "m.safetensors", "half/f16.safetensors.index.json", "--dtype", "float16", "--except", "*.bias", "--shard-size", "5B")
	check("half/f16.safetensors.index.json", want)
	out := succeed(t, dir, "info", "half/f16.safetensors.index.json")
	if !strings.Contains(out, "float16") || !strings.Contains(out, "float32") {
		t.Errorf("info: %s", out)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "half", "f16-0000?-of-00003.safetensors")); len(files) != 3 {
		t.Errorf("files %q", files)
	}
	succeed(t, dir, "convert", "m.npz", "twice.npz", "--each", "x*2", "--only", "*.weight")
	check("twice.npz", map[string]float64{"a.weight": 6, "a.bias": 4, "b.weight": 10})
}

func TestConvertWritesCollectionOfOneArray(t *testing.T) {
	dir := t.TempDir()
	if _, err := oocore.FromSlice([]float32{1, 2}).Save(t.Context(), filepath.Join(dir, "x.npy")); err != nil {
		t.Fatal(err)
	}
	os.Mkdir(filepath.Join(dir, "in"), 0o777)
	succeed(t, dir, "convert", "x.npy", "in/a.npy")
	succeed(t, dir, "convert", "in", "out.npz")
	if got := sums(t, filepath.Join(dir, "out.npz")); len(got) != 1 || got["a"] != 3 {
		t.Errorf("%v", got)
	}
	os.WriteFile(filepath.Join(dir, "cut.npy"), []byte("\x93NUMPY"), 0o666)
	rejected(t, dir, command(dir, "convert", "cut.npy", "o.npz"), 1, "cut.npy")
}

func TestComputeEachOfSeveralCollections(t *testing.T) {
	dir := t.TempDir()
	newModel(t, filepath.Join(dir, "base.safetensors"), 1)
	newModel(t, filepath.Join(dir, "tuned.safetensors"), 10)
	succeed(t, dir, "compute", "--each", "x + 1", "base.safetensors", "-o", "one.safetensors")
	if got := sums(t, filepath.Join(dir, "one.safetensors")); got["a.weight"] != 5 || got["b.weight"] != 7 {
		t.Errorf("one: %v", got)
	}
	succeed(t, dir, "compute", "--each", "a - w", "w=base.safetensors", "a=tuned.safetensors", "-o", "delta.safetensors", "--except", "*.bias")
	if got := sums(t, filepath.Join(dir, "delta.safetensors")); got["a.weight"] != 27 || got["a.bias"] != 4 || got["b.weight"] != 45 {
		t.Errorf("delta: %v", got)
	}
	succeed(t, dir, "compute", "--each", "w + b", "w=base.safetensors#*.weight", "b=tuned.safetensors#*.bias", "-o", "cross.safetensors")
	if got := sums(t, filepath.Join(dir, "cross.safetensors")); got["a.weight"] != 43 || got["a.bias"] != 4 || got["b.weight"] != 5 {
		t.Errorf("cross: %v", got)
	}
}

func TestConvertEachMakesSeveralArrays(t *testing.T) {
	dir := t.TempDir()
	x := make([]float32, 3*64)
	for i := range x {
		x[i] = []float32{0, 0.5, 1, 1.5, 2, 3, 4, -6}[i%8] * float32(int(1)<<(i/32)) // floats of four bits and a scale
	}
	names := []string{"up.weight", "up.bias"}
	var outputs []oocore.Output
	for _, name := range names {
		outputs = append(outputs, oocore.Output{Array: oocore.FromSlice(x, 3, 64), Path: filepath.Join(dir, "m.safetensors#"+name)})
	}
	if _, err := oocore.SaveAll(t.Context(), outputs); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		each, read string
		names      []string
	}{
		{`_blocks = quantize_fp4(x, "mxfp4 blocks"); _scales = quantize_fp4_scale(x, "mxfp4")`, "dequantize_fp4(_blocks, _scales)", []string{"_blocks", "_scales"}},
		{`g = quantize_fp4_global(x); _packed = quantize_fp4(x, "nvfp4"); _scale = quantize_fp4_scale(x, "nvfp4"); _global_scale = reshape(1/g, 1)`, "dequantize_fp4(_packed, _scale) / _global_scale", []string{"_packed", "_scale", "_global_scale"}},
	} {
		succeed(t, dir, "convert", "m.safetensors", "fp4.safetensors", "--only", "*.weight", "--each", of.each)
		in := oocore.Names{}
		all := oocore.OpenAll(filepath.Join(dir, "fp4.safetensors"))
		for _, name := range of.names {
			in[name] = all.Get("up.weight" + name)
		}
		if all.Len() != 1+len(of.names) || !slices.Contains(all.Names(), "up.bias") {
			t.Errorf("%s: %v", of.each, all.Names())
		}
		got, err := oocore.Collect[float32](t.Context(), oocore.Eval(of.read, in))
		if err != nil {
			t.Fatal(err)
		}
		for i := range got { // NVFP4's scales are products of two that are rounded
			if math.Abs(float64(got[i]-x[i])) > 0.07*math.Abs(float64(x[i])) {
				t.Fatalf("%s: %v is %v", of.each, x[i], got[i])
			}
		}
	}
}

func TestCollectionsAreRejected(t *testing.T) {
	dir := t.TempDir()
	newModel(t, filepath.Join(dir, "m.safetensors"), 1)
	if _, err := oocore.SaveAll(t.Context(), []oocore.Output{
		{Array: oocore.FromSlice([]float32{1}), Path: filepath.Join(dir, "other.npz#a.weight")}, {Array: oocore.FromSlice([]float32{1}), Path: filepath.Join(dir, "other.npz#z")}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "absent.safetensors.index.json"), []byte(`{"weight_map":{"x":"absent.safetensors"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"convert", "m.safetensors", "m.tif"}, 1, "a collection is saved to"},
		{[]string{"convert", "absent.safetensors.index.json", "o.npz"}, 1, "absent.safetensors#x: no such file"},
		{[]string{"convert", "m.safetensors", "m.safetensors", "--each", "x+1"}, 1, "is also an input"},
		{[]string{"convert", "m.safetensors", "o.npz", "--each", "x+"}, 2, "expected operand"},
		{[]string{"convert", "m.safetensors", "o.npz", "--each", "y+1"}, 2, "y"},
		{[]string{"convert", "m.safetensors", "o.npz", "--only", "["}, 2, "is no pattern"},
		{[]string{"convert", "m.safetensors", "o.npz", "--only", "nothing"}, 2, "leave none of 3 arrays"},
		{[]string{"convert", "m.safetensors", "o.npz", "--dtype", "float7", "--only", "*"}, 2, "float7"},
		{[]string{"convert", "m.safetensors", "o.npz", "--each", "_a = x; _b = x", "--dtype", "float16"}, 2, "--dtype is for one array"},
		{[]string{"convert", "m.safetensors", "o.npz", "--each", "a = x; _b = x"}, 2, "a is not used"},
		{[]string{"convert", "m.safetensors", "o.npz", "--shard-size", "x"}, 2, `--shard-size: "x" is not a size`},
		{[]string{"compute", "--each", "w+a", "w=m.safetensors", "a=other.npz", "-o", "o.npz"}, 1, `a has no array "a.bias"`},
		{[]string{"compute", "--each", "x", "x=m.safetensors"}, 2, "-o"},
		{[]string{"compute", "--each", "x", "x=m.safetensors", "y=other.npz", "-o", "o.npz"}, 2, "y is not used"},
		{[]string{"compute", "x", "x=m.safetensors#a.bias", "--only", "a", "-o", "o.npy"}, 2, "--each"},
	} {
		t.Run(strings.Join(of.args, " "), func(t *testing.T) { rejected(t, dir, command(dir, of.args...), of.code, of.want) })
	}
	left, _ := filepath.Glob(filepath.Join(dir, "o*"))
	if len(left) != 1 {
		t.Errorf("left over: %q", left)
	}
}

func TestReportThatWouldReplaceCollectionIsRejected(t *testing.T) {
	dir := t.TempDir()
	newModel(t, filepath.Join(dir, "m.safetensors"), 1)
	os.Mkdir(filepath.Join(dir, "s"), 0o777)
	succeed(t, dir, "convert", "m.safetensors", "s/m.safetensors.index.json", "--shard-size", "9B")
	const shard = "s/m-00002-of-00003.safetensors"
	for _, args := range [][]string{
		{"compute", "--each", "x*2", "m.safetensors", "-o", "h.npz", "--report", "m.safetensors"},
		{"compute", "--each", "w*2", "w=m.safetensors#*.weight", "-o", "h.npz", "--report", "m.safetensors"},
		{"compute", "--each", "x*2", "s/m.safetensors.index.json", "-o", "h.npz", "--report", shard},
		{"compute", "x*2", "x=s/m.safetensors.index.json#a.bias", "-o", "h.npy", "--report", shard},
		{"convert", "s/m.safetensors.index.json", "h.npz", "--report", shard},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			rejected(t, dir, command(dir, args...), 2, "which the command reads or writes")
		})
	}
}

// The figures are those of arithmetic on paper.
func TestInfoComparesCollections(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.safetensors"), filepath.Join(dir, "b.npz")
	for path, of := range map[string]map[string][]float32{
		a: {"x": {3, 4}, "y": {0, 0}, "z": {1, 2, 3}, "only": {1, 1}},
		b: {"x": {4, 3}, "y": {0, 0}, "z": {1, 2}, "other": {1, 1}},
	} {
		var outputs []oocore.Output
		for name, v := range of {
			outputs = append(outputs, oocore.Output{Array: oocore.FromSlice(v), Path: path + "#" + name})
		}
		if _, err := oocore.SaveAll(t.Context(), outputs); err != nil {
			t.Fatal(err)
		}
	}
	var got struct {
		Arrays []arrayError `json:"arrays"`
	}
	if err := json.Unmarshal([]byte(succeed(t, dir, "info", "a.safetensors", "--error", "b.npz", "--json", "--memory", "64MiB")), &got); err != nil {
		t.Fatal(err)
	}
	all := map[string]arrayError{}
	for _, d := range got.Arrays {
		all[d.Name] = d
	}
	x := all["x"]
	if x.Largest == nil || *x.Largest != 1 || *x.Mean != 1 || *x.Cosine != 24./25 {
		t.Errorf("x: %+v", x)
	}
	if y := all["y"]; y.Largest == nil || *y.Largest != 0 || y.Cosine != nil {
		t.Errorf("y: %+v", y)
	}
	for name, want := range map[string]string{"z": "[3], and [2]", "only": "it is not in b.npz", "other": "it is not in a.safetensors"} {
		if d := all[name]; !strings.Contains(d.Error, want) || d.Largest != nil {
			t.Errorf("%s: %+v, want %q", name, d, want)
		}
	}
	succeed(t, dir, "convert", "a.safetensors#x", "one.npy")
	succeed(t, dir, "convert", "b.npz#x", "two.npy")
	for _, of := range [][2]string{{"a.safetensors", "b.npz"}, {"one.npy", "two.npy"}} {
		if text := succeed(t, dir, "info", of[0], "--error", of[1]); !strings.Contains(text, "0.96") {
			t.Errorf("%s", text)
		}
	}
}

// A file with an array that is none, of texts, is converted without it.
func TestArraysAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for name, descr := range map[string]string{"a": "<f8", "text": "<U2"} { // two elements of 8 bytes each
		w, err := z.Create(name + ".npy")
		header := fmt.Sprintf("%-117s\n", "{'descr': '"+descr+"', 'fortran_order': False, 'shape': (2,), }")
		if err == nil {
			_, err = w.Write(append([]byte("\x93NUMPY\x01\x00\x76\x00"+header), make([]byte, 16)...))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), os.WriteFile(filepath.Join(dir, "x.npz"), file.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	rejected(t, dir, command(dir, "convert", "x.npz", "x.zarr"), 1, `"text"`, "--skip")
	rejected(t, dir, command(dir, "convert", "x.npz", "x.zarr", "--skip", "["), 2, "no pattern")
	rejected(t, dir, command(dir, "convert", "x.npz", "x.zarr", "--skip", "t*", "--skip", "a"), 2, "leave none of 2 arrays")
	succeed(t, dir, "convert", "x.npz", "x.zarr", "--skip", "te*")
	if names := oocore.OpenAll(filepath.Join(dir, "x.zarr")).Names(); !slices.Equal(names, []string{"a"}) {
		t.Errorf("there are %q", names)
	}
}

func TestMergeMergesAnAdapter(t *testing.T) {
	dir := t.TempDir()
	adapter := filepath.Join(dir, "adapter")
	os.Mkdir(adapter, 0o777)
	one := oocore.FromSlice([]float32{1, 1}, 1, 2)
	for path, a := range map[string]*oocore.Array{
		"m.safetensors#q.weight": oocore.FromSlice([]float32{1, 2, 3, 4}, 2, 2), "adapter/adapter_model.safetensors#base_model.model.q.lora_A.weight": one,
	} {
		if _, err := a.Save(t.Context(), filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := one.T().Save(t.Context(), filepath.Join(dir, "adapter/adapter_model.safetensors#base_model.model.q.lora_B.weight")); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(adapter, "adapter_config.json"), []byte(`{"peft_type":"LORA","r":1,"lora_alpha":5}`), 0o666)
	succeed(t, dir, "merge", "m.safetensors", "--lora", "adapter", "-o", "o.safetensors", "--memory", "64MiB")
	if got := sums(t, filepath.Join(dir, "o.safetensors"))["q.weight"]; got != 1+2+3+4+4*5 {
		t.Errorf("the merged weight sums to %v, want 30", got)
	}
	succeed(t, dir, "merge", "m.safetensors", "--lora", "adapter", "-o", "o.gguf", "--dtype", "float16")
	if got := sums(t, filepath.Join(dir, "o.gguf"))["q.weight"]; got != 30 {
		t.Errorf("the merged weight sums to %v in float16, want 30", got)
	}
}

// The expressions that merge's help has give what NumPy has for the papers' formulas, of models that
// are larger than the budget.
func TestMergeExpressionsOfHelpAreThoseOfPapers(t *testing.T) {
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" {
		t.Skip("left out: models that NumPy merges, by the Python that GONBEXT_PYTHON names")
	}
	dir := t.TempDir()
	large := 400
	if testcases.Full() {
		large = 1 << 15 // 32 MiB of each model
	}
	made := exec.Command(python, "testdata/merges.py", dir, strconv.FormatUint(testcases.Seed(t)%1e9, 10), strconv.Itoa(large))
	if text, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	calls := strings.Split(mergeExpressions, "gonbext compute --each '")[1:]
	if len(calls) != 4 {
		t.Fatalf("%d expressions in %s", len(calls), mergeExpressions)
	}
	for i, call := range calls {
		expression, files, _ := strings.Cut(call, "'")
		files, _, _ = strings.Cut(files, "\n")
		args := append([]string{"compute", "--each", expression, "--memory", "64MiB", "--fresh"}, strings.Fields(files)...)
		succeed(t, dir, args...)
		var got struct {
			Arrays []arrayError `json:"arrays"`
		}
		compared := succeed(t, dir, "info", "merged.safetensors", "--error", "want-"+strconv.Itoa(i)+".safetensors", "--json", "--memory", "64MiB")
		if err := json.Unmarshal([]byte(compared), &got); err != nil || len(got.Arrays) != 4 {
			t.Fatalf("%v: %s", err, compared)
		}
		for _, a := range got.Arrays {
			if a.Largest == nil || *a.Largest > 4e-6 {
				t.Errorf("%s: %s", expression, compared)
				break
			}
		}
	}
}

// TestConvertOfNetCDFIsAGroup copies files of dimension scales, one of which has a single variable.
func TestConvertOfNetCDFIsAGroup(t *testing.T) {
	files, err := filepath.Abs("../../../oocore/internal/format/hdf5/testdata")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, want := range map[string]map[string]string{
		"one.nc":  {"zarr.json": `"title":"one"`, "v/zarr.json": `"y",`},
		"dims.nc": {"g/zarr.json": `"title":"group"`, "time/zarr.json": `"lat"`, "g/v/zarr.json": `"band"`, "station/zarr.json": `"station",`, "g/w/zarr.json": `"w_dim_0"`},
	} {
		succeed(t, dir, "convert", filepath.Join(files, file), file+".zarr", "--memory", "64MiB")
		for name, text := range want {
			if b := testcases.ReadFile(t, filepath.Join(dir, file+".zarr", name)); !strings.Contains(string(b), text) {
				t.Errorf("%s of %s has no %s:\n%s", name, file, text, b)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "dims.nc.zarr", "_nc4_non_coord_time")); err == nil {
		t.Error("a name of NetCDF's own is there")
	}
	succeed(t, dir, "convert", filepath.Join(files, "one.nc"), "one.nc", "--memory", "64MiB")
	succeed(t, dir, "convert", "one.nc", "again.zarr", "--memory", "64MiB") // with its name and the attributes of its file
	if b := testcases.ReadFile(t, filepath.Join(dir, "again.zarr", "zarr.json")); !strings.Contains(string(b), `"title":"one"`) {
		t.Errorf("%s", b)
	}
	testcases.ReadFile(t, filepath.Join(dir, "again.zarr", "v", "zarr.json"))
	succeed(t, dir, "convert", filepath.Join(files, "one.nc#v"), "v.zarr", "--memory", "64MiB")
	if b := testcases.ReadFile(t, filepath.Join(dir, "v.zarr", "zarr.json")); !strings.Contains(string(b), `"units"`) {
		t.Errorf("%s", b)
	}
}
