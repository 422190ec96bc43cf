package kernel

// gemmSimple multiplies row by row, for types and sizes that do not repay
// packing. Wrapping makes unsigned and signed integers alike.
func gemmSimple[T integer | float | complexNumber](m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int) {
	x, y, z := view[T](a, (m-1)*lda+k), view[T](b, (k-1)*ldb+n), view[T](c, (m-1)*ldc+n)
	for i := range m {
		out := z[i*ldc:][:n]
		for p, v := range x[i*lda:][:k] {
			row := y[p*ldb:][:n]
			for j := range out {
				out[j] += v * row[j]
			}
		}
	}
}

// gemmShort multiplies 16-bit floats in float32.
func gemmShort[T any](widen func(T) float32, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int) {
	x, y, z := view[T](a, (m-1)*lda+k), view[T](b, (k-1)*ldb+n), view[float32](c, (m-1)*ldc+n)
	for i := range m {
		out := z[i*ldc:][:n]
		for p, h := range x[i*lda:][:k] {
			row, v := y[p*ldb:][:n], widen(h)
			for j := range out {
				out[j] += v * widen(row[j])
			}
		}
	}
}

func gemmBool(m, n, k int, x []uint8, lda int, y []uint8, ldb int, z []uint8, ldc int) {
	for i := range m {
		out := z[i*ldc:][:n]
		for p, v := range x[i*lda:][:k] {
			if v == 0 {
				continue
			}
			for j, w := range y[p*ldb:][:n] {
				if w != 0 {
					out[j] = 1
				}
			}
		}
	}
}
