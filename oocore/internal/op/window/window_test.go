package window

import (
	"slices"
	"testing"
)

// What each mode shows, written out.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		mode    Mode
		n, from int
		want    []int // -1 is the constant
	}{
		{Reflect, 4, -6, []int{2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0, 1}},
		{Mirror, 4, -6, []int{0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 3}},
		{Nearest, 4, -3, []int{0, 0, 0, 0, 1, 2, 3, 3, 3}},
		{Wrap, 4, -6, []int{2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0}},
		{Constant, 4, -2, []int{-1, -1, 0, 1, 2, 3, -1, -1}},
		{Reflect, 1, -3, []int{0, 0, 0, 0, 0, 0}},
		{Mirror, 1, -3, []int{0, 0, 0, 0, 0, 0}},
		{Wrap, 4, 1, []int{1, 2}},
	} {
		var got []int
		at := c.from
		for _, r := range c.mode.runs(c.n, c.from, c.from+len(c.want)) {
			if r.at != at || r.count < 1 {
				t.Fatalf("%s: a run of %d at %d, want it at %d", c.mode, r.count, r.at, at)
			}
			at += r.count
			for i := range r.count {
				if r.constant {
					got = append(got, -1)
				} else {
					got = append(got, r.from+i*r.step)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s of %d from %d shows %v, want %v", c.mode, c.n, c.from, got, c.want)
		}
	}
}

// However far a border reaches beyond the edges, what is read for it is no longer than the
// box with its border, nor than the array.
func TestPartsAreNoLongerThanWhatTheyShow(t *testing.T) {
	for _, mode := range []Mode{Reflect, Mirror, Nearest, Wrap, Constant} {
		for n := 1; n < 9; n++ {
			w := Window{Shape: []int{n}, Mode: mode}
			for start := range n {
				for length := 1; start+length <= n; length++ {
					for lo := range 12 {
						for hi := range 12 {
							total := 0
							for _, p := range w.parts(0, start-lo, start+length+hi) {
								if p[0] < 0 || p[1] > n || p[0] >= p[1] {
									t.Fatalf("%s of %d: %d:%d with %d and %d reads %v", mode, n, start, start+length, lo, hi, p)
								}
								total += p[1] - p[0]
							}
							if total > min(length+lo+hi, n) {
								t.Fatalf("%s of %d: %d:%d with %d and %d reads %d elements", mode, n, start, start+length, lo, hi, total)
							}
						}
					}
				}
			}
		}
	}
}
