package zarr

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// writeFiles writes files of this machine by their paths below a folder.
func writeFiles(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, name, []byte(text), 0o600)
	}
	return root
}

func zarrayOf(y, x int) string {
	return fmt.Sprintf(`{"zarr_format": 2, "shape": [%d, %d], "chunks": [%d, %d], "dtype": "|u1", "order": "C", "filters": null, "compressor": null, "fill_value": 0, "dimension_separator": "/"}`, y, x, y, x)
}

func zarrJSONOf(y, x int) string {
	return fmt.Sprintf(`{"zarr_format": 3, "node_type": "array", "shape": [%d, %d], "data_type": "uint8", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [%d, %d]}},
		"chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0, "codecs": [{"name": "bytes"}], "attributes": {}}`, y, x, y, x)
}

// The groups are those of the examples of OME-Zarr 0.4 and 0.5.
const (
	ome04 = `{"multiscales": [{"version": "0.4", "name": "example", "axes": [{"name": "y", "type": "space", "unit": "micrometer"}, {"name": "x", "type": "space", "unit": "micrometer"}],
		"datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [0.5, 0.5]}]}, {"path": "half/1", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0]}]}],
		"type": "gaussian"}], "omero": {"id": 1}}`
	ome03 = `{"multiscales": [{"version": "0.3", "axes": ["y", "x"], "datasets": [{"path": "0"}, {"path": "half/1"}]}]}`
)

func TestLevelsOfPyramids(t *testing.T) {
	for version, files := range map[string]map[string]string{
		"0.4": {"i.zarr/.zgroup": `{"zarr_format": 2}`, "i.zarr/.zattrs": ome04, "i.zarr/0/.zarray": zarrayOf(2, 4), "i.zarr/half/.zgroup": `{"zarr_format": 2}`,
			"i.zarr/half/1/.zarray": zarrayOf(1, 2), "i.zarr/0/0/0": "abcdefgh", "i.zarr/half/1/0/0": "yz"},
		"0.3": {"i.zarr/.zgroup": `{"zarr_format": 2}`, "i.zarr/.zattrs": ome03, "i.zarr/0/.zarray": zarrayOf(2, 4), "i.zarr/half/.zgroup": `{"zarr_format": 2}`,
			"i.zarr/half/1/.zarray": zarrayOf(1, 2), "i.zarr/0/0/0": "abcdefgh", "i.zarr/half/1/0/0": "yz"},
		"0.5": {"i.zarr/zarr.json": `{"zarr_format": 3, "node_type": "group", "attributes": {"ome": ` + ome04 + `}}`, "i.zarr/0/zarr.json": zarrJSONOf(2, 4),
			"i.zarr/half/zarr.json": groupText, "i.zarr/half/1/zarr.json": zarrJSONOf(1, 2), "i.zarr/0/c/0/0": "abcdefgh", "i.zarr/half/1/c/0/0": "yz"},
	} {
		files["i.zarr/labels/cells/.zarray"] = zarrayOf(2, 4)
		files["i.zarr/labels/.zgroup"] = `{"zarr_format": 2}`
		root := writeFiles(t, files) + "/i.zarr"
		for level, want := range []string{"[2 4] [y x] abcdefgh", "[1 2] [y x] yz"} {
			a, err := store.Open(fmt.Sprintf("%s#%d", root, level))
			if err != nil {
				t.Errorf("%s: %v", version, err)
				continue
			}
			data := make([]byte, storetest.All(a.Info().Shape).Size())
			err = a.Read(t.Context(), data, storetest.All(a.Info().Shape))
			if got := fmt.Sprint(a.Info().Shape, a.Info().Details.Dims, " ", string(data)); err != nil || got != want {
				t.Errorf("%s: level %d is %s, %v", version, level, got, err)
			}
			a.Close()
		}
		all, err := storage.Members(t.Context(), root)
		if got, want := fmt.Sprint(all), fmt.Sprintf("[{0 %s#0} {half/1 %s#1} {labels/cells %s/labels/cells}]", root, root, root); err != nil || got != want {
			t.Errorf("%s: %s, %v", version, got, err)
		}
		for path, want := range map[string]string{"": "open a level of it, " + root + "#0", "#2": "no level 2: the image has 2, from #0 on", "#x": "unknown"} {
			if _, err := store.Open(root + path); err == nil || !strings.Contains(err.Error(), want) && want != "unknown" {
				t.Errorf("%s, %s: %v", version, path, err)
			}
		}
		if _, err := storage.LayoutOf(root+"#0", store.Meta{Shape: []int{1}, DType: 1}); err == nil || !strings.Contains(err.Error(), "save to NAME.zarr/PATH") {
			t.Errorf("%s: %v", version, err)
		}
		if !storage.Holds(root+"#1", root+"/half/1") {
			t.Errorf("%s: a level is not held to lie in its group", version)
		}
	}
}

func TestParsePyramidRejectsPathsOut(t *testing.T) {
	for text, want := range map[string]string{
		`{"multiscales": [{"datasets": [{"path": "../x"}]}]}`:           "is not the path of a dataset",
		`{"multiscales": [{"datasets": [{"path": "/x"}]}]}`:             "is not the path of a dataset",
		`{"multiscales": [{"datasets": []}]}`:                           "it lists no dataset",
		`{"multiscales": {}}`:                                           "is not of the right form",
		`{"multiscales": [{"axes": [7], "datasets": [{"path": "x"}]}]}`: "has no name",
		`{"ome": 7}`: "is not of the right form",
	} {
		if _, err := parsePyramid([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if p, err := parsePyramid([]byte(`{"title": "none"}`)); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
}

// TestArraysWithNumbers holds that an array whose name ends like a level is itself.
func TestArraysWithNumbers(t *testing.T) {
	root := writeFiles(t, map[string]string{"i.zarr/.zgroup": `{"zarr_format": 2}`, "i.zarr/a#1/.zarray": zarrayOf(1, 2)})
	a, err := store.Open(root + "/i.zarr/a#1")
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if _, err := store.Open(root + "/i.zarr#1"); err == nil {
		t.Error("a level of a group without any is open")
	}
}
