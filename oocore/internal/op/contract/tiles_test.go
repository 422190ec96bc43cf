package contract_test

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// The tiles of a product, whatever their lengths, are those of the product by plain loops, also where rows are
// so long that panels are added up.
func TestTilesAreTheProductsElements(t *testing.T) {
	rng := testcases.Rand(t)
	for i := range 30 {
		m, n, k := 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(70)
		in := []dtype.Type{dtype.Float64, dtype.Float32, dtype.Int32, dtype.Uint8, dtype.Float16}[rng.IntN(5)]
		if i%10 == 0 {
			k, in = 1100+rng.IntN(2000), dtype.Float64
		}
		to := in
		if in == dtype.Uint8 {
			to = dtype.Int32
		}
		a, x := whole(rng, []int{m, k}, in)
		b, y := whole(rng, []int{k, n}, in)
		op := contract.Tiles{M: m, N: n, K: k, In: in, Type: to}
		got := dtype.Slice[float64](converted(blockwisetest.Same(t, op, []int{m, n}, to, a, b), to, dtype.Float64))
		for i := range m {
			for j := range n {
				want := 0.0
				for p := range k {
					want += x[i*k+p] * y[p*n+j]
				}
				if got[i*n+j] != want {
					t.Fatalf("%+v: element %d, %d is %v, not %v", op, i, j, got[i*n+j], want)
				}
			}
		}
	}
}

// Sides and chunks follow from lengths alone, cover what they are of, and keep a panel small.
func TestTilesAreOfModestSize(t *testing.T) {
	for _, e := range []struct{ m, n, k int }{{3_000_000, 3_000_000, 512}, {100, 3_000_000, 512}, {3_000_000, 100, 64}, {20_000, 20_000, 4000}, {1, 5_000_000, 1}, {2049, 2049, 8192}} {
		op := contract.Tiles{M: e.m, N: e.n, K: e.k, In: dtype.Float32, Type: dtype.Float32}
		for _, axes := range [][]int{{0}, {1}, {0, 1}} {
			chunks, tile := op.Chunks([]int{e.m, e.n}, axes)
			for d, n := range []int{e.m, e.n} {
				if tile[d] < 1 || chunks[d] < tile[d] || chunks[d] > n || chunks[d] < n && chunks[d]%tile[d] != 0 {
					t.Errorf("%+v along %v: chunks of %v, tiles of %v", op, axes, chunks, tile)
				}
			}
			if s := op.Requirements(tile).Scratch; s > 22<<20 {
				t.Errorf("%+v along %v: a tile of %v takes %d bytes", op, axes, tile, s)
			}
			if tasks := (e.m + chunks[0] - 1) / chunks[0] * ((e.n + chunks[1] - 1) / chunks[1]); tasks < 8 {
				t.Errorf("%+v along %v: %d tasks", op, axes, tasks)
			}
			if !slices.Equal(axes, []int{0}) && tile[0] > e.m {
				t.Errorf("%+v: tiles of %v", op, tile)
			}
		}
	}
}
