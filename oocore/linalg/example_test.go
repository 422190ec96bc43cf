package linalg_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/linalg"
)

// A line through four points.
func ExampleLstsq() {
	x := oocore.FromSlice([]float64{0, 1, 1, 1, 2, 1, 3, 1}, 4, 2)
	y := oocore.FromSlice([]float64{1, 3, 5, 7})
	line, err := oocore.Collect[float64](context.Background(), linalg.Lstsq(x, y, -1).X)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", line)
	// Output: [2.000 1.000]
}

func ExampleQR() {
	a := oocore.FromSlice([]float64{3, 1, 4, 2}, 2, 2)
	_, r := linalg.QR(a)
	elements, err := oocore.Collect[float64](context.Background(), r)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", elements)
	// Output: [5.0 2.2 0.0 0.4]
}
