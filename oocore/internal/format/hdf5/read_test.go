package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	storetest.Foreign(t, "files that h5py writes", "testdata/make.py", 120)
}

// TestReadFields reads the fields of compounds that h5py writes in any layout.
func TestReadFields(t *testing.T) {
	storetest.Foreign(t, "compounds that h5py writes", "testdata/fields.py", 60)
}

// TestReadFilters reads what h5py writes through the filters that are not HDF5's own.
func TestReadFilters(t *testing.T) {
	python := testcases.Python(t, "filters of hdf5plugin")
	if exec.Command(python, "-c", "import hdf5plugin").Run() != nil {
		t.Skip("Python has no hdf5plugin")
	}
	storetest.Foreign(t, "filters of hdf5plugin", "testdata/filters.py", 140)
}

// filtered are the arrays of a fixture of such filters, which count up.
var filtered = map[string]string{"bitshuffle": "int32 [30 20]", "bitshuffle-lz4": "int32 [30 20]", "bitshuffle-zstd": "int32 [30 20]", "lz4": "int16 [30 20]", "bzip2": "int32 [30 20]", "blosc2": "int32 [30 20]"}

func TestReadFilteredFixture(t *testing.T) {
	var paths []string
	for name, want := range filtered {
		paths = append(paths, "#"+name)
		data, kind, err := read(t, "testdata/filters.h5#"+name)
		if err != nil || kind != want {
			t.Errorf("%s: %s, %v", name, kind, err)
			continue
		}
		size := len(data) / 600
		for i := range 600 {
			if got := binary.LittleEndian.Uint16(data[i*size:]); int(got) != i {
				t.Errorf("element %d of %s is %d", i, name, got)
				break
			}
		}
	}
	storetest.Damaged(t, "testdata/filters.h5", testcases.Rand(t), 1000, paths...)
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

// Files of older formats have the same extensions.
func TestOpenNamesOlderFormats(t *testing.T) {
	for begin, want := range map[string]string{
		"CDF\x03":                                "not an HDF5 file",
		"MATLAB 5.0 MAT-file, Platform: GLNXA64": "-v7.3",
		"":                                       "not an HDF5 file",
	} {
		file := filepath.Join(t.TempDir(), "x.nc")
		for _, size := range []int{len(begin), 4096} {
			if err := os.WriteFile(file, append([]byte(begin), make([]byte, size-len(begin))...), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{file, file + "#v"} {
				if _, err := store.Open(path); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q, %d bytes: %v, want %q", begin, size, err, want)
				}
			}
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
			s, err := find(t.Name()+file, c, st.Size(), name, false)
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
	storetest.Damaged(t, "testdata/virtual.h5", testcases.Rand(t), rounds, "#v", "#w")
	storetest.Damaged(t, "testdata/dims.nc", testcases.Rand(t), rounds, "#g/v", "#g/w", "#station", "#time")
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
	storetest.Fuzz(f, []string{"testdata/old.h5", "testdata/new.h5", "testdata/dims.nc", manyTimes(f, "testdata/old.h5", 1, 15, 8+3*8, 500),
		manyTimes(f, "testdata/old.h5", 0, 1, 8, 2000), overlapping(f, "testdata/old.h5", "a/b/tree", 500)},
		"#contiguous", "#single", "#fixed", "#soft", "#a/b/tree", "#g/v", "#station", "")
}

// edited is a copy of a file in which change was made to the first place that begins with a text and fits.
func edited(t *testing.T, file string, begins []byte, change func(b []byte, at int) bool) string {
	t.Helper()
	b := testcases.ReadFile(t, file)
	for at := 0; ; at++ {
		next := bytes.Index(b[at:], begins)
		if next < 0 {
			t.Fatalf("%s has no %q that fits", file, begins)
		}
		if at += next; change(b, at) {
			break
		}
	}
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	testcases.WriteFile(t, path, b, 0o600)
	return path
}

func TestOpenRejectsHostileFiles(t *testing.T) {
	const file = "testdata/old.h5"
	little := binary.LittleEndian
	lengths := func(n ...uint64) (b []byte) {
		for _, n := range n {
			b = little.AppendUint64(b, n)
		}
		return b
	}
	// node changes the first node of a B-tree of a kind that has entries, whose keys have so many bytes.
	node := func(kind byte, entries uint16, key int, change func(b []byte, at, child int)) string {
		return edited(t, file, []byte("TREE"), func(b []byte, at int) bool {
			if b[at+4] != kind || little.Uint16(b[at+6:]) != entries {
				return false
			}
			change(b, at, at+24+key)
			return true
		})
	}
	loop := func(b []byte, at, child int) {
		b[at+5] = 1 // a level above the leaves
		little.PutUint64(b[child:], uint64(at))
	}
	deflate := func(id uint16) string {
		return edited(t, file, []byte("deflate"), func(b []byte, at int) bool {
			little.PutUint16(b[at-8:], id)
			return true
		})
	}
	const chunks, keyBytes = 15, 8 + 3*8 // of a/b/tree
	for _, c := range []struct{ path, want string }{
		{node(1, chunks, keyBytes, loop) + "#a/b/tree", "its index of chunks: the B-tree at "},
		{node(1, chunks, keyBytes, func(b []byte, _, child int) { little.PutUint64(b[child:], 1<<40) }) + "#a/b/tree", "outside of the file"},
		{node(1, chunks, keyBytes, func(b []byte, at, _ int) { little.PutUint32(b[at+24:], 1<<31) }) + "#a/b/tree", "outside of the file"},
		{node(1, chunks, keyBytes, func(b []byte, at, child int) { copy(b[child+16:], b[at+32:at+48]) }) + "#a/b/tree", "is there twice"},
		{node(0, 1, 8, loop) + "#contiguous", "the B-tree at "},
		{deflate(40000) + "#single", "the HDF5 filter number 40000 is not supported"},
		{edited(t, file, lengths(3, 5, 3, 5), func(b []byte, at int) bool { copy(b[at:], lengths(1<<63, 5, 1<<63, 5)); return true }) + "#contiguous", "a length of 9223372036854775808"},
		{edited(t, file, lengths(3, 5, 3, 5), func(b []byte, at int) bool { copy(b[at:], lengths(1<<40, 1<<40, 1<<40, 1<<40)); return true }) + "#contiguous", "more bytes than 63 bits count"},
		{edited(t, file, lengths(3, 5, 3, 5), func(b []byte, at int) bool { copy(b[at:], lengths(3, 1<<40)); return true }) + "#contiguous", "an axis is longer than it can be"},
		{edited(t, file, lengths(3, 5, 3, 5), func(b []byte, at int) bool { copy(b[at:], lengths(3, 1<<40, 3, 1<<40)); return true }) + "#contiguous", "120 bytes are stored for"},
		{edited(t, file, []byte("/a/extensible"), func(b []byte, at int) bool { copy(b[at:], "/soft\x00"); return true }) + "#soft", "soft links lead in a circle"},
	} {
		_, kind, err := read(t, c.path)
		if err == nil {
			t.Errorf("want %q: it is read as %s", c.want, kind)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
