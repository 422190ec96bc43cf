package oocore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPyramidHasMeansOfTwoByTwo(t *testing.T) {
	x := []uint8{
		1, 2, 3, 4, 5,
		3, 4, 5, 7, 8,
		9, 9, 9, 8, 255}
	path := filepath.Join(t.TempDir(), "p.zarr")
	p, err := FromSlice(x, 3, 5).Pyramid(3).Save(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]uint8{x, {2, 5, 6, 9, 8, 255}, {6, 130}} { // 2.5, 4.75, 6.5, 9, 8.5, 255; 5.5, 130.5
		level := Open(fmt.Sprintf("%s#%d", path, i))
		if got, err := Collect[uint8](t.Context(), level); err != nil || !slices.Equal(got, want) || !slices.Equal(level.DimNames(), []string{"y", "x"}) {
			t.Errorf("level %d is %v of %q, %v, want %v", i, got, level.DimNames(), err, want)
		}
	}
	if names := p.Names(); !slices.Equal(names, []string{"0", "1", "2"}) {
		t.Errorf("levels %q", names)
	}
}

// zarr-python reads the levels, NumPy has the means.
func TestPyramidIsReadByZarrPython(t *testing.T) {
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" {
		t.Skip("left out: zarr-python, whose Python GONBEXT_PYTHON names")
	}
	image := RandomIntegers(Uint16, 1, 0, 1<<16, 2, 3, 301, 258)
	path := filepath.Join(t.TempDir(), "p.zarr")
	if _, err := image.Pyramid(4).Save(t.Context(), path, Chunks(1, 2, 64, 64), Memory("64MiB")); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(python, "testdata/pyramid.py", path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// Whatever an image is computed of is read once: the levels are made of chunks in memory, and the last of
// them of what is left of the level before.
func TestPyramidReadsItsInputOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	x, err := Random(Float32, 1, 2, 150, 103).Save(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	const bytes = 2 * 150 * 103 * 4
	for name, c := range map[string]struct {
		image *Array
		read  int64
	}{
		"stored":   {x, bytes},
		"function": {x.Exp(), bytes},
		"slice":    {x.Slice(":, ::-1, 3:"), bytes / 103 * 100},
		"centred":  {x.Sub(x.Mean(0)), 2 * bytes},
		"sorted":   {x.Sort(0), bytes},
		"computed": {RandomIntegers(Uint16, 2, 0, 1<<16, 75, 75), 0},
	} {
		for _, levels := range []int{3, 9} {
			var r RunReport
			saved, err := c.image.Pyramid(levels).Save(t.Context(), filepath.Join(dir, name+".zarr"), Chunks(slices.Repeat([]int{16}, c.image.Dims())...), Memory("256MiB"), Report(&r))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if r.Read != c.read {
				t.Errorf("%s, %d levels: %d bytes are read of %d", name, levels, r.Read, c.read)
			}
			want := c.image
			for i, level := range saved.All() {
				if i != "0" {
					factors := slices.Repeat([]int{1}, want.Dims())
					factors[len(factors)-2], factors[len(factors)-1] = 2, 2
					if want = downsample(want, factors); want.DType() == Float64 {
						want = want.Rint()
					}
					want = want.AsType(c.image.DType())
				}
				if same, err := Collect[bool](t.Context(), level.Equal(want).All()); err != nil || !same[0] {
					t.Errorf("%s, %d levels: level %s differs, %v", name, levels, i, err)
				}
				if want, err = want.Save(t.Context(), filepath.Join(dir, "level-"+i+".npy")); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// Axes are what their names say, in whichever order they lie: y and x are halved, or those that are asked for.
func TestPyramidHalvesAxesByName(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		names, halve string // of the array's axes, and asked for
		axes, shape  string // of level 1
		types        string
	}{
		{"y x s", "", "c y x", "[8 4 3]", "channel space space"},
		{"y x c", "", "c y x", "[8 4 3]", "channel space space"},
		{"z c y x", "", "c z y x", "[6 8 4 2]", "channel space space space"},
		{"z c y x", "z y x", "c z y x", "[6 4 4 2]", "channel space space space"},
		{"time lat lon", "", "time lat lon", "[8 3 4]", "time space space"},
		{"time lat lon", "time", "time lat lon", "[4 6 8]", "time space space"},
		{"x y z t", "", "t z y x", "[4 8 3 4]", "time space space space"},
		{"i y x", "", "z y x", "[8 3 4]", "space space space"},
		{"a b", "", "a b", "[4 3]", "space space"},
		{"row band column", "", "band row column", "[6 4 4]", "channel space space"},
		{"c y x s", "", "two of the axes", "", ""},
		{"t y", "", "which of the axes", "", ""},
		{"y x", "z", `"z" is no axis`, "", ""},
	} {
		names := strings.Fields(c.names)
		x := RandomIntegers(Uint8, 1, 0, 256, []int{8, 6, 8, 4}[:len(names)]...)
		path := filepath.Join(dir, fmt.Sprint(i, ".zarr"))
		p := x.PyramidAlong(2, names, strings.Fields(c.halve)...)
		if c.shape == "" {
			if _, err := p.Save(t.Context(), path); err == nil || !strings.Contains(err.Error(), c.axes) {
				t.Errorf("%s: %v", c.names, err)
			}
			continue
		}
		saved, err := p.Save(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", c.names, err)
			continue
		}
		level := saved.Get("1")
		text, _ := os.ReadFile(filepath.Join(path, "zarr.json"))
		var types []string
		for _, part := range strings.Split(string(text), `"type":`)[1:] {
			if kind := strings.Split(part, `"`)[1]; kind != "scale" && kind != "mean" {
				types = append(types, kind)
			}
		}
		if fmt.Sprint(level.Shape()) != c.shape || strings.Join(level.DimNames(), " ") != c.axes || strings.Join(types, " ") != c.types {
			t.Errorf("%s: level 1 is %v of %q, %q", c.names, level.Shape(), level.DimNames(), types)
		}
		order := make([]int, len(names))
		for d, name := range strings.Fields(c.axes) {
			order[d] = slices.IndexFunc(names, func(n string) bool { return n == name || n == "s" && name == "c" || n == "i" && name == "z" })
		}
		if same, err := Collect[bool](t.Context(), saved.Get("0").Equal(x.Transpose(order...)).All()); err != nil || !same[0] {
			t.Errorf("%s: level 0 is not the array, %v", c.names, err)
		}
	}
	if _, err := Zeros(Uint8, 8, 8, 3).Pyramid(2).Save(t.Context(), filepath.Join(dir, "s.zarr")); err == nil || !strings.Contains(err.Error(), "samples of RGB") {
		t.Errorf("samples or x: %v", err)
	}
}

func TestPyramidRejects(t *testing.T) {
	x := Zeros(Float32, 4, 4)
	for want, c := range map[string]*Collection{
		"images have 2 to 5 dimensions, not 1":             Zeros(Float32, 4).Pyramid(2),
		"an image has 1 to 32 levels, not 0":               x.Pyramid(0),
		"integers up to 32 bits or of floats, not of bool": Zeros(Bool, 4, 4).Pyramid(2),
		"no such file":           Open(filepath.Join(t.TempDir(), "none.npy")).Pyramid(2),
		"are saved to NAME.zarr": x.Pyramid(2),
	} {
		dir := t.TempDir()
		_, err := c.Save(t.Context(), filepath.Join(dir, "p.npz"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
}

// Outputs that are made of each other in other ways than a pyramid's have the elements that each has alone.
func TestOutputsOfEachOtherAreThoseOfEachAlone(t *testing.T) {
	dir := t.TempDir()
	x, err := Random(Float32, 1, 60, 43).Save(t.Context(), filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	down := func(a *Array, factors ...int) *Array { return downsample(a, factors).AsType(a.DType()) }
	e, m := x.Exp(), x.MatMul(x.T())
	d := down(e, 2, 2)
	for i, all := range [][]*Array{
		{e, d, d, e, e.Mean(0)}, {m, down(m, 2, 4), d}, {e, d.Mul(2).Sub(1), down(d, 2, 2)}, {e, d, d.Sub(d.Mean()), d.Slice("1:")},
		{d, down(d, 2, 2), down(down(d, 2, 2), 3, 1), e.Sum(0)},
	} {
		var outputs []Output
		for k, a := range all {
			outputs = append(outputs, Output{a, filepath.Join(dir, fmt.Sprintf("%d-%d.zarr", i, k)), []Option{Chunks(slices.Repeat([]int{12}, a.Dims())...)}})
		}
		saved, err := SaveAll(t.Context(), outputs)
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		for k, a := range all {
			want, err := Collect[float32](t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Collect[float32](t.Context(), saved[k]); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d: output %d differs, %v", i, k, err)
			}
		}
	}
}
