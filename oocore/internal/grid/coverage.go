package grid

import (
	"math/bits"
	"math/rand/v2"
)

// Coverage tells whether boxes cover an array, each element once, in memory that does not grow with them. It adds up
// a polynomial that has a term for each element of each box, x₀^i₀·x₁^i₁·…, at a random place modulo a prime. Where an
// element is missing or there twice, the sum is that of the whole array with a probability of at most the sum of the
// array's lengths by 2⁶¹ (the lemma of Schwartz and Zippel).
type Coverage struct {
	x   []uint64
	sum uint64
}

const prime = 1<<61 - 1

// NewCoverage is of no boxes yet, of so many axes.
func NewCoverage(axes int) *Coverage {
	c := &Coverage{x: make([]uint64, axes)}
	for d := range c.x {
		c.x[d] = 2 + rand.Uint64N(prime-2)
	}
	return c
}

// Add takes a box more.
func (c *Coverage) Add(b Box) { c.sum = reduce(c.sum + c.of(b)) }

// Whole reports whether the boxes are all of an array.
func (c *Coverage) Whole(shape []int) bool { return c.sum == c.of(Entire(shape)) }

// of is the sum of a box's terms, times x-1 for each axis, so that a sum of powers is the difference of two of them.
func (c *Coverage) of(b Box) uint64 {
	sum := uint64(1)
	for d, x := range c.x {
		sum = times(sum, times(power(x, b.Start[d]), reduce(power(x, b.Shape[d])+prime-1)))
	}
	return sum
}

func power(x uint64, n int) uint64 {
	y := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y = times(y, x)
		}
		x = times(x, x)
	}
	return y
}

func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return reduce(high<<3 + low>>61 + low&prime)
}

// reduce takes a number below twice the prime.
func reduce(x uint64) uint64 {
	if x >= prime {
		x -= prime
	}
	return x
}
