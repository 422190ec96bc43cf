package scan

import (
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// Section is a linear filter of the coefficients of its numerator and its denominator, equally many, of which
// the first of the denominator is 1.
type Section struct{ B, A []float64 }

// Filter is a cascade of sections along an axis, equally long, from rest, of float64 or complex128: each is computed in
// direct form II transposed (A. Oppenheim, R. Schafer, Discrete-Time Signal Processing, 6.3), as SciPy does.
// What sections remember goes on from block to block: a block from rest is added to what the blocks before
// it leave, which is followed through the block until it has died away.
func Filter(site graph.Site, name string, n *graph.Node, axis int, sections []Section) (*graph.Node, error) {
	numbers := []float64{float64(len(sections[0].A) - 1)}
	for _, c := range sections {
		numbers = slices.Concat(numbers, c.B, c.A[1:])
	}
	return rules(site, name, n, axis, Scan{Rule: filterRule, Numbers: numbers})
}

// filterWords are the numbers that all sections remember of a line of real elements.
func (s Scan) filterWords() int { return (len(s.Numbers) - 1) * s.order() / (2*s.order() + 1) }

// order is how many numbers a section remembers.
func (s Scan) order() int { return int(s.Numbers[0]) }

// filter carries what a line's sections remember on by an element, and returns what comes out.
func (s Scan) filter(state []float64, x float64) float64 {
	order := s.order()
	for c := s.Numbers[1:]; len(c) > 0; c = c[2*order+1:] {
		b, a, z := c[:order+1], c[order:2*order+1], state[:order] // the first of a is 1, and not there
		y := b[0]*x + z[0]
		for i := 1; i < order; i++ {
			z[i-1] = z[i] + b[i]*x - a[i]*y
		}
		z[order-1] = b[order]*x - a[order]*y
		state, x = state[order:], y
	}
	return x
}

func (s Scan) runFilter(dst, src []float64, cols, skip int, state []float64) {
	w := s.filterWords()
	rows(dst, src, cols, skip, func(dst, src []float64) {
		for c, x := range src {
			y := s.filter(state[c*w:][:w], x)
			if dst != nil {
				dst[c] = y
			}
		}
	})
}

// silence is what is no longer followed: far below rounding of anything that is heard.
const silence = 1e-290

// passFilter is pass: what a block from rest ends with is added to what is left behind it of the state before.
func (s Scan) passFilter(state, next []float64) {
	w := s.filterWords()
	before := make([]float64, w)
	for i := 0; i < len(next); i += w {
		a, b := state[i:i+w], next[i:i+w]
		copy(before, a)
		for k := range s.Block {
			if k%64 == 0 && !slices.ContainsFunc(a, func(v float64) bool { return !(math.Abs(v) < silence) }) {
				clear(a)
				break
			}
			s.filter(a, 0)
		}
		for k, v := range b {
			a[k] += v
		}
		copy(b, before)
	}
}
