//go:build unix

package ptx_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/ptx"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// products are lengths m, n and k within, at and beyond the squares and stretches of a
// kernel.
var products = [][3]int{{1, 1, 1}, {3, 5, 7}, {64, 64, 16}, {130, 70, 33}, {17, 129, 600}, {128, 128, 8}}

func TestProductOfIntegersHasTheBitsOfTheCPU(t *testing.T) {
	if !evaluates(t) {
		return
	}
	random := testcases.Rand(t)
	for _, in := range dtype.All() {
		if !in.Integer() && in != dtype.Bool {
			continue
		}
		sums := []dtype.Type{in}
		if kernel.GemmWidens(in, dtype.Int32) {
			sums = append(sums, dtype.Int32)
		}
		for _, sum := range sums {
			t.Run(fmt.Sprint(in, " in ", sum), func(t *testing.T) {
				m, err := ptx.Product(in, sum)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range products {
					a, b, c := memory(p[0]*p[2]*in.Size()), memory(p[2]*p[1]*in.Size()), memory(p[0]*p[1]*sum.Size())
					for _, each := range [][]byte{a, b, c} {
						for i := range each {
							each[i] = byte(random.Uint32())
							if in == dtype.Bool { // rarely true in a, so that not all sums are
								each[i] &= 1 - byte(min(random.IntN(4), 1))
							}
						}
					}
					want, work := bytes.Clone(c), memory(int(kernel.GemmWork(in, p[0], p[1], p[2]))+64)
					gemm := kernel.Gemm
					if sum != in {
						gemm = kernel.GemmInt32
					}
					gemm(in, p[0], p[1], p[2], a, p[2], b, p[1], want, p[1], work)
					run(t, m, "product", [][]int{{p[0], p[1]}}, c, a, b, p[0], p[1], p[2])
					if !bytes.Equal(c, want) {
						t.Errorf("%d × %d × %d differs, with GONBEXT_SEED=%d", p[0], p[1], p[2], testcases.Seed(t))
					}
				}
			})
		}
	}
}

// No dimension of a launch is longer than CUDA has it, for matrices of any shape.
func TestProductOfManyRowsOrColumnsCanBeLaunched(t *testing.T) {
	for _, in := range []dtype.Type{dtype.Float32, dtype.Float64} {
		m, err := ptx.Product(in, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, lengths := range [][]int{{30_000_000, 10}, {10, 30_000_000}, {190_000, 190_000}} {
			blocks, _ := m.Kernels[0].Launch(lengths)
			if blocks[0] > math.MaxInt32 || blocks[1] > 65535 || blocks[2] > 65535 {
				t.Errorf("%v elements of %s are %d blocks", lengths, in, blocks)
			}
		}
	}
}

func TestProductOfFloatsErrsNoMoreThanTwiceAsMuchAsTheCPU(t *testing.T) {
	if !evaluates(t) {
		return
	}
	random := testcases.Rand(t)
	for _, in := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
		t.Run(in.String(), func(t *testing.T) {
			sum := kernel.GemmType(in)
			m, err := ptx.Product(in, sum)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range append(products, [3]int{27, 33, 3000}) { // of so many elements that chance is a hundredth of the error
				rows, cols, k := p[0], p[1], p[2]
				a, b := usual(random, in, rows*k, 0.5, 1), usual(random, in, k*cols, 0.5, 1)
				gpu, cpu := memory(rows*cols*sum.Size()), memory(rows*cols*sum.Size())
				kernel.GemmAlike(in, rows, cols, k, a, k, b, cols, cpu, cols, memory(int(kernel.GemmWork(in, rows, cols, k))+64))
				run(t, m, "product", [][]int{{rows, cols}}, gpu, a, b, rows, cols, k)
				var off [2]float64 // the root of the mean square
				for i := range rows {
					for j := range cols {
						var want float64
						var lost float64
						for l := range k { // with the error of each product and of each sum
							x, y := number(in, a[(i*k+l)*in.Size():]), number(in, b[(l*cols+j)*in.Size():])
							product := x * y
							s := want + product
							bb := s - want
							lost += (want - (s - bb)) + (product - bb) + math.FMA(x, y, -product)
							want = s
						}
						for which, c := range [][]byte{gpu, cpu} {
							d := number(sum, c[(i*cols+j)*sum.Size():]) - want - lost
							off[which] += d * d
						}
					}
				}
				gpuOff, cpuOff := math.Sqrt(off[0]/float64(rows*cols)), math.Sqrt(off[1]/float64(rows*cols))
				if most := 2 * max(cpuOff, halfPlace(sum, float64(k))/2); !(gpuOff <= most) {
					t.Errorf("%d × %d × %d is off by %g and not at most %g, with GONBEXT_SEED=%d", rows, cols, k, gpuOff, most, testcases.Seed(t))
				}
			}
		})
	}
}
