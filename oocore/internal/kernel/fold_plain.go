package kernel

import (
	"math"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// plain folds elements T by one associative operation into accumulators A
// whose empty value is neutral.
type plain[A, T any] struct {
	empty A
	// row folds x into acc.
	row func(acc A, x []T) A
	// cols folds rows of len(acc) elements, stride apart, into acc.
	cols func(acc []A, x []T, rows, stride int)
	// merge folds accumulators into others.
	merge func(dst, src []A)
	// put writes results; nil where they are the accumulators themselves.
	put func(dst []byte, acc []A)
}

func (p *plain[A, T]) Size() int {
	var a A
	return int(unsafe.Sizeof(a))
}

func (p *plain[A, T]) Init(state []byte, n int) {
	acc := view[A](state, n)
	for i := range acc {
		acc[i] = p.empty
	}
}

func (p *plain[A, T]) Rows(state []byte, n, off int, x []byte, rows, cols int, _ int64) {
	acc, v := view[A](state, n)[off:off+rows], view[T](x, rows*cols)
	for r := range acc {
		acc[r] = p.row(acc[r], v[r*cols:][:cols])
	}
}

func (p *plain[A, T]) Cols(state []byte, n, off int, x []byte, rows, cols int, first, _ int64) {
	if cols == 1 { // a column on its own is a row
		p.Rows(state, n, off, x, 1, rows, first)
		return
	}
	p.cols(view[A](state, n)[off:off+cols], view[T](x, rows*cols), rows, cols)
}

func (p *plain[A, T]) Merge(dst, src []byte, n int) {
	p.merge(view[A](dst, n), view[A](src, n))
}

func (p *plain[A, T]) Finish(dst, state []byte, n int, _ int64, _ float64) {
	acc := view[A](state, n)
	if p.put != nil {
		p.put(dst, acc)
		return
	}
	copy(view[A](dst, n), acc)
}

// newPlain makes cols and merge from loops over one row each.
func newPlain[A, T any](empty A, row func(A, []T) A, into func([]A, []T), merge func(dst, src []A)) *plain[A, T] {
	return &plain[A, T]{empty: empty, row: row, merge: merge, cols: func(acc []A, x []T, rows, stride int) {
		for r := range rows {
			into(acc, x[r*stride:][:len(acc)])
		}
	}}
}

func newIntFolder[T integer](r Reduction) (Folder, bool) {
	lowest, highest := limits[T]()
	switch r {
	case Sum:
		return newPlain(0, addRow[int64, T], addInto[int64, T], addInto[int64, int64]), true
	case Prod:
		return newPlain(1, mulRow[int64, T], mulInto[int64, T], mulInto[int64, int64]), true
	case Min:
		return newPlain(highest, minRow[T], minInto[T], minInto[T]), true
	case Max:
		return newPlain(lowest, maxRow[T], maxInto[T], maxInto[T]), true
	case ArgMin:
		return &arg[T]{first: firstMin[T], into: argMinInto[T], beats: below[T]}, true
	case ArgMax:
		return &arg[T]{first: firstMax[T], into: argMaxInto[T], beats: above[T]}, true
	}
	return newTruthFolder[T](r)
}

func limits[T integer]() (lowest, highest T) {
	var zero T
	bits := 8 * int(unsafe.Sizeof(zero))
	if zero-1 > 0 {
		return 0, zero - 1
	}
	lowest = T(1) << (bits - 1)
	return lowest, lowest - 1
}

// newFloatFolder makes the folders of float32 and float64 other than sums and
// variances. Products are kept in float64.
func newFloatFolder[T float](r Reduction) (Folder, bool) {
	inf := T(math.Inf(1))
	switch r {
	case Prod:
		p := newPlain[float64](1, mulRow[float64, T], mulInto[float64, T], mulInto[float64, float64])
		p.put = func(dst []byte, acc []float64) {
			for i, out := 0, view[T](dst, len(acc)); i < len(out); i++ {
				out[i] = T(acc[i])
			}
		}
		return p, true
	case Min:
		return newExtremeFloat(false, inf), true
	case Max:
		return newExtremeFloat(true, -inf), true
	case ArgMin:
		return &arg[T]{first: firstMin[T], into: argMinInto[T], beats: below[T]}, true
	case ArgMax:
		return &arg[T]{first: firstMax[T], into: argMaxInto[T], beats: above[T]}, true
	}
	return newTruthFolder[T](r)
}

func newExtremeFloat[T float](greater bool, empty T) Folder {
	return &plain[T, T]{
		empty: empty,
		row:   func(acc T, x []T) T { return extremeRow(greater, acc, x) },
		cols:  func(acc, x []T, rows, stride int) { extremeCols(greater, acc, x, rows, stride) },
		merge: func(dst, src []T) { extremeCols(greater, dst, src, 1, len(src)) },
		put:   putExtremes[T],
	}
}

// putExtremes writes one NaN for all: which of several spread, and with what
// bits, depends on the loops.
func putExtremes[T float](dst []byte, acc []T) {
	for i, out := 0, view[T](dst, len(acc)); i < len(out); i++ {
		if out[i] = acc[i]; acc[i] != acc[i] {
			out[i] = T(math.NaN())
		}
	}
}

func newComplexFolder[T complexNumber](r Reduction) (Folder, bool) {
	inf := math.Inf(1)
	switch r {
	case Prod:
		p := newPlain(1, mulComplexRow[T], mulComplexInto[T], mergeProducts)
		p.put = func(dst []byte, acc []complex128) {
			for i, out := 0, view[T](dst, len(acc)); i < len(out); i++ {
				out[i] = T(acc[i])
			}
		}
		return p, true
	case Min:
		return newExtremeComplex(T(complex(inf, inf)), belowComplex[T]), true
	case Max:
		return newExtremeComplex(T(complex(-inf, -inf)), aboveComplex[T]), true
	case ArgMin:
		return newArg(belowComplex[T]), true
	case ArgMax:
		return newArg(aboveComplex[T]), true
	}
	return newTruthFolder[T](r)
}

func newExtremeComplex[T complexNumber](empty T, beats func(v, w T) bool) Folder {
	into := func(acc, x []T) {
		for i, v := range x {
			if beats(v, acc[i]) {
				acc[i] = v
			}
		}
	}
	row := func(acc T, x []T) T {
		for _, v := range x {
			if beats(v, acc) {
				acc = v
			}
		}
		return acc
	}
	return newPlain(empty, row, into, into)
}

// newBoolFolder reads any byte but zero as true.
func newBoolFolder(r Reduction) (Folder, bool) {
	switch r {
	case Sum:
		return newTruthFolder[uint8](CountNonzero)
	case Min:
		return newTruthFolder[uint8](All)
	case Max:
		return newTruthFolder[uint8](Any)
	case Prod:
		p, _ := newTruthFolder[uint8](All)
		all := *p.(*plain[uint8, uint8])
		all.put = func(dst []byte, acc []uint8) {
			for i, out := 0, view[int64](dst, len(acc)); i < len(out); i++ {
				out[i] = int64(acc[i])
			}
		}
		return &all, true
	}
	return newIntFolder[uint8](r)
}

func newTruthFolder[T dtype.Element](r Reduction) (Folder, bool) {
	switch r {
	case CountNonzero:
		return newPlain(0, countRow[T], countInto[T], addInto[int64, int64]), true
	case Any:
		return newPlain(0, anyRow[T], anyInto[T], anyInto[uint8]), true
	case All:
		return newPlain(1, allRow[T], allInto[T], allInto[uint8]), true
	}
	return nil, false
}
