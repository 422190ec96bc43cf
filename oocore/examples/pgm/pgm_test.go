package pgm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

func write(t testing.TB, header string, pixels []byte) string {
	path := filepath.Join(t.TempDir(), "x.pgm")
	if err := os.WriteFile(path, append([]byte(header), pixels...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The suite that every format passes. A picture has two dimensions: the suite's arrays of others are rows of npy.
func TestConformance(t *testing.T) {
	storetest.TestArray(t, []dtype.Type{dtype.Uint8, dtype.Uint16}, func(t testing.TB, m store.Meta, data []byte) store.Array {
		if len(m.Shape) != 2 || slices.Contains(m.Shape, 0) {
			path := filepath.Join(t.TempDir(), "x.npy")
			storetest.Save(t, path, m, data)
			return storetest.Open(t, path)
		}
		most, pixels := 255, slices.Clone(data)
		if m.DType == dtype.Uint16 {
			most = 65535
			for i := 0; i < len(pixels); i += 2 {
				pixels[i], pixels[i+1] = pixels[i+1], pixels[i]
			}
		}
		return storetest.Open(t, write(t, fmt.Sprintf("P5\n# a comment\n%d %d\n%d\n", m.Shape[1], m.Shape[0], most), pixels))
	})
}

func TestOpenPicture(t *testing.T) {
	x := oocore.Open(write(t, "P5 3 2 255\n", []byte{1, 2, 3, 4, 5, 6}))
	got, err := oocore.Collect[uint8](t.Context(), x.Transpose())
	if err != nil || !slices.Equal(got, []uint8{1, 4, 2, 5, 3, 6}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestDamagedPicturesAreErrors(t *testing.T) {
	for header, cause := range map[string]string{"P4 3 2 255\n": "P5", "P5 3 x 255\n": "damaged", "P5 3 2 70000\n": "65535", "P5 30 20 255\n": "", "P5": "damaged"} {
		path := write(t, header, []byte{1, 2, 3, 4, 5, 6})
		if _, err := store.Open(path); err == nil {
			t.Errorf("%q is taken", header)
		} else if cause != "" {
			storetest.CheckError(t, err, path, cause)
		}
	}
}
