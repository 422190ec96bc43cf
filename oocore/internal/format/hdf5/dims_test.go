package hdf5

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestAxesHaveTheNamesOfTheirScales(t *testing.T) {
	want := map[string]string{
		"testdata/one.nc":  "v[y x]",
		"testdata/dims.nc": "lat[lat] row[row] g/v[time lat band] g/w[ lon] time[lat] scales/lon[lon] station[station lat]",
	}
	for file, want := range want {
		members, err := storage.Members(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range members {
			info, err := storage.Describe(m.Path)
			if err != nil {
				t.Error(err)
			}
			got = append(got, fmt.Sprint(m.Name, info.Details.Dims))
			if a := string(info.Details.Attributes); a != "" && a != `{"units":"m"}` {
				t.Errorf("%s has the attributes %s", m.Path, a)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %s, want %s", file, got, want)
		}
	}
	if _, err := store.Open("testdata/one.nc#y"); err == nil || !strings.Contains(err.Error(), "is a dimension without a variable") {
		t.Error(err)
	}
	if data, kind, err := read(t, "testdata/dims.nc#time"); err != nil || kind != "int64 [2]" || data[0] != 7 {
		t.Error(data, kind, err)
	}
	groups, err := storage.Groups(t.Context(), "testdata/dims.nc")
	if err != nil || len(groups) != 3 || string(groups["g"].Attributes) != `{"title":"group"}` || groups[""].Attributes != nil || groups["scales"].Attributes != nil {
		t.Error(groups, err)
	}
}

// TestArraysOfLargeGroupsOpenInLinearTime counts what is read where a directory does not hold the names at first.
func TestArraysOfLargeGroupsOpenInLinearTime(t *testing.T) {
	before := maxHeld
	defer func() { maxHeld = before }()
	maxHeld = 16
	read := func(arrays int) int64 {
		b := testcases.ReadFile(t, fmt.Sprintf("testdata/many%d.h5", arrays))
		r := &counted{Reader: bytes.NewReader(b)}
		var held *directory
		for i := range arrays {
			f, err := open(r, int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			if held != nil {
				f.directory = held
			}
			held = f.directory
			a, err := f.dataset(fmt.Sprint("a", i))
			if err != nil || !slices.Equal(a.details.Dims, []string{"x"}) {
				t.Fatal(a, err)
			}
		}
		return r.bytes
	}
	if few, many := read(128), read(1024); many > 20*few {
		t.Errorf("%d bytes are read to open 128 arrays, and %d for 1024", few, many)
	}
}

// TestUnlimitedDimensionsAreAsLongAsTheirLongestVariable reads variables of NetCDF-4 that were written less far than others.
func TestUnlimitedDimensionsAreAsLongAsTheirLongestVariable(t *testing.T) {
	storetest.Foreign(t, "NetCDF-4 files with unlimited dimensions that netCDF4 writes", "testdata/unlimited.py", 40)
}
