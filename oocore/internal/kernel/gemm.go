package kernel

import "github.com/gonbext/gonbext/oocore/dtype"

// GemmType is the type in which a product of matrices of type t adds up:
// float32 for the 16-bit floats, else t.
func GemmType(t dtype.Type) dtype.Type {
	if t.Short() {
		return dtype.Float32
	}
	return t
}

// GemmWidens reports a type other than to of which products add up in to, with nothing
// converted before: Gemm does that, or GemmInt32.
func GemmWidens(t, to dtype.Type) bool {
	switch to {
	case dtype.Float32:
		return t.Short()
	case dtype.Int32:
		return t == dtype.Int8 || t == dtype.Uint8 || t == dtype.Int16
	}
	return false
}

// GemmWork is the bytes of work memory that Gemm needs for a product of m × k
// by k × n: at most 2.6 MB, whatever the sizes.
func GemmWork(t dtype.Type, m, n, k int) int64 {
	switch t {
	case dtype.Float16, dtype.BFloat16, dtype.Float32:
		return 4 * int64(workspaceOf[float32](m, n, k, t.Short()).size())
	case dtype.Float64:
		return 8 * int64(workspaceOf[float64](m, n, k, false).size())
	case dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16:
		return 4 * int64(workspaceOf[float32](m, n, (k+1)/2, false).size())
	case dtype.Complex64:
		return 4 * int64(workspaceOf[float32](m, 2*n, 2*k, false).size())
	case dtype.Complex128:
		return 8 * int64(workspaceOf[float64](m, 2*n, 2*k, false).size())
	}
	return 0
}

// shortProduct bounds the k whose products do not repay a call into a library.
const shortProduct = 16

// Gemm adds the product of a, m × k, and b, k × n, to c, m × n, of type
// GemmType(t). The matrices are row-major; lda, ldb and ldc are the elements
// from a row to the next. work has GemmWork bytes, aligned to 64.
//
// The order in which an element's k products are added depends on k alone,
// never on m, n or the element's place; with a BLAS library it is the
// library's. Integers wrap in their own type, and the product of bools is the
// "or" of "and"s, as in NumPy.
func Gemm(t dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int, work []byte) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if t >= dtype.Float32 && k >= shortProduct {
		if l := loadBLAS(); l != nil {
			l.multiply(t, m, n, k, a, lda, b, ldb, c, ldc)
			return
		}
	}
	gemmOwn(t, m, n, k, a, lda, b, ldb, c, ldc, work)
}

// GemmInt32 is Gemm for int8, uint8 or int16 matrices and a result of int32: exact where
// no element of it leaves int32, as none of 8 bits does up to k = 33,000, and wrapping
// beyond.
func GemmInt32(t dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int, work []byte) {
	switch {
	case m == 0 || n == 0 || k == 0:
	case t == dtype.Int8:
		gemmPairs[int8, int32](m, n, k, a, lda, b, ldb, c, ldc, work)
	case t == dtype.Uint8:
		gemmPairs[uint8, int32](m, n, k, a, lda, b, ldb, c, ldc, work)
	case t == dtype.Int16:
		gemmPairs[int16, int32](m, n, k, a, lda, b, ldb, c, ldc, work)
	}
}

// GemmAlike is Gemm without a library: an element's bits never depend on m, n or its
// place, so that operations can give it boxes of any lengths.
func GemmAlike(t dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int, work []byte) {
	if m > 0 && n > 0 && k > 0 {
		gemmOwn(t, m, n, k, a, lda, b, ldb, c, ldc, work)
	}
}

// gemmOwn is Gemm without a library.
func gemmOwn(t dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int, work []byte) {
	switch t {
	case dtype.Bool:
		gemmBool(m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Int8, dtype.Uint8:
		gemmPairs[int8, uint8](m, n, k, a, lda, b, ldb, c, ldc, work)
	case dtype.Int16, dtype.Uint16:
		gemmPairs[int16, uint16](m, n, k, a, lda, b, ldb, c, ldc, work)
	case dtype.Int32, dtype.Uint32:
		gemmInt[uint32](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Int64, dtype.Uint64:
		gemmInt[uint64](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Float16, dtype.BFloat16:
		g := product[float32]{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, widen: widenFloat16}
		if t == dtype.BFloat16 {
			g.widen = widenBFloat16
		}
		g.multiply(m, n, k, work)
	case dtype.Float32:
		g := product[float32]{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc}
		g.multiply(m, n, k, work)
	case dtype.Float64:
		g := product[float64]{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc}
		g.multiply(m, n, k, work)
	case dtype.Complex64:
		g := product[float32]{a: a, b: b, c: c, lda: 2 * lda, ldb: 2 * ldb, ldc: 2 * ldc, complex: true}
		g.multiply(m, 2*n, 2*k, work)
	case dtype.Complex128:
		g := product[float64]{a: a, b: b, c: c, lda: 2 * lda, ldb: 2 * ldb, ldc: 2 * ldc, complex: true}
		g.multiply(m, 2*n, 2*k, work)
	}
}

// intBlock is the steps along k whose rows of b stay in the cache while all
// rows of a meet them.
const intBlock = 64

// gemmInt multiplies integers of 32 and 64 bits row by row. Wrapping makes signed and unsigned
// ones alike.
func gemmInt[T uint32 | uint64](m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int) {
	x, y, z := view[T](a, (m-1)*lda+k), view[T](b, (k-1)*ldb+n), view[T](c, (m-1)*ldc+n)
	for q := 0; q < k; q += intBlock {
		d := min(intBlock, k-q)
		for i := range m {
			out := z[i*ldc:][:n]
			for p, v := range x[i*lda+q:][:d] {
				row := y[(q+p)*ldb:][:n]
				for j, w := range row {
					out[j] += v * w
				}
			}
		}
	}
}

// gemmBool multiplies bools, of which any byte but zero is true.
func gemmBool(m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int) {
	for i := range m {
		out := c[i*ldc:][:n]
		for p, v := range a[i*lda:][:k] {
			if v == 0 {
				continue
			}
			for j, w := range b[p*ldb:][:n] {
				if w != 0 {
					out[j] = 1
				}
			}
		}
	}
}
