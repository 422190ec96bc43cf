package kernel

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
