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

// GemmWork is the bytes of work memory that Gemm needs for a product of m × k
// by k × n.
func GemmWork(t dtype.Type, m, n, k int) int64 { return 0 }

// smallProduct bounds the products that do not repay a call into a library.
const smallProduct = 16 * 16 * 16

// Gemm adds the product of a, m × k, and b, k × n, to c, m × n, of type
// GemmType(t). The matrices are row-major; lda, ldb and ldc are the elements
// from a row to the next. work has GemmWork bytes, aligned to 64.
//
// The order in which an element's k products are added depends on k alone,
// never on m, n or the element's place. Integers wrap in their own type, and
// the product of bools is the "or" of "and"s, as in NumPy.
func Gemm(t dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int, work []byte) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if t >= dtype.Float32 && m*n*k >= smallProduct {
		if l := loadBLAS(); l != nil {
			l.multiply(t, m, n, k, a, lda, b, ldb, c, ldc)
			return
		}
	}
	switch t {
	case dtype.Bool:
		gemmBool(m, n, k, view[uint8](a, (m-1)*lda+k), lda, view[uint8](b, (k-1)*ldb+n), ldb, view[uint8](c, (m-1)*ldc+n), ldc)
	case dtype.Int8, dtype.Uint8:
		gemmSimple[uint8](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Int16, dtype.Uint16:
		gemmSimple[uint16](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Int32, dtype.Uint32:
		gemmSimple[uint32](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Int64, dtype.Uint64:
		gemmSimple[uint64](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Float16:
		gemmShort(dtype.Float16Bits.Float32, m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.BFloat16:
		gemmShort(dtype.BFloat16Bits.Float32, m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Float32:
		gemmSimple[float32](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Float64:
		gemmSimple[float64](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Complex64:
		gemmSimple[complex64](m, n, k, a, lda, b, ldb, c, ldc)
	case dtype.Complex128:
		gemmSimple[complex128](m, n, k, a, lda, b, ldb, c, ldc)
	}
}
