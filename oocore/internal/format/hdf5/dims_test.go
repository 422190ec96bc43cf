package hdf5

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/store"
)

func TestAxesHaveTheNamesOfTheirScales(t *testing.T) {
	want := map[string]string{
		"testdata/one.nc":  "v[y x]",
		"testdata/dims.nc": "lat[lat] row[row] g/v[time lat band] g/w[ lon] time[lat] scales/lon[lon] station[station lat]",
	}
	for file, want := range want {
		members, err := store.Members(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range members {
			info, err := store.Describe(m.Path)
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
	groups, err := store.Groups(t.Context(), "testdata/dims.nc")
	if err != nil || len(groups) != 3 || string(groups["g"]) != `{"title":"group"}` || groups[""] != nil || groups["scales"] != nil {
		t.Error(groups, err)
	}
}
