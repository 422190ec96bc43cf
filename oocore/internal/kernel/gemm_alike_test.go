package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestGemmAlike has any box of a product have the bits that it has in the whole, whatever
// its lengths, place and the rows' distance, and the whole be near the definition.
func TestGemmAlike(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
			if rapid.Bool().Draw(r, "wide") {
				checkAlike[float64](r, dtype.Float64, 0x1p-52)
			} else {
				checkAlike[float32](r, dtype.Float32, 0x1p-23)
			}
		})
	})
}

func checkAlike[T float32 | float64](r *rapid.T, typ dtype.Type, eps float64) {
	side := rapid.IntRange(1, 40)
	m, n, k := side.Draw(r, "m"), side.Draw(r, "n"), rapid.IntRange(1, 3*blockK).Draw(r, "k")
	switch rapid.IntRange(0, 12).Draw(r, "long") { // cross a block's border
	case 0:
		m = blockRows + m
	case 1:
		n, m = blockCols+n, min(m, 4)
	}
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
	fill := func(n int) []byte {
		b := aligned(make([]byte, n*typ.Size()))
		for i := range view[T](b, n) {
			view[T](b, n)[i] = T(random.NormFloat64())
		}
		return b
	}
	a, b, c := fill(m*k), fill(k*n), fill(m*n)
	before := bytes.Clone(c)
	work := func(m, n int) []byte { return aligned(make([]byte, GemmWork(typ, m, n, k))) }
	GemmAlike(typ, m, n, k, a, k, b, n, c, n, work(m, n))

	x, y, z, from := view[T](a, m*k), view[T](b, k*n), view[T](c, m*n), view[T](aligned(before), m*n)
	for range 20 {
		i, j := random.IntN(m), random.IntN(n)
		want := float64(from[i*n+j])
		size := math.Abs(want)
		for p := range k {
			v := float64(x[i*k+p]) * float64(y[p*n+j])
			want, size = want+v, size+math.Abs(v)
		}
		if off := math.Abs(float64(z[i*n+j]) - want); !(off <= float64(k+2)*eps*size) {
			r.Fatalf("%v %d×%d×%d: element %d,%d is %v, want %v", typ, m, k, n, i, j, z[i*n+j], want)
		}
	}

	i, j := random.IntN(m), random.IntN(n)
	h, w := 1+random.IntN(m-i), 1+random.IntN(n-j)
	ld := w + random.IntN(3)
	box := aligned(make([]byte, h*ld*typ.Size()))
	got := view[T](box, h*ld)
	for q := range h {
		copy(got[q*ld:][:w], from[(i+q)*n+j:])
	}
	size := typ.Size()
	GemmAlike(typ, h, w, k, a[i*k*size:], k, b[j*size:], n, box, ld, work(h, w))
	for q := range h {
		for p := range w {
			if g, want := got[q*ld+p], z[(i+q)*n+j+p]; g != want {
				r.Fatalf("%v %d×%d×%d: element %d,%d is %v in a box of %d×%d from %d,%d on, and %v in the whole", typ, m, k, n, i+q, j+p, g, h, w, i, j, want)
			}
		}
	}
}
