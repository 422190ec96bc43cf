package oocore_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// frames saves files whose elements are 1000·file + 10·row + column, in a format, and
// returns their pattern.
func frames(t *testing.T, files, rows, columns int, name func(i int) string, opts ...oocore.Option) string {
	t.Helper()
	dir := t.TempDir()
	var first []byte
	for i := range files {
		path := filepath.Join(dir, name(i))
		if first == nil {
			a := oocore.Arange(0, rows, 1).Mul(10).Reshape(rows, 1).Add(oocore.Arange(0, columns, 1)).Add(1000 * i).AsType(oocore.Int32)
			saved(t, a, path, opts...)
			if len(opts) == 0 {
				first = testcases.ReadFile(t, path)
			}
			continue
		}
		file := slices.Clone(first) // the elements follow the header, and saving each would take longer
		for at := len(file) - 4*rows*columns; at < len(file); at += 4 {
			binary.LittleEndian.PutUint32(file[at:], binary.LittleEndian.Uint32(file[at:])+uint32(1000*i))
		}
		testcases.WriteFile(t, path, file, 0o644)
	}
	return dir
}

func TestOpenStackHasFilesAlongItsAxis(t *testing.T) {
	const files, rows, columns = 7, 5, 6
	for format, opts := range map[string][]oocore.Option{"npy": nil, "zarr": {oocore.Chunks(2, 4)}, "bin": nil} {
		dir := frames(t, files, rows, columns, func(i int) string { return fmt.Sprintf("f%02d.%s", i, format) }, opts...)
		pattern := filepath.Join(dir, "*."+format)
		if format == "bin" {
			pattern += "?shape=5,6&dtype=int32"
		}
		for axis, shape := range map[int][]int{0: {files, rows, columns}, 1: {rows, files, columns}, 2: {rows, columns, files}, -1: {rows, columns, files}} {
			x := oocore.OpenStack(pattern, axis)
			got, err := oocore.Collect[int32](t.Context(), x)
			if err != nil || !slices.Equal(x.Shape(), shape) {
				t.Fatalf("%s, axis %d: shape %v, %v", format, axis, x.Shape(), err)
			}
			steps := collect[int32](t, x.Slice("::-2, 1::2, ::-1"))
			at := func(k ...int) int32 {
				i := k[(axis+3)%3]
				rest := slices.Delete(slices.Clone(k), (axis+3)%3, (axis+3)%3+1)
				return int32(1000*i + 10*rest[0] + rest[1])
			}
			n := 0
			for a := range shape[0] {
				for b := range shape[1] {
					for c := range shape[2] {
						if want := at(a, b, c); got[n] != want {
							t.Fatalf("%s, axis %d: element %d, %d, %d is %d, want %d", format, axis, a, b, c, got[n], want)
						}
						n++
					}
				}
			}
			n = 0
			for a := shape[0] - 1; a >= 0; a -= 2 {
				for b := 1; b < shape[1]; b += 2 {
					for c := shape[2] - 1; c >= 0; c-- {
						if want := at(a, b, c); steps[n] != want {
							t.Fatalf("%s, axis %d, by steps: element %d, %d, %d is %d, want %d", format, axis, a, b, c, steps[n], want)
						}
						n++
					}
				}
			}
			if sum, err := oocore.Collect[int64](t.Context(), x.Reshape(-1).Sum()); err != nil || sum[0] != rows*columns*1000*21+files*(columns*10*10+rows*15) {
				t.Errorf("%s, axis %d: the sum is %v, %v", format, axis, sum, err)
			}
		}
	}
}

// Planning knows what a stack takes, and a run of it is done once.
func TestStackIsPredictedAndVersioned(t *testing.T) {
	dir := frames(t, 40, 64, 512, func(i int) string { return fmt.Sprintf("f%02d.npy", i) })
	out := filepath.Join(t.TempDir(), "y.npy")
	var r oocore.RunReport
	save := func() {
		t.Helper()
		saved(t, oocore.OpenStack(filepath.Join(dir, "*.npy"), -1).Mean(2), out, oocore.Report(&r))
		if r.MeasuredPeak > r.PredictedPeak {
			t.Errorf("measured %d, predicted %d", r.MeasuredPeak, r.PredictedPeak)
		}
	}
	if save(); r.Status != oocore.StatusDone || r.Read != 40*64*512*4 {
		t.Errorf("%+v", r)
	}
	if save(); r.Status != oocore.StatusSkipped {
		t.Errorf("the same again: %+v", r)
	}
	p, err := oocore.OpenStack(filepath.Join(dir, "*.npy"), -1).Mean(2).Plan(out)
	if err != nil {
		t.Fatal(err)
	}
	if held := door.PlanOf(p).OpenBytes(); held < int64(40*len(dir)) {
		t.Errorf("the names of its files are predicted to take %d bytes", held)
	}
	if err := os.Remove(filepath.Join(dir, "f07.npy")); err != nil {
		t.Fatal(err)
	}
	if save(); r.Status != oocore.StatusDone {
		t.Errorf("with a file less: %+v", r)
	}
	saved(t, oocore.Full(int32(7), 64, 512), filepath.Join(dir, "f08.npy"))
	if save(); r.Status != oocore.StatusDone {
		t.Errorf("with another file: %+v", r)
	}
	if _, err := oocore.OpenStack(filepath.Join(dir, "*.npy"), 0).Sum(0).Save(t.Context(), filepath.Join(dir, "f09.npy")); err == nil || !strings.Contains(err.Error(), "also an input") {
		t.Errorf("over one of its files: %v", err)
	}
}

// Two files of dimensions y and x, whose attributes differ.
func TestStackedFilesHaveTheirDimensionsAndANewOne(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		save(t, oocore.Full(i, 3, 4), filepath.Join(dir, fmt.Sprintf("f%d.zarr", i)), oocore.DimNames("y", "x"), oocore.FillValue(-9), oocore.Attributes(map[string]any{"frame": i}))
	}
	pattern := filepath.Join(dir, "f*.zarr")
	for axis, want := range map[string]string{"time": "time y x", "1": "y  x", "-1": "y x "} {
		x := oocore.Open(pattern + "?axis=" + axis)
		if got := strings.Join(x.DimNames(), " "); x.Err() != nil || got != want {
			t.Errorf("axis=%s: the dimensions are %q, want %q; %v", axis, got, want, x.Err())
		}
	}
	out := filepath.Join(dir, "all.zarr")
	save(t, oocore.Open(pattern+"?axis=time"), out)
	if w, dims := readWritten(t, out); dims != "time y x" || w.Fill != -9.0 || w.Attributes["frame"] != nil {
		t.Errorf("dims %q, %+v", dims, w)
	}
	for axis, says := range map[string]string{"x": "the files have a dimension of that name", "": "axis= is empty", "1.5": "is an integer", "1e0": "is an integer", "99999999999999999999": "is an integer"} {
		if err := oocore.Open(pattern + "?axis=" + axis).Err(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("axis=%q: %v, want %q", axis, err, says)
		}
	}
}

func TestOpenStackRejects(t *testing.T) {
	dir := frames(t, 3, 5, 6, func(i int) string { return fmt.Sprintf("f%d.npy", i) })
	at := func(name string) string { return filepath.Join(dir, name) }
	for path, a := range map[string]*oocore.Array{
		"shape1.npy": oocore.Full(int32(1), 4, 3), "shape2.npy": oocore.Full(int32(1), 4, 4),
		"type1.npy": oocore.Full(int32(1), 4, 3), "type2.npy": oocore.Full(1.5, 4, 3),
	} {
		saved(t, a, at(path))
	}
	for path, shape := range map[string][]int{
		"order1.npy": {4, 3}, "order2.npy?order=F": {4, 3}, "turned1.npy": {4, 3}, "turned2.npy?order=F": {3, 4},
	} {
		saved(t, oocore.Full(1.5, shape...), at(path))
	}
	testcases.WriteFile(t, at("broken.npy"), []byte("none"), 0o644)
	for _, c := range []struct {
		pattern string
		axis    int
		says    string
	}{
		{"g*.npy", 0, "no file matches"},
		{"f[.npy", 0, "malformed"},
		{"f*.npy", 3, "axis 3 is out of bounds for array of dimension 3"},
		{"f*.npy", -4, "axis -4"},
		{"shape*.npy", 0, "shape2.npy has shape (4, 4) of int32, unlike (4, 3) of int32 of shape1.npy"},
		{"type*.npy", 0, "type2.npy has shape (4, 3) of float64, unlike (4, 3) of int32"},
		{"b*.npy", 0, "broken.npy"},
		{"order*.npy", 0, "order2.npy is stored in another order than that of order1.npy"},
		{"turned*.npy", 0, "turned2.npy has shape (3, 4) of float64, unlike (4, 3) of float64"},
	} {
		err := oocore.OpenStack(at(c.pattern), c.axis).Err()
		if _, ok := errors.AsType[*oocore.Error](err); !ok || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.pattern, err, c.says)
		}
	}
	if _, err := oocore.Full(1, 3).Save(t.Context(), at("new*.npy")+"?axis=0"); err == nil || !strings.Contains(err.Error(), "not written") {
		t.Errorf("saved to a pattern: %v", err)
	}
}
