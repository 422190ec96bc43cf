package fft_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// lengths have every radix, primes that are convolved, and products with such.
var lengths = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 25, 29, 30, 31, 32, 37, 49, 60, 62, 64, 74, 97, 120, 128, 211, 243, 256, 360, 422, 625, 1024, 1155, 2048}

// op is the operation of a node that Along makes.
func op(t testing.TB, kind fft.Kind, dt dtype.Type, shape []int, n, axis int, norm string) (blockwise.Op, *graph.Node) {
	t.Helper()
	in, err := graph.Full(graph.Site{}, dtype.FromFloat(dt, 0), shape...)
	if err != nil {
		t.Fatal(err)
	}
	node, err := fft.Along(graph.Site{}, kind, in, n, axis, norm)
	if err != nil {
		t.Fatal(err)
	}
	return node.Blocks.Op, node
}

func randomComplex(rng *rand.Rand, n int) []complex128 {
	v := make([]complex128, n)
	for i := range v {
		v[i] = complex(rng.NormFloat64(), rng.NormFloat64())
	}
	return v
}

// direct is the definition of the transform.
func direct(x []complex128, sign float64) []complex128 {
	n := len(x)
	out := make([]complex128, n)
	for k := range out {
		for j, z := range x {
			out[k] += z * cmplx.Rect(1, sign*2*math.Pi*float64(j*k%n)/float64(n))
		}
	}
	return out
}

// off is the distance of two lines by the length of the second.
func off(a, b []complex128) float64 {
	var d, n float64
	for i := range b {
		d += real((a[i] - b[i]) * cmplx.Conj(a[i]-b[i]))
		n += real(b[i] * cmplx.Conj(b[i]))
	}
	return math.Sqrt(d / max(n, math.SmallestNonzeroFloat64))
}

func TestTransformsAreTheirDefinition(t *testing.T) {
	rng := testcases.Rand(t)
	for _, n := range lengths {
		x := randomComplex(rng, n)
		for _, kind := range []fft.Kind{fft.Forward, fft.Inverse} {
			o, _ := op(t, kind, dtype.Complex128, []int{n}, 0, 0, "")
			got := dtype.Slice[complex128](blockwisetest.Same(t, o, []int{n}, dtype.Complex128, blockwisetest.Array{Shape: []int{n}, DType: dtype.Complex128, Data: dtype.Bytes(x)}))
			want := direct(x, -1)
			if kind == fft.Inverse {
				want = direct(x, 1)
				for k := range want {
					want[k] /= complex(float64(n), 0)
				}
			}
			if d := off(got, want); d > 2e-14 { // the definition's own errors grow with n
				t.Errorf("%s of length %d is off by %g", kind, n, d)
			}
		}
	}
}

// Real lines in every layout are complex ones without imaginary parts.
func TestRealLinesAreComplexOnes(t *testing.T) {
	rng := testcases.Rand(t)
	for _, n := range lengths {
		for _, shape := range [][]int{{3, n}, {n, 19}, {2, n, 3}} {
			axis := 1
			if shape[0] == n && len(shape) == 2 {
				axis = 0
			}
			x := make([]float64, grid.Size(shape))
			z := make([]complex128, len(x))
			for i := range x {
				x[i] = rng.NormFloat64()
				z[i] = complex(x[i], 0)
			}
			half := append([]int{}, shape...)
			half[axis] = n/2 + 1
			in := blockwisetest.Array{Shape: shape, DType: dtype.Float64, Data: dtype.Bytes(x)}
			whole, _ := op(t, fft.Forward, dtype.Complex128, shape, 0, axis, "ortho")
			want := dtype.Slice[complex128](blockwisetest.Same(t, whole, shape, dtype.Complex128, blockwisetest.Array{Shape: shape, DType: dtype.Complex128, Data: dtype.Bytes(z)}))
			mirrored, _ := op(t, fft.Forward, dtype.Float64, shape, 0, axis, "ortho")
			if d := off(dtype.Slice[complex128](blockwisetest.Same(t, mirrored, shape, dtype.Complex128, in)), want); d > 1e-14 {
				t.Errorf("fft of real lines of %v along %d is off by %g", shape, axis, d)
			}
			r, _ := op(t, fft.RealForward, dtype.Float64, shape, 0, axis, "ortho")
			spectrum := blockwisetest.Same(t, r, half, dtype.Complex128, in)
			back, _ := op(t, fft.RealInverse, dtype.Complex128, half, n, axis, "ortho")
			again := dtype.Slice[float64](blockwisetest.Same(t, back, shape, dtype.Float64, blockwisetest.Array{Shape: half, DType: dtype.Complex128, Data: spectrum}))
			for i := range x {
				if math.Abs(again[i]-x[i]) > 1e-13 {
					t.Fatalf("irfft of rfft of %v along %d: %g became %g", shape, axis, x[i], again[i])
				}
			}
		}
	}
}

// Lines are cut or continued with zeros, and each is transformed by itself: what
// another holds changes nothing of it.
func TestLinesAreApart(t *testing.T) {
	rng := testcases.Rand(t)
	for _, c := range []struct{ have, n int }{{8, 8}, {8, 5}, {5, 8}, {7, 4}, {4, 7}, {1, 6}, {64, 74}} {
		for _, kind := range []fft.Kind{fft.Forward, fft.Inverse, fft.RealForward, fft.RealInverse} {
			from, to, length := dtype.Complex64, dtype.Complex64, c.n
			switch kind {
			case fft.RealForward:
				from, length = dtype.Float32, c.n/2+1
			case fft.RealInverse:
				to = dtype.Float32
			}
			shape, result := []int{c.have, 37}, []int{length, 37}
			data := make([]byte, grid.Size(shape)*from.Size())
			for i, f := range dtype.Slice[float32](data) {
				dtype.Slice[float32](data)[i] = f + rng.Float32()
			}
			o, _ := op(t, kind, from, shape, c.n, 0, "forward")
			in := blockwisetest.Array{Shape: shape, DType: from, Data: data}
			all := blockwisetest.Same(t, o, result, to, in)
			nan := float32(math.NaN())
			for i := range c.have { // a column of NaN
				row := dtype.Slice[float32](data[i*37*from.Size():])
				for k := range from.Size() / 4 {
					row[20*from.Size()/4+k] = nan
				}
			}
			other := blockwisetest.Fill(t, o, result, to, nil, in)
			for i := range length {
				for j := range 37 {
					at := (i*37 + j) * to.Size()
					same := string(all[at:at+to.Size()]) == string(other[at:at+to.Size()])
					if same == (j == 20) {
						t.Fatalf("%s of %d as %d: element (%d, %d) with NaN in column 20 only: the same %v", kind, c.have, c.n, i, j, same)
					}
				}
			}
		}
	}
}

// A boxes' cut is by whole lines.
func TestBoxesAreWholeLines(t *testing.T) {
	for _, shape := range [][]int{{2000, 3000}, {1 << 21, 3}, {3, 1 << 21}, {50, 40, 700, 30}, {7}} {
		for axis := range shape {
			o, n := op(t, fft.Forward, dtype.Complex64, shape, 0, axis, "")
			chunks := blockwise.ChunksOf(o)
			if chunks[axis] != shape[axis] {
				t.Errorf("%v along %d: boxes of %v", shape, axis, chunks)
			}
			if b := grid.Size(chunks) * 8; b > max(4<<20, 8*shape[axis]) {
				t.Errorf("%v along %d: boxes of %d bytes", shape, axis, b)
			}
			if n.String() != fmt.Sprintf("fft((0+0i), %d, %d)", shape[axis], axis) {
				t.Errorf("it is called %s", n)
			}
		}
	}
}

func TestRejections(t *testing.T) {
	full := func(dt dtype.Type, shape ...int) *graph.Node {
		n, err := graph.Full(graph.Site{}, dtype.FromInt(dt, 0), shape...)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		f    func() (*graph.Node, error)
		want string
	}{
		{func() (*graph.Node, error) {
			return fft.Along(graph.Site{}, fft.Forward, full(dtype.Float32, 3), 0, 1, "")
		}, "fft: axis 1 is out of bounds for array of dimension 1"},
		{func() (*graph.Node, error) {
			return fft.Along(graph.Site{}, fft.Forward, full(dtype.Float32), 0, -1, "")
		}, "fft: axis -1 is out of bounds for array of dimension 0"},
		{func() (*graph.Node, error) {
			return fft.Along(graph.Site{}, fft.Forward, full(dtype.Float32, 2, 0), 0, 1, "")
		}, "fft: axis 1 of shape (2, 0) gives lines of 0 elements: at least one is needed"},
		{func() (*graph.Node, error) {
			return fft.Along(graph.Site{}, fft.RealInverse, full(dtype.Complex64, 2, 1), 0, 1, "")
		}, "irfft: axis 1 of shape (2, 1) gives lines of 0 elements: at least one is needed"},
		{func() (*graph.Node, error) {
			return fft.Along(graph.Site{}, fft.Inverse, full(dtype.Complex64, 2, 1), -3, 1, "")
		}, "ifft: axis 1 of shape (2, 1) gives lines of -3 elements: at least one is needed"},
		{func() (*graph.Node, error) {
			return fft.Along(graph.Site{}, fft.RealForward, full(dtype.Complex64, 2), 0, 0, "")
		}, "rfft: takes real numbers, not complex64: fft takes complex ones"},
		{func() (*graph.Node, error) {
			return fft.Along(graph.Site{}, fft.Forward, full(dtype.Complex64, 2), 0, 0, "other")
		}, `fft: the norm "other" is unknown: use "backward", "ortho" or "forward"`},
		{func() (*graph.Node, error) {
			return fft.Over(graph.Site{}, fft.Forward, full(dtype.Complex64, 2, 3), nil, []int{0, -2}, "")
		}, "fftn: axis -2 is named twice"},
		{func() (*graph.Node, error) {
			return fft.Over(graph.Site{}, fft.Forward, full(dtype.Complex64, 2, 3), []int{1, 2, 3}, nil, "")
		}, "fftn: 3 lengths for the 2 axes of shape (2, 3)"},
		{func() (*graph.Node, error) {
			return fft.Hermitian(graph.Site{}, full(dtype.Complex64, 1), 0, 0, "")
		}, "hfft: axis 0 of shape (1,) gives lines of 0 elements: at least one is needed"},
	} {
		if _, err := c.f(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func BenchmarkTransform(b *testing.B) {
	for _, c := range []struct {
		kind  fft.Kind
		shape []int
		axis  int
	}{
		{fft.Forward, []int{512, 1024}, 1}, {fft.Forward, []int{1024, 512}, 0}, {fft.Forward, []int{1, 1 << 19}, 1},
		{fft.Forward, []int{525, 1000}, 1}, {fft.Forward, []int{519, 1009}, 1}, {fft.RealForward, []int{512, 1024}, 1},
		{fft.Forward, []int{131072, 4}, 1}, {fft.Forward, []int{32, 16384}, 1},
	} {
		b.Run(fmt.Sprint(c.kind, c.shape, c.axis), func(b *testing.B) {
			from := dtype.Complex64
			if c.kind == fft.RealForward {
				from = dtype.Float32
			}
			o, n := op(b, c.kind, from, c.shape, 0, c.axis, "")
			in := make([]byte, grid.Size(c.shape)*from.Size())
			dst := make([]byte, grid.Size(n.Shape)*8)
			task := &blockwise.Task{Box: grid.Entire(n.Shape), Dst: dst, Scratch: make([]byte, o.Requirements(n.Shape).Scratch), In: []blockwise.Input{memory(in)}, Do: func(f func() error) error { return f() }}
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if err := o.Fill(b.Context(), task); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
