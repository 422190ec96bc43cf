package nn_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/nn"
	"github.com/gonbext/gonbext/oocore/record"
)

// normal saves random numbers around zero as float32, and opens them.
func normal(t *testing.T, path string, seed uint64, shape ...int) *oocore.Array {
	t.Helper()
	x, err := oocore.Random(oocore.Float32, seed, shape...).Sub(0.5).Mul(0.4).Save(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// network is a small one of each kind of layer, with weights from files.
func network(t *testing.T, dir string) nn.Model {
	seed := uint64(100)
	w := func(shape ...int) *oocore.Array {
		seed++
		return normal(t, filepath.Join(dir, string(rune('a'+seed-101))+".safetensors#layer.weight"), seed, shape...)
	}
	return nn.Model{
		nn.Conv2D(w(8, 3, 3, 3), w(8), nn.Conv{Padding: [2]int{1, 1}}),
		nn.BatchNorm(w(8), w(8).Abs().Add(0.1), w(8), nil, 1e-5),
		nn.ReLU(),
		nn.MaxPool2D(nn.Pool{Kernel: [2]int{2, 2}}),
		nn.Conv2D(w(6, 4, 3, 3), nil, nn.Conv{Stride: [2]int{2, 1}, Groups: 2}),
		nn.SiLU(),
		nn.AvgPool2D(nn.Pool{Kernel: [2]int{2, 2}, Padding: [2]int{1, 1}}),
		nn.Flatten(),
		nn.Dense(w(20, 6*4*8), w(20)),
		nn.LayerNorm(w(20), w(20), 1e-5),
		nn.GELU(),
		nn.Softmax(-1),
	}
}

// The pass with every activation kept has the result of the fused one, is one record, and
// says what was held; the fused one writes its result alone.
func TestForwardAndKeep(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs"))
	model := network(t, dir)
	x := normal(t, filepath.Join(dir, "x.npy"), 7, 40, 3, 28, 32)
	before, err := record.List(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := oocore.Collect[float32](t.Context(), model.Forward(x))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := model.Keep(t.Context(), x, filepath.Join(dir, "kept"), oocore.Workers(1))
	if err != nil {
		t.Fatal(err)
	}
	if len(kept.Activations) != len(model) {
		t.Fatalf("%d activations of %d layers", len(kept.Activations), len(model))
	}
	// 40 images; conv, norm, relu: 8×28×32; pool 8×14×16; conv, silu 6×6×14; pool, flatten
	// 6×4×8; the last four 20.
	if most := int64(40 * 4 * (3*8*28*32 + 8*14*16 + 2*6*6*14 + 2*6*4*8 + 4*20)); kept.Bytes != most {
		t.Errorf("%d bytes kept, not %d", kept.Bytes, most)
	}
	got, err := oocore.Collect[float32](t.Context(), oocore.Open(filepath.Join(dir, "kept", "11-softmax.npy")))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-6 {
			t.Fatalf("element %d is %v fused and %v by layers", i, want[i], got[i])
		}
	}
	for i := 0; i < len(want); i += 20 {
		sum := 0.0
		for _, p := range want[i : i+20] {
			sum += float64(p)
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("probabilities of image %d add up to %v", i/20, sum)
		}
	}
	all, err := record.List(filepath.Join(dir, "runs"))
	if err != nil || len(all) != len(before)+3 { // the last is of reading what was kept
		t.Fatalf("%d records more, not 3: %v", len(all)-len(before), err)
	}
	var series []float64
	for _, r := range all {
		if len(r.Header.Series) == 1 {
			series = r.Header.Series[0].Values
			if r.End.Written != kept.Bytes {
				t.Errorf("%d bytes written, %d kept", r.End.Written, kept.Bytes)
			}
		}
	}
	if len(series) != len(model) || series[len(series)-1] != float64(kept.Bytes)/(1<<20) {
		t.Errorf("noted %v", series)
	}
}

// Any chunks and any number of workers give the same bits.
func TestChunks(t *testing.T) {
	dir := t.TempDir()
	model := network(t, dir)[:7]
	x := normal(t, filepath.Join(dir, "x.npy"), 7, 20, 3, 28, 32)
	want, err := oocore.Collect[float32](t.Context(), model.Forward(x))
	if err != nil {
		t.Fatal(err)
	}
	for _, opts := range [][]oocore.Option{{oocore.Workers(1), oocore.Chunks(1, 6, 2, 3)}, {oocore.Workers(4), oocore.Chunks(7, 4, 4, 8)}} {
		y, err := model.Forward(x).Save(t.Context(), filepath.Join(dir, "y.zarr"), append(opts, oocore.Fresh())...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := oocore.Collect[float32](t.Context(), y)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("element %d is %v in chunks and %v in one", i, got[i], want[i])
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, "y.zarr")); err != nil {
			t.Fatal(err)
		}
	}
}

// A path that ends in .zarr is a group of the layers' results; one file cannot be.
func TestKeepInAGroup(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs"))
	x := normal(t, filepath.Join(dir, "x.npy"), 7, 40, 30)
	group := filepath.Join(dir, "kept.zarr")
	model := nn.Model{nn.ReLU(), nn.Softmax(-1)}
	kept, err := model.Keep(t.Context(), x, group)
	if err != nil {
		t.Fatal(err)
	}
	want, err := oocore.Collect[float32](t.Context(), model.Forward(x))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*oocore.Array{kept.Activations[1], oocore.Open(group + "/01-softmax")} {
		got, err := oocore.Collect[float32](t.Context(), a)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("another result in the group: %v", err)
		}
	}
	for _, name := range []string{"kept.npz", "kept.safetensors", "kept.npy"} {
		if _, err := model.Keep(t.Context(), x, filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), "is one file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is invalid is rejected with the layer's name before anything is written.
func TestRejected(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	x := oocore.FromSlice(make([]float32, 2*3*8*8), 2, 3, 8, 8)
	w := oocore.FromSlice(make([]float32, 4*2*3*3), 4, 2, 3, 3)
	for name, l := range map[string]nn.Layer{
		"conv2d: weights of shape (4, 2, 3, 3) are for 2 channels": nn.Conv2D(w, nil, nn.Conv{}),
		"conv2d: its weights are nil":                              nn.Conv2D(nil, nil, nn.Conv{}),
		"dense: takes an array (..., in)":                          nn.Dense(w, nil),
		"max_pool2d: a kernel that spans 9 elements":               nn.MaxPool2D(nn.Pool{Kernel: [2]int{9, 2}}),
		"batch_norm: its mean or variance is nil":                  nn.BatchNorm(nil, nil, nil, nil, 0),
		"softmax: ": nn.Softmax(4),
	} {
		k, err := nn.Model{nn.ReLU(), l}.Keep(t.Context(), x, dir)
		if err == nil || len(err.Error()) < len(name) || err.Error()[:len(name)] != name {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); err == nil || len(k.Activations) > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
}

// A budget that is too small for one layer is an error before the first, and the budget
// that it names is enough for all.
func TestKeepNamesABudgetForAllLayers(t *testing.T) {
	dir := t.TempDir()
	x := normal(t, filepath.Join(dir, "x.npy"), 7, 40, 3, 28, 32)
	model := network(t, dir)
	log := filepath.Join(dir, "runs")
	t.Setenv("GONBEXT_RUNS", log)
	kept := filepath.Join(dir, "kept")
	_, err := model.Keep(t.Context(), x, kept, oocore.Memory("1MiB"))
	short, ok := errors.AsType[*oocore.MemoryError](err)
	if !ok {
		t.Fatalf("%v, want a *MemoryError", err)
	}
	_, err = model.Keep(t.Context(), x, kept, oocore.Memory(fmt.Sprint(short.Need-1<<20)))
	if again, ok := errors.AsType[*oocore.MemoryError](err); !ok || again.Need != short.Need {
		t.Errorf("with a MiB less than it needs: %v", err)
	}
	if all, err := record.List(log); err != nil || len(all) > 0 {
		t.Errorf("%d records of runs, %v", len(all), err)
	}
	if _, err := os.Stat(kept); err == nil {
		t.Error("a folder was made")
	}
	if _, err := model.Keep(t.Context(), x, kept, oocore.Memory(fmt.Sprint(short.Need))); err != nil {
		t.Errorf("with the %d bytes that it needs: %v", short.Need, err)
	}
}
