package kernel

import (
	"fmt"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// BenchmarkGemm has the own loops beside the BLAS library, on one core; for
// integers an operation is a multiplication or an addition.
func BenchmarkGemm(b *testing.B) {
	for _, t := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Complex64, dtype.Float16, dtype.BFloat16, dtype.Int8, dtype.Int32} {
		for _, n := range []int{256, 1024, 2048} {
			if t == dtype.Int32 && n > 256 {
				continue
			}
			x, y := randomMatrix(t, n*n, 1), randomMatrix(t, n*n, 2)
			z := make([]byte, n*n*GemmType(t).Size())
			work := aligned(make([]byte, GemmWork(t, n, n, n)))
			flop := 2 * float64(n) * float64(n) * float64(n)
			if t.Kind() == dtype.KindComplex {
				flop *= 4
			}
			run := func(name string, f func()) {
				b.Run(fmt.Sprintf("%v/%d/%s", t, n, name), func(b *testing.B) {
					for range b.N {
						f()
					}
					b.ReportMetric(flop*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
				})
			}
			run("own", func() { gemmOwn(t, n, n, n, x, n, y, n, z, n, work) })
			if t == dtype.Int8 {
				wide := make([]byte, 4*n*n)
				run("int32", func() { GemmInt32(t, n, n, n, x, n, y, n, wide, n, work) })
			}
			if l := loadBLAS(); l != nil && t >= dtype.Float32 {
				run("library", func() { l.multiply(t, n, n, n, x, n, y, n, z, n) })
			}
		}
	}
}
