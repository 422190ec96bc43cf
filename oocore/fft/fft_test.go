package fft_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/fft"
)

func saved(t *testing.T, expression string, names oocore.Names) *oocore.Array {
	t.Helper()
	a, err := oocore.Eval(expression, names).Save(t.Context(), filepath.Join(t.TempDir(), "a.npy"), oocore.Memory("256MiB"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// largest is the largest magnitude of an expression's elements, computed within a
// budget for which arrays are read in many pieces.
func largest(t *testing.T, expression string, names oocore.Names) float64 {
	t.Helper()
	got, err := oocore.Collect[float64](t.Context(), oocore.Eval("max(abs("+expression+"))", names), oocore.Memory("128MiB"))
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// Transforms of many boxes, along rows, columns and both, are undone by their inverses,
// keep the sum of squares, and turn a shift into a factor.
func TestTransformsOfManyBoxes(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := saved(t, "random(1, 900, 1100)", nil)
	for _, axis := range []int{0, 1} {
		y := fft.FFT(x, axis, fft.Norm("ortho"))
		names := oocore.Names{"x": x, "y": y, "back": fft.IFFT(y, axis, fft.Norm("ortho")), "half": fft.IRFFT(fft.RFFT(x, axis), axis)}
		for _, expression := range []string{"back - x", "half - x", "sum(square(abs(y)))/sum(square(x)) - 1"} {
			if e := largest(t, expression, names); e > 1e-13 {
				t.Errorf("along %d: %s is %g", axis, expression, e)
			}
		}
	}
	both := fft.FFTN(x, nil)
	names := oocore.Names{"x": x, "y": both, "back": fft.IFFTN(both, nil), "half": fft.IRFFTN(fft.RFFTN(x, nil), nil), "mean": fft.IFFTShift(fft.FFTShift(both))}
	for _, expression := range []string{"back - x", "half - x", "(slice(y, \"0, 0\") - sum(x))/sum(x)", "mean - y"} {
		if e := largest(t, expression, names); e > 1e-13 {
			t.Errorf("%s is %g", expression, e)
		}
	}
	names = oocore.Names{"y": fft.FFT(x, 0), "moved": fft.FFT(x.Roll(7, 0), 0), "f": fft.Freq(900, 1)}
	if e := largest(t, `moved - y * exp(slice(f, ":, newaxis") * (7 * 2 * pi * -1i))`, names); e > 1e-10 {
		t.Errorf("a shift is off by %g", e)
	}
}

// Frequency k is k/(n·d), and those from the middle on of a whole transform are less by 1/d.
func TestFrequencies(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	const d = 0.5 // with which all divisions are exact, or rounded once
	for n := 1; n <= 9; n++ {
		for name, c := range map[string]struct {
			a        *oocore.Array
			n, first int
		}{"Freq": {fft.Freq(n, d), n, (n + 1) / 2}, "RFreq": {fft.RFreq(n, d), n/2 + 1, n/2 + 1}} {
			got, err := oocore.Collect[float64](t.Context(), c.a)
			if err != nil || len(got) != c.n {
				t.Fatalf("%s(%d): %v, %v", name, n, got, err)
			}
			for k, f := range got {
				want := float64(k)
				if k >= c.first {
					want -= float64(n)
				}
				if want /= float64(n) * d; math.Abs(f-want) > 1e-15 {
					t.Errorf("%s(%d): element %d is %g, want %g", name, n, k, f, want)
				}
			}
		}
	}
}

func TestLengthsAndErrors(t *testing.T) {
	a := oocore.FromSlice(make([]float32, 12), 3, 4)
	for _, c := range []struct {
		a    *oocore.Array
		want string
	}{
		{fft.FFT(a, 1, fft.Length(7)), "fft(array(3, 4), 7, 1): 3 × 7 complex64"},
		{fft.RFFTN(a, nil, fft.Length(6, 9)), "fft(rfft(array(3, 4), 9, 1), 6, 0): 6 × 5 complex64"},
		{fft.HFFT(a.AsType(oocore.Complex128), -1), "irfft(conjugate(array(3, 4)), 6, 1, \"forward\"): 3 × 6 float64"},
		{fft.FFT(a, 2), "fft: axis 2 is out of bounds for array of dimension 2 (fft_test.go:"},
		{fft.FFT(a, 0, fft.Length(2, 3)), "fft: takes one length, as it goes along one axis (fft_test.go:"},
		{fft.IFFTN(a, []int{0}, fft.Length(2, 3)), "ifftn: 2 lengths for 1 axes (fft_test.go:"},
		{fft.RFFT(a.AsType(oocore.Complex64), 0), "rfft: takes real numbers, not complex64: fft takes complex ones (fft_test.go:"},
		{fft.FFT(a, 0, fft.Norm("half")), `fft: the norm "half" is unknown: use "backward", "ortho" or "forward" (fft_test.go:`},
		{fft.Freq(0, 1), "fftfreq: a transform has at least one element, not 0 (fft_test.go:"},
	} {
		if got := c.a.String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
