// # GPUs of this machine
//
// The program opens NVIDIA's driver, libcuda.so.1, when a GPU is first asked for: one
// binary, built by Go alone, serves machines with and without one.
//
// Matrices of float32, float64 and 16-bit floats are multiplied by NVIDIA's cuBLAS 11 or
// later, if the machine has one: on the loader's path, in a folder of CUDA (CUDA_HOME,
// CUDA_PATH, /usr/local/cuda), or in NVIDIA's packages for the python3 on PATH. Otherwise
// gonbext's own kernels multiply. GONBEXT_CUBLAS names another file, or is "none". Float32 is
// never rounded to TensorFloat-32, unless GONBEXT_TF32 is 1. Which library it is, and on which
// card, belongs to the fingerprint of a run; cuBLAS chooses its kernels by the lengths of the
// matrices too, so that products of another budget may differ in their last bits.
//
// The build tag cuda puts gorgonia.org/cu between, for Linux on amd64 and arm64. It takes
// cgo, a C compiler and the headers of CUDA 12, which are looked for in
// /usr/local/cuda/include. Elsewhere, the compiler is told:
//
//	pip download --no-deps nvidia-cuda-runtime-cu12==12.9.79
//	python3 -m zipfile -e nvidia_cuda_runtime_cu12-*.whl headers
//	CGO_CFLAGS="-O2 -I$PWD/headers/nvidia/cuda_runtime/include" go build -tags cuda ./gonbext/cmd/gonbext
package cuda

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/libcuda"
	"github.com/gonbext/gonbext/oocore/units"
)

// ErrNoDriver is returned where a GPU is asked for on a machine without NVIDIA's driver.
var ErrNoDriver = libcuda.ErrAbsent

// Info is what the driver says of one GPU.
type Info struct {
	Device  string // its name for Open, such as "cuda:0"
	Name    string // the model, such as "NVIDIA H200"
	Compute string // compute capability, such as "9.0"
	Total   int64  // bytes of memory
	Free    int64  // bytes that no process had taken at the time, this one's own context of some hundred MB counted as taken
	Driver  string // the newest CUDA that the driver offers, such as "12.9"
}

// String describes the GPU in one line.
func (i Info) String() string {
	return fmt.Sprintf("%s: %s, compute capability %s, %s of memory, %s free, driver for CUDA %s",
		i.Device, i.Name, i.Compute, units.Bytes(i.Total), units.Bytes(i.Free), i.Driver)
}

// Devices lists the GPUs that the driver lets this process see, in its order. A
// GPU that does not answer is left out and named by the error, beside the list of
// the others. The first call opens the driver; each makes a context on every GPU
// and gives it back, which can take a second. A machine without a driver has none
// and returns ErrNoDriver.
func Devices() ([]Info, error) {
	d, err := nvidia()
	if err != nil {
		return nil, err
	}
	n, err := d.Count()
	if err != nil {
		return nil, fmt.Errorf("the NVIDIA driver does not count its GPUs: %w", err)
	}
	version, err := d.Version()
	if err != nil {
		return nil, fmt.Errorf("the NVIDIA driver does not say its version: %w", err)
	}
	var list []Info
	var silent []error
	for i := range n {
		info := Info{Device: fmt.Sprintf("cuda:%d", i), Driver: versionText(version)}
		if err := info.ask(d, i); err != nil {
			silent = append(silent, fmt.Errorf("%s does not answer: %w", info.Device, err))
			continue
		}
		list = append(list, info)
	}
	return list, errors.Join(silent...)
}

// ask fills in what GPU number i says of itself. Its memory is known to a context only.
func (info *Info) ask(d driver.Driver, i int) error {
	p, err := d.Properties(i)
	if err != nil {
		return err
	}
	info.Name, info.Compute = p.Name, fmt.Sprintf("%d.%d", p.Major, p.Minor)
	c, err := d.Open(i)
	if err != nil {
		return err
	}
	info.Free, info.Total, err = c.Memory()
	return errors.Join(err, c.Close())
}

// nvidia returns the machine's driver.
func nvidia() (driver.Driver, error) {
	d, err := openDriver()
	if errors.Is(err, ErrNoDriver) {
		return nil, fmt.Errorf("%w: %s", err, instead)
	}
	if err != nil {
		return nil, fmt.Errorf("%w%s: %s", err, hidden(), instead)
	}
	return d, nil
}
