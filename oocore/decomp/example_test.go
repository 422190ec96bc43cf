package decomp_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/decomp"
)

// A tensor that is one outer product has rank 1.
func ExampleCP() {
	a := oocore.FromSlice([]float64{1, 2, 3})
	b := oocore.FromSlice([]float64{4, 5})
	c := oocore.FromSlice([]float64{6, 7, 8, 9})
	tensor := oocore.Einsum("i,j,k->ijk", a, b, c)
	p, err := decomp.CP(context.Background(), tensor, 1, decomp.CPOptions{}, oocore.Memory("256MiB"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Factors[0].Shape(), p.Factors[1].Shape(), p.Factors[2].Shape())
	fmt.Println(p.Errors[len(p.Errors)-1] < 1e-6)
	// Output:
	// [3 1] [2 1] [4 1]
	// true
}

func ExampleHOSVD() {
	tensor := oocore.Random(oocore.Float64, 1, 6, 5, 4)
	k, err := decomp.HOSVD(context.Background(), tensor, []int{2, 2, 2}, decomp.TuckerOptions{}, oocore.Memory("256MiB"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k.Core.Shape(), k.Factors[0].Shape(), k.Reconstruct().Shape())
	// Output: [2 2 2] [6 2] [6 5 4]
}
