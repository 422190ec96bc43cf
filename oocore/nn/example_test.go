package nn_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/nn"
)

// A layer of two weights, and what is below zero of its result set to zero.
func ExampleModel_Forward() {
	w := oocore.FromSlice([]float32{1, -1}, 1, 2)
	b := oocore.FromSlice([]float32{0.5})
	x := oocore.FromSlice([]float32{3, 1, 1, 3}, 2, 2)
	y, err := oocore.Collect[float32](context.Background(), nn.Model{nn.Dense(w, b), nn.ReLU()}.Forward(x))
	fmt.Println(y, err)
	// Output: [2.5 0] <nil>
}
