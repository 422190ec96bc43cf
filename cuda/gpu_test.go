//go:build linux

package cuda_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/drivertest"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/filter"
	"github.com/gonbext/gonbext/oocore/op/index"
	"github.com/gonbext/gonbext/oocore/op/nn"
	"github.com/gonbext/gonbext/oocore/op/random"
	"github.com/gonbext/gonbext/oocore/op/window"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// gpu is the first GPU with so much memory, the double's or the machine's, and what lets it
// fail. Its context is released with the test: the double then ends the process where
// anything is left.
func gpu(t *testing.T, memory int64) (*cuda.GPU, *drivertest.Faulty) {
	t.Helper()
	g, f := cuda.NewDevice(0), &drivertest.Faulty{}
	cuda.Wrap(g, func(d driver.Driver) driver.Driver {
		if library == nil {
			d = &drivertest.Limited{Driver: d, Bytes: memory}
		}
		f.Driver = d
		return f
	})
	if library != nil {
		library.Memory(memory)
	}
	t.Cleanup(func() {
		if err := cuda.Release(g); err != nil {
			t.Error(err)
		}
		if library != nil {
			library.Fail("", 0, 0)
		}
	})
	return g, f
}

// gpuWithBLAS is one that is open, with cuBLAS: the double's, or the machine's if it has it.
func gpuWithBLAS(t *testing.T, memory int64) (*cuda.GPU, *drivertest.Faulty) {
	t.Helper()
	t.Setenv("GONBEXT_CUBLAS", blas)
	g, f := gpu(t, memory)
	if arithmetic := g.Spec().Arithmetic; library != nil && !strings.Contains(arithmetic, "cuBLAS 12.9.1") {
		t.Fatalf("the GPU's arithmetic is %q", arithmetic)
	}
	return g, f
}

// expression is what a GPU and the CPU compute.
type expression struct {
	name  string
	root  *graph.Node
	side  []*graph.Node
	exact bool // the bits are the CPU's

	said []string // what the record of the last run says of its device
	rare int64    // bytes that the CPU computed in it for the device
}

// expressions are one for each kind of work.
func expressions(t *testing.T, rows int) []expression {
	t.Helper()
	node := must[*graph.Node](t)
	x := node(graph.Uniform(site, dtype.Float32, 3, rows, 64))
	row := node(graph.Uniform(site, dtype.Float32, 4, 64))
	values := make([]float32, rows*64)
	for i := range values {
		values[i] = float32(i%977)/977 - 0.5
	}
	read := node(graph.FromBytes(site, dtype.Bytes(values), dtype.Float32, rows, 64))
	sum := node(graph.Apply(site, kernel.Add, node(graph.Apply(site, kernel.Tanh, read)), row))
	fold := func(r kernel.Reduction, n *graph.Node, axes ...int) *graph.Node {
		return node(graph.Aggregate(site, r, n, graph.ReduceOptions{Axes: axes}))
	}
	images := node(graph.Reshape(site, node(graph.Slice(site, read, "0:288")), 3, 2, 48, 64))
	kernels := node(graph.FromBytes(site, dtype.Bytes(values[:4*2*3*3]), dtype.Float32, 4, 2, 3, 3))
	at := node(graph.AsType(site, node(graph.Apply(site, kernel.Multiply, x, node(graph.Scalar(site, 1e6)))), dtype.Int64))
	return []expression{
		{name: "generated", root: node(graph.Apply(site, kernel.Sqrt, x)), exact: true},
		{name: "map", root: sum, exact: true},
		{name: "transposed", root: node(graph.Apply(site, kernel.Exp, node(graph.Transpose(site, read)))), exact: true},
		{name: "cast", root: node(graph.AsType(site, sum, dtype.Int16)), exact: true},
		{name: "map with side reductions", root: sum, side: []*graph.Node{fold(kernel.Sum, read, 0, 1), fold(kernel.Max, sum, 0, 1)}},
		{name: "maximum", root: fold(kernel.Max, sum, 0), exact: true},
		{name: "argument of the minimum", root: fold(kernel.ArgMin, read, 1), exact: true},
		{name: "sum", root: fold(kernel.Sum, sum, 0)},
		{name: "mean", root: fold(kernel.Mean, read, 1)},
		{name: "deviation", root: fold(kernel.Std, sum)},
		{name: "product", root: node(graph.Product(site, node(graph.Transpose(site, read)), sum))},
		{name: "filter", root: node(filter.Gaussian(site, read, []float64{0.5}, []int{0}, 4, window.Border{})), exact: true},
		{name: "filter in a formula, folded", root: fold(kernel.ArgMax, node(graph.Apply(site, kernel.Subtract, read, node(filter.MedianOf(site, read, []int{3}, window.Border{Mode: window.Wrap})))), 0), exact: true},
		{name: "convolution layer", root: node(nn.Conv2D(site, images, kernels, nil, nn.ConvOptions{Stride: [2]int{2, 1}, Padding: [2]int{1, 1}})), exact: true},
		{name: "normal numbers", root: node(random.Normals(site, dtype.Float64, 5, rows, 8)), exact: true},
		{name: "checked", root: must[[]*graph.Node](t)(index.Unravel(site, at, []int{1000, 1000}))[0], exact: true},
	}
}

// run computes an expression, on the CPU where d is nil.
func (e *expression) run(t *testing.T, d exec.Device, o plan.Options) ([]byte, *plan.Sized, record.End, error) {
	t.Helper()
	if d != nil {
		o.Device = d.Spec()
	}
	p := must[*plan.Sized](t)(must[*plan.Plan](t)(plan.New(e.root, plan.Target{SideReductions: e.side})).Size(o))
	env := exec.Env{Executor: exec.OnDevice{Device: d}, Into: make([]byte, p.Arrays[p.Output].Bytes())}
	env.Record = must[*record.Writer](t)(record.Create(t.TempDir(), p.Header()))
	for _, n := range e.side {
		env.SideReductions = append(env.SideReductions, make([]byte, n.DType.Size()))
	}
	end, err := exec.Run(context.Background(), p, env)
	e.said, e.rare = nil, 0
	r := must[*record.Run](t)(record.Read(env.Record.Path()))
	for event := range r.Events() {
		e.said = append(e.said, r.Header.Say(event))
		if event.Action == record.RareToCPU {
			e.rare += event.Bytes
		}
	}
	return append(env.Into, bytes.Join(env.SideReductions, nil)...), p, end, err
}

// same compares bytes, or float32 values to what reordered sums may differ by.
func (e *expression) same(got, want []byte) bool {
	if e.exact {
		return bytes.Equal(got, want)
	}
	g, w := dtype.Slice[float32](got), dtype.Slice[float32](want)
	for i := range w {
		if math.Abs(float64(g[i]-w[i])) > 1e-5*(1+math.Abs(float64(w[i]))) {
			return false
		}
	}
	return true
}

var little = plan.Options{Budget: 64 << 20, Workers: 2}

// A run that the CPU began is not resumed on a GPU where that rounds in another way, and is
// elsewhere; a model has the CPU's bits, and the budget is no matter.
func TestFingerprintHasTheDeviceWhereItRounds(t *testing.T) {
	device, _ := gpu(t, 64<<20)
	specs := map[string]plan.DeviceSpec{"": {}, "cuda:0": device.Spec(), "model": cuda.Model("64MiB").Spec()}
	for _, e := range expressions(t, 700) {
		prints := map[string]plan.Fingerprint{}
		for name, spec := range specs {
			o := little
			o.Device = spec
			p := must[*plan.Plan](t)(plan.New(e.root, plan.Target{SideReductions: e.side}))
			prints[name] = must[*plan.Sized](t)(p.Size(o)).Fingerprint("", nil)
			o.Budget *= 2
			if again := must[*plan.Sized](t)(p.Size(o)).Fingerprint("", nil); again != prints[name] {
				t.Errorf("%s on %q: another budget, another fingerprint", e.name, name)
			}
		}
		if prints["model"] != prints[""] {
			t.Errorf("%s: a model has another fingerprint than the CPU", e.name)
		}
		rounds := !e.exact || e.name == "maximum" // of which either zero is one
		if got := prints["cuda:0"] != prints[""]; got != rounds {
			t.Errorf("%s: a GPU has another fingerprint than the CPU: %v, want %v", e.name, got, rounds)
		}
		if said := prints["cuda:0"].Difference(prints[""]); rounds && !strings.Contains(said, "device") {
			t.Errorf("%s: the difference is that %s", e.name, said)
		}
	}
}

func TestGPUComputesWhatTheCPUDoes(t *testing.T) {
	for _, e := range expressions(t, 700) {
		want, _, _, err := e.run(t, nil, little)
		if err != nil {
			t.Fatal(err)
		}
		for _, memory := range []int64{8 << 20, 1 << 30} {
			g, _ := gpu(t, memory)
			got, p, end, err := e.run(t, g, little)
			if err != nil {
				t.Errorf("%s: %v", e.name, err)
				continue
			}
			for i := range p.Stages {
				if s := &p.Stages[i]; p.OnDevice[i] == nil {
					t.Errorf("%s: stage %d is not on the device: %s", e.name, i, s.Note)
				}
			}
			if !e.same(got, want) {
				t.Errorf("%s with %d bytes: other values than on the CPU", e.name, memory)
			}
			if end.DevicePeak > p.DevicePeak || end.DevicePeak < p.DevicePeak*8/10 || end.OOMEvents != 0 {
				t.Errorf("%s: device peak %d, predicted %d; %d events", e.name, end.DevicePeak, p.DevicePeak, end.OOMEvents)
			}
			if n := g.Usage().Used + cuda.Pinned(g); n != 0 {
				t.Errorf("%s: %d bytes are left", e.name, n)
			}
		}
	}
}

// Each allocation fails in turn, then all: right values, events, and nothing is left.
func TestGPUGoesOnWhereAllocationsFail(t *testing.T) {
	for _, e := range expressions(t, 300) {
		want, _, _, err := e.run(t, nil, little)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ {
			g, f := gpu(t, 64<<20)
			allocations := f.FailAllocation(n)
			got, _, end, err := e.run(t, g, little)
			if err != nil || !e.same(got, want) {
				t.Errorf("%s: allocation %d failed: %v", e.name, n, err)
			}
			if g.Usage().Used != 0 {
				t.Errorf("%s: allocation %d failed, and %d bytes are left", e.name, n, g.Usage().Used)
			}
			if n > 0 && allocations() < n {
				break
			}
			if end.OOMEvents == 0 {
				t.Errorf("%s: allocation %d failed, and no event says so", e.name, n)
			}
		}
	}
}

// Where pages cannot be locked, copies are slower and right.
func TestGPUComputesWhereLockingIsDenied(t *testing.T) {
	e := expressions(t, 300)[1]
	want, _, _, err := e.run(t, nil, little)
	if err != nil {
		t.Fatal(err)
	}
	g, f := gpu(t, 64<<20)
	f.Fail(func(operation string) error {
		if operation == "pin" {
			return &driver.Error{Call: "cuMemHostRegister", Status: 2}
		}
		return nil
	})
	if got, _, _, err := e.run(t, g, little); err != nil || !e.same(got, want) {
		t.Errorf("without locked pages: %v", err)
	}
	if len(e.said) != 1 || !strings.Contains(e.said[0], "could not be locked: copies from pageable memory are slower") {
		t.Errorf("the record says %q", e.said)
	}
}

// A device that is lost half-way ends the run with a sentence, and so do later runs.
func TestGPUThatIsLostSaysSo(t *testing.T) {
	e := expressions(t, 700)[1]
	g, _ := gpu(t, 64<<20)
	if _, _, _, err := e.run(t, g, little); err != nil {
		t.Fatal(err)
	}
	library.Fail("cuEventSynchronize", 1, 700)
	if _, _, _, err := e.run(t, g, little); !errors.Is(err, driver.ErrLost) || !strings.Contains(err.Error(), "cuda:0") {
		t.Errorf("a run on a device that is lost gave %v", err)
	}
	if g.Usage().Used != 0 {
		t.Errorf("%d bytes are counted as used after the loss", g.Usage().Used)
	}
	_, _, _, err := e.run(t, g, little)
	if err == nil || !strings.Contains(err.Error(), "restart the kernel") {
		t.Errorf("the next run gave %v", err)
	}
}

// A kernel takes so many inputs and no more: the CPU computes what has more, and the plan says so.
func TestProgramOfMoreInputsThanAKernelTakesStaysOnTheCPU(t *testing.T) {
	node := must[*graph.Node](t)
	e := expression{exact: true}
	for i := range 530 {
		x := node(graph.FromBytes(site, dtype.Bytes([]float32{float32(i), 2, 3}), dtype.Float32, 3))
		if e.root == nil {
			e.root = x
		} else {
			e.root = node(graph.Apply(site, kernel.Add, e.root, x))
		}
	}
	want, _, _, err := e.run(t, nil, little)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := gpu(t, 64<<20)
	got, p, _, err := e.run(t, g, little)
	if err != nil || !e.same(got, want) {
		t.Errorf("other values than on the CPU: %v", err)
	}
	if s := &p.Stages[0]; p.OnDevice[0] != nil || !strings.Contains(s.Note, "has kernels of 512 parameters, and it takes 535") {
		t.Errorf("the plan says %q", s.Note)
	}
}

// A GPU of this machine can be asked about, and those of the table.
func TestCardOfThisMachineHasItsFreeMemory(t *testing.T) {
	library.Memory(3 << 30)
	c, err := cuda.CardOf("cuda:0")
	if err != nil || c.Name != "cuda:0" || c.Usable() > 3<<30 || c.Usable() < 3<<30-8<<20 || c.Total < c.Usable() || c.Rates().Upload == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := cuda.CardOf("cuda:9"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("cuda:9: %v", err)
	}
}
