//go:build !amd64

package filter

// vectors are the instructions that the loops use: none.
var vectors = "go"

// weigh adds to each element of dst the weights times the elements of src at offsets from
// its place, in their order.
func weigh(dst, src []float64, offsets []int, weights []float64) {
	weighPlain(dst, src, offsets, weights)
}

// weighRows does nothing of what it does elsewhere.
func weighRows(_ []float64, _, _ int, _ []float64, _ []int, _ []float64) int { return 0 }
