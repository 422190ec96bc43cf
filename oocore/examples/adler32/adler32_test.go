package adler32

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// The suite that every codec passes.
func TestConformance(t *testing.T) {
	storetest.TestCodec(t, codec{}, "", `{"location":"end"}`)
}

// The bytes are those that Adler's sum has on paper: a = 1 + 0 + 1 + … + 5 = 16, b = 6 + 0·6 + 1·5 + 2·4 + 3·3 + 4·2 + 5·1 = 41.
func TestChunkIsBytesOnPaper(t *testing.T) {
	for text, want := range map[string][]byte{
		"numcodecs.adler32":                    {16, 0, 41, 0, 0, 1, 2, 3, 4, 5},
		`numcodecs.adler32:{"location":"end"}`: {0, 1, 2, 3, 4, 5, 16, 0, 41, 0},
	} {
		path := filepath.Join(t.TempDir(), "x.zarr")
		if _, err := oocore.FromSlice([]uint8{0, 1, 2, 3, 4, 5}).Save(t.Context(), path, oocore.Codec(text)); err != nil {
			t.Fatal(err)
		}
		chunk, err := os.ReadFile(filepath.Join(path, "c", "0"))
		if err != nil || !bytes.Equal(chunk, want) {
			t.Errorf("%s: the chunk is %v, not %v: %v", text, chunk, want, err)
		}
	}
}

// zarr-python, whose codec is numcodecs', reads what is written here, and writes what is read here.
func TestExchangeWithNumcodecs(t *testing.T) {
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" {
		t.Skip("GONBEXT_PYTHON names no Python with zarr")
	}
	dir := t.TempDir()
	for _, text := range []string{"", `{"location":"end"}`} {
		ours, theirs := filepath.Join(dir, "ours.zarr"), filepath.Join(dir, "theirs.zarr")
		full := strings.TrimSuffix("numcodecs.adler32:"+text, ":")
		if _, err := oocore.FromSlice([]int32{5, -3, 1 << 30, 7, 8, 9}, 2, 3).Save(t.Context(), ours, oocore.Codec(full), oocore.Fresh()); err != nil {
			t.Fatal(err)
		}
		script := `
import json, sys, zarr, numpy
from zarr.codecs.numcodecs import Adler32
ours, theirs, text = sys.argv[1:]
assert zarr.open_array(ours, mode="r")[:].tolist() == [[5, -3, 1 << 30], [7, 8, 9]], zarr.open_array(ours, mode="r")[:]
a = zarr.create_array(theirs, shape=(2, 3), chunks=(1, 3), dtype="int32", compressors=[Adler32(**json.loads(text or "{}"))], overwrite=True)
a[:] = numpy.array([[1, 2, 3], [-4, 5, 6]])
`
		if out, err := exec.Command(python, "-W", "ignore", "-c", script, ours, theirs, text).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got, err := oocore.Collect[int32](t.Context(), oocore.Open(theirs))
		if err != nil || !slices.Equal(got, []int32{1, 2, 3, -4, 5, 6}) {
			t.Errorf("%q: what zarr-python writes is %v: %v", text, got, err)
		}
	}
}
