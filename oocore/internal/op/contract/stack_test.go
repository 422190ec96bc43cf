package contract_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// whole are small whole numbers of a type, of which all sums of products are exact, with
// their values.
func whole(rng *rand.Rand, shape []int, t dtype.Type) (a blockwisetest.Array, values []float64) {
	values = make([]float64, grid.Size(shape))
	for i := range values {
		values[i] = float64(rng.IntN(5))
	}
	return blockwisetest.Array{Shape: shape, DType: t, Data: converted(dtype.Bytes(values), dtype.Float64, t)}, values
}

// converted are numbers in another type, which holds them all.
func converted(data []byte, from, to dtype.Type) []byte {
	n := len(data) / from.Size()
	out := make([]byte, n*to.Size())
	if from == to {
		copy(out, data)
		return out
	}
	cast, _ := kernel.Cast(from, to)
	cast(n, out, data, nil, nil)
	return out
}

// Each matrix of a stack is the product, by plain loops, of those that NumPy's rule of broadcasting
// pairs.
func TestStackPairsMatrices(t *testing.T) {
	rng := testcases.Rand(t)
	for range 40 {
		stack := make([]int, 1+rng.IntN(3))
		for d := range stack {
			stack[d] = 1 + rng.IntN(12)
		}
		stack[rng.IntN(len(stack))] = 64 + rng.IntN(600)
		m, n, k := 1+rng.IntN(7), 1+rng.IntN(7), 1+rng.IntN(20)
		operand := func() []int { // some axes are missing, others have the length 1
			own := append([]int{}, stack[rng.IntN(len(stack)+1):]...)
			for d := range own {
				if rng.IntN(3) == 0 {
					own[d] = 1
				}
			}
			return own
		}
		ofA, ofB := operand(), operand()
		joined, err := grid.Broadcast(ofA, ofB)
		if err != nil {
			t.Fatal(err)
		}
		in := []dtype.Type{dtype.Float64, dtype.Float32, dtype.Int32, dtype.Uint8}[rng.IntN(4)]
		to := in
		if in == dtype.Uint8 {
			to = dtype.Int32
		}
		a, x := whole(rng, append(ofA, m, k), in)
		b, y := whole(rng, append(ofB, k, n), in)
		shape := append(joined, m, n)
		op := contract.StackOf(a.Shape, b.Shape, shape, in, to)
		if op == nil {
			if grid.Size(joined) >= 64 {
				t.Fatalf("%v @ %v is no stack", a.Shape, b.Shape)
			}
			continue
		}
		got := dtype.Slice[float64](converted(blockwisetest.Same(t, op, shape, to, a, b), to, dtype.Float64))
		strides := func(own []int) []int { // of the joined axes, in matrices
			all := make([]int, len(joined))
			step := 1
			for d := len(own) - 1; d >= 0; d-- {
				if own[d] > 1 {
					all[len(joined)-len(own)+d] = step
				}
				step *= own[d]
			}
			return all
		}
		stepsA, stepsB := strides(ofA), strides(ofB)
		at := make([]int, len(joined))
		for p := range grid.Size(joined) {
			q := p
			for d := len(joined) - 1; d >= 0; d-- {
				at[d], q = q%joined[d], q/joined[d]
			}
			i, j := 0, 0
			for d := range at {
				i += at[d] * stepsA[d]
				j += at[d] * stepsB[d]
			}
			for row := range m {
				for col := range n {
					want := 0.0
					for l := range k {
						want += x[(i*m+row)*k+l] * y[(j*k+l)*n+col]
					}
					if v := got[(p*m+row)*n+col]; v != want {
						t.Fatalf("%v @ %v of %v: matrix %v [%d, %d] is %v, want %v", a.Shape, b.Shape, in, at, row, col, v, want)
					}
				}
			}
		}
	}
}
