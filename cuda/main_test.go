package cuda_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/cuda/internal/driver/double"
)

// folder has the driver's double, which this process opens as its driver.
var (
	folder  string
	library *double.Library
)

func TestMain(m *testing.M) {
	if runtime.GOOS == "linux" {
		var err error
		if folder, err = double.Build(); err == nil {
			library, err = double.Open(folder)
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
