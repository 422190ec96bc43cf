package zarr

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// elements reads a stored array whole.
func elements(t *testing.T, path string) (store.Info, []byte) {
	t.Helper()
	a, err := store.Open(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer a.Close()
	info := a.Info()
	p := make([]byte, grid.Size(info.Shape)*info.DType.Size())
	if err := a.Read(t.Context(), p, storetest.All(info.Shape)); err != nil {
		t.Fatalf("%v", err)
	}
	return info, p
}

// TestFixtures reads what zarr-python and TensorStore wrote.
func TestFixtures(t *testing.T) {
	paths, err := filepath.Glob("testdata/zarr[23]/*.zarr")
	if err != nil || len(paths) < 19 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".zarr")
		t.Run(name, func(t *testing.T) {
			want, expected := elements(t, filepath.Join("testdata/expected", name+".npy"))
			got, data := elements(t, path)
			if got.DType == dtype.BFloat16 { // NumPy's file has them as float32
				wide := make([]float32, len(data)/2)
				for i, b := range dtype.Slice[dtype.BFloat16Bits](data) {
					wide[i] = b.Float32()
				}
				got.DType, data = dtype.Float32, dtype.Bytes(wide)
			}
			if got.DType != want.DType || grid.Format(got.Shape) != grid.Format(want.Shape) {
				t.Errorf("%s of %s, not %s of %s", grid.Format(got.Shape), got.DType, grid.Format(want.Shape), want.DType)
			}
			if !bytes.Equal(data, expected) {
				t.Errorf("other elements:\n%x\nnot\n%x", data, expected)
			}
		})
	}
}

// TestBadFixtures wants one line that names the field or file at fault.
func TestBadFixtures(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "nojson.zarr")
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		empty:                           "neither zarr.json nor .zarray",
		"testdata/bad/missing.zarr":     "neither zarr.json nor .zarray",
		"testdata/bad/brokenjson.zarr":  "zarr.json: not valid JSON",
		"testdata/bad/flipped_crc.zarr": "chunk c/0/0: crc32c",
		"testdata/bad/short_chunk.zarr": "chunk c/0/0: it has 10 bytes",
		"testdata/bad/shard_index.zarr": "shard c/0/0: its index does not have its crc32c",
	} {
		a, err := store.Open(path)
		if err == nil {
			info := a.Info()
			err = a.Read(t.Context(), make([]byte, grid.Size(info.Shape)*info.DType.Size()), storetest.All(info.Shape))
			a.Close()
		}
		checkMessage(t, err, path, says)
	}
}

// checkMessage wants an error of one line with the path once and some words.
func checkMessage(t *testing.T, err error, path string, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, it should say %q", path, words)
		return
	}
	text := err.Error()
	if strings.Count(text, path) != 1 || strings.Contains(text, "\n") {
		t.Errorf("%q is not one line with %s in it once", text, path)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
}
