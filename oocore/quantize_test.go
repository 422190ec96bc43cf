package oocore_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// What a quantized array says of its error is what its elements say, in every scheme,
// and it comes back from a group and from one file.
func TestQuantized(t *testing.T) {
	rng := testcases.Rand(t)
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir+"/runs")
	x := make([]float32, 96*64)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for name, o := range map[string]oocore.QuantizeOptions{
		"tensor": {}, "affine": {Affine: true, DType: oocore.Uint8}, "axis": {PerAxis: true, Axis: -1}, "blocks": {Axis: 1, Block: 16, Affine: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{dir + "/" + name + ".zarr", dir + "/" + name + ".npz"} {
				q := oocore.FromSlice(x, 96, 64).Quantize(o)
				saved, err := q.Save(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				over, end := context.WithCancel(t.Context())
				end()
				e, err := saved.Error(over) // which was measured: there is nothing to run
				if err != nil {
					t.Fatal(err)
				}
				back, err := oocore.Collect[float32](t.Context(), oocore.OpenQuantized(path).Dequantize())
				if err != nil {
					t.Fatal(err)
				}
				most, noise, signal := 0.0, 0.0, 0.0
				for i := range x {
					d := float64(x[i]) - float64(back[i])
					most, noise, signal = max(most, math.Abs(d)), noise+d*d, signal+float64(x[i])*float64(x[i])
				}
				if got, want := integers(t, saved.Values), integers(t, q.Values); !slices.Equal(got, want) {
					t.Errorf("%s has other integers than are computed", path)
				}
				fresh, err := q.Error(t.Context())
				if err != nil || math.Abs(fresh.RMS-e.RMS) > 1e-12*e.RMS || fresh.Max != e.Max {
					t.Errorf("saving measures %+v, comparing %+v: %v", e, fresh, err)
				}
				scales := map[string]int64{"tensor": 1, "affine": 1, "axis": 64, "blocks": 96 * 4}[name]
				want := oocore.QuantizeError{Max: most, RMS: math.Sqrt(noise / float64(len(x))), SNR: 10 * math.Log10(signal/noise),
					Bytes: 4 * int64(len(x)), Saved: 3*int64(len(x)) - 5*scales}
				near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
				if !near(e.Max, want.Max) || !near(e.RMS, want.RMS) || !near(e.SNR, want.SNR) || e.Bytes != want.Bytes || e.Saved != want.Saved {
					t.Errorf("%s says %+v, its elements %+v", path, e, want)
				}
				if e.SNR < 30 {
					t.Errorf("8 bits keep %.1f dB only", e.SNR)
				}
			}
		})
	}
}

// integers are the elements, modulo 256.
func integers(t *testing.T, a *oocore.Array) []uint8 {
	t.Helper()
	v, err := oocore.Collect[uint8](t.Context(), a.AsType(oocore.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What was saved is copied as it is; what was changed by hand is saved as it was changed;
// and what is there already is not computed again, but still compared.
func TestQuantizedAgain(t *testing.T) {
	rng := testcases.Rand(t)
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir+"/runs")
	x := make([]float32, 40*50)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	q := oocore.FromSlice(x, 40, 50).Quantize(oocore.QuantizeOptions{PerAxis: true})
	saved, err := q.Save(t.Context(), dir+"/a.zarr")
	if err != nil {
		t.Fatal(err)
	}
	want := integers(t, q.Values)
	once, err := saved.Error(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := q.Save(t.Context(), dir+"/a.zarr")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := again.Error(t.Context()); err != nil || e.Max != once.Max {
		t.Errorf("at first %+v, again %+v: %v", once, e, err)
	}
	q.Values = q.Values.Add(1).AsType(oocore.Int8)
	for path, c := range map[string]struct {
		from *oocore.Quantized
		more uint8
	}{"saved.npz": {saved, 0}, "opened.npz": {oocore.OpenQuantized(dir + "/a.zarr"), 0}, "changed.npz": {q, 1}} {
		if _, err := c.from.Save(t.Context(), dir+"/"+path); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for i, v := range integers(t, oocore.OpenQuantized(dir+"/"+path).Values) {
			if v != want[i]+c.more {
				t.Errorf("%s: element %d is %d, want %d", path, i, v, want[i]+c.more)
				break
			}
		}
	}
}
