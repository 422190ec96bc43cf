package journal

import "slices"

// Set is a set of whole numbers, small where they lie together. Its zero value is
// empty.
type Set struct {
	ranges []span // in order, apart from each other
	size   int64
}

// span are the numbers from ≤ n < to.
type span struct{ from, to int64 }

// Add takes in n numbers.
func (s *Set) Add(from, n int64) {
	if n <= 0 {
		return
	}
	r := span{from, from + n}
	i, _ := slices.BinarySearchFunc(s.ranges, r.from, func(a span, v int64) int {
		if a.to < v {
			return -1
		}
		return 1
	})
	k := i
	for ; k < len(s.ranges) && s.ranges[k].from <= r.to; k++ {
		r.from, r.to = min(r.from, s.ranges[k].from), max(r.to, s.ranges[k].to)
		s.size -= s.ranges[k].to - s.ranges[k].from
	}
	s.ranges = slices.Replace(s.ranges, i, k, r)
	s.size += r.to - r.from
}

// Union takes in the numbers of another set, which may be nil.
func (s *Set) Union(other *Set) {
	if other == nil {
		return
	}
	for _, r := range other.ranges {
		s.Add(r.from, r.to-r.from)
	}
}

// Has reports a number in the set; a nil set is empty.
func (s *Set) Has(v int64) bool {
	if s == nil {
		return false
	}
	_, ok := slices.BinarySearchFunc(s.ranges, v, func(a span, v int64) int {
		switch {
		case a.to <= v:
			return -1
		case a.from > v:
			return 1
		}
		return 0
	})
	return ok
}

// Len is the number of numbers; that of a nil set is 0.
func (s *Set) Len() int64 {
	if s == nil {
		return 0
	}
	return s.size
}
