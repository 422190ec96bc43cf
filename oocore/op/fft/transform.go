package fft

import (
	"math"
	"math/bits"
)

// transform computes forward transforms of length n of several lines at once, in
// complex128: element k of line j lies at k·lines+j.
//
// Lengths with small factors go by Stockham's self-sorting form of Cooley and Tukey's
// algorithm, in radices 4, 2, 3, 5 and small primes (C. Van Loan, Computational
// Frameworks for the Fast Fourier Transform, SIAM 1992, section 1.7). Others are a
// circular convolution of a length with small factors (L. Bluestein, A linear filtering
// approach to the computation of discrete Fourier transform, 1970).
type transform struct {
	n       int
	factors []int        // of size
	size    int          // n, or of the convolution
	roots   []complex128 // exp(-2πik/size), k < size

	// Of a convolution: exp(-iπk²/n), and the transform of its conjugate by size.
	chirp, filter []complex128
}

// largest is the largest prime for which a pass of its own takes less time than a
// convolution.
const largest = 31

// factorize gives the radices of n, or nil where it has a large prime.
func factorize(n int) []int {
	factors := make([]int, 0, bits.Len(uint(n)))
	take := func(r int) {
		for n%r == 0 {
			factors = append(factors, r)
			n /= r
		}
	}
	take(4)
	take(2)
	for r := 3; r <= largest; r += 2 {
		take(r)
	}
	if n > 1 {
		return nil
	}
	return factors
}

// convolved is the length of the convolution for a transform of length n: the next
// with factors 2, 3 and 5 only.
func convolved(n int) int {
	for m := 2*n - 1; ; m++ {
		rest := m
		for _, r := range []int{2, 3, 5} {
			for rest%r == 0 {
				rest /= r
			}
		}
		if rest == 1 {
			return m
		}
	}
}

// size is the elements of work that a line of length n takes, and tables is how many
// are kept with it.
func size(n int) (line, tables int) {
	if factorize(n) != nil {
		return n, n
	}
	m := convolved(n)
	return m, m + n + m
}

// newTransform fills its tables into memory of the given size. work has two lines.
func newTransform(n int, tables, work []complex128) *transform {
	t := &transform{n: n, size: n, factors: factorize(n)}
	if t.factors == nil {
		t.size = convolved(n)
		t.factors = factorize(t.size)
	}
	t.roots, tables = tables[:t.size], tables[t.size:]
	fillRoots(t.roots, t.size)
	if t.size == n {
		return t
	}
	t.chirp, t.filter = tables[:n], tables[n:n+t.size]
	for k, square := 0, 0; k < n; k++ {
		t.chirp[k] = root(square, 2*n)
		square = (square + 2*k + 1) % (2 * n)
	}
	x, y := work[:t.size], work[t.size:2*t.size]
	clear(x)
	for k, c := range t.chirp {
		w := complex(real(c), -imag(c)) / complex(float64(t.size), 0)
		x[k] = w
		if k > 0 {
			x[t.size-k] = w
		}
	}
	copy(t.filter, t.passes(x, y, 1))
	return t
}

// root is exp(-2πik/n), 0 ≤ k < n, with its angle brought below π/4.
func root(k, n int) complex128 {
	eighth := 8 * k / n
	var c, s float64 // of the whole angle
	angle := func(k8 int) (sin, cos float64) { return math.Sincos(2 * math.Pi * float64(k8) / float64(8*n)) }
	switch x := 8 * k; eighth {
	case 0:
		s, c = angle(x)
	case 1:
		c, s = angle(2*n - x)
	case 2:
		c, s = angle(x - 2*n)
		c = -c
	case 3:
		s, c = angle(4*n - x)
		c = -c
	case 4:
		s, c = angle(x - 4*n)
		s, c = -s, -c
	case 5:
		c, s = angle(6*n - x)
		s, c = -s, -c
	case 6:
		c, s = angle(x - 6*n)
		s = -s
	default:
		s, c = angle(8*n - x)
		s = -s
	}
	return complex(c, -s)
}

// fillRoots sets dst[k] to exp(-2πik/n), k < len(dst) ≤ n. A quarter of them, where
// n has such, gives the others exactly.
func fillRoots(dst []complex128, n int) {
	if n%4 != 0 || len(dst) < n {
		for k := range dst {
			dst[k] = root(k, n)
		}
		return
	}
	q := n / 4
	for k := 0; k <= q/2; k++ {
		w := root(k, n)
		dst[k] = w
		if k > 0 {
			dst[q-k] = complex(-imag(w), -real(w))
		}
	}
	for k := range q {
		w := dst[k]
		dst[q+k] = complex(imag(w), -real(w))
		dst[2*q+k] = -w
		dst[3*q+k] = complex(-imag(w), real(w))
	}
}

// run transforms lines lines in x, and returns x or y: where the result is. Both have
// room for lines·size elements.
func (t *transform) run(x, y []complex128, lines int) []complex128 {
	if t.chirp == nil {
		return t.passes(x, y, lines)
	}
	for k, c := range t.chirp {
		row := x[k*lines:][:lines]
		for j := range row {
			row[j] *= c
		}
	}
	clear(x[t.n*lines : t.size*lines])
	out := t.passes(x, y, lines)
	// The inverse of the product is the swapped transform of the swapped product.
	for k, f := range t.filter {
		row := out[k*lines:][:lines]
		for j := range row {
			row[j] = swap(row[j] * f)
		}
	}
	if &out[0] == &y[0] {
		x, y = y, x
	}
	out = t.passes(x, y, lines)
	for k, c := range t.chirp {
		row := out[k*lines:][:lines]
		for j := range row {
			row[j] = swap(row[j]) * c
		}
	}
	return out
}

func swap(z complex128) complex128 { return complex(imag(z), real(z)) }

// passes is one pass over x and y for each factor.
func (t *transform) passes(x, y []complex128, lines int) []complex128 {
	x, y = x[:t.size*lines], y[:t.size*lines]
	rest, s := t.size, lines // of the transforms still to do, and how many lie side by side
	for _, r := range t.factors {
		m := rest / r
		step := t.size / rest
		switch {
		case vectorPass(x, y, r, m, s, t.roots, step):
		case r == 2:
			pass2(x, y, m, s, t.roots, step)
		case r == 3:
			pass3(x, y, m, s, t.roots, step)
		case r == 4:
			pass4(x, y, m, s, t.roots, step)
		case r == 5:
			pass5(x, y, m, s, t.roots, step)
		default:
			passOdd(x, y, r, m, s, t.roots, step)
		}
		x, y = y, x
		rest, s = m, s*r
	}
	return x
}
