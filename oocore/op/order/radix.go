package order

import (
	"math/bits"
	"slices"
)

// Long lines are sorted digit by digit, least significant first, by eight bits at a
// time: 256 places to write to stay in the first-level cache. Only the digits in which
// the keys of a line differ are gone through. Short lines are compared.

const (
	insertionMost = 24  // records that are sorted by insertion
	comparedMost  = 200 // words that are sorted by comparison
)

// sortWords sorts a by the bits from `low` up. It is stable, and uses b, as long; the
// result is in a or in b.
func sortWords[W word](a, b []W, low int) []W {
	if len(a) <= comparedMost && low == 0 {
		if len(a) <= insertionMost {
			for i := 1; i < len(a); i++ {
				k, j := a[i], i
				for ; j > 0 && a[j-1] > k; j-- {
					a[j] = a[j-1]
				}
				a[j] = k
			}
			return a
		}
		slices.Sort(a)
		return a
	}
	least, most := a[0]>>low, a[0]>>low
	sorted := true
	last := least
	for _, k := range a {
		k >>= low
		least, most = min(least, k), max(most, k)
		sorted = sorted && last <= k
		last = k
	}
	if sorted {
		return a
	}
	digits := (bits.Len64(uint64(most-least)) + 7) / 8
	var counts [8][256]uint32
	switch digits { // one pass counts all digits
	case 1:
		for _, k := range a {
			counts[0][uint8(k>>low-least)]++
		}
	case 2:
		for _, k := range a {
			k := uint64(k>>low - least)
			counts[0][uint8(k)]++
			counts[1][uint8(k>>8)]++
		}
	case 3:
		for _, k := range a {
			k := uint64(k>>low - least)
			counts[0][uint8(k)]++
			counts[1][uint8(k>>8)]++
			counts[2][uint8(k>>16)]++
		}
	case 4:
		for _, k := range a {
			k := uint64(k>>low - least)
			counts[0][uint8(k)]++
			counts[1][uint8(k>>8)]++
			counts[2][uint8(k>>16)]++
			counts[3][uint8(k>>24)]++
		}
	default:
		for _, k := range a {
			k := uint64(k>>low - least)
			for d := range digits {
				counts[d&7][uint8(k>>(8*d))]++
			}
		}
	}
	for d := range digits {
		at := &counts[d]
		if !starts(at, len(a)) {
			continue
		}
		shift := 8 * d
		b = b[:len(a)]
		for _, k := range a {
			i := uint8((k>>low - least) >> shift)
			j := at[i]
			b[j] = k
			at[i] = j + 1
		}
		a, b = b, a
	}
	return a
}

// starts turns counts of a digit into first places. It is false where all of n have
// one digit.
func starts(counts *[256]uint32, n int) bool {
	var next uint32
	for i, c := range counts {
		if int(c) == n {
			return false
		}
		counts[i] = next
		next += c
	}
	return true
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
		if !starts(at, len(a)) {
			continue
		}
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
