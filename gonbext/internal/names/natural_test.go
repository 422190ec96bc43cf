package names_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/gonbext/internal/names"
	"github.com/gonbext/gonbext/oocore/testcases"
	"pgregory.net/rapid"
)

func TestNaturalComparesNumbers(t *testing.T) {
	want := strings.Fields("10 a a.1 a.2 a.2.w a.10 a.10.w a.18446744073709551615 a.18446744073709551616 a01 a1 a1b a2 a10 b")
	got := slices.Clone(want)
	slices.Reverse(got)
	if slices.SortFunc(got, names.Natural); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// Sorting needs an order: no two names are equal, and three do not go round.
func TestNaturalIsAnOrder(t *testing.T) {
	name := rapid.StringMatching(`[ab.]?[0-9]{0,3}[ab.]?[0-9]{0,3}`)
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if n := names.Natural(a, b); n != -names.Natural(b, a) || n == 0 != (a == b) {
			t.Errorf("%q and %q compare as %d and %d", a, b, n, names.Natural(b, a))
		}
		if names.Natural(a, b) < 0 && names.Natural(b, c) < 0 && names.Natural(a, c) >= 0 {
			t.Errorf("%q is before %q, which is before %q, and not before that", a, b, c)
		}
	})
}
