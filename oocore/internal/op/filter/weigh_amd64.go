package filter

import (
	"math"

	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

//go:generate go run ./internal/asm -out weigh_loops_amd64.s -stubs weigh_loops_amd64.go -pkg filter

// vectors are the instructions that the loops use, as kernel says.
var vectors = kernel.Level()

// weigh adds to each element of dst the weights times the elements of src at offsets from
// its place, in their order. All levels but the one without vectors round once for each
// addend.
func weigh(dst, src []float64, offsets []int, weights []float64) {
	n, lanes := len(dst), 4
	switch {
	case n == 0 || len(weights) == 0:
		return
	case vectors == "go":
		weighPlain(dst, src, offsets, weights)
		return
	case vectors == "avx512":
		lanes = 8
	}
	many, one := weigh8AVX2, weigh1AVX2
	if lanes == 8 {
		many, one = weigh8AVX512, weigh1AVX512
	}
	at := 0
	if groups := n / (8 * lanes); groups > 0 {
		many(groups, &dst[0], &src[0], len(weights), &offsets[0], &weights[0])
		at = groups * 8 * lanes
	}
	if groups := (n - at) / lanes; groups > 0 {
		one(groups, &dst[at], &src[at], len(weights), &offsets[0], &weights[0])
		at += groups * lanes
	}
	for ; at < n; at++ {
		sum := dst[at]
		for k, w := range weights {
			sum = math.FMA(w, src[at+offsets[k]], sum)
		}
		dst[at] = sum
	}
}

// weighRows adds to n elements of each of quad rows of dst, step elements apart, the
// weights times the elements of src at offsets from the first row's place; each element
// of src has a weight for each row. It returns how many of the n it did.
func weighRows(dst []float64, step, n int, src []float64, offsets []int, weights []float64) int {
	group, loop := 8, weighRowsAVX2
	switch vectors {
	case "go":
		return 0
	case "avx512":
		group, loop = 32, weighRowsAVX512
	}
	if n >= group {
		loop(n/group, &dst[0], step, &src[0], len(offsets), &offsets[0], &weights[0])
	}
	return n - n%group
}
