package checkpoint

import (
	"iter"
	"slices"
)

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

// Union takes in the numbers of another set.
func (s *Set) Union(other *Set) {
	for _, r := range other.ranges {
		s.Add(r.from, r.to-r.from)
	}
}

// Has reports whether a number is in the set.
func (s *Set) Has(v int64) bool {
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

// Len returns the number of numbers.
func (s *Set) Len() int64 {
	return s.size
}

// All iterates over the numbers in order.
func (s *Set) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, r := range s.ranges {
			for v := r.from; v < r.to; v++ {
				if !yield(v) {
					return
				}
			}
		}
	}
}
