package footprint

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// laptop has 8 GiB, and a container on it of 512 MiB with 112 MiB taken.
var laptop = machine.Limits{Total: 8 << 30, Available: 4 << 30, Cores: 2,
	Container: machine.Limit{Max: 512 << 20, Used: 112 << 20}}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		shape []int
		dtype dtype.Type
		want  int64
	}{
		{[]int{3075200, 512}, dtype.Float32, 6298009600},
		{[]int{1, 256, 1024, 1021}, dtype.Float32, 1070596096},
		{[]int{384, 192}, dtype.Float32, 294912},
		{[]int{}, dtype.Complex128, 16},
		{[]int{0, 3}, dtype.Int8, 0},
	} {
		r, err := New(c.shape, Options{DTypes: []dtype.Type{c.dtype}}, laptop)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.DTypes[0].Bytes; got != c.want {
			t.Errorf("%v of %s: %d bytes, want %d", c.shape, c.dtype, got, c.want)
		}
	}
}

func gpu(t *testing.T, name string) *cuda.Card {
	t.Helper()
	c, err := cuda.CardOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestFits(t *testing.T) {
	r, err := New([]int{1 << 20, 64}, Options{DTypes: []dtype.Type{dtype.Float64, dtype.Float32, dtype.Int8},
		Chunks: []int{1 << 21, 32}, Device: gpu(t, "256MiB")}, laptop)
	if err != nil {
		t.Fatal(err)
	}
	// 512, 256 and 64 MiB, of which 400 MiB are free, 280 MiB the budget, 256 MiB the device's.
	want := []Whole{
		{dtype.Float64, 512 << 20, false, false, false},
		{dtype.Float32, 256 << 20, true, true, true},
		{dtype.Int8, 64 << 20, true, true, true},
	}
	for i, w := range want {
		if r.DTypes[i] != w {
			t.Errorf("%+v, want %+v", r.DTypes[i], w)
		}
	}
	// The asked shape is clipped to the array and comes first: 2 chunks of 256 MiB.
	c := r.Chunks[0]
	if c.Shape[0] != 1<<20 || c.Count != 2 || c.Bytes != 256<<20 || c.InFlight != 1<<30 || c.FitsBudget || c.FitsOnDevice {
		t.Errorf("asked chunks: %+v", c)
	}
	if c := r.Chunks[1]; c.Bytes != 256<<10 || c.Count != 2048 || !c.FitsBudget || !c.FitsOnDevice {
		t.Errorf("smallest proposed chunks: %+v", c)
	}
}

func TestWrongShapes(t *testing.T) {
	for _, shape := range [][]int{{1 << 62, 6}, {-1}, make([]int, 33)} {
		if _, err := New(shape, Options{}, laptop); err == nil {
			t.Errorf("%v was accepted", shape)
		}
	}
	if _, err := New([]int{4, 4}, Options{Chunks: []int{2}}, laptop); err == nil || !strings.Contains(err.Error(), "(2,)") {
		t.Errorf("chunks of another number of dimensions: %v", err)
	}
}

// Bytes are elements times size in whole numbers, and chunks cover the array.
func TestArithmetic(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 1<<20), 0, 4).Draw(t, "shape")
		dt := rapid.SampledFrom(dtype.All()).Draw(t, "dtype")
		exact := big.NewInt(int64(dt.Size()))
		for _, n := range shape {
			exact.Mul(exact, big.NewInt(int64(n)))
		}
		r, err := New(shape, Options{DTypes: []dtype.Type{dt}}, laptop)
		if err != nil {
			if host.CheckShape(shape, dt.Size()) == nil {
				t.Fatal(err)
			}
			return
		}
		if exact.Cmp(big.NewInt(r.DTypes[0].Bytes)) != 0 {
			t.Fatalf("%v of %s: %d bytes, want %s", shape, dt, r.DTypes[0].Bytes, exact)
		}
		for _, c := range r.Chunks {
			covered := new(big.Int).Mul(big.NewInt(c.Count), big.NewInt(c.Bytes))
			if r.Elements > 0 && covered.Cmp(exact) < 0 {
				t.Fatalf("%d chunks of %v do not cover %v", c.Count, c.Shape, shape)
			}
		}
	})
}

func TestRenderings(t *testing.T) {
	r, err := New([]int{3075200, 512}, Options{DTypes: []dtype.Type{dtype.Float32}, Device: gpu(t, "8GiB")}, laptop)
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{o.Text, o.HTML} {
		for _, want := range []string{"3,075,200 × 512", "6,298,009,600", "5.87 GiB", "512 MiB", "fits a device of 8 GiB", "H200", "NVIDIA H200 data sheet"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
	}
	var back struct {
		Shape  []int
		DTypes []struct {
			DType string
			Bytes int64
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &back); err != nil || back.Shape[0] != 3075200 || back.DTypes[0].DType != "float32" || back.DTypes[0].Bytes != 6298009600 {
		t.Errorf("%v in %s", err, b)
	}
}
