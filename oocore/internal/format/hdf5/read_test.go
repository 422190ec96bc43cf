package hdf5

import (
	"bytes"
	"fmt"
	"os"
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
	storetest.Foreign(t, python, "testdata/make.py", testcases.Seed(t), 120)
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

// A compound whose last member is big-endian, as an attribute may be.
func TestValueWithoutTypeIsNil(t *testing.T) {
	e := element{class: classCompound, size: 8, big: true}
	if v := new(file).value(e, make([]byte, 8)); v != nil {
		t.Errorf("the value is %v", v)
	}
}

func TestFillOfComplexIsNotSaid(t *testing.T) {
	s := &dataset{object: &object{f: new(file)}, shape: []int{2}, element: element{class: classCompound, size: 16, dtype: dtype.Complex128}, fill: make([]byte, 16)}
	a, err := newArray("x.h5#x", s, nil, store.FileVersion{})
	if err != nil || a.Info().Details.Fill != "" {
		t.Errorf("the fill value is %q, %v", a.Info().Details.Fill, err)
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

// counter counts the bytes that are read of a file.
type counter struct {
	*os.File
	bytes int
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	c.bytes += len(p)
	return c.File.ReadAt(p, at)
}

// TestGroupsAreReadOnce opens an array of a group of which another was opened before.
func TestGroupsAreReadOnce(t *testing.T) {
	for _, file := range []string{"testdata/old.h5", "testdata/new.h5"} {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		var bytes [2]int
		for i, name := range []string{"single", "contiguous"} {
			c := &counter{File: f}
			s, err := find(t.Name()+file, c, st.Size(), name)
			if err != nil {
				t.Fatal(err)
			}
			header := &counter{File: f} // which each array has of its own
			if g, err := open(header, st.Size()); err != nil {
				t.Error(err)
			} else if _, err := g.object(s.address); err != nil {
				t.Error(err)
			}
			bytes[i] = c.bytes - header.bytes
		}
		if bytes[0] == 0 || bytes[1] != 0 {
			t.Errorf("%s: %v bytes of groups were read for the first and the second array", file, bytes)
		}
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	rounds := 300
	if testcases.Full() {
		rounds = 3000
	}
	for _, file := range []string{"testdata/old.h5", "testdata/new.h5"} {
		storetest.Damaged(t, file, testcases.Rand(t), rounds, "#contiguous", "#single", "#fixed", "#soft", "#a/b/tree")
	}
}

func TestCutEndsAtTheFirstExtension(t *testing.T) {
	for path, want := range map[string][2]string{
		"x.h5": {"x.h5", ""}, "x.nc#a.h5": {"x.nc", "a.h5"}, "X.H5AD#obs/x#y": {"X.H5AD", "obs/x#y"}, "a.h5/b.nc#c": {"a.h5/b.nc", "c"},
	} {
		if file, name, ok := extensions.Cut(path); !ok || file != want[0] || name != want[1] {
			t.Errorf("%s: %s, %s, %v", path, file, name, ok)
		}
	}
	if _, _, ok := extensions.Cut("x.h5x#a"); ok {
		t.Error("x.h5x is taken for HDF5")
	}
}

func FuzzDamaged(f *testing.F) {
	storetest.Fuzz(f, []string{"testdata/old.h5", "testdata/new.h5"}, "#contiguous", "#single", "#fixed", "#soft", "#a/b/tree")
}
