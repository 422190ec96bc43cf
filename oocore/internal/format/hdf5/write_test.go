package hdf5

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// written are the types that are written.
var written = slices.DeleteFunc(dtype.All(), func(t dtype.Type) bool { return checkType(t, false) != nil })

func TestWriterConformance(t *testing.T) {
	for name, codec := range map[string]string{"default": "", "none": "none", "blosc": "blosc:lz4:5:shuffle"} {
		place := func(t testing.TB) storetest.Place {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.h5#g/x")
			return storetest.Place{
				Create: func(m store.Meta) (store.Writer, error) {
					m.Codec = codec
					return store.Create(path, m)
				},
				Open: func(store.Meta) (store.Array, error) { return store.Open(path) },
				Left: func() []string { return storetest.List(t, dir) },
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Run("array", func(t *testing.T) {
				storetest.TestArray(t, written, func(t testing.TB, m store.Meta, data []byte) store.Array {
					path := filepath.Join(t.TempDir(), "a.h5")
					m.Codec = codec
					storetest.Save(t, path, m, data)
					return storetest.Open(t, path)
				})
			})
			t.Run("writer", func(t *testing.T) { storetest.TestWriter(t, written, place) })
			t.Run("resume", func(t *testing.T) { storetest.TestResume(t, dtype.Float32, place) })
		})
	}
}

// TestWriterOfMovedMember resumes an array of a file to which others have come.
func TestWriterOfMovedMember(t *testing.T) { storetest.TestMovedMember(t, ".h5") }

// expected is an array of a file as check.py compares it.
type expected struct {
	Name       string         `json:"name"`
	Want       string         `json:"want"`
	Chunks     []int          `json:"chunks"`
	Dims       []string       `json:"dims"`
	Attributes map[string]any `json:"attributes"`
	Fill       string         `json:"fill"`
}

type expectedFile struct {
	File   string     `json:"file"`
	Codec  string     `json:"codec"`
	Arrays []expected `json:"arrays"`
}

// TestWrittenFilesInOtherLibraries writes random arrays, with labels and attributes, into new files and into some that are there, and reads
// them by h5py, netCDF4 and xarray.
func TestWrittenFilesInOtherLibraries(t *testing.T) {
	python := testcases.Python(t, "h5py, netCDF4 and xarray")
	dir, r := t.TempDir(), testcases.Rand(t)
	var files []expectedFile
	for n := range 60 {
		ext := []string{".h5", ".nc"}[r.IntN(2)]
		f := expectedFile{File: fmt.Sprintf("f%d%s", n, ext), Codec: []string{"", "none", "gzip:3", "blosc:zstd:3:bitshuffle"}[r.IntN(4)]}
		types := slices.DeleteFunc(slices.Clone(written), func(t dtype.Type) bool { return checkType(t, ext == ".nc") != nil })
		m := storage.CollectionMeta{Path: filepath.Join(dir, f.File), Add: true}
		lengths := map[string]int{"x": r.IntN(9), "y": 1 + r.IntN(300), "z": 1 + r.IntN(5)}
		var data [][]byte
		for k := range 1 + r.IntN(4) {
			of := store.Meta{DType: types[r.IntN(len(types))], Codec: f.Codec}
			e := expected{Name: fmt.Sprintf("%sv%d", []string{"", "g/", "g/h/"}[r.IntN(3)], k), Attributes: map[string]any{}, Dims: []string{}}
			if dim := []string{"x", "y", "z"}[k%3]; k < 3 && r.IntN(3) == 0 {
				e.Name, e.Dims, of.Shape = dim, []string{dim}, []int{lengths[dim]}
			} else {
				for _, dim := range []string{"x", "y", "z", ""} {
					if r.IntN(2) == 0 {
						e.Dims = append(e.Dims, dim)
						length, named := lengths[dim]
						if !named {
							length = 1 + r.IntN(4)
						}
						of.Shape = append(of.Shape, length)
					}
				}
			}
			for _, length := range of.Shape {
				of.Chunks = append(of.Chunks, 1+r.IntN(max(length, 1)))
			}
			for name, v := range map[string]any{"units": "K", "text": "Ünïcode", "empty": "", "n": float64(r.IntN(1 << 40)), "factor": 0.25 * r.Float64(), "list": []any{1.5, 2.5, -3.5}, "ints": []any{1.0, 2.0, 3.0}, "texts": []any{"a", "bc"}} {
				if r.IntN(2) == 0 {
					e.Attributes[name] = v
				}
			}
			of.Details.Attributes, _ = json.Marshal(e.Attributes)
			if of.DType.Integer() && r.IntN(2) == 0 {
				e.Fill = "7"
				of.Details.Fill, of.Details.Marks = e.Fill, true
			}
			of.Details.Dims, of.Details.ChosenDims = e.Dims, true
			e.Chunks, e.Want = of.Chunks, fmt.Sprintf("f%d-%d.npy", n, k)
			elements := storetest.Elements(of.DType, grid.Size(of.Shape))
			if r.IntN(4) == 0 {
				clear(elements)
			}
			storetest.Save(t, filepath.Join(dir, e.Want), store.Meta{Shape: of.Shape, DType: of.DType}, elements)
			data = append(data, elements)
			m.Members, f.Arrays = append(m.Members, storage.NewMember{Name: e.Name, Meta: of}), append(f.Arrays, e)
		}
		files = append(files, f)
		if r.IntN(2) == 0 { // one after the other
			for k, of := range m.Members {
				storetest.Save(t, m.Path+"#"+of.Name, of.Meta, data[k])
			}
			continue
		}
		var err error
		if m.StagingDir, err = storage.NewStagingDir(m.Path); err != nil {
			t.Fatal(err)
		}
		w, err := storage.CreateCollection(m)
		for k, of := range m.Members {
			if err == nil {
				var one store.Writer
				if one, err = w.Member(k); err == nil {
					err = errors.Join(one.Write(t.Context(), data[k], grid.Box{Start: make([]int, len(of.Shape)), Shape: of.Shape}), one.Commit(t.Context()))
				}
			}
		}
		if err == nil {
			err = errors.Join(w.Commit(t.Context()), m.StagingDir.Remove())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(files)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cases.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "testdata/check.py", dir).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
