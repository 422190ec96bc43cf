package order

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
