package kernel

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestFoldLevels compares the vector loops with those in plain Go, over rows
// and columns long enough for every part of them.
func TestFoldLevels(t *testing.T) {
	all := levels()
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		typ := rapid.SampledFrom([]dtype.Type{dtype.Float16, dtype.Float32, dtype.Float64, dtype.Complex64}).Draw(r, "type")
		red := rapid.SampledFrom([]Reduction{Sum, Mean, Var, Std, Min, Max}).Draw(r, "reduction")
		rows, cols := rapid.IntRange(1, 40).Draw(r, "rows"), rapid.IntRange(1, 700).Draw(r, "cols")
		x := fill(typ, rows*cols, rapid.Uint64().Draw(r, "seed"), rapid.IntRange(0, 3).Draw(r, "special") == 0)
		f, _ := NewFolder(red, typ)
		var want [3][]byte
		for i, l := range all {
			func() {
				defer l.use()()
				got := [3][]byte{
					foldCols(f, red.Result(typ), x, rows, cols, 0),
					foldRows(f, red.Result(typ), x, rows, cols, 0),
					foldRows(f, red.Result(typ), x, 1, rows*cols, 0),
				}
				if i == 0 {
					want = got
					return
				}
				for j := range got {
					compareFold(t, red, typ, got[j], want[j])
				}
			}()
		}
	})
}
