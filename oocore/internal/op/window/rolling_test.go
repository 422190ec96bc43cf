package window_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Each window's reduction is that of its elements, and has the same bits in every box.
func TestRollingReducesEachWindow(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		shape := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 3).Draw(r, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(r, "axis")
		w := rapid.IntRange(1, shape[axis]).Draw(r, "window")
		x := make([]float64, grid.Size(shape))
		for i := range x {
			x[i] = float64(rng.IntN(100) - 50) // sums are exact
		}
		if rapid.Bool().Draw(r, "special") {
			x[rng.IntN(len(x))] = math.NaN()
		}
		out := slices.Clone(shape)
		out[axis] -= w - 1
		for _, kind := range []kernel.Reduction{kernel.Sum, kernel.Min, kernel.Max, kernel.Var} {
			op := window.Rolling{Kind: kind, Type: dtype.Float64, Axis: axis, Window: w}
			got := dtype.Slice[float64](blockwisetest.Same(t, op, out, dtype.Float64, blockwisetest.Array{Shape: shape, DType: dtype.Float64, Data: dtype.Bytes(x)}))
			inner := grid.Size(shape[axis+1:])
			for i, v := range got {
				outer, at := i/(out[axis]*inner), i%(out[axis]*inner)
				var seen []float64
				for k := range w {
					seen = append(seen, x[outer*shape[axis]*inner+at+k*inner])
				}
				if want := reduced(kind, seen); v != want && !(v != v && want != want) && math.Abs(v-want) > 1e-9*math.Abs(want) {
					r.Fatalf("%s of %v is %v, want %v", kind, seen, v, want)
				}
			}
		}
	})
}

func reduced(kind kernel.Reduction, x []float64) float64 {
	switch kind {
	case kernel.Sum:
		return sum(x)
	case kernel.Var:
		mean, squares := sum(x)/float64(len(x)), 0.0
		for _, v := range x {
			squares += (v - mean) * (v - mean)
		}
		return squares / float64(len(x))
	case kernel.Min:
		out := x[0]
		for _, v := range x {
			out = min(out, v)
		}
		return out
	}
	out := x[0]
	for _, v := range x {
		out = max(out, v)
	}
	return out
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// A window has the elements from its place on.
func TestSlidingShowsEachWindow(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 6), 2, 2).Draw(r, "shape")
		w := []int{rapid.IntRange(1, shape[0]).Draw(r, "rows"), rapid.IntRange(1, shape[1]).Draw(r, "columns")}
		x := make([]int32, grid.Size(shape))
		for i := range x {
			x[i] = int32(i)
		}
		out := []int{shape[0] - w[0] + 1, shape[1] - w[1] + 1, w[1], w[0]}
		op := window.Sliding{Dims: 2, Axes: []int{1, 0}, Lengths: []int{w[1], w[0]}, Item: 4}
		got := dtype.Slice[int32](blockwisetest.Same(t, op, out, dtype.Int32, blockwisetest.Array{Shape: shape, DType: dtype.Int32, Data: dtype.Bytes(x)}))
		for i, v := range got {
			p := i
			c := p % w[0]
			p /= w[0]
			b := p % w[1]
			p /= w[1]
			row, column := p/out[1]+c, p%out[1]+b
			if want := int32(row*shape[1] + column); v != want {
				r.Fatalf("element %d is %d, want %d", i, v, want)
			}
		}
	})
}
