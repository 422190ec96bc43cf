package netcdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/gonbext/gonbext/oocore/internal/format/hdf5" // has the names that end in .nc
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "NetCDF files that netCDF4 and SciPy write", "testdata/make.py", 120)
}

func TestNamesAndAttributesAreThoseOfTheFile(t *testing.T) {
	members, err := storage.Members(t.Context(), "testdata/small.nc")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range members {
		info, err := storage.Describe(m.Path)
		if m.Name == "name" {
			if err == nil || !strings.Contains(err.Error(), `variable "name": arrays of text (char) are not supported`) {
				t.Error(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %v %s %v %s", m.Name, info.Shape, info.DType, info.Details.Dims, info.Details.Attributes))
	}
	want := []string{
		`a [4 3] int16 [time x] {"_FillValue":-1,"list":[1,2],"nan":"\u004eaN","scale_factor":0.5}`,
		`time [4] float64 [time] `, `x [3] float32 [x] `,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	groups, err := storage.Groups(t.Context(), "testdata/small.nc")
	if err != nil || string(groups[""].Attributes) != `{"title":"small","version":3}` {
		t.Error(groups, err)
	}
	info, err := storage.Describe("testdata/small.nc#a")
	if err != nil {
		t.Fatal(err)
	}
	if at, found, err := storage.Coordinate(t.Context(), &info, 0); !found || err != nil || at.Path != "testdata/small.nc#time" {
		t.Error(at.Path, found, err)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	storetest.Damaged(t, "testdata/small.nc", testcases.Rand(t), 3000, "a", "time", "x")
}

func FuzzDamaged(f *testing.F) {
	storetest.Fuzz(f, []string{"testdata/small.nc"}, "a", "time", "x")
}

// Each of these has one field that contradicts the others, or that no file has.
func TestOpenRejectsContradictions(t *testing.T) {
	whole := testcases.ReadFile(t, "testdata/small.nc")
	dir := t.TempDir()
	put := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], v); return b }
	}
	const a = 0x74 // where the number of dimensions of a stands, and behind it their numbers
	for want, change := range map[string]func(b []byte) []byte{
		"(STREAMING)":                        put(4, 0xffffffff),
		"the file is cut short":              func(b []byte) []byte { return b[:len(b)-11] },
		"the header is cut short or damaged": func(b []byte) []byte { return b[:100] },
		"version 4 of the classic format":    func(b []byte) []byte { b[3] = 4; return b },
		"it has 408 bytes for 4294967294 records": func(b []byte) []byte {
			return put(4, 0xfffffffe)(b[:408])
		},
		`two dimensions have the name "time"`: func(b []byte) []byte {
			return bytes.Replace(b, []byte("\x01x\x00\x00\x00\x00\x00\x00\x03"), []byte("\x04time\x00\x00\x00\x03"), 1)
		},
		`two variables have the name "name"`: func(b []byte) []byte {
			return bytes.Replace(b, []byte("\x04time\x00\x00\x00\x01"), []byte("\x04name\x00\x00\x00\x01"), 1)
		},
		`two attributes have the name "nan"`:        func(b []byte) []byte { return bytes.Replace(b, []byte("\x04list"), []byte("\x03nan\x00"), 1) },
		`"a" has dimension 9 of 2`:                  put(a+4, 9),
		`has the record dimension "time" behind`:    put(a+8, 0),
		"a list has the tag 11 and should have 12":  put(a+12, 11),
		`dimensions "time" and "x" are both`:        put(0x24, 0),
		"begin at 4, in the header":                 func(b []byte) []byte { return put(bytes.Index(b, []byte("\x00\x00\x00\x03\x00\x00\x00\x08"))+8, 4)(b) },
		"elements of type 77 are unknown":           func(b []byte) []byte { return put(bytes.Index(b, []byte("\x00\x00\x00\x03\x00\x00\x00\x08")), 77)(b) },
		"more bytes than 63 bits count":             cdf5(1<<62, 1<<62),
		"a length or offset of 9223372036854775808": cdf5(1<<63, 1),
	} {
		path := filepath.Join(dir, "x.nc")
		testcases.WriteFile(t, path, change(bytes.Clone(whole)), 0o600)
		if x, err := store.Open(path + "#a"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s; %v", err, want, x)
		}
	}
}

// cdf5 makes a file with one variable of two dimensions.
func cdf5(n, m uint64) func([]byte) []byte {
	return func([]byte) []byte {
		b := []byte("CDF\x05")
		long := func(all ...uint64) {
			for _, v := range all {
				b = binary.BigEndian.AppendUint64(b, v)
			}
		}
		word := func(v uint32) { b = binary.BigEndian.AppendUint32(b, v) }
		name := func(c string) { long(1); b = append(b, c[0], 0, 0, 0) }
		long(0)
		word(tagDimension)
		long(2)
		name("y")
		long(n)
		name("x")
		long(m)
		word(0)
		long(0)
		word(tagVariable)
		long(1)
		name("a")
		long(2, 0, 1)
		word(0)
		long(0)
		word(double)
		long(0, uint64(len(b)+16))
		return append(b, make([]byte, 64)...)
	}
}
