package cuda_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/cuda/internal/driver/double"
	"github.com/gonbext/gonbext/cuda/internal/driver/drivertest"
)

// folder has the driver's double, which this process opens as its driver, and the double of
// cuBLAS. On a machine with a card there are none.
var (
	folder  string
	library *double.Library
	blas    string // the file
)

func TestMain(m *testing.M) {
	os.Setenv("GONBEXT_CUBLAS", "none") // tests that want one say so
	if runtime.GOOS == "linux" && !drivertest.OnMachine() {
		var err error
		if folder, library, err = double.Build(); err == nil {
			blas = filepath.Join(folder, "blas", "libcublas.so.12")
			if err = os.Mkdir(filepath.Dir(blas), 0o700); err == nil {
				err = double.BuildBLAS(blas)
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(folder)
		os.Exit(code)
	}))
}
