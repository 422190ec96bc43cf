package gonbext

import (
	"cmp"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore"
)

// collector computes the elements of a small array.
type collector func(a *oocore.Array) ([]float64, error)

// blocks has what a figure shows of an array of any size: reductions of its blocks, in C
// order, which lazy arrays compute out of core. A mean, least or greatest is NaN where no
// element of its block is finite.
type blocks struct {
	mean, low, high []float64
	missing         int64 // elements that are not finite
}

// reduceBlocks computes the blocks of the given lengths; the last along an axis may be shorter. Without ends
// it has their means alone.
func reduceBlocks(a *oocore.Array, lengths []int, ends bool, collect collector) (*blocks, error) {
	x := a.AsType(oocore.Float64)
	sum, low, high := x, x, x
	planes := []*oocore.Array{}
	float := canBeMissing(a.DType())
	if float {
		finite := x.IsFinite()
		sum, low, high = oocore.Where(finite, x, 0.0), oocore.Where(finite, x, math.Inf(1)), oocore.Where(finite, x, math.Inf(-1))
		planes = append(planes, fold(finite.AsType(oocore.Float64), lengths, (*oocore.Array).Sum))
	}
	if planes = append(planes, fold(sum, lengths, (*oocore.Array).Sum)); ends {
		planes = append(planes, fold(low, lengths, (*oocore.Array).Min), fold(high, lengths, (*oocore.Array).Max))
	}
	values, err := collect(oocore.Stack(0, planes...))
	if err != nil {
		return nil, err
	}
	n := len(values) / len(planes)
	b := &blocks{}
	sizes := blockSizes(a.Shape(), lengths)
	finite := sizes
	if float {
		finite, values = values[:n], values[n:]
	}
	if b.mean = values[:n]; ends {
		b.low, b.high = values[n:2*n], values[2*n:]
	}
	for i, k := range finite {
		b.missing += int64(sizes[i] - k)
		if b.mean[i] /= k; k == 0 {
			if b.mean[i] = math.NaN(); ends {
				b.low[i], b.high[i] = math.NaN(), math.NaN()
			}
		}
	}
	return b, nil
}

// extremes returns the least and the greatest of the values that are numbers; ok is false where none is.
func extremes(values ...[]float64) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range slices.Concat(values...) {
		if !math.IsNaN(v) {
			low, high, ok = min(low, v), max(high, v), true
		}
	}
	return low, high, ok
}

func canBeMissing(t oocore.DType) bool {
	return slices.Contains([]oocore.DType{oocore.Float8E4M3FN, oocore.Float8E5M2, oocore.Float16, oocore.BFloat16, oocore.Float32, oocore.Float64}, t)
}

// blockSizes returns the number of elements of each block, in C order.
func blockSizes(shape, lengths []int) []float64 {
	sizes := []float64{1}
	for axis, length := range lengths {
		var next []float64
		for _, size := range sizes {
			for at := 0; at < shape[axis]; at += length {
				next = append(next, size*float64(min(length, shape[axis]-at)))
			}
		}
		sizes = next
	}
	return sizes
}

// fold reduces each block of an array to one element, the longest axis first, which makes the
// intermediate arrays smallest.
func fold(a *oocore.Array, lengths []int, reduction func(*oocore.Array, ...int) *oocore.Array) *oocore.Array {
	axes := make([]int, len(lengths))
	for i := range axes {
		axes[i] = i
	}
	slices.SortStableFunc(axes, func(i, k int) int { return cmp.Compare(lengths[k], lengths[i]) })
	for _, axis := range axes {
		a = foldAxis(a, axis, lengths[axis], reduction)
	}
	return a
}

func foldAxis(a *oocore.Array, axis, length int, reduction func(*oocore.Array, ...int) *oocore.Array) *oocore.Array {
	if length == 1 {
		return a
	}
	shape := a.Shape()
	whole := shape[axis] / length * length
	if whole == 0 {
		return reduction(a, axis).ExpandDims(axis)
	}
	parts := a.SplitAt(axis, whole)
	split := slices.Concat(shape[:axis], []int{whole / length, length}, shape[axis+1:])
	folded := reduction(parts[0].Reshape(split...), axis+1)
	if whole == shape[axis] {
		return folded
	}
	return oocore.Concatenate(axis, folded, reduction(parts[1], axis).ExpandDims(axis))
}

// blockLengths returns the lengths of blocks, at most so many along each of the first axes.
func blockLengths(shape []int, most ...int) []int {
	lengths := make([]int, len(most))
	for i, n := range most {
		lengths[i] = max(1, blockCount(shape[i], n))
	}
	return lengths
}

// blockCount returns how many blocks of a length n elements are.
func blockCount(n, length int) int { return (n + length - 1) / length }
