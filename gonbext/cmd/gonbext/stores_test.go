package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/units"
)

// There and back again: every format, codec and layout gives the elements that it
// was given.
func TestConvertBetweenFormats(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(30, 20)", 600)
	want := elements[float32](t, filepath.Join(dir, "x.npy"))
	for i, to := range [][]string{
		{"a.zarr"},
		{"b.zarr", "--chunks", "7x5", "--codec", "none"},
		{"c.zarr", "--chunks", "7x5", "--codec", "zstd:3:checksum"},
		{"d.zarr", "--chunks", "4x20", "--codec", "gzip:5"},
		{"e.zarr", "--chunks", "5x5", "--shards", "10x20", "--codec", "blosc:lz4:5:shuffle"},
		{"f.zarr", "--chunks", "30x1", "--shards", "30x4", "--codec", "blosc:zstd:1:bitshuffle"},
		{"g.npy"},
		{"h.npz#x"},
		{"i.safetensors#x"},
		{"j.bin"},
	} {
		t.Run(strings.Join(to, " "), func(t *testing.T) {
			succeed(t, dir, append([]string{"convert", "x.npy", "--memory", "64MiB"}, to...)...)
			from := to[0]
			if strings.HasSuffix(from, ".bin") {
				from += "?shape=30x20&dtype=float32"
			}
			back := fmt.Sprintf("back%d.npy", i)
			succeed(t, dir, "convert", from, back, "--memory", "64MiB")
			if got := elements[float32](t, filepath.Join(dir, back)); !slices.Equal(got, want) {
				t.Errorf("came back as %v", got)
			}
		})
	}
	for _, path := range listing(t, dir) {
		if strings.Contains(path, ".gonbext") {
			t.Errorf("left behind: %s", path)
		}
	}
}

// infoOf is what info --json says.
func infoOf(t *testing.T, dir string, args ...string) map[string]any {
	t.Helper()
	var all map[string]any
	out := succeed(t, dir, append([]string{"info", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return all
}

func TestInfoOfZarr(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(30, 20)", 600)
	succeed(t, dir, "convert", "x.npy", "x.zarr", "--chunks", "10x5", "--codec", "zstd:1")
	succeed(t, dir, "convert", "x.npy", "s.zarr", "--chunks", "5x5", "--shards", "10x20", "--codec", "none")

	i := infoOf(t, dir, "x.zarr")
	for name, want := range map[string]string{"format": "zarr v3", "shape": "[30 20]", "chunks": "[10 5]", "shards": "<nil>", "dtype": "float32",
		"bytes": "2400", "fill_value": "0.0", "codec": "zstd:1", "notes": "<nil>"} {
		if got := fmt.Sprint(i[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if i := infoOf(t, dir, "s.zarr"); fmt.Sprint(i["chunks"], i["shards"]) != "[5 5] [10 20]" {
		t.Errorf("of shards: %v", i)
	}
	if err := os.Remove(filepath.Join(dir, "x.zarr", "c", "1", "2")); err != nil {
		t.Fatal(err)
	}
	var stored float64
	for _, line := range listing(t, dir) {
		if path, size, _ := strings.Cut(line, " "); strings.Contains(path, filepath.Join("x.zarr", "c")) {
			var n float64
			fmt.Sscan(size, &n)
			stored += n
		}
	}
	i = infoOf(t, dir, "x.zarr", "--chunks")
	listing := i["listing"].(map[string]any)
	if listing["chunks"] != 12.0 || listing["missing"] != 1.0 || listing["bytes"] != stored || listing["ratio"] != 2400/stored || i["file_bytes"] != stored {
		t.Errorf("listed: %v, stored are %v bytes", i, stored)
	}
	text := succeed(t, dir, "info", "x.zarr", "--chunks")
	for _, want := range []string{"30 × 20", "10 × 5, 12 of 200 bytes each", "1 of 12 chunks", "zstd:1", units.Exact(int64(stored))} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if text := succeed(t, dir, "info", "s.zarr"); !strings.Contains(text, "10 × 20, 8 chunks each") {
		t.Errorf("shards: %s", text)
	}
	if i := infoOf(t, dir, "x.npy", "--chunks"); i["listing"] != nil || i["file_bytes"] == nil {
		t.Errorf("a file in one piece: %v", i)
	}
}

// A group or a file with several arrays is listed; one of them is opened by name.
func TestInfoOfSeveral(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3, 4)", 12)
	succeed(t, dir, "convert", "x.npy", "w.safetensors#first")
	succeed(t, dir, "convert", "x.npy", "w.safetensors#second", "--dtype", "float16")
	group := filepath.Join(dir, "g.zarr")
	if err := os.MkdirAll(filepath.Join(group, "layer"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{group, filepath.Join(group, "layer")} {
		testcases.WriteFile(t, filepath.Join(place, "zarr.json"), []byte(`{"zarr_format": 3, "node_type": "group", "attributes": {}}`), 0o644)
	}
	succeed(t, dir, "convert", "x.npy", "g.zarr/top", "--chunks", "3x2")
	succeed(t, dir, "convert", "x.npy", "g.zarr/layer/0", "--dtype", "int32")
	for path, want := range map[string][]string{"w.safetensors": {"first float32", "second float16"}, "g.zarr": {"layer/0 int32", "top float32"}} {
		var got []string
		for _, a := range infoOf(t, dir, path)["arrays"].([]any) {
			a := a.(map[string]any)
			got = append(got, fmt.Sprint(a["name"], " ", a["dtype"]))
			if fmt.Sprint(a["shape"]) != "[3 4]" {
				t.Errorf("%s: %v", path, a)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", path, got, want)
		}
		if text := succeed(t, dir, "info", path); !strings.Contains(text, "3 × 4") || strings.Count(text, "1 array of ") != 2 {
			t.Errorf("%s", text)
		}
	}
	if got := succeed(t, dir, "compute", "sum(x)", "x=g.zarr/layer/0"); got != "506\n" {
		t.Errorf("the sum of squares below 12 is %q", got)
	}
	failed(t, finish(t, command(dir, "compute", "sum(x)", "x=g.zarr")), 1, "g.zarr", "layer/0")
}

// A region is written into an array that is there; the rest stays.
func TestRegion(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(30, 20)", 600)
	for _, out := range []string{"r.zarr", "r.npy"} {
		chunks := []string{"--chunks", "10x5"}
		if out == "r.npy" {
			chunks = nil
		}
		succeed(t, dir, append([]string{"convert", "x.npy", out}, chunks...)...)
		succeed(t, dir, "compute", `slice(x, "3:17") * 0 - 1`, "x=x.npy", "-o", out, "--region", "3:17")
		succeed(t, dir, "convert", out, "back.npy", "--fresh")
		for i, v := range elements[float32](t, filepath.Join(dir, "back.npy")) {
			want := float32(i * i)
			if row := i / 20; row >= 3 && row < 17 {
				want = -1
			}
			if v != want {
				t.Fatalf("%s: element %d is %v, want %v", out, i, v, want)
			}
		}
	}
}

// A plan says in how many passes data move, before they do.
func TestPlanSaysPasses(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(300, 200)", 60000)
	succeed(t, dir, "convert", "x.npy", "rows.zarr", "--chunks", "10x200")
	before := listing(t, dir)
	out := succeed(t, dir, "convert", "rows.zarr", "columns.zarr", "--chunks", "300x2", "--plan")
	if !strings.Contains(out, "in one pass") || !strings.Contains(out, "nothing was run") {
		t.Errorf("the plan: %s", out)
	}
	var f figures
	if err := json.Unmarshal([]byte(succeed(t, dir, "convert", "rows.zarr", "columns.zarr", "--chunks", "300x2", "--plan", "--json")), &f); err != nil || f.Passes != 1 || f.Computed != 0 {
		t.Errorf("the plan's figures: %+v, %v", f, err)
	}
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("a plan leaves %v", after)
	}
}

func TestStoreRejections(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(30, 20)", 600)
	succeed(t, dir, "convert", "x.npy", "x.zarr", "--chunks", "10x5")
	to := func(out string, more ...string) []string { return append([]string{"convert", "x.npy", out}, more...) }
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   []string
	}{
		{"a codec that is none", to("out.zarr", "--codec", "zip"), 2, []string{"--codec", "zip", "zstd"}},
		{"a level that is none", to("out.zarr", "--codec", "zstd:lots"), 2, []string{"--codec", "lots"}},
		{"a codec of an npy file", to("out.npy", "--codec", "zstd"), 1, []string{"out.npy", "zstd"}},
		{"shards of an npy file", to("out.npy", "--shards", "10x10"), 1, []string{"out.npy", "shards"}},
		{"shards in words", to("out.zarr", "--shards", "big"), 2, []string{"--shards", "big"}},
		{"shards that are no chunks", to("out.zarr", "--chunks", "7x5", "--shards", "10x10"), 1, []string{"out.zarr", "7", "10"}},
		{"chunks of another number of dimensions", to("out.zarr", "--chunks", "7"), 1, []string{"(7,)", "(30, 20)"}},
		{"a region of nothing", to("out.zarr", "--region", "0:30"), 1, []string{"out.zarr"}},
		{"a region of another shape", to("x.zarr", "--region", "0:7"), 1, []string{"(30, 20)", "(7, 20)"}},
		{"a region beyond the array", to("x.zarr", "--region", "25:55"), 1, []string{"x.zarr", "55"}},
		{"a region with steps", to("x.zarr", "--region", "::2"), 2, []string{"::2"}},
		{"a region in words", to("x.zarr", "--region", "all"), 2, []string{"all"}},
		{"a group that is none", []string{"convert", "none.zarr/layer", "out.npy"}, 1, []string{"none.zarr/layer"}},
		{"a name that leads out", []string{"info", "x.zarr/../../x.npy"}, 1, []string{"x.zarr"}},
		{"a tensor without a file", []string{"info", "none.safetensors#a"}, 1, []string{"none.safetensors"}},
	} {
		t.Run(c.name, func(t *testing.T) { rejected(t, dir, command(dir, c.args...), c.status, c.says...) })
	}
}
