package cuda_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/elements"
	"github.com/gonbext/gonbext/oocore/op/filter"
	"github.com/gonbext/gonbext/oocore/op/nn"
	"github.com/gonbext/gonbext/oocore/op/random"
	"github.com/gonbext/gonbext/oocore/op/scan"
	"github.com/gonbext/gonbext/oocore/op/window"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// someWindow is a random operation that has a formula, on a random array.
func someWindow(t *testing.T, r *rand.Rand) (name string, n *graph.Node) {
	t.Helper()
	node := must[*graph.Node](t)
	types := []dtype.Type{dtype.Uint8, dtype.Int16, dtype.Int64, dtype.Float16, dtype.Float32, dtype.Float64}
	of := types[r.IntN(len(types))]
	shape := [][]int{{1 + r.IntN(3000)}, {1 + r.IntN(90), 1 + r.IntN(90)}, {1 + r.IntN(9), 1 + r.IntN(20), 1 + r.IntN(30)}}[r.IntN(3)]
	float := func(t dtype.Type) *graph.Node {
		x := node(graph.Uniform(site, dtype.Float64, r.Uint64(), shape...))
		if r.IntN(2) == 0 { // of an array that is read
			data := make([]float32, grid.Size(shape))
			for i := range data {
				data[i] = r.Float32()
			}
			x = node(graph.Apply(site, kernel.Sqrt, node(graph.FromBytes(site, dtype.Bytes(data), dtype.Float32, shape...))))
		}
		x = node(graph.Apply(site, kernel.Multiply, x, node(graph.Scalar(site, 200.))))
		return node(graph.AsType(site, x, t))
	}
	x := float(of)
	sizes, origin := make([]int, len(shape)), make([]int, len(shape))
	for d := range sizes {
		sizes[d] = 1 + r.IntN(5)
		origin[d] = r.IntN(sizes[d]) - sizes[d]/2
	}
	modes := []window.Mode{window.Reflect, window.Mirror, window.Nearest, window.Wrap, window.Constant}
	b := window.Border{Mode: modes[r.IntN(len(modes))], Value: 3, Origin: origin}
	if r.IntN(4) == 0 { // a view of the filter's result
		defer func() {
			if turned := n; n != nil {
				n = node(graph.Transpose(site, turned))
			}
		}()
	}
	switch r.IntN(12) {
	case 0:
		return "uniform", node(filter.Uniform(site, x, sizes, b))
	case 1:
		if r.IntN(3) == 0 {
			x, b.Value = node(graph.Apply(site, kernel.Greater, x, node(graph.Scalar(site, 100)))), 1
		}
		return "minimum", node(filter.Minimum(site, x, sizes, b))
	case 2:
		return "median", node(filter.MedianOf(site, x, sizes, b))
	case 3:
		b.Origin = nil
		return "gaussian", node(filter.Gaussian(site, x, []float64{0.2 + r.Float64()}, []int{r.IntN(2)}, 3, b))
	case 4: // of which some are zero
		weights := node(graph.Uniform(site, dtype.Float64, r.Uint64(), sizes...))
		zero := node(graph.Scalar(site, 0.))
		some := node(graph.Apply(site, kernel.Greater, weights, node(graph.Scalar(site, 0.3))))
		return "correlate", node(filter.Correlate(site, x, node(graph.Apply(site, kernel.Where, some, weights, zero)), b))
	case 5:
		factors := make([]int, len(shape))
		for d := range factors {
			for factors[d] = 1 + r.IntN(4); shape[d]%factors[d] != 0; factors[d]-- {
			}
		}
		return "downsample", node(filter.Downsample(site, x, factors))
	case 6:
		op := []kernel.Reduction{kernel.Min, kernel.Max, kernel.Sum, kernel.Prod, kernel.Mean}[r.IntN(5)]
		axis := r.IntN(len(shape))
		return "rolling", node(window.Reduce(site, op, x, 1+r.IntN(min(shape[axis], 9)), axis, 0))
	case 7:
		low := r.Int64N(1000) - 500
		return "integers", node(random.Integers(site, dtype.Int64, r.Uint64(), low, low+1+r.Int64N(1<<32), shape...))
	case 8:
		return "normal", node(random.Normals(site, []dtype.Type{dtype.Float32, dtype.Float64}[r.IntN(2)], r.Uint64(), shape...))
	case 9:
		shape = []int{1 + r.IntN(3), 1 + r.IntN(4), 5 + r.IntN(20), 5 + r.IntN(30)}
		o := nn.PoolOptions{Kernel: [2]int{1 + r.IntN(4), 1 + r.IntN(4)}, Stride: [2]int{1 + r.IntN(3), 1 + r.IntN(3)}}
		for d, k := range o.Kernel {
			o.Padding[d] = r.IntN(k/2 + 1)
		}
		if r.IntN(2) == 0 {
			return "avg_pool2d", node(nn.AvgPool2D(site, float(of), o))
		}
		return "max_pool2d", node(nn.MaxPool2D(site, float(of), o))
	case 10:
		axis, order := r.IntN(len(shape)), 1+r.IntN(2)
		shape[axis] += 2
		return "gradient", node(scan.Gradient(site, float(of), r.Float64(), axis, order))
	}
	shape = []int{1 + r.IntN(3), 4, 6 + r.IntN(20), 6 + r.IntN(30)}
	of = []dtype.Type{dtype.Float16, dtype.Float32, dtype.Float64}[r.IntN(3)]
	images := float(of)
	o := nn.ConvOptions{Groups: []int{1, 4}[r.IntN(2)], Stride: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}, Dilation: [2]int{1 + r.IntN(2), 1}}
	shape = []int{4, 4 / o.Groups, 1 + r.IntN(3), 1 + r.IntN(3)}
	for d := range 2 {
		o.Padding[d] = r.IntN(shape[2+d])
	}
	return "conv2d", node(nn.Conv2D(site, images, float(of), nil, o))
}

// computeBytes computes on the CPU where d is nil.
func computeBytes(t *testing.T, n *graph.Node, d exec.Device) (*plan.Sized, []byte, error) {
	t.Helper()
	o := plan.Options{Budget: 256 << 20, Workers: 2}
	if d != nil {
		o.Device = d.Spec()
	}
	p := must[*plan.Sized](t)(sized(n, plan.Target{}, o))
	out := make([]byte, grid.Size(n.Shape)*n.DType.Size())
	end, err := exec.Run(context.Background(), p, exec.Env{Executor: exec.OnDevice{Device: d}, Into: out})
	if end.DevicePeak > p.DevicePeak {
		t.Errorf("%s: device peak %d, predicted %d", n, end.DevicePeak, p.DevicePeak)
	}
	return p, out, err
}

// Filters, layers and windows have the CPU's bits on a device, in tiles of any size.
func TestWindowsOnTheDeviceHaveTheBitsOfTheCPU(t *testing.T) {
	r := testcases.Rand(t)
	cases := 60
	if testcases.All() {
		cases = 2000
	}
	on := map[string]int{}
	for range cases {
		name, n := someWindow(t, r)
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
			t.Errorf("%s of %s %s: other bytes than on the CPU, with GONBEXT_SEED=%d", n, n.DType, grid.Format(n.Shape), testcases.Seed(t))
		}
	}
	if len(on) < 6 {
		t.Errorf("only these are on the device: %v", on)
	}
}

// What passes over the link is what a tile and its border take, and the whole of two axes'
// filters is one program.
func TestFiltersOfTwoAxesMoveTheirInputOnce(t *testing.T) {
	x := must[*graph.Node](t)(graph.FromBytes(site, make([]byte, 4*1000*1000), dtype.Float32, 1000, 1000))
	n := must[*graph.Node](t)(filter.Gaussian(site, x, []float64{1}, []int{0}, 4, window.Border{}))
	p := must[*plan.Sized](t)(sized(n, plan.Target{}, plan.Options{Budget: 256 << 20, Workers: 2, Device: cuda.Model("1GiB").Spec()}))
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
	node := must[*graph.Node](t)
	data := make([]float32, 1000*1000)
	for i := range data {
		data[i] = float32(i%1009) / 7
	}
	x := node(graph.FromBytes(site, dtype.Bytes(data), dtype.Float32, 1000, 1000))
	roots := node(graph.Apply(site, kernel.Sqrt, x))
	means := node(window.Reduce(site, kernel.Mean, roots, 5, 1, 0)) // in float64
	for _, c := range []struct {
		n    *graph.Node
		here bool
	}{
		{node(filter.Maximum(site, roots, []int{3, 3}, window.Border{Mode: window.Mirror})), true},
		{means, true},
		{node(filter.Maximum(site, roots, []int{3, 3}, window.Border{Mode: window.Constant, Value: 2})), false},
		{node(filter.Maximum(site, node(graph.Apply(site, kernel.Multiply, x, node(graph.Transpose(site, x)))), []int{3, 3}, window.Border{})), false},
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
			here = here && (l.Kind != plan.LoadBlocks || l.Moves())
		}
		if here != c.here || !bytes.Equal(got, want) || here && s.Up > 4_200_000 {
			t.Errorf("%s: all on the device %t, %d bytes up, the CPU's bits %t", c.n, here, s.Up, bytes.Equal(got, want))
		}
	}
}

// What is computed of constants alone is that of its own filter.
func TestFiltersOfConstantsAreNotMixedUp(t *testing.T) {
	node := must[*graph.Node](t)
	largest := func(op kernel.Op) *graph.Node {
		four := node(graph.Full(site, dtype.FromFloat(dtype.Float32, 4), 50, 50))
		return node(filter.Maximum(site, node(graph.Apply(site, op, four)), []int{3, 3}, window.Border{Mode: window.Mirror}))
	}
	n := node(graph.Apply(site, kernel.Add, largest(kernel.Sqrt), largest(kernel.Square)))
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
	node := must[*graph.Node](t)
	at := make([]int64, 50_000)
	x := node(graph.Uniform(site, dtype.Float32, 1, len(at)))
	for _, bad := range []int64{0, 7} {
		at[33_333] = bad
		n := node(elements.Choose(site, node(graph.FromBytes(site, dtype.Bytes(at), dtype.Int64, len(at))), []*graph.Node{x, x}))
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
	node := must[*graph.Node](t)
	x := node(graph.Open(site, store.Info{Path: "x.npy", Shape: []int{200_000, 200_000}, DType: dtype.Uint8}, "x"))
	n := node(nn.MaxPool2D(site, x, nn.PoolOptions{Kernel: [2]int{20, 20}}))
	card := must[cuda.Card](t)(cuda.CardOf("H200")).Spec()
	card.Memory = 1 << 40
	p := must[*plan.Sized](t)(sized(n, plan.Target{Chunks: n.Shape}, plan.Options{Budget: 1 << 41, Workers: 2, Device: card}))
	s := p.OnDevice[0]
	if s == nil {
		t.Fatalf("not on the device: %s", p.Stages[0].Note)
	}
	for i := range s.Programs[0].Loads {
		if l := &s.Programs[0].Loads[i]; l.Extent != nil && grid.Size(l.Held(s.Tile)) >= 1<<31 {
			t.Errorf("a tile of %v shows %v elements", s.Tile, l.Held(s.Tile))
		}
	}
}

// Of zeros of both signs, and of several NaN, a window has the same on a device as on the CPU.
func TestExtremesOfWindowsHaveTheBitsOfTheCPU(t *testing.T) {
	node := must[*graph.Node](t)
	random := testcases.Rand(t)
	some := []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Copysign(math.NaN(), -1), math.Inf(-1)}
	values := make([]float64, 60*50)
	for i := range values {
		if values[i] = some[random.IntN(2)]; random.IntN(9) == 0 {
			values[i] = some[random.IntN(len(some))]
		}
	}
	x := node(graph.FromBytes(site, dtype.Bytes(values), dtype.Float64, 60, 50))
	for name, n := range map[string]*graph.Node{
		"rolling min": node(window.Reduce(site, kernel.Min, x, 3, 1, 0)),
		"rolling max": node(window.Reduce(site, kernel.Max, x, 4, 0, 0)),
		"max_pool2d":  node(nn.MaxPool2D(site, x, nn.PoolOptions{Kernel: [2]int{2, 3}, Stride: [2]int{1, 2}, Padding: [2]int{1, 1}})),
		"minimum":     node(filter.Minimum(site, x, []int{3, 4}, window.Border{})),
		"median":      node(filter.MedianOf(site, x, []int{3}, window.Border{})),
	} {
		_, want, err := computeBytes(t, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, got, err := computeBytes(t, n, modelOf(t, "64MiB"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than on the CPU, with GONBEXT_SEED=%d: %v", name, testcases.Seed(t), err)
		}
		if p.OnDevice[0] == nil {
			t.Errorf("%s: not on the device: %s", name, p.Stages[0].Note)
		}
	}
}
