package filter_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/filter"
)

func ExampleLFilter() {
	x := oocore.FromSlice([]float64{1, 0, 0, 0}, 4)
	y, err := oocore.Collect[float64](context.Background(), filter.LFilter([]float64{1}, []float64{1, -0.5}, x, 0))
	fmt.Println(y, err)
	// Output: [1 0.5 0.25 0.125] <nil>
}

func ExampleSOSFiltFilt() {
	x := oocore.FromSlice([]float64{0, 0, 4, 0, 0}, 5)
	mean := [][6]float64{{0.5, 0.5, 0, 1, 0, 0}} // of an element and the one before
	y, err := oocore.Collect[float64](context.Background(), filter.SOSFiltFilt(mean, x, 0, filter.FiltFiltOptions{PadLen: 1}))
	fmt.Println(y, err)
	// Output: [0 1 2 1 0] <nil>
}

func ExampleResamplePoly() {
	x := oocore.Full(2.0, 1000).Add(1)
	y := filter.ResamplePoly(x, 3, 2, 0, filter.ResampleOptions{PadType: "edge"})
	fmt.Println(y.Shape(), y.Err())
	// Output: [1500] <nil>
}
