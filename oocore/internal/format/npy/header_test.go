package npy

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestParseNpyHeader(t *testing.T) {
	f4 := store.Extent{Shape: []int{3, 4}, DType: dtype.Float32}
	for text, want := range map[string]store.Extent{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }      \n": f4,
		"{'shape':(3,4),'fortran_order':False,'descr':'<f4'}":                 f4,
		" {\"descr\" : \"=f4\",\n 'fortran_order' :False, 'shape': (3,4,)}":   f4,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4L), }":       f4,
		"{'descr': '>c16', 'fortran_order': True, 'shape': (5,)}":             {Shape: []int{5}, DType: dtype.Complex128, Big: true, Fortran: true},
		"{'descr': '|b1', 'fortran_order': False, 'shape': ()}":               {Shape: []int{}, DType: dtype.Bool},
	} {
		got, err := parseHeader(text, "")
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if !slices.Equal(got.Shape, want.Shape) || got.DType != want.DType || got.Big != want.Big || got.Fortran != want.Fortran {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

func TestParseNpyHeaderNamesWhatIsWrong(t *testing.T) {
	head := func(descr, order, shape string) string {
		return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }"
	}
	for text, want := range map[string]string{
		"":        "it ends too early",
		"{":       "a key is not a string",
		"{'descr": "a string has no end", "[1, 2]": "it is not a dictionary",
		"{'descr' '<f4'}": "a colon is missing", "{'descr': '<f4' 'shape': ()}": "a comma is missing",
		"{'a': 1, 'a': 2}": `key "a" stands twice`,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'extra': 1}": `key "extra" is unknown`,
		head("'<f4'", "False", "(3,)") + "x":                                  "something follows",
		head("'<f4'", "0", "(3,)"):                                            "fortran_order is neither",
		head("'<f4'", "false", "(3,)"):                                        `"f" is not expected here`,
		head("'<f4'", "False", "(3)"):                                         "shape is not a tuple",
		head("'<f4'", "False", "[3]"):                                         "shape is not a tuple",
		head("'<f4'", "False", "(3, 'a')"):                                    "something other than integers",
		head("'<f4'", "False", "(,)"):                                         `"," is not expected here`,
		head("'<f4'", "False", "(3 4)"):                                       "a comma is missing",
		head("'<f4'", "False", "(--3,)"):                                      `"-" is not an integer`,
		head("'<f4'", "False", "(99999999999999999999,)"):                     "does not fit into 64 bits",
		head("'<f4'", "False", "(9223372036854775807, 2)"):                    "more bytes than 63 bits count",
		head("'<f4'", "False", "(0, 9223372036854775807)"):                    "more bytes than 63 bits count",
		head("'<f4'", "False", "(3, -1)"):                                     "has a negative length",
		head("'<f4'", "False", "("+strings.Repeat("1,", 33)+")"):              "33 dimensions",
		head("'<f4'", "False", strings.Repeat("(", 40)):                       "nested too deeply",
		head("1", "False", "(3,)"):                                            "descr: it is not a string",
		head("''", "False", "(3,)"):                                           `dtype "" is unknown`,
		head("'<>f4'", "False", "(3,)"):                                       `dtype "<>f4" is unknown`,
		head("'<f3'", "False", "(3,)"):                                        "long double",
		head("'<q4'", "False", "(3,)"):                                        `dtype "<q4" is unknown`,
		head("'|V2'", "False", "(3,)"):                                        "bfloat16 from ml_dtypes",
		head("'|S5'", "False", "(3,)"):                                        "string (bytes)",
		head("'<M8[Y]'", "False", "(3,)"):                                     "datetime64",
		head("[('it\\'s', '<f4'), ('b', '<i2', (2,))]", "False", "(3,)"):      `"b" as fields: add #NAME to the path`,
		head("[('b', '|O')]", "False", "(3,)"):                                `field "b": dtype "O" is unknown`,
		head("[('b', '<i2', 2)]", "False", "(3,)"):                            "shape is not a tuple",
		head("[('b',)]", "False", "(3,)"):                                     "no tuple of name, type and shape",
		head("[('b', '<f4', (9223372036854775807, 2))]", "False", "(3,)"):     "more bytes than 63 bits count",
	} {
		if _, err := parseHeader(text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestReadHeaderIsBounded(t *testing.T) {
	v2 := func(version byte, claimed uint32) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(magic+string([]byte{version, 0})), claimed), "{}"...)
	}
	for want, file := range map[string][]byte{
		"claims 4294967295 bytes, more than 1048576 are not read": v2(2, 1<<32-1),
		"claims 1000000 bytes, the file has only 14":              v2(3, 1000000),
		"version 4.0 is unknown":                                  v2(4, 2),
		"version 2.0 is unknown":                                  v2(2, 2)[:11],
	} {
		_, err := ReadHeader(bytes.NewReader(file), int64(len(file)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestNpyHeaderIsReadBack(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		want := store.Extent{DType: rapid.SampledFrom(dtype.All()).Draw(r, "dtype")}
		want.Shape = rapid.SliceOfN(rapid.IntRange(0, 1000), 0, grid.MaxDims).Draw(r, "shape")
		if grid.Check(want.Shape, want.DType.Size()) != nil {
			return
		}
		head, err := header(want.Shape, want.DType, false, false, disk.Page)
		if want.DType == dtype.BFloat16 {
			if err == nil {
				r.Fatal("npy holds bfloat16")
			}
			return
		}
		if err != nil || len(head)%disk.Page != 0 {
			r.Fatalf("header of %d bytes, error %v", len(head), err)
		}
		got, err := ReadHeader(bytes.NewReader(head), 1<<62)
		if err != nil {
			if grid.Size(want.Shape)*want.DType.Size() > 1<<61 {
				return
			}
			r.Fatal(err)
		}
		if !slices.Equal(got.Shape, want.Shape) || got.DType != want.DType || got.Fortran || got.Big || got.Offset != int64(len(head)) {
			r.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func FuzzNpyHeader(f *testing.F) {
	for _, pattern := range []string{"testdata/npy/*.npy", "testdata/bad/*.npy"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		e, err := ReadHeader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if end := e.Offset + int64(grid.Size(e.Shape)*e.DType.Size()); e.Offset < 10 || end > int64(len(file)) {
			t.Errorf("%+v reaches beyond the file's %d bytes", e, len(file))
		}
	})
}
