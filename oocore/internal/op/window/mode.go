// Package window lets operations see an array beyond its edges: boxes of it with a border,
// which a Mode fills in where the array has ended.
package window

import (
	"fmt"
	"strings"
)

// Mode says what lies beyond the edges of an array, by scipy.ndimage's names.
type Mode string

// The modes, with what lies before and after a b c d.
const (
	Reflect  Mode = "reflect"  // d c b a | a b c d | d c b a
	Mirror   Mode = "mirror"   // d c b | a b c d | c b a
	Nearest  Mode = "nearest"  // a a a a | a b c d | d d d d
	Wrap     Mode = "wrap"     // a b c d | a b c d | a b c d
	Constant Mode = "constant" // k k k k | a b c d | k k k k
)

// aliases are scipy.ndimage's other names.
var aliases = map[Mode]Mode{"": Reflect, "grid-mirror": Reflect, "grid-wrap": Wrap, "grid-constant": Constant}

// Parse resolves a mode's name; none is Reflect.
func (m Mode) Parse() (Mode, error) {
	if name, ok := aliases[m]; ok {
		return name, nil
	}
	switch m {
	case Reflect, Mirror, Nearest, Wrap, Constant:
		return m, nil
	}
	known := []string{string(Reflect), string(Mirror), string(Nearest), string(Wrap), string(Constant)}
	return "", fmt.Errorf("mode %q is not one of %s", string(m), strings.Join(known, ", "))
}

// run is some places along an axis, beyond the edges too, that show elements of the
// array which follow each other: count of them from place at, the first is element
// from, and step is 1, -1 or 0. Places without an element show the constant.
type run struct {
	at, count  int
	from, step int
	constant   bool
}

// runs cuts the places [from, to) along an axis of n elements, at least one.
func (m Mode) runs(n, from, to int) (all []run) {
	for at := from; at < to; {
		r := m.run(n, at)
		r.count = min(r.count, to-at)
		r.at = at
		all = append(all, r)
		at += r.count
	}
	return all
}

// run is the longest run that begins at a place.
func (m Mode) run(n, at int) run {
	if at >= 0 && at < n {
		return run{count: n - at, from: at, step: 1}
	}
	const far = int(^uint(0) >> 2)
	before := far
	if at < 0 {
		before = -at
	}
	switch {
	case m == Constant:
		return run{count: before, constant: true}
	case m == Nearest || m == Mirror && n == 1:
		if at < 0 {
			return run{count: before}
		}
		return run{count: far, from: n - 1}
	case m == Wrap:
		i := modulo(at, n)
		return run{count: n - i, from: i, step: 1}
	case m == Mirror:
		i := modulo(at, 2*n-2)
		if i < n {
			return run{count: n - i, from: i, step: 1}
		}
		return run{count: 2*n - 2 - i, from: 2*n - 2 - i, step: -1}
	}
	i := modulo(at, 2*n)
	if i < n {
		return run{count: n - i, from: i, step: 1}
	}
	return run{count: 2*n - i, from: 2*n - 1 - i, step: -1}
}

func modulo(a, n int) int { return (a%n + n) % n }
