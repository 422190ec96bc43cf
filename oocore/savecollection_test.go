package oocore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// newCheckpoint writes a file of arrays whose elements count from n × 100 on, and returns their
// collection.
func newCheckpoint(t testing.TB, name string) *Collection {
	t.Helper()
	var outputs []Output
	for i, of := range []string{"embed.weight", "layers.0.weight", "layers.1.weight"} {
		v := make([]float32, 12+i)
		for k := range v {
			v[k] = float32(100*i + k)
		}
		a := FromSlice(v, len(v))
		if i == 1 {
			a = FromSlice(v[:12], 3, 4)
		}
		outputs = append(outputs, Output{Array: a, Path: name + "#" + of, Options: []Option{Attributes(map[string]any{"format": "pt", "made": "by hand"})}})
	}
	if _, err := SaveAll(t.Context(), outputs); err != nil {
		t.Fatal(err)
	}
	return OpenAll(name)
}

// sharded are the options of a checkpoint with files of a size; none where a path is of no checkpoint.
func sharded(path, size string) []Option {
	if !isCheckpoint(path) {
		return nil
	}
	return []Option{ShardSize(size)}
}

func TestCollectionSaveWritesEveryForm(t *testing.T) {
	dir := t.TempDir()
	c := newCheckpoint(t, filepath.Join(dir, "in.safetensors"))
	for _, to := range []string{"out.safetensors", "sub/m.safetensors.index.json", "out.gguf", "out.npz", "out.zarr", "folder"} {
		t.Run(to, func(t *testing.T) {
			path := filepath.Join(dir, to)
			os.MkdirAll(filepath.Dir(path), 0o777)
			double := c.Map(func(_ string, x *Array) *Array { return x.Mul(2) })
			var r RunReport
			saved, err := double.Save(t.Context(), path, append(sharded(path, "60B"), Report(&r))...)
			if err != nil {
				t.Fatal(err)
			}
			names := slices.Sorted(slices.Values(saved.Names()))
			if want := []string{"embed.weight", "layers.0.weight", "layers.1.weight"}; !slices.Equal(names, want) {
				t.Fatalf("names %q, want %q", names, want)
			}
			for i, name := range names {
				a := saved.Get(name)
				v, err := Collect[float32](t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				for k, x := range v {
					if want := float32(2 * (100*i + k)); x != want {
						t.Fatalf("%s[%d] = %v, want %v", name, k, x, want)
					}
				}
			}
			if got := saved.Get("layers.0.weight").Shape(); fmt.Sprint(got) != "[3 4]" {
				t.Errorf("shape %v", got)
			}
			if r.Chunks != 3 || r.Computed != 3 {
				t.Errorf("%d chunks, %d computed, want 3 of one run", r.Chunks, r.Computed)
			}
			if _, err := double.Save(t.Context(), path, append(sharded(path, "60B"), Report(&r))...); err != nil || r.Status != StatusSkipped {
				t.Errorf("again: %s, %v, want that nothing is computed", r.Status, err)
			}
			half := c.Map(func(_ string, x *Array) *Array { return x.Div(2) })
			if saved, err = half.Save(t.Context(), path, sharded(path, "60B")...); err != nil {
				t.Fatal(err)
			}
			if v, err := Item[float32](t.Context(), saved.Get("layers.1.weight").Max()); err != nil || v != 213./2 {
				t.Errorf("replaced: %v, %v", v, err)
			}
			left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
			if len(left) > 0 {
				t.Errorf("left over: %q", left)
			}
		})
	}
}

func TestCheckpointKeepsTextsAndSmallFiles(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "a"), 0o777)
	os.Mkdir(filepath.Join(dir, "b"), 0o777)
	one := newCheckpoint(t, filepath.Join(dir, "one.safetensors"))
	index := filepath.Join(dir, "a", "model.safetensors.index.json")
	if _, err := one.Save(t.Context(), index, ShardSize("100B")); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "a", "config.json"), []byte("{}"), 0o666)
	other := filepath.Join(dir, "b", "model.safetensors.index.json")
	if _, err := OpenAll(index).Save(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "b", "config.json")); err != nil || string(text) != "{}" {
		t.Errorf("config.json: %q, %v", text, err)
	}
	shards, _ := filepath.Glob(filepath.Join(dir, "a", "*.safetensors"))
	if len(shards) != 2 { // of 48+48 and 56 bytes
		t.Errorf("files %q", shards)
	}
	mine := filepath.Join(dir, "a", "model-00003-of-00004.safetensors") // that no index names
	testcases.WriteFile(t, mine, nil, 0o666)
	if _, err := one.Save(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	shards, _ = filepath.Glob(filepath.Join(dir, "a", "*.safetensors"))
	if want := []string{filepath.Join(dir, "a", "model-00001-of-00001.safetensors"), mine}; !slices.Equal(shards, want) {
		t.Errorf("files %q, want %q", shards, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "b", "model-00001-of-00001.safetensors"))
	if err != nil || !strings.Contains(string(text[:200]), `"__metadata__":{"format":"pt","made":"by hand"}`) {
		t.Errorf("header %.200q, %v", text, err)
	}
	if _, err := OpenAll(index).Save(t.Context(), index, ShardSize("100B"), Fresh()); err == nil || !strings.Contains(err.Error(), "is also an input") {
		t.Errorf("in place: %v", err)
	}
}

func TestSaveAllWritesMembersOfOneFile(t *testing.T) {
	dir := t.TempDir()
	x := FromSlice([]float32{1, 2, 3})
	for _, path := range []string{filepath.Join(dir, "a.npz"), filepath.Join(dir, "a.safetensors"), filepath.Join(dir, "new.zarr")} {
		sep := "#"
		if strings.HasSuffix(path, ".zarr") {
			sep = "/"
		} else if _, err := x.Add(10).Save(t.Context(), path+"#old"); err != nil {
			t.Fatal(err)
		}
		outputs := []Output{{Array: x, Path: path + sep + "a"}, {Array: x.Mul(2), Path: path + sep + "b"}, {Array: x.Sum(), Path: path + sep + "s"}}
		all, err := SaveAll(t.Context(), outputs)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i, want := range []float32{6, 12, 6} {
			if v, err := Item[float32](t.Context(), all[i].Sum()); err != nil || v != want {
				t.Errorf("%s: %v, %v, want %v", path, v, err, want)
			}
		}
		if sep == "#" {
			if v, err := Item[float32](t.Context(), Open(path+"#old").Sum()); err != nil || v != 36 {
				t.Errorf("%s: the array that was there: %v, %v", path, v, err)
			}
		}
		var r RunReport
		if _, err := SaveAll(t.Context(), outputs, Report(&r)); err != nil || r.Status != StatusSkipped {
			t.Errorf("%s again: %s, %v", path, r.Status, err)
		}
	}
}

// A stage that fills an array of a collection and one that a later stage reads ends both. Where the
// second is in the staging folder, the checkpoint notes the stage, too.
func TestCollectionSaveEndsMemberBesideTemporaryOfOneStage(t *testing.T) {
	for _, to := range []string{"o.npz", "folder"} {
		for _, columns := range []int{2, 6 << 20} { // of which one row is a part of the budget, or most of it
			for _, names := range [][]string{{"max", "rest"}, {"rest", "max"}} {
				t.Run(fmt.Sprint(to, " ", names, " ", columns), func(t *testing.T) {
					x := Arange(0, 2*columns, 1.0).Reshape(2, columns)
					arrays := map[string]*Array{"max": x.Max(0), "rest": x.Sub(x.Min(0)).Sum(1)}
					c := &Collection{}
					for _, name := range names {
						c.members = append(c.members, named{name: name, make: func() *Array { return arrays[name] }})
					}
					saved, err := c.Save(t.Context(), filepath.Join(t.TempDir(), to), Memory("64MiB"))
					if err != nil {
						t.Fatal(err)
					}
					rest, err := Collect[float64](t.Context(), saved.Get("rest"))
					if err != nil || rest[0] != 0 || rest[1] != float64(columns)*float64(columns) {
						t.Errorf("rest: %v, %v", rest, err)
					}
					// The second row, which counts from columns on.
					sum, err := Item[float64](t.Context(), saved.Get("max").Sum())
					if n := float64(columns); err != nil || sum != n*n+n*(n-1)/2 {
						t.Errorf("sum of max: %v, %v", sum, err)
					}
				})
			}
		}
	}
}

func TestSaveAllRejectsRegionsOfMembersOfOneFile(t *testing.T) {
	for _, name := range []string{"w.npz", "w.safetensors"} {
		path := filepath.Join(t.TempDir(), name)
		outputs := func(rows int, opts ...Option) (all []Output) {
			for _, member := range []string{"#a", "#b"} {
				all = append(all, Output{Array: Arange(0, rows, 1.0), Path: path + member, Options: opts})
			}
			return all
		}
		if _, err := SaveAll(t.Context(), outputs(8)); err != nil {
			t.Fatal(err)
		}
		_, err := SaveAll(t.Context(), outputs(2, Region("0:2")))
		if err == nil || !strings.Contains(err.Error(), "write the whole array") {
			t.Errorf("%s: %v", name, err)
		}
		if v, err := Collect[float64](t.Context(), Open(path+"#b")); err != nil || len(v) != 8 {
			t.Errorf("%s: the array that was there: %v, %v", name, v, err)
		}
	}
}

func TestCollectionSaveKeepsAttributesInNewGroup(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		a := FromSlice([]float64{1, 2})
		if _, err := a.Save(t.Context(), filepath.Join(dir, "in.zarr", name), Attributes(map[string]any{"units": "K" + name})); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, "out.zarr")
	for _, want := range []string{StatusDone, StatusSkipped} { // the second run finds the group, and has the same fingerprint
		var r RunReport
		if _, err := OpenAll(filepath.Join(dir, "in.zarr")).Save(t.Context(), to, Report(&r)); err != nil || r.Status != want {
			t.Fatalf("%s, %v, want %s", r.Status, err, want)
		}
	}
	for _, name := range []string{"a", "b"} {
		info, err := storage.Describe(filepath.Join(to, name))
		if err != nil || !strings.Contains(string(info.Details.Attributes), `"K`+name+`"`) {
			t.Errorf("%s: attributes %s, %v", name, info.Details.Attributes, err)
		}
	}
}

func TestCollectionInFolderHasNamesWithSlashes(t *testing.T) {
	names := []string{"g/h/x", "g/y", "z"}
	c := &Collection{}
	for i, name := range names {
		c.members = append(c.members, named{name: name, make: func() *Array { return FromSlice([]int64{int64(i)}) }})
	}
	folder := filepath.Join(t.TempDir(), "folder")
	saved, err := c.Save(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(slices.Values(saved.Names())); !slices.Equal(got, names) {
		t.Fatalf("names %q, want %q", got, names)
	}
	for i, name := range names {
		if v, err := Item[int64](t.Context(), saved.Get(name).Sum()); err != nil || v != int64(i) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	os.Mkdir(filepath.Join(folder, "empty"), 0o777)
	if c := OpenAll(folder); c.Err() != nil || c.Len() != 3 {
		t.Errorf("with an empty folder in it: %v", c)
	}
	if c := OpenAll(filepath.Join(folder, "empty")); c.Err() == nil || !strings.Contains(c.Err().Error(), "has no arrays") {
		t.Errorf("an empty folder: %v", c)
	}
}

func TestCollectionTooLargeForDiskIsRejectedBeforeAnythingRuns(t *testing.T) {
	for _, to := range []string{"folder", "o.zarr"} {
		dir, calls := t.TempDir(), 0
		small := MapChunks(func(dst, src []float64, _ Block) error {
			calls++
			copy(dst, src)
			return nil
		}, FromSlice([]float64{1, 2}), MapOptions{})
		large := Arange(0, 1<<44, 1.0)
		c := &Collection{members: []named{{name: "a", make: func() *Array { return small }}, {name: "b", make: func() *Array { return large }}}}
		_, err := c.Save(t.Context(), filepath.Join(dir, to), Version("1"), Codec("none"), Memory("1GiB"))
		if err == nil || !strings.Contains(err.Error(), "the disk has") || calls > 0 {
			t.Errorf("%s: error %v, and %d chunks were computed", to, err, calls)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("%s: left over: %q", to, left)
		}
	}
}

// A collection whose run is cancelled in an array resumes there: what was computed is not again.
func TestCollectionSaveResumesArrayByArray(t *testing.T) {
	const arrays, rows = 6, 40
	for _, to := range []string{"out.safetensors", "m.safetensors.index.json", "out.npz", "out.zarr", "folder"} {
		dir := t.TempDir()
		t.Run(to, func(t *testing.T) {
			path := filepath.Join(dir, to)
			calls := 0
			var stop context.CancelFunc
			build := func() *Collection {
				c := &Collection{}
				for i := range arrays {
					x := FromSlice(make([]float64, rows), rows)
					a := MapChunks(func(dst, src []float64, at Block) error {
						if calls++; calls == 4 && stop != nil {
							stop()
						}
						for k := range dst {
							dst[k] = float64(i*1000 + at.Start[0] + k)
						}
						return nil
					}, x.Rechunk(10), MapOptions{})
					c.members = append(c.members, named{name: fmt.Sprintf("t%d", i), make: func() *Array { return a }})
				}
				return c
			}
			ctx, cancel := context.WithCancel(t.Context())
			stop = cancel
			opts := append(sharded(path, "700B"), Version("v1"), Workers(1))
			_, err := build().Save(ctx, path, opts...)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%v", err)
			}
			stop = nil
			var r RunReport
			saved, err := build().Save(t.Context(), path, append(opts, Report(&r))...)
			if err != nil {
				t.Fatal(err)
			}
			if r.Skipped < 2 {
				t.Errorf("%d of %d tasks were skipped", r.Skipped, r.Chunks)
			}
			for i := range arrays {
				v, err := Collect[float64](t.Context(), saved.Get(fmt.Sprintf("t%d", i)))
				if err != nil {
					t.Fatal(err)
				}
				for k := range v {
					if v[k] != float64(i*1000+k) {
						t.Fatalf("t%d[%d] = %v", i, k, v[k])
					}
				}
			}
		})
	}
}

func TestCollectionSaveRejects(t *testing.T) {
	dir := t.TempDir()
	c := newCheckpoint(t, filepath.Join(dir, "in.safetensors"))
	twice := &Collection{members: append(slices.Clone(c.members), c.members[0])}
	out := func(name string) *Collection {
		return &Collection{members: []named{{name: name, make: c.members[0].make}}}
	}
	os.MkdirAll(filepath.Join(dir, "mine.zarr", "a"), 0o777)
	os.WriteFile(filepath.Join(dir, "mine.zarr", "notes.txt"), nil, 0o666)
	for _, of := range []struct {
		c          *Collection
		path, want string
	}{
		{c, "", "the path is empty"},
		{c, "x.npy", "a collection is saved to"},
		{c, "x.tif", "a collection is saved to"},
		{c, "in.safetensors", "is also an input"},
		{c.Match("nothing"), "x.npz", "has no arrays"},
		{twice, "x.npz", `two arrays have the name "embed.weight"`},
		{out("../up"), "folder", "leads out of the folder"},
		{out("../up"), "x.npz", "leads out of the archive"},
		{out("../up"), "x.zarr", "../up"},
		{out("."), "x.zarr", "or is none"},
		{out("."), "folder", "or is none"},
		{out("a/.."), "folder", "or is none"},
		{out(`a\b`), "x.zarr", "no backslash"},
		{out(".hidden"), "x.zarr", "hidden"},
		{out("a/..b"), "folder", "hidden"},
		{out("a/zarr.json"), "x.zarr", "metadata"},
		{out("x.zarr/b"), "folder", "another format"},
		{out(""), "x.npz", "has no name"},
		{out(""), "x.safetensors", "has no name"},
		{out(""), "x.gguf", "has no name"},
		{c, "x.safetensors#a", "the path names one array"},
		{c, "x.npz#", "a collection is saved to"},
		{out(strings.Repeat("a", 10<<20)), "x.npz", "bytes, the format allows"},
		{c, "mine.zarr", "notes.txt is no part of the group"},
	} {
		path := of.path
		if path != "" {
			path = filepath.Join(dir, path)
		}
		_, err := of.c.Save(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: error %.300v, want %q", of.path, err, of.want)
		}
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("%s: an error of %d bytes", of.path, len(err.Error()))
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// newWideCheckpoint writes a file of ten thousand arrays, whose elements are a hole.
func newWideCheckpoint(t testing.TB) string {
	t.Helper()
	const arrays, size = 10_000, 1024
	var header strings.Builder
	for i := range arrays {
		fmt.Fprintf(&header, `,"layers.%d.weight":{"dtype":"F32","shape":[16,16],"data_offsets":[%d,%d]}`, i, i*size, (i+1)*size)
	}
	text := "{" + header.String()[1:] + "}"
	name := filepath.Join(t.TempDir(), "m.safetensors")
	testcases.WriteFile(t, name, append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), 0o666)
	if err := os.Truncate(name, int64(8+len(text)+arrays*size)); err != nil {
		t.Fatal(err)
	}
	return name
}

// planDoubled opens a collection and plans its double.
func planDoubled(t testing.TB, name string) *Plan {
	t.Helper()
	p, err := OpenAll(name).Map(func(_ string, x *Array) *Array { return x.Mul(2) }).Plan(filepath.Join(t.TempDir(), "o.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What planning holds of each array is small.
func TestPlanOfTenThousandArraysHasASmallHeap(t *testing.T) {
	name := newWideCheckpoint(t)
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	p := planDoubled(t, name)
	after := held()
	if bytes := int64(after) - int64(before); bytes > 100<<20 {
		t.Errorf("the plan holds %d bytes", bytes)
	}
	runtime.KeepAlive(p)
}

// The measure is a second and 100 MB, those in garbage not among them.
func BenchmarkPlanOfTenThousandArrays(b *testing.B) {
	name := newWideCheckpoint(b)
	for b.Loop() {
		planDoubled(b, name)
	}
}

func TestCollectionSaveRejectsShardSizeWithoutCheckpoint(t *testing.T) {
	dir := t.TempDir()
	c := newCheckpoint(t, filepath.Join(dir, "in.safetensors"))
	_, err := c.Save(t.Context(), filepath.Join(dir, "x.npz"), ShardSize("1kB"))
	if err == nil || !strings.Contains(err.Error(), "a shard size is of a checkpoint: save to") {
		t.Errorf("error %v", err)
	}
}
