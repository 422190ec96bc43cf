package npy_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// elements returns the values in a file that NumPy wrote in C order and
// little-endian: all that follows the header's line.
func elements(t *testing.T, path string) string {
	t.Helper()
	b := testcases.ReadFile(t, path)
	_, data, found := strings.Cut(string(b), "}")
	_, data, ok := strings.Cut(data, "\n")
	if !found || !ok {
		t.Fatalf("%s has no header", path)
	}
	return data
}

func TestOpenReadsWhatNumPyWrote(t *testing.T) {
	storetest.NoLeaks(t)
	shapes := map[string][]int{
		"scalar": {}, "empty": {0, 3}, "onedim": {17}, "fivedim": {2, 3, 1, 4, 2},
		"fortran": {13, 7}, "bigendian": {13, 7}, "header_v2": {13, 7}, "header_v3": {13, 7},
	}
	files, _ := filepath.Glob("testdata/npy/*.npy")
	if len(files) != 22 {
		t.Fatalf("%d fixtures found, want 22", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".npy")
		t.Run(name, func(t *testing.T) {
			a, err := storage.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			info := a.Info()
			wantShape, special := shapes[name]
			wantType := dtype.Float32
			if !special {
				wantShape = []int{5, 6}
				if wantType, err = dtype.Parse(name); err != nil {
					t.Fatal(err)
				}
			}
			if info.DType != wantType || info.Format != "npy" {
				t.Errorf("read as %s %s, want npy %s", info.Format, info.DType, wantType)
			}
			// A Fortran file shows the reverse shape; its elements are the
			// transpose of the expected ones.
			region := storetest.All(info.Shape)
			got := make([]byte, region.Size()*info.DType.Size())
			if err := a.Read(context.Background(), got, region); err != nil {
				t.Fatal(err)
			}
			if info.Fortran != (name == "fortran") {
				t.Errorf("Fortran is %t", info.Fortran)
			}
			if info.Fortran {
				got = transpose(got, info.Shape[0], info.Shape[1], info.DType.Size())
				info.Shape[0], info.Shape[1] = info.Shape[1], info.Shape[0]
			}
			if grid.Format(info.Shape) != grid.Format(wantShape) {
				t.Errorf("shape %v, want %v", info.Shape, wantShape)
			}
			if want := elements(t, "testdata/expected/"+name+".npy"); string(got) != want {
				t.Errorf("values differ: %x, want %x", got, want)
			}
		})
	}
}

func transpose(b []byte, rows, cols, size int) []byte {
	out := make([]byte, 0, len(b))
	for c := range cols {
		for r := range rows {
			at := (r*cols + c) * size
			out = append(out, b[at:at+size]...)
		}
	}
	return out
}

func TestOpenRefusesBadFiles(t *testing.T) {
	storetest.NoLeaks(t)
	causes := map[string]string{
		"empty":        "the file is empty",
		"huge_shape":   "shape (9223372036854775807, 6) of 4-byte elements has more bytes than 63 bits count",
		"magic":        "not an npy file",
		"negative":     "shape (-5, 6) has a negative length",
		"object":       `object dtype "|O"`,
		"short_header": "the header is cut short",
		"string":       `string (unicode) dtype "<U2"`,
		"structured":   "add #NAME to the path",
		"truncated":    "the file is cut short: shape (5, 6) of float32 needs 248 bytes, it has 243",
	}
	files, _ := filepath.Glob("testdata/bad/*.npy")
	if len(files) != len(causes) {
		t.Fatalf("%d bad files found, want %d", len(files), len(causes))
	}
	for _, file := range files {
		_, err := storage.Open(file)
		storetest.CheckError(t, err, file, causes[strings.TrimSuffix(filepath.Base(file), ".npy")])
	}
}

func TestPathOfAnAdapterNamesItsPackage(t *testing.T) {
	_, err := storage.Open("x.PNG")
	if err == nil || !strings.Contains(err.Error(), `import _ "github.com/gonbext/gonbext/oocore/adapters/images"`) {
		t.Errorf("opening a picture without its package: %v", err)
	}
}

func TestPackedFileIsToBeUnpacked(t *testing.T) {
	for path, says := range map[string]string{
		"x.fits.bz2": "packed by bzip2, in which no array can be read: unpack it first (bunzip2 -k x.fits.bz2), and name x.fits",
		"x.npz.gz":   "no such file",
	} {
		if _, err := storage.Open(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, says := range map[string]string{"a/x.nii.gz": "save to x.nii", "x.NPY.GZ": "save to x.NPY", "x.raw.zst?shape=2&dtype=u1": "save to x.raw"} {
		if _, err := storage.Create(path, store.Meta{Shape: []int{2}, DType: dtype.Uint8}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("creating %s: %v", path, err)
		}
	}
}

// TestReadFields reads the fields of records as NumPy does, from npy files and from raw ones by offset and stride.
func TestReadFields(t *testing.T) {
	storetest.Foreign(t, "structured arrays that NumPy writes", "testdata/fields.py", 150)
}
