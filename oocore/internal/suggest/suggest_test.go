package suggest

import "testing"

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"", "", true}, {"", "x", true}, {"x", "", false}, {"sqr", "square", true}, {"sqr", "sqrt", true}, {"srq", "square", false}} {
		if got := Within(c.a, c.b); got != c.want {
			t.Errorf("%q within %q is %t", c.a, c.b, got)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"sqrtt", "sqrt", 1}, {"Opne", "Open", 1}, {"ca", "abc", 3}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q are %d steps, want %d", c.a, c.b, got, c.want)
		}
	}
}
