// # GPUs of this machine
//
// The build tag cuda adds NVIDIA's driver, through gorgonia.org/cu: such a build
// lists the machine's GPUs, and does not compute on them yet. It is for Linux on
// amd64 and arm64, and takes cgo, a C compiler and the headers of CUDA 12, which
// are looked for in /usr/local/cuda/include. Elsewhere, the compiler is told:
//
//	pip download --no-deps nvidia-cuda-runtime-cu12==12.9.79
//	python3 -m zipfile -e nvidia_cuda_runtime_cu12-*.whl headers
//	CGO_CFLAGS="-O2 -I$PWD/headers/nvidia/cuda_runtime/include" go build -tags cuda ./gonbext/cmd/gonbext
//
// No driver is needed to build or to start: the program opens libcuda.so.1 when a
// GPU is first asked for, so that one binary serves machines with and without one.
// Without the tag, nothing of this is compiled in, and the build needs only Go.
package cuda

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/units"
)

// Info is what the driver says of one GPU.
type Info struct {
	Device  string // its name for Open, such as "cuda:0"
	Name    string // the model, such as "NVIDIA H200"
	Compute string // compute capability, such as "9.0"
	Total   int64  // bytes of memory
	Free    int64  // bytes that no process had taken at the time, this one's own context of some hundred MB counted as taken
	Driver  string // the newest CUDA that the driver offers, such as "12.9"
}

// String is the GPU in one line.
func (i Info) String() string {
	return fmt.Sprintf("%s: %s, compute capability %s, %s of memory, %s free, driver for CUDA %s",
		i.Device, i.Name, i.Compute, units.Bytes(i.Total), units.Bytes(i.Free), i.Driver)
}

// Devices lists the GPUs that the driver lets this process see, in its order. A
// GPU that does not answer is left out and named by the error, beside the list of
// the others. The first call opens the driver; each makes a context on every GPU
// and gives it back, which can take a second. A build without a driver has none
// and returns ErrNoDriver.
func Devices() ([]Info, error) { return devices() }
