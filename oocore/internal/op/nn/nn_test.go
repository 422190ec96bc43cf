package nn_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/op/nn"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func random[T float32 | float64](rng *rand.Rand, shape ...int) []T {
	n := 1
	for _, l := range shape {
		n *= l
	}
	out := make([]T, n)
	for i := range out {
		out[i] = T(rng.NormFloat64())
	}
	return out
}

func array[T float32 | float64](t dtype.Type, v []T, shape ...int) blockwisetest.Array {
	return blockwisetest.Array{Shape: shape, DType: t, Data: dtype.Bytes(v)}
}

func window(rng *rand.Rand, t *testing.T, h, w int) nn.Window {
	for {
		two := func(from, to int) [2]int { return [2]int{from + rng.IntN(to-from), from + rng.IntN(to-from)} }
		out, err := nn.NewWindow([2]int{h, w}, two(1, 5), two(1, 4), two(0, 4), two(1, 3))
		if err == nil {
			return out
		}
	}
}

// places is how many the window has along an axis, counted.
func places(w nn.Window, d int) int {
	n := 0
	for from := -w.Padding[d]; from+(w.Kernel[d]-1)*w.Dilation[d] < w.Image[d]+w.Padding[d]; from += w.Stride[d] {
		n++
	}
	return n
}

// Convolution by its definition, in float64; in boxes of any kind the bits are the same.
func TestConv(t *testing.T) {
	rng := testcases.Rand(t)
	for range 60 {
		groups := 1 + rng.IntN(3)
		in, each := 1+rng.IntN(4), 1+rng.IntN(4)
		n, h, wide := 1+rng.IntN(3), 1+rng.IntN(12), 1+rng.IntN(12)
		w := window(rng, t, h, wide)
		c := nn.Conv{Window: w, Channels: in * groups, Filters: each * groups, Groups: groups, Type: dtype.Float32}
		oh, ow := places(w, 0), places(w, 1)
		x, k := random[float32](rng, n, c.Channels, h, wide), random[float32](rng, c.Filters, in, w.Kernel[0], w.Kernel[1])
		got := dtype.Slice[float32](blockwisetest.Same(t, c, []int{n, c.Filters, oh, ow}, c.Type,
			array(c.Type, x, n, c.Channels, h, wide), array(c.Type, k, c.Filters, in, w.Kernel[0], w.Kernel[1])))
		at := 0
		for b := range n {
			for o := range c.Filters {
				for y := range oh {
					for z := range ow {
						want := 0.0
						for ch := range in {
							for ky := range w.Kernel[0] {
								for kx := range w.Kernel[1] {
									i, j := y*w.Stride[0]-w.Padding[0]+ky*w.Dilation[0], z*w.Stride[1]-w.Padding[1]+kx*w.Dilation[1]
									if i >= 0 && i < h && j >= 0 && j < wide {
										want += float64(x[((b*c.Channels+o/each*in+ch)*h+i)*wide+j]) * float64(k[((o*in+ch)*w.Kernel[0]+ky)*w.Kernel[1]+kx])
									}
								}
							}
						}
						if math.Abs(float64(got[at])-want) > 1e-4 {
							t.Fatalf("%+v: element %d is %v, not %v", c, at, got[at], want)
						}
						at++
					}
				}
			}
		}
	}
}

// Many channels: more than one matrix of columns, and more products than one block of them.
func TestConvInPieces(t *testing.T) {
	rng := testcases.Rand(t)
	w, err := nn.NewWindow([2]int{20, 21}, [2]int{3, 3}, [2]int{}, [2]int{1, 1}, [2]int{})
	if err != nil {
		t.Fatal(err)
	}
	c := nn.Conv{Window: w, Channels: 90, Filters: 5, Groups: 1, Type: dtype.Float64}
	blockwisetest.Same(t, c, []int{1, 5, 20, 21}, c.Type, array(c.Type, random[float64](rng, 1, 90, 20, 21), 1, 90, 20, 21), array(c.Type, random[float64](rng, 5, 90, 3, 3), 5, 90, 3, 3))
}

func TestPool(t *testing.T) {
	rng := testcases.Rand(t)
	for try := range 100 {
		h, wide := 1+rng.IntN(14), 1+rng.IntN(14)
		w := window(rng, t, h, wide)
		p := nn.Pool{Window: w, Mean: try%2 == 0, Type: dtype.Float64}
		x := random[float64](rng, 2, 3, h, wide)
		oh, ow := places(w, 0), places(w, 1)
		got := dtype.Slice[float64](blockwisetest.Same(t, p, []int{2, 3, oh, ow}, p.Type, array(p.Type, x, 2, 3, h, wide)))
		at := 0
		for n := range 6 {
			for y := range oh {
				for z := range ow {
					sum, most, count := 0.0, math.Inf(-1), 0
					for ky := range w.Kernel[0] {
						for kx := range w.Kernel[1] {
							i, j := y*w.Stride[0]-w.Padding[0]+ky*w.Dilation[0], z*w.Stride[1]-w.Padding[1]+kx*w.Dilation[1]
							if i >= 0 && i < h && j >= 0 && j < wide {
								v := x[(n*h+i)*wide+j]
								sum, most, count = sum+v, max(most, v), count+1
							}
						}
					}
					want := most
					if p.Mean {
						want = sum / float64(w.Kernel[0]*w.Kernel[1])
					}
					if (count > 0 || p.Mean) && got[at] != want {
						t.Fatalf("%+v: element %d is %v, not %v", p, at, got[at], want)
					}
					at++
				}
			}
		}
	}
}
