package fft

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
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

	x, y []complex128 // work, of size: that of the filter, and of a line with steps
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
	least := 2*n - 1
	best := 1 << bits.Len(uint(least-1))
	for fives := 1; fives < best; fives *= 5 {
		for odd := fives; odd < best; odd *= 3 {
			best = min(best, odd<<bits.Len(uint((least-1)/odd)))
		}
	}
	return best
}

// longest bounds a transform, so that no sum of what it takes overflows.
const longest = min(1<<40, math.MaxInt)

// size is the elements of work that a line of length n takes, and tables is how many
// are kept with it. It panics where no transform has that length.
func size(n int) (line, tables int) {
	if n < 1 || n > longest {
		panic(fmt.Sprintf("fft: no transform has %d elements", n))
	}
	if factorize(n) != nil {
		return n, n
	}
	m := convolved(n)
	return m, m + n + m
}

// newTransform fills its tables into memory of the given size. work has two lines.
func newTransform(n int, tables, work []complex128) *transform {
	t := layTransform(n, tables)
	if t.chirp != nil {
		t.x, t.y = work[:t.size], work[t.size:2*t.size]
	}
	_ = t.fill(nil) // cannot fail without steps
	return t
}

// layTransform lays a transform out, whose tables are to be filled.
func layTransform(n int, tables []complex128) *transform {
	t := &transform{n: n, size: n, factors: factorize(n)}
	if t.factors == nil {
		t.size = convolved(n)
		t.factors = factorize(t.size)
	}
	t.roots, tables = tables[:t.size], tables[t.size:]
	if t.size != n {
		t.chirp, t.filter = tables[:n], tables[n:n+t.size]
	}
	return t
}

// fill fills the tables, in work. What comes of passes is the state of its steps.
func (t *transform) fill(s *blockwise.Steps) error {
	fillRoots(t.roots, t.size)
	if t.chirp == nil {
		return nil
	}
	for k, square := 0, 0; k < t.n; k++ {
		t.chirp[k] = root(square, 2*t.n)
		square = (square + 2*k + 1) % (2 * t.n)
	}
	if s.Next() {
		clear(t.x)
		for k, c := range t.chirp {
			w := complex(real(c), -imag(c)) / complex(float64(t.size), 0)
			t.x[k] = w
			if k > 0 {
				t.x[t.size-k] = w
			}
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	out, err := t.passes(s, t.x, t.y, 1)
	if err != nil || !s.Next() {
		return err
	}
	copy(t.filter, out)
	return s.End()
}

// state is that between the steps of a line in work: what the passes so far have made, and
// the filter once it is there.
func (t *transform) state(done int) [][]byte {
	var all [][]byte
	passes := done - 1 // the first step loads the line, each of the others is a pass
	if t.chirp != nil {
		n := len(t.factors)
		first := n + 2 // steps that make the filter
		if done >= first {
			all = append(all, dtype.Bytes(t.filter))
			passes = done - first - 2 // the line is loaded, and multiplied
			if passes > n {
				passes = min(passes-1, 2*n) // as the product with the filter, and its end
			}
		}
		if done == first {
			return all
		}
	}
	if passes > 0 && passes%2 == 1 {
		return append(all, dtype.Bytes(t.y))
	}
	return append(all, dtype.Bytes(t.x))
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
// room for lines·size elements, and are the state of its steps.
func (t *transform) run(s *blockwise.Steps, x, y []complex128, lines int) ([]complex128, error) {
	if t.chirp == nil {
		return t.passes(s, x, y, lines)
	}
	if s.Next() {
		for k, c := range t.chirp {
			row := x[k*lines:][:lines]
			for j := range row {
				row[j] *= c
			}
		}
		clear(x[t.n*lines : t.size*lines])
		if err := s.End(); err != nil {
			return nil, err
		}
	}
	out, err := t.passes(s, x, y, lines)
	if err != nil {
		return nil, err
	}
	if s.Next() {
		// The inverse of the product is the swapped transform of the swapped product.
		for k, f := range t.filter {
			row := out[k*lines:][:lines]
			for j := range row {
				row[j] = swap(row[j] * f)
			}
		}
		if err := s.End(); err != nil {
			return nil, err
		}
	}
	if &out[0] == &y[0] {
		x, y = y, x
	}
	out, err = t.passes(s, x, y, lines)
	if err != nil || !s.Next() {
		return out, err
	}
	for k, c := range t.chirp {
		row := out[k*lines:][:lines]
		for j := range row {
			row[j] = swap(row[j]) * c
		}
	}
	return out, s.End()
}

func swap(z complex128) complex128 { return complex(imag(z), real(z)) }

// passes is one pass over x and y for each factor, a step each.
func (t *transform) passes(steps *blockwise.Steps, x, y []complex128, lines int) ([]complex128, error) {
	x, y = x[:t.size*lines], y[:t.size*lines]
	rest, s := t.size, lines // of the transforms still to do, and how many lie side by side
	for _, r := range t.factors {
		m := rest / r
		if steps.Next() {
			t.pass(x, y, r, m, s)
			if err := steps.End(); err != nil {
				return nil, err
			}
		}
		x, y = y, x
		rest, s = m, s*r
	}
	return x, nil
}

// pass is the pass of a factor r of lengths r·m, s of which lie side by side.
func (t *transform) pass(x, y []complex128, r, m, s int) {
	step := t.size / (r * m)
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
}
