package dtype_test

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Types are promoted as NumPy 2 does: a scalar of Go is weak.
func ExamplePromote() {
	t, err := dtype.Parse("int32")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(dtype.Promote(t, dtype.Float32), dtype.PromoteWeak(dtype.Float32, t.Kind()))
	// Output: float64 float32
}
