package zarr

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestRectilinearIsReadByAnyRegion writes chunks of any lengths by itself, of which some are missing and the last may go beyond the array.
func TestRectilinearIsReadByAnyRegion(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		dir := filepath.Join(t.TempDir(), "x.zarr")
		put := func(key string, data []byte) {
			b := blob.Dir(dir)
			_, err := blob.Put(t.Context(), b, key, data)
			if err := errors.Join(err, b.Sync(t.Context())); err != nil {
				r.Fatal(err)
			}
		}
		dims := rapid.IntRange(1, 3).Draw(r, "dims")
		text := rapid.SampledFrom([]string{"none", "gzip:1", "zstd:1"}).Draw(r, "codec")
		shape, starts, grids := make([]int, dims), make([][]int, dims), make([]any, dims)
		for d := range shape {
			lengths := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 5).Draw(r, "lengths")
			starts[d] = []int{0}
			var list []any
			for i, n := range lengths {
				starts[d] = append(starts[d], starts[d][i]+n)
				if i > 0 && lengths[i-1] == n { // as a pair
					if pair, ok := list[len(list)-1].([]int); ok {
						pair[1]++
					} else {
						list[len(list)-1] = []int{n, 2}
					}
					continue
				}
				list = append(list, n)
			}
			grids[d] = list
			shape[d] = starts[d][len(lengths)] - rapid.IntRange(0, lengths[len(lengths)-1]-1).Draw(r, "beyond")
		}
		full := make([]int, dims)
		for d := range full {
			full[d] = starts[d][len(starts[d])-1]
		}
		all := storetest.Elements(dtype.Int32, grid.Size(full))
		item := dtype.Int32.Size()
		index := make([]int, dims)
		write := func() {
			box := grid.Region{Start: make([]int, dims), Count: make([]int, dims), Step: slices.Repeat([]int{1}, dims)}
			for d, i := range index {
				box.Start[d], box.Count[d] = starts[d][i], starts[d][i+1]-starts[d][i]
			}
			chunk := storetest.Pick(all, full, item, box)
			if rapid.IntRange(0, 5).Draw(r, "missing") == 0 {
				clearRegion(all, full, item, box)
				return
			}
			p, err := codec.Parse(text, box.Count, dtype.Int32)
			if err != nil {
				r.Fatal(err)
			}
			e, err := p.Encoder(make([]byte, p.EncodeWork().Whole))
			if err != nil {
				r.Fatal(err)
			}
			defer e.Close()
			data, err := e.Whole(t.Context(), chunk)
			if err != nil {
				r.Fatal(err)
			}
			put("c/"+strings.Trim(strings.ReplaceAll(fmt.Sprint(index), " ", "/"), "[]"), data)
		}
		for done := false; !done; {
			write()
			done = true
			for d := dims - 1; d >= 0; d-- {
				if index[d]++; index[d] < len(starts[d])-1 {
					done = false
					break
				}
				index[d] = 0
			}
		}
		p, err := codec.Parse(text, shape, dtype.Int32)
		if err != nil {
			r.Fatal(err)
		}
		meta, err := json.Marshal(map[string]any{"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "int32", "fill_value": 0, "codecs": p.V3(),
			"chunk_grid":         map[string]any{"name": "rectilinear", "configuration": map[string]any{"kind": "inline", "chunk_shapes": grids}},
			"chunk_key_encoding": map[string]any{"name": "default", "configuration": map[string]any{"separator": "/"}}})
		if err != nil {
			r.Fatal(err)
		}
		put(v3File, meta)
		a, err := store.Open(dir)
		if err != nil {
			r.Fatal(err)
		}
		defer a.Close()
		region := storetest.DrawRegion(r, shape)
		want := storetest.Pick(storetest.Pick(all, full, item, storetest.All(shape)), shape, item, region)
		for _, work := range []int64{a.Info().Work.Whole, a.Info().Work.Stream} {
			s, err := a.(*array).Session(make([]byte, work))
			if err != nil {
				r.Fatal(err)
			}
			got := make([]byte, len(want))
			_, err = s.Read(t.Context(), got, region)
			s.Close()
			if err != nil || !bytes.Equal(got, want) {
				r.Fatalf("%v of %v in %s with %d bytes: %v, or other elements", region, shape, text, work, err)
			}
		}
	})
}

// clearRegion makes a region zero.
func clearRegion(data []byte, shape []int, item int, box grid.Region) {
	strides := grid.Strides(shape)
	for i := range len(data) / item {
		inside := true
		for d, stride := range strides {
			at := i / stride % shape[d]
			inside = inside && at >= box.Start[d] && at < box.Start[d]+box.Count[d]
		}
		if inside {
			clear(data[i*item : (i+1)*item])
		}
	}
}

// TestZipStore has zarr-python write archives that are read here, and read one that is written here.
func TestZipStore(t *testing.T) {
	if !testcases.Full() {
		t.Skip("without GONBEXT_TEST=full: archives were not exchanged with zarr-python")
	}
	dir := t.TempDir()
	data := storetest.Elements(dtype.Float32, 130*77)
	saved := filepath.Join(dir, "saved.zarr.zip")
	for range 2 { // the second replaces the first
		storetest.Save(t, saved, store.Meta{Shape: []int{130, 77}, DType: dtype.Float32, Chunks: []int{40, 30}, Codec: "zstd:1"}, data)
	}
	testcases.WriteFile(t, filepath.Join(dir, "saved.raw"), data, 0o666)
	script := `
import sys, zipfile, warnings, numpy as np, zarr
warnings.simplefilter("ignore")
d = sys.argv[1]
a = zarr.open_array(zarr.storage.ZipStore(d + "/saved.zarr.zip", mode="r"), mode="r")
assert (a[:].tobytes() == open(d + "/saved.raw", "rb").read()), "other elements"
assert zipfile.ZipFile(d + "/saved.zarr.zip").testzip() is None
rng = np.random.default_rng(5)
for version in (2, 3):
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        name = f"{d}/v{version}m{method}.zarr.zip"
        st = zarr.storage.ZipStore(name, mode="w", compression=method)
        g = zarr.create_group(st, zarr_format=version)
        for array in ("deep/one", "two"):
            x = rng.integers(0, 99, (57, 31)).astype("i2")
            shards = {"shards": (20, 20)} if version == 3 and array == "two" else {}
            z = g.create_array(array, shape=x.shape, dtype=x.dtype, chunks=(10, 5), **shards)
            z[:40] = x[:40]
            z[:] = x  # of each chunk the last member of its name counts
            open(f"{name}.{array.replace('/', '_')}.raw", "wb").write(x.tobytes())
        st.close()
`
	if out, err := exec.Command(zarrPython(t), "-c", script, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"v2m0", "v2m8", "v3m0", "v3m8"} {
		path := filepath.Join(dir, name+".zarr.zip")
		members, err := format{}.Members(t.Context(), path)
		if err != nil || len(members) != 2 {
			t.Fatalf("%s: %v, %v", name, members, err)
		}
		for _, m := range members {
			info, got := elements(t, m.Path)
			if want := testcases.ReadFile(t, path+"."+strings.ReplaceAll(m.Name, "/", "_")+".raw"); !bytes.Equal(got, want) {
				t.Errorf("%s: other elements of %s", m.Path, info.Format)
			}
		}
	}
}

func TestDamagedArchivesAreErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.zarr.zip")
	storetest.Save(t, path, store.Meta{Shape: []int{8}, DType: dtype.Uint8, Chunks: []int{4}, Codec: "none"}, []byte("abcdefgh"))
	whole := testcases.ReadFile(t, path)
	read := func() error {
		a, err := store.Open(path)
		if err != nil {
			return err
		}
		defer a.Close()
		return a.Read(t.Context(), make([]byte, 8), storetest.All([]int{8}))
	}
	testcases.WriteFile(t, path, bytes.Replace(whole, []byte("abcd"), []byte("abXd"), 1), 0o666)
	if err := read(); err == nil || !strings.Contains(err.Error(), zip.ErrChecksum.Error()) {
		t.Errorf("a chunk that was changed: %v", err)
	}
	testcases.WriteFile(t, path, whole[:len(whole)-30], 0o666)
	if err := read(); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("an archive that was cut short: %v", err)
	}
	for _, m := range []store.Meta{
		{Shape: []int{8}, DType: dtype.Uint8, Grow: true},
		{Shape: []int{8}, DType: dtype.Uint8, Region: &grid.Box{Start: []int{0}, Shape: []int{4}}},
	} {
		testcases.WriteFile(t, path, whole, 0o666)
		if _, err := store.Create(path, m); err == nil || !strings.Contains(err.Error(), "written as a whole") {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if _, err := store.Create(path+"/a", store.Meta{Shape: []int{8}, DType: dtype.Uint8}); err == nil || !strings.Contains(err.Error(), "written as a whole") {
		t.Errorf("an array in an archive: %v", err)
	}
}
