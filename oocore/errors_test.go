package oocore_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// What is not found is fs.ErrNotExist for programs, with its path, whatever found it.
func TestMissingPathsAreErrNotExist(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	x := oocore.FromSlice([]float32{1, 2}, 2)
	for name, try := range map[string]func() error{
		"Open":       func() error { return oocore.Open(filepath.Join(dir, "x.npy")).Err() },
		"Open, zarr": func() error { return oocore.Open(filepath.Join(missing, "x.zarr")).Err() },
		"Open, bin":  func() error { return oocore.Open(filepath.Join(dir, "x.bin?shape=2&dtype=float32")).Err() },
		"OpenAll":    func() error { return oocore.OpenAll(filepath.Join(dir, "x.npz")).Err() },
		"Save, npy":  func() error { _, err := x.Save(t.Context(), filepath.Join(missing, "x.npy")); return err },
		"Save, zarr": func() error { _, err := x.Save(t.Context(), filepath.Join(missing, "x.zarr")); return err },
		"Save, npz":  func() error { _, err := x.Save(t.Context(), filepath.Join(missing, "x.npz#a")); return err },
		"Save, raw":  func() error { _, err := x.Save(t.Context(), filepath.Join(missing, "x.bin")); return err },
		"Save, safetensors": func() error {
			_, err := x.Save(t.Context(), filepath.Join(missing, "x.safetensors#a"))
			return err
		},
		"SaveAll": func() error {
			_, err := oocore.SaveAll(t.Context(), []oocore.Output{{Array: x, Path: filepath.Join(missing, "x.npy")}})
			return err
		},
		"Create": func() error {
			_, err := oocore.Create[float32](t.Context(), filepath.Join(missing, "x.npy"), []int{2})
			return err
		},
		"Region": func() error {
			_, err := x.Save(t.Context(), filepath.Join(dir, "x.npy"), oocore.Region("0:2"))
			return err
		},
	} {
		err := try()
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v is not fs.ErrNotExist", name, err)
		}
		if path, ok := errors.AsType[*fs.PathError](err); !ok || !strings.HasPrefix(path.Path, dir) {
			t.Errorf("%s: %v has no *fs.PathError, or of %v", name, err, path)
		}
	}
}

func TestArgumentsThatStandForOneOptionAreOne(t *testing.T) {
	x := oocore.FromSlice([]float64{1, 4, 9, 16}, 4)
	for name, a := range map[string]*oocore.Array{"Gradient": x.Gradient(1, 0, 1, 2), "GradientAt": x.GradientAt(oocore.Arange(0, 4, 1), 0, 1, 2)} {
		if err := a.Err(); err == nil || !strings.Contains(err.Error(), "takes one value as its last argument, or none, not 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := x.Gradient(1, 0, 2).Err(); err != nil {
		t.Error(err)
	}
	for name, a := range map[string]*oocore.Array{"Cumsum": x.Cumsum(0, 0), "Cumprod": x.Cumprod(0, 0), "CumulativeSum": x.CumulativeSum(oocore.Initial, 0, 0), "CumulativeProd": x.CumulativeProd(oocore.Initial, 0, 0),
		"NanCumsum": x.NanCumsum(0, 0), "NanCumprod": x.NanCumprod(0, 0), "ArgMax": x.Reshape(2, 2).ArgMax(0, 1), "ArgMin": x.Reshape(2, 2).ArgMin(0, 1)} {
		if err := a.Sqrt().Err(); err == nil || !strings.Contains(err.Error(), "one axis") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestZeroArrayIsNotCalledNil(t *testing.T) {
	for a, want := range map[*oocore.Array]string{nil: "is nil", {}: "zero value"} {
		for _, err := range []error{a.Err(), a.Sqrt().Err(), oocore.FromSlice([]int64{1}, 1).Add(a).Err(), oocore.Eval("x+1", oocore.Names{"x": a}).Err()} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	}
}

// The error of a call has that call's line.
func TestErrorOfAppendNamesItsLine(t *testing.T) {
	w, err := oocore.Create[float32](t.Context(), filepath.Join(t.TempDir(), "x.npy"), []int{-1, 3})
	if err != nil {
		t.Fatal(err)
	}
	at := func() int {
		_, _, line, _ := runtime.Caller(1)
		return line
	}
	err = w.Append([]float32{1}) // this line
	if failed, ok := errors.AsType[*oocore.Error](err); !ok || failed.Site.Line != at()-1 || failed.Op != "append" {
		t.Errorf("got %v", err)
	}
	_ = w.Abort()
}

func TestFromSliceInfersLength(t *testing.T) {
	v := make([]int64, 12)
	for _, c := range []struct{ shape, want []int }{{[]int{-1, 4}, []int{3, 4}}, {[]int{2, -1, 3}, []int{2, 2, 3}}, {[]int{-1}, []int{12}}, {[]int{3, 4, -1}, []int{3, 4, 1}}} {
		if a := oocore.FromSlice(v, c.shape...); a.Err() != nil || !slices.Equal(a.Shape(), c.want) {
			t.Errorf("%v gives %v, %v", c.shape, a.Shape(), a.Err())
		}
	}
	for _, shape := range [][]int{{-1, 5}, {-1, -1}, {-2, 6}, {-1, 0}, {5}} {
		if err := oocore.FromSlice(v, shape...).Err(); err == nil {
			t.Errorf("%v of 12 elements is taken", shape)
		}
	}
}

// A sum of many terms is no deeper than one of two, in text and in Go.
func TestSumOfThousandsOfTerms(t *testing.T) {
	const terms = 5000
	x := oocore.FromSlice([]int64{1, 2}, 2)
	text, sum := strings.Repeat("x+", terms-1)+"x", x
	for range terms - 1 {
		sum = sum.Add(x)
	}
	for name, a := range map[string]*oocore.Array{"text": oocore.Eval(text, oocore.Names{"x": x}), "Go": sum} {
		got, err := oocore.Collect[int64](t.Context(), a)
		if err != nil || !slices.Equal(got, []int64{terms, 2 * terms}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if err := oocore.Eval(strings.Repeat("(", 2000)+"x"+strings.Repeat(")", 2000), oocore.Names{"x": x}).Err(); err == nil {
		t.Error("2000 brackets are taken")
	}
}

// What an error of saving advises can be followed: no import lets these formats be written.
func TestSaveToAFormatThatIsOnlyReadNamesOnesThatAreWritten(t *testing.T) {
	for _, name := range []string{"x.png", "x.JPG", "x.jpeg"} {
		_, err := oocore.FromSlice([]int64{1}, 1).Save(t.Context(), filepath.Join(t.TempDir(), name))
		if err == nil || strings.Contains(err.Error(), "import") || !strings.Contains(err.Error(), "only read: save to NAME.npy") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
