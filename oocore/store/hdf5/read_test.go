package hdf5

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// read returns the elements of an array, and its shape and type.
func read(t *testing.T, path string) (data []byte, kind string, err error) {
	t.Helper()
	a, err := store.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer a.Close()
	info := a.Info()
	region := storetest.All(info.Shape)
	data = make([]byte, region.Size()*info.DType.Size())
	shape := append([]int{}, info.Shape...)
	return data, fmt.Sprint(info.DType, shape), a.Read(t.Context(), data, region)
}

// TestReadInterchange reads what h5py writes in any layout, as h5py reads it.
func TestReadInterchange(t *testing.T) {
	python := os.Getenv("GONBEXT_PYTHON")
	if !testcases.Full() || python == "" {
		t.Skip("without GONBEXT_TEST=full and GONBEXT_PYTHON: files that h5py writes were not read")
	}
	const files = 120
	dir, seed := t.TempDir(), testcases.Seed(t)
	if out, err := exec.Command(python, "testdata/make.py", dir, strconv.FormatUint(seed, 10), strconv.Itoa(files)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for k := range files {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.json", k)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		if err := json.Unmarshal(text, &names); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.h5", k))
		for i, name := range names {
			want, kind, err := read(t, filepath.Join(dir, fmt.Sprintf("%d.%d.npy", k, i)))
			if err != nil {
				t.Fatal(err)
			}
			got, gotKind, err := read(t, file+"#"+name)
			switch {
			case err != nil:
				t.Errorf("file %d of seed %d: %v", k, seed, strings.ReplaceAll(err.Error(), dir, ""))
			case gotKind != kind:
				t.Errorf("file %d of seed %d, %s: %s, not %s", k, seed, name, gotKind, kind)
			case !bytes.Equal(got, want):
				t.Errorf("file %d of seed %d, %s: other elements of %s", k, seed, name, kind)
			}
		}
	}
}

// counting are the arrays of the fixtures, which count up in C order.
var counting = map[string]string{
	"contiguous": "float64 [3 5]", "single": "float32 [6 7]", "fixed": "float32 [30 7]",
	"a/extensible": "int16 [40 6]", "soft": "int16 [40 6]", "/group/b/tree": "int32 [9 8]",
}

func TestReadFixtures(t *testing.T) {
	for _, file := range []string{"testdata/old.h5", "testdata/new.h5"} {
		for name, want := range counting {
			data, kind, err := read(t, file+"#"+name)
			if err != nil || kind != want {
				t.Errorf("%s: %s, %v", name, kind, err)
				continue
			}
			a, _ := store.Open(file + "#" + name)
			size := a.Info().DType.Size()
			for i := range len(data) / size {
				v := dtype.FromInt(a.Info().DType, int64(i))
				var element [16]byte
				v.Put(element[:])
				if !bytes.Equal(data[i*size:(i+1)*size], element[:size]) {
					t.Errorf("%s of %s: element %d is %x", name, file, i, data[i*size:(i+1)*size])
					break
				}
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestOpenNamesWhatIsThere(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/old.h5":         `add #NAME to the path`,
		"testdata/old.h5#nothing": `no array "nothing": the file has "a/b/tree", "a/extensible", "contiguous"`,
		"testdata/new.h5#a":       `"a" is a group, not an array`,
		"testdata/make.py#x":      "unknown",
		"testdata/none.h5#x":      "no such file",
	} {
		_, err := store.Open(path)
		if err == nil || !strings.Contains(err.Error(), want) && want != "unknown" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestDamagedFilesAreErrors changes bytes of the fixtures: what opens is read, or is an error,
// in bounded time and memory.
func TestDamagedFilesAreErrors(t *testing.T) {
	rounds := 300
	if testcases.Full() {
		rounds = 4000
	}
	random := testcases.Rand(t)
	for _, file := range []string{"testdata/old.h5", "testdata/new.h5"} {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x.h5")
		for range rounds {
			b := bytes.Clone(whole)
			for range 1 + random.IntN(4) {
				switch at := random.IntN(len(b)); random.IntN(4) {
				case 0:
					b[at] = byte(random.Uint32())
				case 1:
					b[at] ^= 1 << random.IntN(8)
				case 2:
					b[at] = 0xff
				case 3:
					b = b[:max(at, 1)]
				}
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			for name := range counting {
				a, err := store.Open(path + "#" + name)
				if err != nil {
					if strings.Contains(err.Error(), "\n") {
						t.Errorf("%q has several lines", err)
					}
					continue
				}
				if region := storetest.All(a.Info().Shape); region.Size() < 1<<16 {
					_ = a.Read(t.Context(), make([]byte, region.Size()*a.Info().DType.Size()), region)
				}
				a.Close()
			}
		}
	}
}
