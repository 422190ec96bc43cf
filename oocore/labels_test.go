package oocore_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

// labelled is rows and columns with labels, and no file.
func labelled() *oocore.Array {
	x := oocore.Arange(0, 12, 1).Reshape(3, 4)
	return x.WithCoord("lat", oocore.FromSlice([]float64{60, 50, 40})).WithCoord("lon", oocore.FromSlice([]int64{0, 5, 10, 15}))
}

// TestLabelsGoWithAxes follows labels through operations.
func TestLabelsGoWithAxes(t *testing.T) {
	x := labelled()
	lat, lon := []float64{60, 50, 40}, []float64{0, 5, 10, 15}
	for name, c := range map[string]struct {
		a        *oocore.Array
		lat, lon []float64 // nil: there are none
	}{
		"itself":      {x, lat, lon},
		"negative":    {x.Neg(), lat, lon},
		"cast":        {x.AsType(oocore.Float32), lat, lon},
		"reversed":    {x.Slice("::-1, 1:3"), []float64{40, 50, 60}, []float64{5, 10}},
		"transposed":  {x.T(), lat, lon},
		"row":         {x.Slice("1"), nil, lon},
		"mean":        {x.Mean(0), nil, lon},
		"running sum": {x.Cumsum(1), lat, lon},
		"taken":       {x.Take(oocore.FromSlice([]int64{2, 0, 0}), 0), []float64{40, 60, 60}, lon},
		"joined":      {oocore.Concatenate(0, x, x), []float64{60, 50, 40, 60, 50, 40}, lon},
		"sorted":      {x.Sort(1), lat, nil},
		"rolled":      {x.Roll(1, 1), lat, nil},
		"product":     {x.MatMul(oocore.Ones(oocore.Int64, 4, 2)), lat, nil},
		"reshaped":    {x.Reshape(12), nil, nil},
		"with itself": {x.Add(x.Mul(2)), lat, lon},
		"with less":   {x.Sub(x.Mean(0)), lat, lon},
		"of the same": {x.Add(labelled()), lat, lon},
		"anew":        {x.WithCoord("lat", oocore.FromSlice([]float64{1, 2, 3})), []float64{1, 2, 3}, lon},
		"taken away":  {x.WithCoord("lat", nil), nil, lon},
		"later":       {x.Diff(1, 1), lat, []float64{5, 10, 15}},
		"rolling":     {x.Rolling(oocore.ReduceMean, oocore.RollingOptions{Window: 2}), []float64{50, 40}, lon},
		"ranks":       {x.RankData("min", 0), lat, lon},
		"slopes":      {x.GradientAt(x.Coord("lat"), 0), lat, lon},
		"fitted":      {x.Coord("lat").PolyFit(x, 1), nil, lon},
	} {
		for dim, want := range map[string][]float64{"lat": c.lat, "lon": c.lon} {
			got := c.a.Coord(dim)
			if want == nil {
				if got.Err() == nil {
					t.Errorf("%s: %s has labels %v", name, dim, collected(got))
				}
				continue
			}
			if got.Err() != nil || !slices.Equal(collected(got), want) {
				t.Errorf("%s: the labels along %s are %v, want %v", name, dim, got, want)
			}
		}
	}
}

// TestGroupsOfLabelsAreTitledAsCalled reads titles.
func TestGroupsOfLabelsAreTitledAsCalled(t *testing.T) {
	x := labelled()
	for want, a := range map[string]*oocore.Array{
		`, "lat", "mean"): 3 × 4 float64`:      oocore.Eval(`groupby(x, "lat", "mean")`, oocore.Names{"x": x}),
		`, "lon", "nanmedian"): 3 × 4 float64`: x.AsType(oocore.Float64).GroupByLabel("lon").Reduce("nanmedian", 0),
	} {
		if title := a.String(); !strings.HasPrefix(title, "groupby(") || !strings.Contains(title, want) {
			t.Errorf("the title is %s, and is to have %s", title, want)
		}
	}
}

// TestOtherLabelsAreAnError puts arrays together that stand for other places.
func TestOtherLabelsAreAnError(t *testing.T) {
	x := labelled()
	for name, a := range map[string]*oocore.Array{
		"reversed":   x.Add(x.Slice("::-1")),
		"neighbours": x.Slice("1:").Sub(x.Slice(":-1")),
		"expression": oocore.Eval("x * y", oocore.Names{"x": x, "y": x.WithCoord("lat", oocore.FromSlice([]float64{60, 50, 41}))}),
	} {
		_, err := oocore.Collect[int64](t.Context(), a.AsType(oocore.Int64))
		if err == nil || !strings.Contains(err.Error(), `the labels along "lat" differ: `) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := oocore.Collect[int64](t.Context(), x.WithCoord("lat", nil).Add(x.Slice("::-1"))); err != nil {
		t.Errorf("labels that were taken away: %v", err)
	}
}

// TestSelSaysWhatIsWrong has one sentence for each selection that there is none of.
func TestSelSaysWhatIsWrong(t *testing.T) {
	x := labelled()
	for want, a := range map[string]*oocore.Array{
		`there is no 55: the nearest is 60`:              x.Sel("lat", 55),
		`"lev" is not found in the dimensions`:           x.Sel("lev", 55),
		`they are numbers: they are 60 to 40`:            x.Sel("lat", "north"),
		`"a" is not a number`:                            x.Sel("lat", "a/3"),
		`it takes pairs of a dimension and a label`:      x.Sel("lat"),
		`a dimension is named by text, not by 3`:         x.Sel(3, "lat"),
		`60 stands at 2 places`:                          x.WithCoord("lat", oocore.FromSlice([]float64{60, 60, 1})).Sel("lat", 60),
		`they neither rise nor fall`:                     x.WithCoord("lat", oocore.FromSlice([]float64{60, 1, 50})).Sel("lat", "1/60"),
		`the dimension "lat" has no labels`:              x.WithCoord("lat", nil).Sel("lat", 60),
		`are not one for each of the 3 places`:           x.WithCoord("lat", oocore.FromSlice([]float64{1})),
		`the labels along "lat" are no dates`:            x.GroupByLabel("lat.month").Mean(),
		`"1 fortnight" is no period`:                     x.Resample("lat", "1 fortnight").Mean(),
		`"moth" is no field of a date`:                   x.GroupByLabel("lat.moth").Mean(),
		`has no "mode": use sum, prod`:                   x.GroupByLabel("lat").Reduce("mode", 0),
		`takes dates: numbers whose attribute units`:     x.Month(),
		`the label of "lat": `:                           x.Sel("lat", []bool{true}),
		`labels along "lat": they are numbers`:           x.Sel("lat", []string{"a"}),
		`several are given by an array of one dimension`: x.Sel("lat", x),
	} {
		if err := a.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is to be said, and %v is", want, err)
		}
	}
	if empty := x.Sel("lat", "30/20"); empty.Err() != nil || !slices.Equal(empty.Shape(), []int{0, 4}) {
		t.Errorf("a range without labels gives %v", empty)
	}
}

// TestLabelsAreSavedBesideResults saves results in a group: their labels are there, and shared.
func TestLabelsAreSavedBesideResults(t *testing.T) {
	group := filepath.Join(t.TempDir(), "out.zarr")
	for _, name := range []string{"a", "b"} {
		if _, err := labelled().Mul(2).Save(t.Context(), filepath.Join(group, name)); err != nil {
			t.Fatal(err)
		}
	}
	names := oocore.OpenAll(group).Names()
	slices.Sort(names)
	if !slices.Equal(names, []string{"a", "b", "lat", "lon"}) {
		t.Errorf("the group has %q", names)
	}
	saved := oocore.Open(filepath.Join(group, "b"))
	if got := collected(saved.Sel("lon", 10, "lat", "55/45")); !slices.Equal(got, []float64{12}) {
		t.Errorf("of the saved array %v is selected", got)
	}
	for _, c := range []struct {
		name string
		a    *oocore.Array
		want string // "" is no error
	}{
		{"c", labelled().WithCoord("lat", oocore.FromSlice([]float64{60, 50, 41})), `the labels along "lat" differ: 41 and 40 at place 2`},
		{"c", labelled().Slice("::-1"), `the labels along "lat" differ: 40 and 60 at place 0`},
		{"c", labelled().AsType(oocore.Float32).WithCoord("lat", nil), ""},
		{"inner/c", labelled().Slice("::-1"), ""},
	} {
		_, err := c.a.Save(t.Context(), filepath.Join(group, c.name))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v as %s: %v, want %q", c.a, c.name, err, c.want)
		}
		if c.want != "" && oocore.Open(filepath.Join(group, c.name)).Err() == nil {
			t.Errorf("%s is there", c.name)
		}
	}
	if got := collected(oocore.Open(filepath.Join(group, "inner/c")).Coord("lat")); !slices.Equal(got, []float64{40, 50, 60}) {
		t.Errorf("the labels of the array in a group of its own are %v", got)
	}
	for name, want := range map[string]string{"x.npy": "", "x.zarr": "the labels of lat, lon are not saved: "} { // files that have no coordinates
		said := ""
		path := filepath.Join(t.TempDir(), name)
		if _, err := labelled().Save(t.Context(), path, host.Warn(func(w string) { said += w })); err != nil {
			t.Error(err)
		}
		if !strings.HasPrefix(said, want) || (said == "") != (want == "") {
			t.Errorf("saving %s warns %q", name, said)
		}
	}
}

// TestGroupsAndFlagsHaveNames selects by the names that integers stand for: seasons, and those of CF's flags.
func TestGroupsAndFlagsHaveNames(t *testing.T) {
	group := filepath.Join(t.TempDir(), "out.zarr")
	for name, options := range map[string][]oocore.Option{
		"v": {oocore.DimNames("time", "station")}, "time": {oocore.DimNames("time"), oocore.Attributes(map[string]any{"units": "days since 2001-01-15"})},
		"station": {oocore.DimNames("station"), oocore.Attributes(map[string]any{"flag_values": []int{7, 8}, "flag_meanings": "Oslo Bergen"})},
	} {
		a := map[string]*oocore.Array{"v": oocore.Arange(0, 24, 1).Reshape(12, 2), "time": oocore.Arange(0, 360, 30), "station": oocore.FromSlice([]int64{8, 7})}[name]
		if _, err := a.Save(t.Context(), filepath.Join(group, name), options...); err != nil {
			t.Fatal(err)
		}
	}
	x := oocore.Open(filepath.Join(group, "v"))
	seasons := x.GroupByLabel("time.season").Sum()
	if _, err := seasons.Save(t.Context(), filepath.Join(filepath.Dir(group), "s.zarr", "v")); err != nil {
		t.Fatal(err)
	}
	saved := oocore.Open(filepath.Join(filepath.Dir(group), "s.zarr", "v"))
	for what, c := range map[string]struct {
		a    *oocore.Array
		want []float64
	}{
		"a station": {x.Sel("station", "Oslo").Slice(":2"), []float64{1, 3}},
		"a season":  {seasons.Sel("season", "JJA"), []float64{36, 39}}, "a season that was saved": {saved.Sel("season", "JJA", "station", "Oslo"), []float64{39}},
		"groups by name": {x.GroupByLabel("station").Sum().Sel("station", "Bergen").Slice(":2"), []float64{0, 2}},
	} {
		if got := collected(c.a); c.a.Err() != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v; %v", what, got, c.want, c.a.Err())
		}
	}
	if err := x.Sel("station", "Tromso").Err(); err == nil || !strings.Contains(err.Error(), `"Tromso" is none of the names ["Bergen" "Oslo"]`) {
		t.Error(err)
	}
}

// TestSaveWritesLabelsIntoTheFile saves an array to NetCDF, whose labels are in the file then, and adds another that shares them.
func TestSaveWritesLabelsIntoTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.nc")
	x := oocore.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	labelled := x.WithCoord("lon", oocore.FromSlice([]float64{10, 20, 30}))
	for _, at := range []string{path, path + "#twice"} {
		if _, err := labelled.Save(t.Context(), at, oocore.DimNames("lat", "lon")); err != nil {
			t.Fatal(err)
		}
		labelled = labelled.Mul(2)
	}
	var names []string
	for name := range oocore.OpenAll(path).All() {
		names = append(names, name)
	}
	if want := []string{"data", "lon", "twice"}; !slices.Equal(names, want) {
		t.Errorf("the file has %q, want %q", names, want)
	}
	got, err := oocore.Collect[float64](t.Context(), oocore.Open(path+"#twice").Sel("lon", 20))
	if want := []float64{4, 10}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
