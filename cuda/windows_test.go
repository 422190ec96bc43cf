package cuda_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/device/devicetest"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/filter"
	"github.com/gonbext/gonbext/oocore/nn"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// someWindow is a random operation that has a formula, on a random array.
func someWindow(r *rand.Rand) (name string, n *oocore.Array) {
	types := []dtype.Type{dtype.Uint8, dtype.Int16, dtype.Int64, dtype.Float16, dtype.Float32, dtype.Float64}
	of := types[r.IntN(len(types))]
	shape := [][]int{{1 + r.IntN(3000)}, {1 + r.IntN(90), 1 + r.IntN(90)}, {1 + r.IntN(9), 1 + r.IntN(20), 1 + r.IntN(30)}}[r.IntN(3)]
	float := func(t dtype.Type) *oocore.Array {
		x := oocore.Random(dtype.Float64, r.Uint64(), shape...)
		if r.IntN(2) == 0 { // of an array that is read
			data := make([]float32, sizeOf(shape))
			for i := range data {
				data[i] = r.Float32()
			}
			x = oocore.FromSlice(data, shape...).Sqrt()
		}
		return x.Mul(200.).AsType(t)
	}
	x := float(of)
	sizes, origin := make([]int, len(shape)), make([]int, len(shape))
	for d := range sizes {
		sizes[d] = 1 + r.IntN(5)
		origin[d] = r.IntN(sizes[d]) - sizes[d]/2
	}
	modes := []filter.Mode{filter.Reflect, filter.Mirror, filter.Nearest, filter.Wrap, filter.Constant}
	b := filter.Options{Mode: modes[r.IntN(len(modes))], Value: 3, Origin: origin}
	if r.IntN(4) == 0 { // a view of the filter's result
		defer func() {
			n = n.Transpose()
		}()
	}
	switch r.IntN(12) {
	case 0:
		return "uniform", filter.Uniform(x, sizes, b)
	case 1:
		if r.IntN(3) == 0 {
			x, b.Value = x.Greater(100), 1
		}
		return "minimum", filter.Minimum(x, sizes, b)
	case 2:
		return "median", filter.Median(x, sizes, b)
	case 3:
		return "gaussian", filter.Gaussian(x, []float64{0.2 + r.Float64()}, filter.GaussianOptions{Mode: b.Mode, Value: b.Value, Order: []int{r.IntN(2)}, Truncate: 3})
	case 4: // of which some are zero
		weights := oocore.Random(dtype.Float64, r.Uint64(), sizes...)
		return "correlate", filter.Correlate(x, oocore.Where(weights.Greater(0.3), weights, 0.), b)
	case 5:
		factors := make([]int, len(shape))
		for d := range factors {
			for factors[d] = 1 + r.IntN(4); shape[d]%factors[d] != 0; factors[d]-- {
			}
		}
		return "downsample", filter.Downsample(x, factors)
	case 6:
		op := []oocore.Reduction{oocore.ReduceMin, oocore.ReduceMax, oocore.ReduceSum, oocore.ReduceProd, oocore.ReduceMean}[r.IntN(5)]
		axis := r.IntN(len(shape))
		return "rolling", x.Rolling(op, oocore.RollingOptions{Window: 1 + r.IntN(min(shape[axis], 9)), Axis: axis})
	case 7:
		low := r.Int64N(1000) - 500
		return "integers", oocore.RandomIntegers(dtype.Int64, r.Uint64(), low, low+1+r.Int64N(1<<32), shape...)
	case 8:
		return "normal", oocore.RandomNormal([]dtype.Type{dtype.Float32, dtype.Float64}[r.IntN(2)], r.Uint64(), shape...)
	case 9:
		shape = []int{1 + r.IntN(3), 1 + r.IntN(4), 5 + r.IntN(20), 5 + r.IntN(30)}
		o := nn.Pool{Kernel: [2]int{1 + r.IntN(4), 1 + r.IntN(4)}, Stride: [2]int{1 + r.IntN(3), 1 + r.IntN(3)}}
		for d, k := range o.Kernel {
			o.Padding[d] = r.IntN(k/2 + 1)
		}
		if r.IntN(2) == 0 {
			return "avg_pool2d", nn.AvgPool2D(o).Apply(float(of))
		}
		return "max_pool2d", nn.MaxPool2D(o).Apply(float(of))
	case 10:
		axis, order := r.IntN(len(shape)), 1+r.IntN(2)
		shape[axis] += 2
		return "gradient", float(of).Gradient(r.Float64(), axis, order)
	}
	shape = []int{1 + r.IntN(3), 4, 6 + r.IntN(20), 6 + r.IntN(30)}
	of = []dtype.Type{dtype.Float16, dtype.Float32, dtype.Float64}[r.IntN(3)]
	images := float(of)
	o := nn.Conv{Groups: []int{1, 4}[r.IntN(2)], Stride: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}, Dilation: [2]int{1 + r.IntN(2), 1}}
	shape = []int{4, 4 / o.Groups, 1 + r.IntN(3), 1 + r.IntN(3)}
	for d := range 2 {
		o.Padding[d] = r.IntN(shape[2+d])
	}
	return "conv2d", nn.Conv2D(float(of), nil, o).Apply(images)
}

// computeBytes computes on the CPU where d is nil.
func computeBytes(t *testing.T, n *oocore.Array, d device.Device) (*devicetest.Plan, []byte, error) {
	t.Helper()
	e := devicetest.Expression{Root: n}
	out, p, end, err := e.Run(t, d, devicetest.Options{Budget: 256 << 20, Workers: 2})
	if end.DevicePeak > p.DevicePeak {
		t.Errorf("%s: device peak %d, predicted %d", n, end.DevicePeak, p.DevicePeak)
	}
	return p, out, err
}

// Filters, layers and windows have the CPU's bits on a device, in tiles of any size.
func TestWindowsOnTheDeviceHaveTheBitsOfTheCPU(t *testing.T) {
	r := devicetest.Rand(t)
	cases := 60
	if devicetest.All() {
		cases = 2000
	}
	on := map[string]int{}
	for range cases {
		name, n := someWindow(r)
		_, want, err := computeBytes(t, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, got, err := computeBytes(t, n, modelOf(t, []string{"1MiB", "64MiB"}[r.IntN(2)]))
		if err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		for i := range p.Stages {
			if p.OnDevice[i] != nil {
				on[name]++
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than on the CPU, with GONBEXT_SEED=%d", n, devicetest.Seed(t))
		}
	}
	if len(on) < 6 {
		t.Errorf("only these are on the device: %v", on)
	}
}

// What passes over the link is what a tile and its border take, and the whole of two axes'
// filters is one program.
func TestFiltersOfTwoAxesMoveTheirInputOnce(t *testing.T) {
	x := oocore.FromSlice(make([]float32, 1000*1000), 1000, 1000)
	e := devicetest.Expression{Root: filter.Gaussian(x, []float64{1}, filter.GaussianOptions{})}
	p := e.Plan(t, devicetest.Options{Budget: 256 << 20, Workers: 2, Device: cuda.Model("1GiB").Spec()})
	s := p.OnDevice[0]
	if s == nil || len(p.Stages) != 1 {
		t.Fatalf("the filter is not on the device: %v", p)
	}
	held := 0
	for _, l := range s.Programs[0].Loads {
		if l.Extent != nil {
			held++
			if l.Extent[0] != 9 || l.Extent[1] != 9 {
				t.Errorf("windows of %v elements and not of 9×9", l.Extent)
			}
		} else if l.Reads() {
			t.Errorf("it also reads %s of kind %s", l.Type, l.Kind)
		}
	}
	if tiles := int64(1000 / s.Tile[0]); held != 1 || s.Up < 4*1008*1008 || s.Up > 4*1008*(1000+8*(tiles+1)) {
		t.Errorf("%d loads move %d bytes up in tiles of %v", held, s.Up, s.Tile)
	}
}

// A filter of an array that is computed of one as wide is one program on the device, to which
// only the array goes; of one that is computed of two the CPU computes the input.
func TestInputsOfFiltersAreComputedOnTheDevice(t *testing.T) {
	data := make([]float32, 1000*1000)
	for i := range data {
		data[i] = float32(i%1009) / 7
	}
	x := oocore.FromSlice(data, 1000, 1000)
	roots := x.Sqrt()
	means := roots.Rolling(oocore.ReduceMean, oocore.RollingOptions{Window: 5, Axis: 1}) // in float64
	for _, c := range []struct {
		n    *oocore.Array
		here bool
	}{
		{filter.Maximum(roots, []int{3, 3}, filter.Options{Mode: filter.Mirror}), true},
		{means, true},
		{filter.Maximum(roots, []int{3, 3}, filter.Options{Mode: filter.Constant, Value: 2}), false},
		{filter.Maximum(x.Mul(x.Transpose()), []int{3, 3}, filter.Options{}), false},
	} {
		_, want, err := computeBytes(t, c.n, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, got, err := computeBytes(t, c.n, modelOf(t, "64MiB"))
		if err != nil {
			t.Fatal(err)
		}
		s := p.OnDevice[0]
		if s == nil {
			t.Fatalf("%s is not on the device: %s", c.n, p.Stages[0].Note)
		}
		here := true
		for _, l := range s.Programs[0].Loads {
			here = here && (l.Kind != devicetest.LoadBlocks || l.Moves())
		}
		if here != c.here || !bytes.Equal(got, want) || here && s.Up > 4_200_000 {
			t.Errorf("%s: all on the device %t, %d bytes up, the CPU's bits %t", c.n, here, s.Up, bytes.Equal(got, want))
		}
	}
}

// What is computed of constants alone is that of its own filter.
func TestFiltersOfConstantsAreNotMixedUp(t *testing.T) {
	largest := func(x *oocore.Array) *oocore.Array {
		return filter.Maximum(x, []int{3, 3}, filter.Options{Mode: filter.Mirror})
	}
	four := oocore.Full(float32(4), 50, 50)
	n := largest(four.Sqrt()).Add(largest(four.Square()))
	_, want, err := computeBytes(t, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := computeBytes(t, n, modelOf(t, "64MiB")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("not the CPU's bits, %v", err)
	}
}

// What an operation checks is an error on a device as it is on the CPU.
func TestChecksFailOnTheDevice(t *testing.T) {
	at := make([]int64, 50_000)
	x := oocore.Random(dtype.Float32, 1, len(at))
	for _, bad := range []int64{0, 7} {
		at[33_333] = bad
		n := oocore.FromSlice(at).Choose(x, x)
		_, _, want := computeBytes(t, n, nil)
		p, _, err := computeBytes(t, n, modelOf(t, "64MiB"))
		if fmt.Sprint(err) != fmt.Sprint(want) || (err == nil) != (bad == 0) || err != nil && !strings.Contains(err.Error(), "not from 0 to below 2") {
			t.Errorf("with an index of %d: %v on the device, %v on the CPU", bad, err, want)
		}
		if p.OnDevice[0] == nil {
			t.Errorf("not on the device: %s", p.Stages[0].Note)
		}
	}
}

// Kernels count in 32 bits what a tile's windows show, however much memory there is.
func TestTilesShowNoMoreElementsThanKernelsCount(t *testing.T) {
	n := nn.MaxPool2D(nn.Pool{Kernel: [2]int{20, 20}}).Apply(devicetest.Unwritten(dtype.Uint8, 200_000, 200_000))
	card := testcases.Must[cuda.Card](t)(cuda.CardOf("H200")).Spec()
	card.Memory = 1 << 40
	e := devicetest.Expression{Root: n, Chunks: n.Shape()}
	p := e.Plan(t, devicetest.Options{Budget: 1 << 41, Workers: 2, Device: card})
	s := p.OnDevice[0]
	if s == nil {
		t.Fatalf("not on the device: %s", p.Stages[0].Note)
	}
	for i := range s.Programs[0].Loads {
		if l := &s.Programs[0].Loads[i]; l.Extent != nil && sizeOf(l.Held(s.Tile)) >= 1<<31 {
			t.Errorf("a tile of %v shows %v elements", s.Tile, l.Held(s.Tile))
		}
	}
}

// Of zeros of both signs, and of several NaN, a window has the same on a device as on the CPU.
func TestExtremesOfWindowsHaveTheBitsOfTheCPU(t *testing.T) {
	random := devicetest.Rand(t)
	some := []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Copysign(math.NaN(), -1), math.Inf(-1)}
	values := make([]float64, 60*50)
	for i := range values {
		if values[i] = some[random.IntN(2)]; random.IntN(9) == 0 {
			values[i] = some[random.IntN(len(some))]
		}
	}
	x := oocore.FromSlice(values, 60, 50)
	for name, n := range map[string]*oocore.Array{
		"rolling min": x.Rolling(oocore.ReduceMin, oocore.RollingOptions{Window: 3, Axis: 1}),
		"rolling max": x.Rolling(oocore.ReduceMax, oocore.RollingOptions{Window: 4}),
		"max_pool2d":  nn.MaxPool2D(nn.Pool{Kernel: [2]int{2, 3}, Stride: [2]int{1, 2}, Padding: [2]int{1, 1}}).Apply(x),
		"minimum":     filter.Minimum(x, []int{3, 4}, filter.Options{}),
		"median":      filter.Median(x, []int{3}, filter.Options{}),
	} {
		_, want, err := computeBytes(t, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, got, err := computeBytes(t, n, modelOf(t, "64MiB"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than on the CPU, with GONBEXT_SEED=%d: %v", name, devicetest.Seed(t), err)
		}
		if p.OnDevice[0] == nil {
			t.Errorf("%s: not on the device: %s", name, p.Stages[0].Note)
		}
	}
}
