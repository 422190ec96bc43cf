package devicetest_test

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/device/devicetest"
	"github.com/gonbext/gonbext/oocore/dtype"
)

// An array for a plan that is never run.
func ExampleUnwritten() {
	x := devicetest.Unwritten(dtype.Float32, 1_000_000, 512)
	fmt.Println(x.Mean(0).Shape())
	// Output: [512]
}
