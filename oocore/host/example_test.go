package host_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

// An expression that a user wrote is parsed once, and evaluated on arrays by name.
func ExampleEval() {
	all, err := host.Definitions("m = mean(x, 0); c = x - m")
	if err != nil {
		fmt.Println(err)
		return
	}
	names := oocore.Names{"x": oocore.FromSlice([]float64{1, 2, 5, 8}, 2, 2)}
	for _, d := range all {
		a := host.Eval(context.Background(), d, names)
		elements, err := oocore.Collect[float64](context.Background(), a)
		fmt.Println(d.Name, elements, err)
		names[d.Name] = a
	}
	// Output:
	// m [3 5] <nil>
	// c [-2 -3 2 3] <nil>
}
