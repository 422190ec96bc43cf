package fft

import (
	"math/cmplx"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// Passes in vectors do what the plain ones do, and write nothing else.
func TestPassesInVectors(t *testing.T) {
	rng := testcases.Rand(t)
	plain := map[int]func(x, y []complex128, m, s int, roots []complex128, step int){2: pass2, 3: pass3, 4: pass4, 5: pass5}
	for r, pass := range plain {
		for _, m := range []int{1, 2, 7} {
			for _, s := range []int{1, 2, 4, 8, 12, 20} {
				for _, step := range []int{1, 3} {
					roots := make([]complex128, r*m*step)
					fillRoots(roots, len(roots))
					x := make([]complex128, r*m*s)
					for i := range x {
						x[i] = complex(rng.NormFloat64(), rng.NormFloat64())
					}
					got, want := make([]complex128, len(x)+8), make([]complex128, len(x)+8)
					if !vectorPass(x, got[:len(x)], r, m, s, roots, step) {
						if loops := s % 4; loops == 0 && lanes > 0 {
							t.Errorf("radix %d has no pass in vectors for %d side by side", r, s)
						}
						continue
					}
					pass(x, want, m, s, roots, step)
					for i := range want {
						if cmplx.Abs(got[i]-want[i]) > 1e-14 {
							t.Fatalf("radix %d, %d × %d, step %d: element %d is %v, want %v", r, m, s, step, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

// The length of a convolution is the least that has no other factors than 2, 3 and 5.
func TestConvolvedLengths(t *testing.T) {
	for n := 1; n < 3000; n++ {
		m := 2*n - 1
		for ; ; m++ {
			rest := m
			for _, r := range []int{2, 3, 5} {
				for rest%r == 0 {
					rest /= r
				}
			}
			if rest == 1 {
				break
			}
		}
		if got := convolved(n); got != m {
			t.Fatalf("of %d: %d, want %d", n, got, m)
		}
	}
}
