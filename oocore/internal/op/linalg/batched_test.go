package linalg_test

import (
	"fmt"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func BenchmarkSVD(b *testing.B) {
	rng := testcases.Rand(b)
	for _, n := range []int{64, 256, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := random(rng, n, n)
			e := linalg.Batched{Function: "svdvals", Stack: []int{}, In: [][2]int{{n, n}}, Out: []int{n}, Type: dtype.Float64}
			task := &blockwise.Task{Box: grid.Entire([]int{n}), Dst: make([]byte, 8*n), Scratch: make([]byte, e.Requirements([]int{n}).Scratch), In: []blockwise.Input{memory(dtype.Bytes(a.a))}, Do: func(f func() error) error { return f() }}
			for b.Loop() {
				if err := e.Fill(b.Context(), task); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
