package linalg

import "math"

// What operations take, in nanoseconds of one core at nominal rates, measured with matrices
// of 16 to 2048 rows. Floating-point operations are counted as by G. Golub and C. Van Loan,
// Matrix Computations, 4th edition, whose sections are named.
const (
	matrixNanos  = 10e3 // of a matrix
	productNanos = 0.03 // of an operation in products of blocks
	columnNanos  = 0.24 // of one in a panel, which is computed column by column
	rowNanos     = 0.06 // of one in loops over rows
	pairNanos    = 100  // of two rows that are rotated
	complexNanos = 1.6  // of one in loops over complex numbers, which is four of real ones
)

// productWork is a product of m × k and k × n elements (1.1).
func productWork(m, k, n int) float64 {
	return productNanos * 2 * float64(m) * float64(k) * float64(n)
}

// panelsWork is the panels of m × n elements, whose rest is computed by products.
func panelsWork(m, n int) float64 {
	return columnNanos * 2 * float64(m) * float64(n) * float64(min(panel, m, n))
}

// luFlops is the elimination of m × n elements (3.2 and 3.4).
func luFlops(m, n int) float64 {
	l, k := float64(max(m, n)), float64(min(m, n))
	return k * k * (l - k/3)
}

func luWork(m, n int) float64 { return productNanos*luFlops(m, n) + panelsWork(m, n) }

// choleskyWork is the root of n × n elements (4.2).
func choleskyWork(n int) float64 { return luWork(n, n) / 2 }

// solveWork is substitution for k columns in a triangle of n rows (3.1).
func solveWork(n, k int) float64 { return productWork(n, n, k)/2 + panelsWork(n, k)/2 }

// qrWork is the reflections that make m × n elements a triangle (5.2).
func qrWork(m, n int) float64 { return 2*productNanos*luFlops(m, n) + panelsWork(m, n) }

// reflectWork applies the reflections of m × n elements to k columns (5.1).
func reflectWork(m, n, k int) float64 {
	n = min(m, n)
	return 2*productWork(m, n, k) - productWork(n, n, k)
}

// jacobiWork is the sweeps over pairs of n rows of m elements, and of others of n elements
// that are rotated alike: an inner product and rotations of each pair (8.6). The number of
// sweeps grows about as the logarithm of n; the last ones rotate little.
func jacobiWork(n, m, others int, nanos float64) float64 {
	sweeps := math.Log2(float64(n)+1)/2 + 3
	pairs := float64(n) * float64(n) / 2
	return sweeps * pairs * (pairNanos + nanos*float64(8*m+6*others))
}

// completeFlops makes the rows from n on to m of m elements orthogonal to all before, twice
// (5.2).
func completeFlops(n, m int) float64 {
	return 4 * float64(m) * (float64(m)*float64(m) - float64(n)*float64(n))
}

// work is what one matrix takes.
func (e Batched) work() float64 {
	m, n := e.In[0][0], e.In[0][1]
	work := 0.0
	switch e.Function {
	case "cholesky":
		work = choleskyWork(n)
	case "det", "slogdet", "lu":
		work = luWork(m, n)
	case "inv":
		work = luWork(n, n) + 2*solveWork(n, n)
	case "solve":
		work = luWork(n, n) + 2*solveWork(n, e.In[1][1])
	case "qr_r":
		work = qrWork(m, n)
	case "qr_q":
		work = qrWork(m, n) + reflectWork(m, n, min(m, n))
	case "svd", "eigh":
		work = jacobiWork(n, m, n, rowNanos)
	case "svd_full":
		work = jacobiWork(n, m, n, rowNanos) + rowNanos*completeFlops(n, m)
	case "svdvals":
		work = jacobiWork(n, m, 0, rowNanos)
	case "lstsq":
		n := e.Out[0]
		work = jacobiWork(n, n, n, rowNanos) + 2*productWork(n, n, e.Out[1])
	case "pinv":
		work = jacobiWork(n, m, n, rowNanos) + productWork(n, n, m)
	case "lstsq_residuals":
		work = productWork(e.In[1][0], e.In[1][0], e.In[1][1])
	case "det_complex", "slogdet_complex", "lu_complex":
		work = complexNanos * luFlops(m, n/2)
	case "svd_complex", "eigh_complex":
		work = jacobiWork(n/2, m, n/2, complexNanos)
	case "eig_complex": // 6·n³ of rotations, and some two steps for each value of 12·n operations a row
		work = complexNanos * 12 * float64(m) * float64(m) * float64(m)
	case "svd_complex_full":
		work = jacobiWork(n/2, m, n/2, complexNanos) + complexNanos*completeFlops(n/2, m)
	}
	return matrixNanos + work
}
