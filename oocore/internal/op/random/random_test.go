package random_test

import (
	"context"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/random"
)

// Normal numbers are those of Box and Muller by the functions of package math, in boxes that
// begin anywhere.
func TestNormalsAreThoseOfTheFormulaInEveryBox(t *testing.T) {
	const seed = 77
	o := random.Draws{Distribution: random.Normal, Seed: seed, Shape: []int{3, 999}}
	for _, box := range []grid.Box{{Start: []int{0, 0}, Shape: []int{3, 999}}, {Start: []int{1, 5}, Shape: []int{2, 601}}} {
		got := make([]float64, box.Size())
		task := &blockwise.Task{Box: box, Dst: dtype.Bytes(got), Do: func(f func() error) error { return f() }}
		if err := o.Fill(context.Background(), task); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			at := uint64((box.Start[0]+i/box.Shape[1])*999 + box.Start[1] + i%box.Shape[1])
			w := kernel.Philox(at/2, uint64(random.Normal), seed)
			a, b := uint64(w[1])<<32|uint64(w[0]), uint64(w[3])<<32|uint64(w[2])
			want := math.Sqrt(-2 * math.Log(1-float64(a>>11)/(1<<53)))
			if angle := 2 * math.Pi * float64(b>>11) / (1 << 53); at%2 == 0 {
				want *= math.Cos(angle)
			} else {
				want *= math.Sin(angle)
			}
			if math.Abs(v-want) > 1e-15*(1+math.Abs(want)) {
				t.Fatalf("number %d is %v and not %v", at, v, want)
			}
		}
	}
}
