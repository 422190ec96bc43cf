//go:build linux

package cuda_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/device/devicetest"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/filter"
	"github.com/gonbext/gonbext/oocore/nn"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// gpu is the first GPU with so much memory, the double's or the machine's, and what lets it
// fail. Its context is released with the test: the double then ends the process where
// anything is left.
func gpu(t *testing.T, memory int64) (*cuda.GPU, *faultyDriver) {
	t.Helper()
	g, f := cuda.NewDevice(0), &faultyDriver{}
	cuda.Wrap(g, func(d driver.Driver) driver.Driver {
		if library == nil {
			d = &limitedDriver{Driver: d, Bytes: memory}
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
func gpuWithBLAS(t *testing.T, memory int64) (*cuda.GPU, *faultyDriver) {
	t.Helper()
	t.Setenv("GONBEXT_CUBLAS", blas)
	g, f := gpu(t, memory)
	if arithmetic := g.Spec().Arithmetic; library != nil && !strings.Contains(arithmetic, "cuBLAS 12.9.1") {
		t.Fatalf("the GPU's arithmetic is %q", arithmetic)
	}
	return g, f
}

// expressions are one for each kind of work.
func expressions(rows int) []devicetest.Expression {
	x := oocore.Random(dtype.Float32, 3, rows, 64)
	row := oocore.Random(dtype.Float32, 4, 64)
	values := make([]float32, rows*64)
	for i := range values {
		values[i] = float32(i%977)/977 - 0.5
	}
	read := oocore.FromSlice(values, rows, 64)
	sum := read.Tanh().Add(row)
	images := read.Slice("0:288").Reshape(3, 2, 48, 64)
	kernels := oocore.FromSlice(values[:4*2*3*3], 4, 2, 3, 3)
	return []devicetest.Expression{
		{Name: "generated", Root: x.Sqrt(), Exact: true},
		{Name: "map", Root: sum, Exact: true},
		{Name: "transposed", Root: read.Transpose().Exp(), Exact: true},
		{Name: "cast", Root: sum.AsType(dtype.Int16), Exact: true},
		{Name: "map with side reductions", Root: sum, Side: []*oocore.Array{read.Sum(0, 1), sum.Max(0, 1)}},
		{Name: "maximum", Root: sum.Max(0), Exact: true},
		{Name: "argument of the minimum", Root: read.ArgMin(1), Exact: true},
		{Name: "sum", Root: sum.Sum(0)},
		{Name: "mean", Root: read.Mean(1)},
		{Name: "deviation", Root: sum.Std()},
		{Name: "product", Root: read.Transpose().MatMul(sum)},
		{Name: "filter", Root: filter.Gaussian(read, []float64{0.5}, filter.GaussianOptions{}), Exact: true},
		{Name: "filter in a formula, folded", Root: read.Sub(filter.Median(read, []int{3}, filter.Options{Mode: filter.Wrap})).ArgMax(0), Exact: true},
		{Name: "convolution layer", Root: nn.Conv2D(kernels, nil, nn.Conv{Stride: [2]int{2, 1}, Padding: [2]int{1, 1}}).Apply(images), Exact: true},
		{Name: "normal numbers", Root: oocore.RandomNormal(dtype.Float64, 5, rows, 8), Exact: true},
		{Name: "checked", Root: x.Mul(1e6).AsType(dtype.Int64).UnravelIndex(1000, 1000)[0], Exact: true},
	}
}

// A run that the CPU began is not resumed on a GPU where that rounds in another way, and is
// elsewhere; a model has the CPU's bits, and the budget is no matter.
func TestFingerprintHasTheDeviceWhereItRounds(t *testing.T) {
	g, _ := gpu(t, 64<<20)
	specs := map[string]device.Spec{"": {}, "cuda:0": g.Spec(), "model": cuda.Model("64MiB").Spec()}
	for _, e := range expressions(700) {
		prints := map[string]devicetest.Fingerprint{}
		for name, spec := range specs {
			o := little
			o.Device = spec
			prints[name] = e.Plan(t, o).Fingerprint("", nil)
			o.Budget *= 2
			if again := e.Plan(t, o).Fingerprint("", nil); again != prints[name] {
				t.Errorf("%s on %q: another budget, another fingerprint", e.Name, name)
			}
		}
		if prints["model"] != prints[""] {
			t.Errorf("%s: a model has another fingerprint than the CPU", e.Name)
		}
		rounds := !e.Exact || e.Name == "maximum" // of which either zero is one
		if got := prints["cuda:0"] != prints[""]; got != rounds {
			t.Errorf("%s: a GPU has another fingerprint than the CPU: %v, want %v", e.Name, got, rounds)
		}
		if said := prints["cuda:0"].Difference(prints[""]); rounds && !strings.Contains(said, "device") {
			t.Errorf("%s: the difference is that %s", e.Name, said)
		}
	}
}

func TestGPUComputesWhatTheCPUDoes(t *testing.T) {
	for _, e := range expressions(700) {
		want, _, _, err := e.Run(t, nil, little)
		if err != nil {
			t.Fatal(err)
		}
		for _, memory := range []int64{8 << 20, 1 << 30} {
			g, _ := gpu(t, memory)
			got, p, end, err := e.Run(t, g, little)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			for i := range p.Stages {
				if s := &p.Stages[i]; p.OnDevice[i] == nil {
					t.Errorf("%s: stage %d is not on the device: %s", e.Name, i, s.Note)
				}
			}
			if !e.Same(got, want) {
				t.Errorf("%s with %d bytes: other values than on the CPU", e.Name, memory)
			}
			if end.DevicePeak > p.DevicePeak || end.DevicePeak < p.DevicePeak*8/10 || end.OOMEvents != 0 {
				t.Errorf("%s: device peak %d, predicted %d; %d events", e.Name, end.DevicePeak, p.DevicePeak, end.OOMEvents)
			}
			if n := g.Usage().Used + cuda.Pinned(g); n != 0 {
				t.Errorf("%s: %d bytes are left", e.Name, n)
			}
		}
	}
}

// All allocations fail, then each in turn, or some: right values, events, and nothing is left.
func TestGPUGoesOnWhereAllocationsFail(t *testing.T) {
	next := func(n int) int { return 2*n + 1 }
	if testcases.Full() {
		next = func(n int) int { return n + 1 }
	}
	for _, e := range expressions(300) {
		want, _, _, err := e.Run(t, nil, little)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n = next(n) {
			g, f := gpu(t, 64<<20)
			allocations := f.FailAllocation(n)
			got, _, end, err := e.Run(t, g, little)
			if err != nil || !e.Same(got, want) {
				t.Errorf("%s: allocation %d failed: %v", e.Name, n, err)
			}
			if g.Usage().Used != 0 {
				t.Errorf("%s: allocation %d failed, and %d bytes are left", e.Name, n, g.Usage().Used)
			}
			if n > 0 && allocations() < n {
				break
			}
			if end.OOMEvents == 0 {
				t.Errorf("%s: allocation %d failed, and no event says so", e.Name, n)
			}
		}
	}
}

// Where pages cannot be locked, copies are slower and right.
func TestGPUComputesWhereLockingIsDenied(t *testing.T) {
	e := expressions(300)[1]
	want, _, _, err := e.Run(t, nil, little)
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
	if got, _, _, err := e.Run(t, g, little); err != nil || !e.Same(got, want) {
		t.Errorf("without locked pages: %v", err)
	}
	var said []string
	for event := range e.Record.Events() {
		said = append(said, e.Record.Header.Say(event))
	}
	if len(said) != 1 || !strings.Contains(said[0], "could not be locked: copies from pageable memory are slower") {
		t.Errorf("the record says %q", said)
	}
}

// A device that is lost half-way ends the run with a sentence, and so do later runs.
func TestGPUThatIsLostSaysSo(t *testing.T) {
	e := expressions(700)[1]
	g, _ := gpu(t, 64<<20)
	if _, _, _, err := e.Run(t, g, little); err != nil {
		t.Fatal(err)
	}
	library.Fail("cuEventSynchronize", 1, 700)
	if _, _, _, err := e.Run(t, g, little); !errors.Is(err, driver.ErrLost) || !strings.Contains(err.Error(), "cuda:0") {
		t.Errorf("a run on a device that is lost gave %v", err)
	}
	if g.Usage().Used != 0 {
		t.Errorf("%d bytes are counted as used after the loss", g.Usage().Used)
	}
	_, _, _, err := e.Run(t, g, little)
	if err == nil || !strings.Contains(err.Error(), "restart the kernel") {
		t.Errorf("the next run gave %v", err)
	}
}

// A kernel takes so many inputs and no more: the CPU computes what has more, and the plan says so.
func TestProgramOfMoreInputsThanAKernelTakesStaysOnTheCPU(t *testing.T) {
	e := devicetest.Expression{Exact: true}
	for i := range 530 {
		x := oocore.FromSlice([]float32{float32(i), 2, 3})
		if e.Root == nil {
			e.Root = x
		} else {
			e.Root = e.Root.Add(x)
		}
	}
	want, _, _, err := e.Run(t, nil, little)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := gpu(t, 64<<20)
	got, p, _, err := e.Run(t, g, little)
	if err != nil || !e.Same(got, want) {
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
