package budget

import (
	"testing"
)

// A program that grows a little before it comes back with the budget that a rejection named does
// not need another, also where garbage counted as held meanwhile.
func TestOverheadOfNamedBudgetStays(t *testing.T) {
	var s steps
	next := func(need, budget, want int64) { // MiB, slack 2
		t.Helper()
		if got := s.next(need<<20, 2<<20, budget<<20); got != want<<20 {
			t.Errorf("need %d MiB for a budget of %d gives %d, want %d", need, budget, got>>20, want)
		}
	}
	next(1, 8, 16)
	next(16, 8, 16)
	next(17, 8, 32)
	next(16, 8, 16)
	s.named, s.budget = s.last, 36<<20
	next(17, 36, 16)
	next(18, 40, 16)
	next(18, 0, 16) // the default budget
	next(18, 8, 32) // a rejection of a smaller one names its own overhead
	next(19, 36, 32)
	next(18, 36, 16)
	next(10, 36, 16)
	next(33, 64, 48)
}
