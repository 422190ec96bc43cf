package order

import "math/bits"

// Sorted lists are merged in the cache: what all of them have of a narrow span of keys is
// brought together, list by list, and sorted there. A step of a merge by comparisons
// depends on the one before, and with hundreds of lists there are nine for each word.

// mergeRoom is the bytes of the most that is sorted at once. Keys are not spread evenly:
// a span has about a quarter.
const mergeRoom = 256 << 10

// mergeWords brings sorted lists of all, which are those from from[i] to to[i], into dst.
// It changes from. room is at least as long as what is sorted at once.
func mergeWords[W word](all, dst, room []W, from, to []int64) {
	least, most := ^W(0), W(0)
	for i := range from {
		if from[i] < to[i] {
			least, most = min(least, all[from[i]]), max(most, all[to[i]-1])
		}
	}
	if len(dst) > 0 {
		mergeSpan(&wordSort{}, all, dst, room, from, to, uint64(least), uint64(most))
	}
}

// mergeSpan merges lists whose words are from least to most.
func mergeSpan[W word](s *wordSort, all, dst, room []W, from, to []int64, least, most uint64) {
	width := bits.Len64(most - least)
	digit := min(bits.Len(uint(4*len(dst)/len(room))), leadingBits, width)
	shift := width - digit
	begin := make([]int64, len(from))
	at := 0
	for first := least; ; {
		last := most
		if uint64(1)<<shift-1 < most-first {
			last = first + uint64(1)<<shift - 1
		}
		copy(begin, from)
		start, lists := at, 0
		for i, c := range from {
			end := to[i]
			for c < end && all[c] <= W(last) {
				dst[at] = all[c]
				at++
				c++
			}
			if c > from[i] {
				lists++
			}
			from[i] = c
		}
		switch span := dst[start:at]; {
		case lists < 2 || first == last: // it is sorted
		case len(span) <= len(room):
			sortSpan(s, span, room[:len(span)], first, last, inA)
		default:
			end := make([]int64, len(from))
			copy(end, from)
			mergeSpan(s, all, span, room, begin, end, first, last)
			begin = end // begin was changed
		}
		if last == most {
			return
		}
		first = last + 1
	}
}

// gather brings the records of lists, which are of size bytes, one behind the other to the
// beginning of all.
func gather(all []byte, from, to []int64, size int) []byte {
	n := 0
	for i := range from {
		n += copy(all[n:], all[int(from[i])*size:int(to[i])*size])
	}
	return all[:n]
}

// split is records.split: the selection of several sorted lists by halving what is
// undecided of them around a pivot, the middle of the list that has the most of it.
func split[T any](all []T, from, to []int64, rank int64, counts []int64, less func(a, b T) bool) {
	// Of list i the first counts[i] are among the first `rank`; those from ends[i] on
	// are not; places[i] are those up to the pivot.
	room := make([]int64, 2*len(from))
	ends, places := room[:len(from)], room[len(from):]
	var undecided int64
	for i := range from {
		counts[i] = 0
		ends[i] = to[i] - from[i]
		undecided += ends[i]
	}
	if rank >= undecided {
		copy(counts, ends)
		return
	}
	for left := max(rank, 0); left > 0; {
		widest := 0
		for i := range ends {
			if ends[i]-counts[i] > ends[widest]-counts[widest] {
				widest = i
			}
		}
		middle := counts[widest] + (ends[widest]-counts[widest])/2
		pivot := all[from[widest]+middle]
		var upTo int64
		for i := range ends {
			if places[i] = middle + 1; i != widest {
				places[i] = counts[i] + before(all[from[i]+counts[i]:from[i]+ends[i]], pivot, i < widest, less)
			}
			upTo += places[i] - counts[i]
		}
		if upTo <= left {
			copy(counts, places)
			left -= upTo
			continue
		}
		copy(ends, places)
		ends[widest] = middle
	}
}

// before is how many of a sorted list come before the pivot: those with a smaller key,
// and those with an equal one where equal says so.
func before[T any](sorted []T, pivot T, equal bool, less func(a, b T) bool) int64 {
	low, high := 0, len(sorted)
	for low < high {
		m := (low + high) / 2
		if less(sorted[m], pivot) || equal && !less(pivot, sorted[m]) {
			low = m + 1
		} else {
			high = m
		}
	}
	return int64(low)
}
