//go:build linux

package cuda_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/device/devicetest"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// productOf is a product of small whole numbers, which every type and every order of
// additions gives exactly, and its elements.
func productOf(t *testing.T, of dtype.Type, m, k, n int) (e devicetest.Expression, want []int) {
	t.Helper()
	random := devicetest.Rand(t)
	matrix := func(rows, cols int) (*oocore.Array, []int) {
		whole, values := make([]int, rows*cols), make([]float64, rows*cols)
		for i := range whole {
			if random.IntN(4) == 0 { // so that sums have few bits
				whole[i] = random.IntN(3) - 1
			}
			values[i] = float64(whole[i])
		}
		return oocore.FromSlice(values, rows, cols).AsType(of), whole
	}
	a, left := matrix(m, k)
	b, right := matrix(k, n)
	want = make([]int, m*n)
	for i := range m {
		for l := range k {
			for j := range n {
				want[i*n+j] += left[i*k+l] * right[l*n+j]
			}
		}
	}
	return devicetest.Expression{Name: fmt.Sprintf("%d × %d × %d of %s", m, k, n, of), Root: a.MatMul(b).AsType(dtype.Float64), Exact: true}, want
}

// holds compares float64 results to whole numbers.
func holds(t *testing.T, name string, got []byte, want []int) {
	t.Helper()
	for i, v := range dtype.Slice[float64](got) {
		if v != float64(want[i]) {
			t.Errorf("%s: element %d is %g, want %d", name, i, v, want[i])
			return
		}
	}
}

func TestGPUMultipliesByCuBLASWithPredictedMemory(t *testing.T) {
	for _, c := range []struct {
		of      dtype.Type
		lengths [3]int
		memory  int64
	}{
		{dtype.Float32, [3]int{1, 1, 1}, 64 << 20},
		{dtype.Float32, [3]int{300, 1100, 40}, 64 << 20},
		{dtype.Float32, [3]int{300, 1100, 40}, 7 << 20}, // in several parts
		{dtype.Float64, [3]int{3, 700, 50}, 64 << 20},
		{dtype.Float16, [3]int{40, 1100, 50}, 64 << 20},
		{dtype.BFloat16, [3]int{40, 1100, 50}, 64 << 20},
		{dtype.Int32, [3]int{30, 70, 5}, 64 << 20}, // by the own kernel
	} {
		e, want := productOf(t, c.of, c.lengths[0], c.lengths[1], c.lengths[2])
		g, _ := gpuWithBLAS(t, c.memory)
		got, p, end, err := e.Run(t, g, little)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		holds(t, e.Name, got, want)
		for i := range p.Stages {
			if s := &p.Stages[i]; s.Kind == device.MatMulStage && p.OnDevice[i] == nil {
				t.Errorf("%s: the product is not on the device: %s", e.Name, s.Note)
			}
		}
		if end.DevicePeak > p.DevicePeak || end.DevicePeak < p.DevicePeak*8/10 || end.OOMEvents != 0 {
			t.Errorf("%s: device peak %d, predicted %d; %d events", e.Name, end.DevicePeak, p.DevicePeak, end.OOMEvents)
		}
		if u := g.Usage(); u.Used != 0 || library != nil && u.Context != 3<<20 {
			t.Errorf("%s: %+v after the run", e.Name, u)
		}
	}
}

// What cuBLAS is given it shares with nobody: two runs at once on one GPU.
func TestGPUMultipliesByCuBLASForTwoRunsAtOnce(t *testing.T) {
	g, _ := gpuWithBLAS(t, 64<<20)
	var runs sync.WaitGroup
	for range 2 {
		e, want := productOf(t, dtype.Float32, 30, 1100, 50)
		runs.Go(func() {
			if got, _, _, err := e.Run(t, g, little); err != nil {
				t.Error(err)
			} else {
				holds(t, e.Name, got, want)
			}
		})
	}
	runs.Wait()
}

func TestGPUMultipliesByCuBLASWhereAllocationsFail(t *testing.T) {
	e, want := productOf(t, dtype.Float32, 30, 600, 27)
	for n := 0; ; n++ {
		g, f := gpuWithBLAS(t, 64<<20)
		allocations := f.FailAllocation(n)
		got, _, end, err := e.Run(t, g, little)
		if err != nil {
			t.Fatalf("allocation %d failed: %v", n, err)
		}
		holds(t, e.Name, got, want)
		if g.Usage().Used != 0 {
			t.Errorf("allocation %d failed, and %d bytes are left", n, g.Usage().Used)
		}
		if n > 0 && allocations() < n {
			return
		}
		if end.OOMEvents == 0 {
			t.Errorf("allocation %d failed, and no event says so", n)
		}
	}
}

// ones are a row of 1 + 2⁻¹² and a column of ones, whose product TF32 makes a whole
// number.
func ones() devicetest.Expression {
	a, b := make([]float32, 64), make([]float32, 64)
	for i := range a {
		a[i], b[i] = 1+1./4096, 1
	}
	return devicetest.Expression{Name: "ones", Root: oocore.FromSlice(a, 1, 64).MatMul(oocore.FromSlice(b, 64, 1))}
}

func TestGPUUsesTF32OnlyWhereItIsAskedFor(t *testing.T) {
	for asked, want := range map[string]float32{"": 64 + 64./4096, "0": 64 + 64./4096, "1": 64} {
		t.Setenv("GONBEXT_TF32", asked)
		g, _ := gpuWithBLAS(t, 64<<20)
		e := ones()
		got, _, _, err := e.Run(t, g, little)
		if err != nil {
			t.Fatal(err)
		}
		says := strings.Contains(g.Spec().Arithmetic, "TF32")
		if asked == "1" && !says && library == nil { // a card, or a machine, without
			want = 64 + 64./4096
		}
		if v := dtype.Slice[float32](got)[0]; v != want || says && asked != "1" {
			t.Errorf("with GONBEXT_TF32=%q the sum is %v, want %v, and the GPU says %q", asked, v, want, g.Spec().Arithmetic)
		}
	}
}

// A run is not resumed where other arithmetic rounds its products.
func TestFingerprintHasCuBLASForProducts(t *testing.T) {
	own, _ := gpu(t, 64<<20)
	without := own.Spec()
	with, _ := gpuWithBLAS(t, 64<<20)
	o := little
	fingerprint := func(spec device.Spec) devicetest.Fingerprint {
		o.Device = spec
		e := ones()
		return e.Plan(t, o).Fingerprint("", nil)
	}
	if fingerprint(without) == fingerprint(with.Spec()) {
		t.Errorf("%q and %q have one fingerprint", without.Arithmetic, with.Spec().Arithmetic)
	}
}

// A library that cannot be used is named in one sentence, and the own kernels multiply.
func TestGPUMultipliesItselfWhereCuBLASIsUnusable(t *testing.T) {
	folder := t.TempDir()
	file := func(name, content string) string {
		name = filepath.Join(folder, name)
		testcases.WriteFile(t, name, []byte(content), 0o600)
		return name
	}
	foreign := filepath.Join(folder, "libcublas.so.12")
	if out, err := exec.Command("cc", "-shared", "-o", foreign, "-xc", file("foreign.c", "int cublasCreate_v2;")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	absent := filepath.Join(folder, "absent")
	for _, c := range []struct{ file, mode, says string }{
		{foreign, "", foreign + " has no cublasDestroy_v2: it is too old, or not NVIDIA's"},
		{file("empty", ""), "", folder + "/empty does not open (" + folder + "/empty: file too short)"},
		{absent, "", `no cuBLAS was found, and GONBEXT_CUBLAS is "` + absent + `"`},
		{"none", "", `no cuBLAS was found, and GONBEXT_CUBLAS is "none"`},
		{blas, "fails", blas + " does not start: cublasCreate: error 1, not initialized"},
		{blas, "full", blas + " does not start: out of device memory: cublasCreate: error 3, no memory on the device"},
		{blas, "old", blas + " is cuBLAS 10.2.2, and 11.0 or later is needed"},
		{blas, "rows", blas + " gives wrong products: it is not NVIDIA's"},
	} {
		t.Setenv("GONBEXT_CUBLAS", c.file)
		t.Setenv("DOUBLE_CUBLAS", c.mode)
		g, _ := gpu(t, 64<<20)
		e, want := productOf(t, dtype.Float32, 3, 6, 2)
		got, _, _, err := e.Run(t, g, little)
		if err != nil {
			t.Fatalf("%s: %v", c.says, err)
		}
		holds(t, c.says, got, want)
		if s := g.Spec(); strings.Contains(s.Arithmetic, "cuBLAS") || s.Workspace != 0 || s.Rates.Float16 != 0 {
			t.Errorf("%s: %+v", c.says, s)
		}
		if got, want := cuda.Products(g), "gonbext's own kernels: "+c.says; got != want {
			t.Errorf("the device says\n%s, want\n%s", got, want)
		}
	}
}

// A product that the library rejects in the middle ends the run with what to do.
func TestGPUSaysWhatToDoWhereCuBLASBreaks(t *testing.T) {
	t.Setenv("DOUBLE_CUBLAS", "breaks")
	g, _ := gpuWithBLAS(t, 64<<20)
	e, _ := productOf(t, dtype.Float32, 3, 6, 2)
	_, _, _, err := e.Run(t, g, little)
	if err == nil || !strings.Contains(err.Error(), "cublasGemmEx: error 15, not supported: with GONBEXT_CUBLAS=none the own kernels multiply") {
		t.Errorf("the run gave %v", err)
	}
	if n := g.Usage().Used; n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// What cuBLAS keeps goes with a device that is lost.
func TestGPUThatIsLostWithCuBLASCanBeReleased(t *testing.T) {
	g, _ := gpuWithBLAS(t, 64<<20)
	e, _ := productOf(t, dtype.Float32, 3, 6, 2)
	library.Fail("cuEventSynchronize", 1, 700)
	if _, _, _, err := e.Run(t, g, little); !errors.Is(err, driver.ErrLost) {
		t.Errorf("a run on a device that is lost gave %v", err)
	}
	if n := g.Usage().Used; n != 0 {
		t.Errorf("%d bytes are counted as used after the loss", n)
	}
}

func TestDescribeSaysWhatTheGPUHas(t *testing.T) {
	t.Setenv("GONBEXT_CUBLAS", blas)
	said := testcases.Must[cuda.Description](t)(cuda.Describe("cuda:0")).String()
	t.Log("\n" + said)
	for _, want := range []string{"name ", "largest block ", "link ", "products "} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if want := "products        cuBLAS 12.9.1, which keeps 3 MiB of the memory (" + blas + ")\n"; library != nil && !strings.Contains(said, want) {
		t.Errorf("no %q in\n%s", want, said)
	}
}

// Each place has one; python3 is what answers as Python does.
func TestDescribeFindsCuBLASWhereItIsInstalled(t *testing.T) {
	driverFolder, folder := folder, t.TempDir()
	place := func(path ...string) string {
		path = append([]string{folder}, path...)
		at := filepath.Join(append(path, "libcublas.so.12")...)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(blas, at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	bin := filepath.Join(folder, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho " + folder + "/prefix\necho " + folder + "/site\n"
	testcases.WriteFile(t, filepath.Join(bin, "python3"), []byte(script), 0o700)
	loader, home, old, wheel := place("loader"), place("home", "lib64"), place("old", "targets", "x86_64-linux", "lib"), place("site", "nvidia", "cublas", "lib")
	t.Setenv("PATH", bin)
	for _, c := range []struct {
		loader, variable, path string
	}{
		{filepath.Dir(loader), "", "libcublas.so.12"},
		{"", "CUDA_HOME=" + filepath.Join(folder, "home"), home},
		{"", "CUDA_PATH=" + filepath.Join(folder, "old"), old},
		{"", "", wheel},
	} {
		a := ask(t, driverFolder+":"+c.loader, "", "GONBEXT_CUBLAS=", c.variable)
		if want := "cuBLAS 12.9.1, which keeps 3 MiB of the memory (" + c.path + ")"; a.Products != want {
			t.Errorf("with %+v it says %s, want %s", c, a.Products, want)
		}
	}
}

// A library that lies in the folder that the program runs in is nobody's installation.
func TestDescribeFindsNoCuBLASInThePresentFolder(t *testing.T) {
	driverFolder, here, bin := folder, t.TempDir(), t.TempDir()
	for _, at := range []string{"lib", "lib64", "cuda/lib64", "nvidia/cublas/lib"} {
		if err := os.MkdirAll(filepath.Join(here, at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(blas, filepath.Join(here, at, "libcublas.so.12")); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	t.Setenv("PATH", bin)
	for _, c := range []struct{ python, variable string }{
		{"", ""},
		{"echo .", ""},
		{"echo /absent; echo .", ""},
		{"exit 1", "CUDA_HOME=cuda"},
		{"exit 1", "CUDA_PATH=."},
	} {
		testcases.WriteFile(t, filepath.Join(bin, "python3"), []byte("#!/bin/sh\n"+c.python+"\n"), 0o700)
		a := ask(t, driverFolder, "", "GONBEXT_CUBLAS=", c.variable)
		if want := "gonbext's own kernels: no cuBLAS was found"; a.Products != want {
			t.Errorf("with %+v it says %s, want %s", c, a.Products, want)
		}
	}
}
