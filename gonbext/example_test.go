package gonbext_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/oocore"
)

// In a cell nothing returns an error: a failure ends the cell.
func Example() {
	dir, err := os.MkdirTemp("", "gonbext")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	x := oocore.Arange(0, 6, 1).Reshape(2, 3)
	roots := gonbext.Save(x.Mul(x).Sqrt(), filepath.Join(dir, "roots.npy"))
	fmt.Println(gonbext.Collect[float64](roots))
	// Output: [0 1 2 3 4 5]
}

func ExampleShow() {
	gonbext.Show(oocore.Arange(0, 6, 1).Reshape(2, 3))
	// Output:
	// arange(2, 3): 2 × 3 int64, 48 bytes
	//   0  1  2
	//   3  4  5
}
