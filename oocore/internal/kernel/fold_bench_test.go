package kernel

import (
	"fmt"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// BenchmarkFold reads a block of 16384 elements in the shapes that the
// executor gives: 512 columns, one row, and rows or columns of a few elements.
func BenchmarkFold(b *testing.B) {
	for _, t := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Float16, dtype.Int32} {
		for _, r := range []Reduction{Mean, Std, Max, ArgMax, Sum} {
			f, _ := NewFolder(r, t)
			x := make([]byte, 16384*t.Size())
			state := make([]byte, 16384*f.Size())
			for _, shape := range [][2]int{{32, 512}, {16384, 1}, {4096, 4}} {
				rows, cols := shape[0], shape[1]
				f.Init(state, 16384)
				b.Run(fmt.Sprintf("%v/%v/cols/%dx%d", t, r, rows, cols), func(b *testing.B) {
					b.SetBytes(int64(len(x)))
					for range b.N {
						f.Cols(state, cols, 0, x, rows, cols, 0, 1)
					}
				})
				b.Run(fmt.Sprintf("%v/%v/rows/%dx%d", t, r, cols, rows), func(b *testing.B) {
					b.SetBytes(int64(len(x)))
					for range b.N {
						f.Rows(state, cols, 0, x, cols, rows, 0)
					}
				})
			}
			b.Run(fmt.Sprintf("%v/%v/rows/4096x4", t, r), func(b *testing.B) {
				b.SetBytes(int64(len(x)))
				for range b.N {
					f.Rows(state, 4096, 0, x, 4096, 4, 0)
				}
			})
		}
	}
}
