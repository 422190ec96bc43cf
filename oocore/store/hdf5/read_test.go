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
