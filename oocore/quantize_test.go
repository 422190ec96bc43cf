package oocore_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
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
				saved := saved(t, q, path)
				over, end := context.WithCancel(t.Context())
				end()
				e, err := saved.Error(over) // which was measured: there is nothing to run
				if err != nil {
					t.Fatal(err)
				}
				back := collect[float32](t, oocore.OpenQuantized(path).Dequantize())
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
	v := collect[uint8](t, a.AsType(oocore.Uint8))
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
	first := saved(t, q, dir+"/a.zarr")
	want := integers(t, q.Values)
	once, err := first.Error(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again := saved(t, q, dir+"/a.zarr")
	if e, err := again.Error(t.Context()); err != nil || e.Max != once.Max {
		t.Errorf("at first %+v, again %+v: %v", once, e, err)
	}
	q.Values = q.Values.Add(1).AsType(oocore.Int8)
	for path, c := range map[string]struct {
		from *oocore.Quantized
		more uint8
	}{"saved.npz": {first, 0}, "opened.npz": {oocore.OpenQuantized(dir + "/a.zarr"), 0}, "changed.npz": {q, 1}} {
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

// Square blocks have a scale each, the last of an axis for what is left of it.
func TestQuantizedInSquareBlocksOfFloat8(t *testing.T) {
	rng := testcases.Rand(t)
	const rows, columns, block = 100, 70, 32
	x := make([]float32, rows*columns)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * 3)
	}
	scales := make([]float32, 4*3)
	at := func(i int) *float32 { return &scales[i/columns/block*3+i%columns/block] }
	for i, v := range x {
		s := at(i)
		*s = max(*s, float32(math.Abs(float64(v))))
	}
	for i := range scales {
		scales[i] /= 448
	}
	codes, back := make([]dtype.Float8E4M3FNBits, len(x)), make([]float32, len(x))
	for i, v := range x {
		codes[i] = dtype.Float8E4M3FNBits(dtype.ToFloat8(dtype.Float8E4M3FN, v / *at(i)))
		back[i] = codes[i].Float32() * *at(i)
	}
	q := oocore.FromSlice(x, rows, columns).Quantize(oocore.QuantizeOptions{DType: oocore.Float8E4M3FN, Block: block, Square: true})
	if got, err := oocore.Collect[float32](t.Context(), q.Scale); err != nil || !slices.Equal(got, scales) || !slices.Equal(q.Scale.Shape(), []int{4, 3}) {
		t.Errorf("scales %v, %v, want %v", got, err, scales)
	}
	if got, err := oocore.Collect[dtype.Float8E4M3FNBits](t.Context(), q.Values); err != nil || !slices.Equal(got, codes) {
		t.Errorf("other values: %v", err)
	}
	if got, err := oocore.Collect[float32](t.Context(), q.Dequantize()); err != nil || !slices.Equal(got, back) {
		t.Errorf("other floats: %v", err)
	}
	names := oocore.Names{"w": oocore.FromSlice(codes, rows, columns), "s": oocore.FromSlice(scales, 4, 3), "x": oocore.FromSlice(x, rows, columns)}
	if got, err := oocore.Collect[float32](t.Context(), oocore.Eval(`dequantize(w, s, "block=32")`, names)); err != nil || !slices.Equal(got, back) {
		t.Errorf("an expression gives others: %v", err)
	}
	if same, err := oocore.Item[bool](t.Context(), oocore.Eval(`all(astype(quantize(x, "float8_e4m3fn 32x32"), "float32") == astype(w, "float32")) && all(quantize_scale(x, "float8_e4m3fn 32x32") == s)`, names)); err != nil || !same {
		t.Errorf("an expression quantizes to others: %v", err)
	}
	for _, of := range []string{`dequantize(w, s)`, `dequantize(w, s, "block=16")`, `dequantize(s, s, "block=-1")`, `quantize(x, "float8_e5m2 affine")`, `quantize(slice(x, "0"), "float8_e5m2 2x2")`, `quantize(x, "float8_e5m2 2x3")`, `quantize(x, "float8_e5m2 2x2", 1)`} {
		if oocore.Eval(of, names).Err() == nil {
			t.Errorf("%s is not rejected", of)
		}
	}
	per := oocore.Eval(`dequantize(quantize(x, "float8_e5m2", 0), quantize_scale(x, "float8_e5m2", 0)) - x`, names).Abs().Max()
	if e, err := oocore.Item[float32](t.Context(), per); err != nil || e == 0 || e > 1.5 {
		t.Errorf("by row: off by %v, %v", e, err)
	}
	saved := saved(t, q, t.TempDir()+"/q.safetensors")
	if got, err := oocore.Collect[float32](t.Context(), saved.Dequantize()); err != nil || !slices.Equal(got, back) {
		t.Errorf("what was saved gives others: %v", err)
	}
}

// The squares overflow, the largest difference does not; and one pass measures all.
func TestQuantizedErrorOfHugeElements(t *testing.T) {
	path := t.TempDir() + "/x.npy"
	x := saved(t, oocore.FromSlice([]float64{1e200, -5e199, 1e198, 0}, 4), path)
	q := x.Quantize(oocore.QuantizeOptions{})
	back := collect[float64](t, q.Dequantize())
	want := 0.0
	for i, v := range []float64{1e200, -5e199, 1e198, 0} {
		want = max(want, math.Abs(v-back[i]))
	}
	var r oocore.RunReport
	e, err := q.Error(t.Context(), oocore.Report(&r))
	if err != nil || e.Max != want || !math.IsInf(e.RMS, 1) {
		t.Errorf("%+v, want a largest difference of %v and a root of infinity: %v", e, want, err)
	}
	if r.Read > 2*4*8 {
		t.Errorf("%d bytes were read, want two passes over 32", r.Read)
	}
}
