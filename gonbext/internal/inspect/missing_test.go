package inspect

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// read describes the array at a path.
func read(t *testing.T, path string, list bool) (*Info, error) {
	return newListings(list).read(t.Context(), path)
}

// missing unpacks arrays of zarr-python and TensorStore.
func missing(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := zip.OpenReader(filepath.Join("testdata", "missing.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Chunks that are not stored are counted without being asked for.
func TestReadSaysHowManyChunksAreStored(t *testing.T) {
	dir := missing(t)
	for name, want := range map[string]string{
		"v2.zarr":      "3 of 12 chunks are stored; the others read as the fill value 7",
		"none.zarr":    "3 of 12 chunks are stored; the others read as the fill value 0",
		"v3.zarr":      "1 of 12 chunks is stored; the others read as the fill value 0",
		"sharded.zarr": "10 of 12 chunks are stored; the others read as the fill value -1",
		"left.zarr":    "3 of 12 chunks are stored; the others read as the fill value -1",
		"x.n5":         "3 of 12 chunks are stored; the others read as the fill value 0",
		"whole.zarr":   "",
	} {
		for _, asked := range []bool{false, true} {
			i, err := read(t, filepath.Join(dir, name), asked)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			text := i.Text()
			if got := strings.Join(i.Notes, ""); got != want || want != "" && !strings.Contains(text, "  "+want+"\n") {
				t.Errorf("%s: %q, want %q: %s", name, got, want, text)
			}
			if i.Listing == nil || i.Listing.Chunks != 12 || (i.Listing.Missing == 0) != (want == "") {
				t.Errorf("%s: %+v", name, i.Listing)
			}
			if strings.Contains(text, "missing") != asked {
				t.Errorf("%s: what is asked for with --chunks: %s", name, text)
			}
		}
	}

	all, err := Describe(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	text := all.Text()
	if n := strings.Count(text, "chunks are stored;") + strings.Count(text, "chunks is stored;"); n != 6 || strings.Contains(text, "ratio") {
		t.Errorf("a folder: %s", text)
	}
	out, err := all.(*Contents).Output()
	if err != nil || !strings.Contains(out.HTML, "1 of 12 chunks is stored") {
		t.Errorf("%v: %s", err, out.HTML)
	}
}

// Arrays of many chunks are listed only where that is asked for, also where many arrays have them together.
func TestReadListsFewChunksOnly(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name+".zarr")
		if _, err := oocore.Full(float32(1), 1).Save(t.Context(), path, oocore.Chunks(1)); err != nil {
			t.Fatal(err)
		}
		meta := string(testcases.ReadFile(t, filepath.Join(path, "zarr.json")))
		grown := strings.Replace(strings.NewReplacer(" ", "", "\n", "").Replace(meta), `"shape":[1]`, `"shape":[60000]`, 1)
		testcases.WriteFile(t, filepath.Join(path, "zarr.json"), []byte(grown), 0o644)
		if i, err := read(t, path, false); err != nil || i.Listing == nil || i.Listing.Missing != 59_999 {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
		many := strings.Replace(grown, `"shape":[60000]`, `"shape":[100001]`, 1)
		if name == "b" {
			continue
		}
		testcases.WriteFile(t, filepath.Join(path, "zarr.json"), []byte(many), 0o644)
		if i, err := read(t, path, false); err != nil || i.Listing != nil || len(i.Notes) > 0 {
			t.Errorf("many chunks: %+v, %v", i, err)
		}
		if i, err := read(t, path, true); err != nil || i.Listing == nil || i.Listing.Missing != 100_000 {
			t.Errorf("many chunks, asked for: %+v, %v", i, err)
		}
		testcases.WriteFile(t, filepath.Join(path, "zarr.json"), []byte(grown), 0o644)
	}
	all, err := Describe(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, m := range all.(*Contents).Arrays {
		if m.Listing != nil {
			listed++
		}
	}
	if listed != 1 {
		t.Errorf("%d arrays of 60,000 chunks each are listed", listed)
	}
}
