package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// randomMatrix has n elements of either sign, none of them special.
func randomMatrix(t dtype.Type, n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	out := aligned(make([]byte, n*t.Size()))
	if t.Kind() == dtype.KindComplex {
		n *= 2
	}
	for i := range n {
		v := r.NormFloat64()
		switch t {
		case dtype.Bool:
			out[i] = byte(r.IntN(2))
		case dtype.Float16:
			view[dtype.Float16Bits](out, n)[i] = dtype.ToFloat16(float32(v))
		case dtype.BFloat16:
			view[dtype.BFloat16Bits](out, n)[i] = dtype.ToBFloat16(float32(v))
		case dtype.Float32, dtype.Complex64:
			view[float32](out, n)[i] = float32(v)
		case dtype.Float64, dtype.Complex128:
			view[float64](out, n)[i] = v
		default:
			dtype.Value{Type: t, Lo: r.Uint64()}.Put(out[i*t.Size():])
		}
	}
	return out
}

// number64 is element i as a complex number, or its bits for an integer.
func number64(t dtype.Type, b []byte, i int) (z complex128, bits uint64) {
	e := b[i*t.Size():][:t.Size()]
	switch t.Kind() {
	case dtype.KindComplex:
		p := floats(t, e)
		return complex(p[0], p[1]), 0
	case dtype.KindFloat:
		return complex(floats(t, e)[0], 0), 0
	}
	var w [8]byte
	copy(w[:], e)
	return 0, view[uint64](aligned(w[:]), 1)[0]
}

// checkGemm compares c with c0 + a·b from the definition. Floats may differ by
// rounding: k steps of half a unit in the last place of the sum of magnitudes.
func checkGemm(t *testing.T, typ dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c0, c []byte, ldc int) {
	t.Helper()
	sum := GemmType(typ)
	size := sum.Size()
	unit := math.Ldexp(1, -24)
	if sum == dtype.Float64 || sum == dtype.Complex128 {
		unit = math.Ldexp(1, -53)
	}
	for i := range m {
		for j := range n {
			z, bits := number64(sum, c0, i*ldc+j)
			scale := cmplx.Abs(z)
			for p := range k {
				x, u := number64(typ, a, i*lda+p)
				y, v := number64(typ, b, p*ldb+j)
				z += x * y
				scale += cmplx.Abs(x) * cmplx.Abs(y)
				if typ == dtype.Bool {
					bits |= u & v
				} else {
					bits += u * v
				}
			}
			got, gotBits := number64(sum, c, i*ldc+j)
			if e := cmplx.Abs(got - z); !(e <= float64(k+2)*2*unit*scale) {
				t.Fatalf("%v %d×%d×%d: element %d,%d is %v, want %v", typ, m, k, n, i, j, got, z)
			}
			if shift := 64 - 8*size; sum.Kind() != dtype.KindFloat && sum.Kind() != dtype.KindComplex && gotBits<<shift != bits<<shift {
				t.Fatalf("%v %d×%d×%d: element %d,%d is %x, want %x", typ, m, k, n, i, j, gotBits, bits)
			}
		}
		gap := size * (i*ldc + n)
		end := min(size*(i+1)*ldc, len(c))
		if !bytes.Equal(c[gap:end], c0[gap:end]) {
			t.Fatalf("%v %d×%d×%d: wrote beyond row %d", typ, m, k, n, i)
		}
	}
}

// atEachLevel runs a test with every set of instructions that the machine has.
func atEachLevel(t *testing.T, f func(t *testing.T)) {
	for _, level := range levels() {
		t.Run(level.name, func(t *testing.T) {
			defer level.use()()
			f(t)
		})
	}
}

func TestGemm(t *testing.T) {
	check := func(t *testing.T, multiply func(t dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int, work []byte)) {
		rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
			typ := rapid.SampledFrom(dtype.All()).Draw(r, "type")
			side := rapid.IntRange(1, 40)
			m, n, k := side.Draw(r, "m"), side.Draw(r, "n"), side.Draw(r, "k")
			switch rapid.IntRange(0, 30).Draw(r, "long") { // cross a block's border
			case 0:
				m = blockRows + m
			case 1:
				n = blockCols + n
				m = min(m, 4)
			case 2:
				k = blockK + k
			}
			lda, ldb, ldc := k+rapid.IntRange(0, 3).Draw(r, "lda"), n+rapid.IntRange(0, 3).Draw(r, "ldb"), n+rapid.IntRange(0, 3).Draw(r, "ldc")
			a := randomMatrix(typ, (m-1)*lda+k, 1)
			b := randomMatrix(typ, (k-1)*ldb+n, 2)
			c0 := randomMatrix(GemmType(typ), m*ldc, 3)
			c := aligned(c0)
			size := int(GemmWork(typ, m, n, k))
			work := aligned(bytes.Repeat([]byte{0xff}, size+64)) // NaN, were it read before it is written
			multiply(typ, m, n, k, a, lda, b, ldb, c, ldc, work[:size:size])
			checkGemm(t, typ, m, n, k, a, lda, b, ldb, c0, c, ldc)
			if !bytes.Equal(work[size:], bytes.Repeat([]byte{0xff}, 64)) {
				t.Fatalf("%v %d×%d×%d: wrote beyond the work memory", typ, m, k, n)
			}
		})
	}
	atEachLevel(t, func(t *testing.T) { check(t, gemmOwn) })
	t.Run("Gemm", func(t *testing.T) { check(t, Gemm) })
}

// TestGemmOrder has bits of an element not depend on where a product is cut
// along m and n.
func TestGemmOrder(t *testing.T) {
	const m, n, k = 61, 70, 600
	atEachLevel(t, func(t *testing.T) {
		for _, typ := range []dtype.Type{dtype.Float16, dtype.Float32, dtype.Float64, dtype.Complex64} {
			sum := GemmType(typ).Size()
			a, b := randomMatrix(typ, m*k, 1), randomMatrix(typ, k*n, 2)
			work := aligned(make([]byte, GemmWork(typ, m, n, k)))
			whole := aligned(make([]byte, m*n*sum))
			gemmOwn(typ, m, n, k, a, k, b, n, whole, n, work)
			rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
				i, j := rapid.IntRange(0, m-1).Draw(r, "i"), rapid.IntRange(0, n-1).Draw(r, "j")
				h, w := rapid.IntRange(1, m-i).Draw(r, "h"), rapid.IntRange(1, n-j).Draw(r, "w")
				part := aligned(make([]byte, h*w*sum))
				gemmOwn(typ, h, w, k, a[i*k*typ.Size():], k, b[j*typ.Size():], n, part, w, work)
				for row := range h {
					got, want := part[row*w*sum:][:w*sum], whole[((i+row)*n+j)*sum:][:w*sum]
					if !bytes.Equal(got, want) {
						t.Fatalf("%v: row %d of the part at %d,%d differs from the whole", typ, row, i, j)
					}
				}
			})
		}
	})
}

// TestGemmSpecial has infinities and NaN stay in their own row and column.
func TestGemmSpecial(t *testing.T) {
	const m, n, k = 5, 7, 3
	atEachLevel(t, func(t *testing.T) {
		a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
		for i := range a {
			a[i] = 1
		}
		for i := range b {
			b[i] = 1
		}
		a[1*k+2] = float32(math.NaN())
		b[0*n+4] = float32(math.Inf(1))
		work := aligned(make([]byte, GemmWork(dtype.Float32, m, n, k)))
		gemmOwn(dtype.Float32, m, n, k, dtype.Bytes(a), k, dtype.Bytes(b), n, dtype.Bytes(c), n, work)
		for i := range m {
			for j := range n {
				want := "3"
				if j == 4 {
					want = "+Inf"
				}
				if i == 1 {
					want = "NaN"
				}
				if got := fmt.Sprint(c[i*n+j]); got != want {
					t.Errorf("element %d,%d is %s, want %s", i, j, got, want)
				}
			}
		}
	})
}

// TestGemmAtOnce multiplies on several goroutines, which also race to open
// the library.
func TestGemmAtOnce(t *testing.T) {
	const n = 100
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for _, typ := range []dtype.Type{dtype.Float32, dtype.Complex128} {
				a, b := randomMatrix(typ, n*n, uint64(g)), randomMatrix(typ, n*n, uint64(g)+9)
				c0, c := aligned(make([]byte, n*n*typ.Size())), aligned(make([]byte, n*n*typ.Size()))
				Gemm(typ, n, n, n, a, n, b, n, c, n, aligned(make([]byte, GemmWork(typ, n, n, n))))
				checkGemm(t, typ, n, n, n, a, n, b, n, c0, c, n)
			}
		})
	}
	wait.Wait()
}

func TestGemmEmpty(t *testing.T) {
	for _, typ := range dtype.All() {
		Gemm(typ, 0, 3, 3, nil, 3, make([]byte, 9*16), 3, nil, 3, nil)
		c := bytes.Repeat([]byte{1}, 9*16)
		Gemm(typ, 3, 3, 0, nil, 0, nil, 3, c, 3, nil)
		if !bytes.Equal(c, bytes.Repeat([]byte{1}, 9*16)) {
			t.Errorf("%v: a product over no steps changed the result", typ)
		}
	}
}

func TestGemmAllocatesNothing(t *testing.T) {
	const n = 64
	for _, typ := range dtype.All() {
		a, b := randomMatrix(typ, n*n, 1), randomMatrix(typ, n*n, 2)
		c := aligned(make([]byte, n*n*16))
		work := aligned(make([]byte, GemmWork(typ, n, n, n)))
		if allocs := testing.AllocsPerRun(10, func() { gemmOwn(typ, n, n, n, a, n, b, n, c, n, work) }); allocs != 0 {
			t.Errorf("%v: %v allocations", typ, allocs)
		}
	}
}

// TestGemmWork has the work memory stay within what is documented.
func TestGemmWork(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		for _, typ := range dtype.All() {
			if got := GemmWork(typ, 1<<20, 1<<20, 1<<20); got > 2_600_000 {
				t.Errorf("%v: %d bytes", typ, got)
			}
		}
	})
}
