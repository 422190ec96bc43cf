package contract_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise/blockwisetest"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// whole are small whole numbers of a type, of which all sums of products are exact, with
// their values.
func whole(rng *rand.Rand, shape []int, t dtype.Type) (a blockwisetest.Array, values []float64) {
	a = blockwisetest.Array{Shape: shape, DType: t}
	for range grid.Size(shape) {
		v := rng.IntN(5)
		values = append(values, float64(v))
		switch t {
		case dtype.Float64:
			a.Data = binary.LittleEndian.AppendUint64(a.Data, math.Float64bits(float64(v)))
		case dtype.Float32:
			a.Data = binary.LittleEndian.AppendUint32(a.Data, math.Float32bits(float32(v)))
		case dtype.Int32:
			a.Data = binary.LittleEndian.AppendUint32(a.Data, uint32(v))
		case dtype.Uint8:
			a.Data = append(a.Data, byte(v))
		}
	}
	return a, values
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
		got := blockwisetest.Same(t, op, shape, to, a, b)
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
					if v := value(got, to, (p*m+row)*n+col); v != want {
						t.Fatalf("%v @ %v of %v: matrix %v [%d, %d] is %v, want %v", a.Shape, b.Shape, in, at, row, col, v, want)
					}
				}
			}
		}
	}
}

func value(data []byte, t dtype.Type, i int) float64 {
	switch t {
	case dtype.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	case dtype.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return float64(int32(binary.LittleEndian.Uint32(data[4*i:])))
}
