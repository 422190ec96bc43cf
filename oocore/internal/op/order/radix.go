package order

import (
	"math/bits"
	"slices"
)

// Words are sorted by digits. What does not stay in a core's cache is first scattered by
// its leading digit; each bucket is then sorted in the cache, least significant digit
// first. Only the bits in which the keys of a line differ are gone through, and a digit
// has no more values than there are words.

const (
	insertionMost = 24 // records that are sorted by insertion
	// leadingBits are those of the digit by which words are scattered.
	leadingBits = 8
	// digitBits are the most of a digit: there are then so few places to write to that they
	// stay in the first-level cache.
	digitBits = 9
	// bucketBytes are the most of a line that is sorted in the second-level cache.
	bucketBytes = 256 << 10
)

// counters count the words with each value of a digit, and are then the places of the
// first of them.
type counters [1 << digitBits]uint32

// wordSort is what the sorts of all buckets of a line share.
type wordSort struct {
	low    int // bits that are not sorted by
	counts [2]counters
}

// place says where the result of a sort is to be.
type place int

const (
	either place = iota
	inA
	inB
)

// sortWords sorts a by the bits from `low` up. Words that agree in these rise before, and
// so do afterwards. The result is in a, or in b, which is as long. Where b is shorter the
// result is in a, and low is 0.
func sortWords[W word](a, b []W, low int) []W {
	if len(a) <= insertionMost {
		insert(a, a)
		return a
	}
	least, most, rising := span(a)
	if rising {
		return a
	}
	s := &wordSort{low: low}
	if len(b) < len(a) {
		permute(s, a, b, uint64(least), uint64(most))
	} else if sortSpan(s, a, b[:len(a)], uint64(least), uint64(most), either) {
		return b[:len(a)]
	}
	return a
}

// span is the least and the largest word, and whether all rise.
func span[W word](a []W) (least, most W, rising bool) {
	least, most = a[0], a[0]
	for i, k := range a {
		if k < most {
			for _, k := range a[i:] {
				least, most = min(least, k), max(most, k)
			}
			return least, most, false
		}
		most = k
	}
	return least, most, true
}

// insert sorts a into b, which may be a.
func insert[W word](a, b []W) {
	for i := range a {
		k, j := a[i], i
		for ; j > 0 && b[j-1] > k; j-- {
			b[j] = b[j-1]
		}
		b[j] = k
	}
}

// sortSpan sorts words from least to most. It reports that the result is in b.
func sortSpan[W word](s *wordSort, a, b []W, least, most uint64, to place) (into bool) {
	base := least >> s.low << s.low
	width := bits.Len64((most - base) >> s.low)
	digit := min(digitBits, max(bits.Len(uint(len(a)))-1, 1))
	passes := (width + digit - 1) / digit
	switch {
	case len(a) <= insertionMost:
		if to == inB {
			insert(a, b)
			return true
		}
		insert(a, a)
		return false
	case passes > 2 && passes > bits.Len(uint(len(a)))/2:
		slices.Sort(a)
	case passes > 1 && len(a)*size[W]() > bucketBytes:
		return scatter(s, a, b, base, width, to)
	case passes > 0:
		into = digits(s, a, b, base, width, passes)
	}
	switch {
	case to == inA && into:
		copy(a, b)
	case to == inB && !into:
		copy(b, a)
	default:
		return into
	}
	return to == inB
}

// scatter brings words to buckets by their leading digit, and sorts the buckets.
func scatter[W word](s *wordSort, a, b []W, base uint64, width int, to place) (into bool) {
	digit := min(leadingBits, (width+1)/2)
	shift := s.low + width - digit
	var all counters
	ends, mask := all[:1<<leadingBits], uint64(1<<leadingBits-1)
	countOne(a, &all, base, shift, mask)
	starts(ends)
	move(a, b, &all, base, shift, mask)
	if into = to == inB; to == either { // where buckets that need no more scattering come to lie
		into = (width-digit+digitBits-1)/digitBits%2 == 0
	}
	to = inA // of a bucket's sort, whose a is b
	if !into {
		to = inB
	}
	var at uint32
	for i, end := range ends {
		if at < end {
			least := base + uint64(i)<<(shift&63)
			sortSpan(s, b[at:end], a[at:end], least, least+1<<(shift&63)-1, to)
		}
		at = end
	}
	return into
}

// digits sorts digit by digit, least significant first. It reports that the result is in b.
func digits[W word](s *wordSort, a, b []W, base uint64, width, passes int) (into bool) {
	digit := (width + passes - 1) / passes
	mask := uint64(1)<<(digit&63) - 1
	for shift := s.low; passes > 0; passes -= 2 { // two digits are counted at once
		low, high := &s.counts[0], &s.counts[1]
		clear(low[:mask+1])
		if passes == 1 {
			countOne(a, low, base, shift, mask)
		} else {
			clear(high[:mask+1])
			countTwo(a, low, high, base, shift, digit, mask)
		}
		for i := range min(passes, 2) {
			starts(s.counts[i][:mask+1])
			move(a, b, &s.counts[i], base, shift, mask)
			a, b, into = b, a, !into
			shift += digit
		}
	}
	return into
}

// The loops over words are functions of their own: within longer ones the compiler keeps what they need on the
// stack, and they take up to twice as long.

// countOne counts a digit.
//
//go:noinline
func countOne[W word](a []W, at *counters, base uint64, shift int, mask uint64) {
	for _, k := range a {
		at[(uint64(k)-base)>>(shift&63)&mask&(1<<digitBits-1)]++
	}
}

// countTwo counts a digit and the next one.
//
//go:noinline
func countTwo[W word](a []W, low, high *counters, base uint64, shift, digit int, mask uint64) {
	for _, k := range a {
		d := (uint64(k) - base) >> (shift & 63)
		low[d&mask&(1<<digitBits-1)]++
		high[d>>(digit&63)&mask&(1<<digitBits-1)]++
	}
}

// move brings words to the places of their digits.
//
//go:noinline
func move[W word](a, b []W, at *counters, base uint64, shift int, mask uint64) {
	b = b[:len(a)]
	for _, k := range a {
		i := (uint64(k) - base) >> (shift & 63) & mask & (1<<digitBits - 1)
		j := at[i]
		at[i] = j + 1
		b[j] = k
	}
}

// starts turns counts of a digit into first places.
func starts(counts []uint32) {
	var next uint32
	for i, c := range counts {
		counts[i] = next
		next += c
	}
}

// permute sorts words from least to most with a b that is shorter: it brings them to
// buckets in place, until b is long enough for a bucket. See P. McIlroy, K. Bostic and
// M. D. McIlroy, Engineering Radix Sort, Computing Systems 6(1), 1993.
func permute[W word](s *wordSort, a, b []W, least, most uint64) {
	if len(a) <= len(b) {
		sortSpan(s, a, b[:len(a)], least, most, inA)
		return
	}
	shift := max(bits.Len64(most-least)-leadingBits, 0)
	var all counters
	countOne(a, &all, least, shift, 1<<leadingBits-1)
	ends := all[:1<<leadingBits]
	next := [1 << leadingBits]uint32(ends)
	starts(next[:])
	for i := range ends {
		ends[i] += next[i]
	}
	first := next
	for i := range ends {
		for at := next[i]; at < ends[i]; at++ {
			k := a[at]
			for {
				d := uint8((uint64(k) - least) >> (shift & 63))
				if int(d) == i {
					break
				}
				j := next[d]
				next[d] = j + 1
				a[j], k = k, a[j]
			}
			a[at] = k
		}
		next[i] = ends[i]
	}
	if shift == 0 {
		return
	}
	for i, from := range first {
		if bucket := a[from:ends[i]]; len(bucket) > 0 {
			low := least + uint64(i)<<(shift&63)
			permute(s, bucket, b, low, low+1<<(shift&63)-1)
		}
	}
}

// pair is a key with what goes with it.
type pair struct{ key, with uint64 }

// sortPairs sorts by the keys, as sortWords does.
func sortPairs(a, b []pair) []pair {
	if len(a) <= insertionMost {
		for i := 1; i < len(a); i++ {
			k, j := a[i], i
			for ; j > 0 && a[j-1].key > k.key; j-- {
				a[j] = a[j-1]
			}
			a[j] = k
		}
		return a
	}
	least, most := a[0].key, a[0].key
	sorted := true
	last := least
	for i := range a {
		k := a[i].key
		least, most = min(least, k), max(most, k)
		sorted = sorted && last <= k
		last = k
	}
	if sorted {
		return a
	}
	digits := (bits.Len64(most-least) + 7) / 8
	var counts [8][256]uint32
	for i := range a {
		k := a[i].key - least
		for d := range digits {
			counts[d&7][uint8(k>>(8*d))]++
		}
	}
	for d := range digits {
		at := &counts[d]
		starts(at[:])
		shift := 8 * d
		b = b[:len(a)]
		for _, p := range a {
			i := uint8((p.key - least) >> shift)
			j := at[i]
			b[j] = p
			at[i] = j + 1
		}
		a, b = b, a
	}
	return a
}

// quad is a key of two words with what goes with it.
type quad struct{ high, low, with, also uint64 }

func (q quad) less(r quad) bool { return q.high < r.high || q.high == r.high && q.low < r.low }

// sortQuads sorts by the keys, as sortWords does.
func sortQuads(a, _ []quad) []quad {
	slices.SortStableFunc(a, func(q, r quad) int {
		switch {
		case q.less(r):
			return -1
		case r.less(q):
			return 1
		}
		return 0
	})
	return a
}
