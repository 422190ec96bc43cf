package oocore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// month saves an array of a group of its own: time and lat, counted from a first number, with the units of the dates.
func month(t *testing.T, group, units string, lat []float64, from float64, times ...float64) {
	t.Helper()
	for i, a := range []*oocore.Array{
		oocore.Arange(from, from+float64(2*len(times)), 1).Reshape(len(times), 2),
		oocore.FromSlice(times), oocore.FromSlice(lat),
	} {
		dims := [][]string{{"time", "lat"}, {"time"}, {"lat"}}[i]
		options := []oocore.Option{oocore.DimNames(dims...)}
		if i == 1 {
			options = append(options, oocore.Attributes(map[string]any{"units": units}))
		}
		if _, err := a.Save(t.Context(), filepath.Join(group, []string{"v", "time", "lat"}[i]), options...); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFilesAreJoinedByTheirLabels joins files along a dimension that they have: their labels are their order, and dates are the same
// whatever they are counted from.
func TestFilesAreJoinedByTheirLabels(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	lat := []float64{10, 20}
	month(t, at("b.zarr"), "days since 2001-01-01", lat, 0, 0, 1, 2)
	month(t, at("a.zarr"), "days since 2001-01-04", lat, 6, 0, 1)
	month(t, at("c.zarr"), "hours since 2001-01-06", lat, 10, 0)
	x := oocore.Open(at("*.zarr") + "/v?concat=time")
	if got := collected(x); x.Err() != nil || !slices.Equal(got, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
		t.Fatalf("%v: %v", x, got)
	}
	if got := collected(x.Coord("time").Day()); !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("the days are %v; %v", got, x.Coord("time").Err())
	}
	if got := collected(x.Sel("time", "2001-01-03/2001-01-04", "lat", 20)); !slices.Equal(got, []float64{5, 7}) {
		t.Errorf("of two files %v is selected", got)
	}
	month(t, at("d.zarr"), "days since 2001-01-06", lat, 12, 0, 1)
	month(t, at("e.zarr"), "days since 2001-02-06", []float64{10, 21}, 12, 0, 1)
	month(t, at("f.zarr"), "days since 2001-02-06", []float64{10, 21}, 12, 1, 0, 1)
	for pattern, want := range map[string]string{
		"[abcd].zarr/v?concat=time": `d.zarr/v overlap: 2001-01-06 to 2001-01-06, and 2001-01-06 to 2001-01-07`,
		"[abce].zarr/v?concat=time": `the labels along "lat" differ: 20 and 21 at place 1, in `,
		"[af].zarr/v?concat=time":   `neither rise nor fall`,
		"[ab].zarr/v?concat=lev":    `"lev" is not found in the dimensions`,
		"[ab].zarr/v?concat=2":      `axis`,
		"[ab].zarr/v?concat=lat":    `joined along axis 1 differ in that length alone`,
		"[de].zarr/v?axis=run":      `the labels along "time" differ: 2001-01-06 and 2001-02-06 at place 0, in `,
	} {
		a := oocore.Open(at(pattern))
		if _, err := a.Save(t.Context(), at("o.npy")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
	if x := oocore.Open(at("[ab].zarr") + "/v?concat=0"); !slices.Equal(x.Shape(), []int{5, 2}) {
		t.Errorf("by its index: %v", x)
	}
}

// TestFilesOfDifferentLengthsAreJoined joins files without labels in the order of their names.
func TestFilesOfDifferentLengthsAreJoined(t *testing.T) {
	dir := t.TempDir()
	for i, n := range []int{3, 1, 2} {
		if _, err := oocore.Full(i, n, 2).Save(t.Context(), filepath.Join(dir, "m"+string(rune('0'+i))+".npy")); err != nil {
			t.Fatal(err)
		}
	}
	x := oocore.Open(filepath.Join(dir, "m*.npy?concat=0"))
	if got := collected(x.Slice(":, 0")); !slices.Equal(got, []float64{0, 0, 0, 1, 2, 2}) {
		t.Errorf("%v: %v", x, got)
	}
	if err := oocore.Open(filepath.Join(dir, "n*.npy?concat=0")).Err(); err == nil || !strings.Contains(err.Error(), "no file matches") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m3.npy"), []byte("no"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := oocore.Open(filepath.Join(dir, "m*.npy?concat=0")).Err(); err == nil || !strings.Contains(err.Error(), "m3.npy") {
		t.Error(err)
	}
}
