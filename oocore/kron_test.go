package oocore_test

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Each element of a Kronecker product is that of a block of b times one of a, whatever number
// of axes both have.
func TestKronMultipliesBlocksOfManyShapes(t *testing.T) {
	counted := func(shape []int, from int32) []int32 {
		all := make([]int32, grid.Size(shape))
		for i := range all {
			all[i] = from + int32(i*i%97)
		}
		return all
	}
	for _, c := range [][2][]int{{{3}, {4}}, {{2, 3}, {4, 5}}, {{5}, {2, 3}}, {{2, 1, 3}, {3, 2}}, {{1, 4}, {1, 1}}, {{2, 0}, {3, 2}}} {
		a, b := counted(c[0], 2), counted(c[1], -5)
		dims := max(len(c[0]), len(c[1]))
		of := [2][]int{}
		for i := range of {
			of[i] = append(slices.Repeat([]int{1}, dims-len(c[i])), c[i]...)
		}
		shape := make([]int, dims)
		for d := range shape {
			shape[d] = of[0][d] * of[1][d]
		}
		want := make([]int32, grid.Size(shape))
		for i := range want {
			var at [2]int
			for d, rest := 0, i; d < dims; d++ {
				after := grid.Size(shape[d+1:])
				index := rest / after
				rest %= after
				at[0], at[1] = at[0]*of[0][d]+index/of[1][d], at[1]*of[1][d]+index%of[1][d]
			}
			want[i] = a[at[0]] * b[at[1]]
		}
		product := oocore.FromSlice(a, c[0]...).Kron(oocore.FromSlice(b, c[1]...))
		got, err := oocore.Collect[int32](t.Context(), product)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(product.Shape(), shape) {
			t.Errorf("of %v and %v: shape %v, %v", c[0], c[1], product.Shape(), err)
		}
	}
}
