package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// checkGemmInt32 compares GemmInt32 with the definition, over matrices among whose
// elements are many of the extremes: of int16 the products of two already wrap.
func checkGemmInt32(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		typ := rapid.SampledFrom([]dtype.Type{dtype.Int8, dtype.Uint8, dtype.Int16}).Draw(r, "type")
		side := rapid.IntRange(1, 40)
		m, n, k := side.Draw(r, "m"), side.Draw(r, "n"), side.Draw(r, "k")
		switch rapid.IntRange(0, 12).Draw(r, "long") { // cross a block's border
		case 0:
			m = blockRows + m
		case 1:
			n, m = blockCols+n, min(m, 4)
		case 2:
			k = 2*blockPairs*rapid.IntRange(1, 2).Draw(r, "blocks") + k
		}
		lda, ldb, ldc := k+rapid.IntRange(0, 3).Draw(r, "lda"), n+rapid.IntRange(0, 3).Draw(r, "ldb"), n+rapid.IntRange(0, 3).Draw(r, "ldc")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		fill := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				if b[i] = byte(random.Uint32()); random.IntN(2) == 0 {
					b[i] = []byte{0, 1, 127, 128, 255}[random.IntN(5)]
				}
			}
			return aligned(b)
		}
		value := func(b []byte, i int) int64 {
			switch typ {
			case dtype.Int8:
				return int64(int8(b[i]))
			case dtype.Int16:
				return int64(view[int16](b, i+1)[i])
			}
			return int64(b[i])
		}
		a, b := fill(((m-1)*lda+k)*typ.Size()), fill(((k-1)*ldb+n)*typ.Size())
		c := aligned(make([]byte, 4*m*ldc))
		got := view[int32](c, m*ldc)
		for i := range got {
			got[i] = int32(i) * 7919
		}
		size := int(GemmWork(typ, m, n, k))
		work := aligned(bytes.Repeat([]byte{0xff}, size+64))
		GemmInt32(typ, m, n, k, a, lda, b, ldb, c, ldc, work[:size:size])
		for i := range m {
			for j := range ldc {
				want := int64(int32(i*ldc+j) * 7919)
				for p := 0; p < k && j < n; p++ {
					want += value(a, i*lda+p) * value(b, p*ldb+j)
				}
				if got[i*ldc+j] != int32(want) {
					t.Fatalf("%v %d×%d×%d: element %d,%d is %d, want %d", typ, m, k, n, i, j, got[i*ldc+j], int32(want))
				}
			}
		}
		if !bytes.Equal(work[size:], bytes.Repeat([]byte{0xff}, 64)) {
			t.Fatalf("%v %d×%d×%d: wrote beyond the work memory", typ, m, k, n)
		}
	})
}

func TestGemmInt32(t *testing.T) {
	atEachLevel(t, checkGemmInt32)
}

// TestGemmInt32Long has the largest products of all add up without loss over as many
// steps as is documented.
func TestGemmInt32Long(t *testing.T) {
	const k = 33_000
	for typ, v := range map[dtype.Type]byte{dtype.Uint8: 255, dtype.Int8: 0x80} {
		a := bytes.Repeat([]byte{v}, k)
		c := aligned(make([]byte, 4))
		GemmInt32(typ, 1, 1, k, a, k, a, 1, c, 1, aligned(make([]byte, GemmWork(typ, 1, 1, k))))
		x := int64(v)
		if typ == dtype.Int8 {
			x = int64(int8(v))
		}
		if got := int64(view[int32](c, 1)[0]); got != x*x*k {
			t.Errorf("%v: %d, want %d", typ, got, x*x*k)
		}
	}
}

func TestGemmInt32Empty(t *testing.T) {
	c := bytes.Repeat([]byte{1}, 36)
	GemmInt32(dtype.Int8, 3, 3, 0, nil, 0, nil, 3, c, 3, nil)
	GemmInt32(dtype.Int8, 0, 3, 3, nil, 3, make([]byte, 9), 3, nil, 3, nil)
	if !bytes.Equal(c, bytes.Repeat([]byte{1}, 36)) {
		t.Error("a product over no steps changed the result")
	}
}
