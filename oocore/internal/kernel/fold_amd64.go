package kernel

import "unsafe"

//go:generate go run ./internal/asm-reduce -out fold_amd64.s -stubs fold_stubs_amd64.go -pkg kernel

// The functions below choose the loop for the processor. They take its vectors
// as far as these go, and plain Go for the rest. They are called directly
// rather than through variables so that operands may live on the stack.

// wide is whether T is float64.
func wide[T float]() bool {
	var v T
	return unsafe.Sizeof(v) == 8
}

// f32 and f64 are the address of a slice's first element as that type.
func f32[T float](x []T) *float32 { return (*float32)(unsafe.Pointer(unsafe.SliceData(x))) }
func f64[T float](x []T) *float64 { return (*float64)(unsafe.Pointer(unsafe.SliceData(x))) }

// sum adds a row, in float64.
func sum[T float](x []T) float64 {
	n := len(x) &^ 7
	if n == 0 || !hasAVX2 {
		return goSum(x)
	}
	rest := goSum(x[n:])
	switch {
	case wide[T]() && hasAVX512:
		return sum64AVX512(f64(x), n) + rest
	case wide[T]():
		return sum64AVX2(f64(x), n) + rest
	case hasAVX512:
		return sum32AVX512(f32(x), n) + rest
	}
	return sum32AVX2(f32(x), n) + rest
}

// dev adds the squared deviations of a row from mean.
func dev[T float](x []T, mean float64) float64 {
	n := len(x) &^ 7
	if n == 0 || !hasAVX2 {
		return goDev(x, mean)
	}
	rest := goDev(x[n:], mean)
	switch {
	case wide[T]() && hasAVX512:
		return dev64AVX512(f64(x), n, mean) + rest
	case wide[T]():
		return dev64AVX2(f64(x), n, mean) + rest
	case hasAVX512:
		return dev32AVX512(f32(x), n, mean) + rest
	}
	return dev32AVX2(f32(x), n, mean) + rest
}

// sumCols adds rows of len(acc) elements, stride apart, to acc.
func sumCols[T float](acc []float64, x []T, rows, stride int) {
	n := len(acc) &^ 7
	if rows == 0 {
		return
	}
	if n > 0 && hasAVX2 {
		switch {
		case wide[T]() && hasAVX512:
			sumCols64AVX512(&acc[0], f64(x), rows, n, stride)
		case wide[T]():
			sumCols64AVX2(&acc[0], f64(x), rows, n, stride)
		case hasAVX512:
			sumCols32AVX512(&acc[0], f32(x), rows, n, stride)
		default:
			sumCols32AVX2(&acc[0], f32(x), rows, n, stride)
		}
		acc, x = acc[n:], x[n:]
	}
	if len(acc) > 0 {
		goSumCols(acc, x, rows, stride)
	}
}

// devCols adds the squared deviations of such rows from mean to acc.
func devCols[T float](acc, mean []float64, x []T, rows, stride int) {
	n := len(acc) &^ 7
	if rows == 0 {
		return
	}
	if n > 0 && hasAVX2 {
		switch {
		case wide[T]() && hasAVX512:
			devCols64AVX512(&acc[0], &mean[0], f64(x), rows, n, stride)
		case wide[T]():
			devCols64AVX2(&acc[0], &mean[0], f64(x), rows, n, stride)
		case hasAVX512:
			devCols32AVX512(&acc[0], &mean[0], f32(x), rows, n, stride)
		default:
			devCols32AVX2(&acc[0], &mean[0], f32(x), rows, n, stride)
		}
		acc, mean, x = acc[n:], mean[n:], x[n:]
	}
	if len(acc) > 0 {
		goDevCols(acc, mean, x, rows, stride)
	}
}

// extremeRow folds a row into the lesser, or the greater.
func extremeRow[T float](greater bool, acc T, x []T) T {
	const vector = 16 // elements of the longest
	n := len(x) &^ (vector - 1)
	if n < 8*vector || !hasAVX2 {
		return goExtremeRow(greater, acc, x)
	}
	var best [4 * vector]T // as many as the loops leave
	for i := range best {
		best[i] = acc
	}
	b := best[:]
	switch {
	case wide[T]() && hasAVX512 && greater:
		maxRow64AVX512(f64(b), f64(x), n)
	case wide[T]() && hasAVX512:
		minRow64AVX512(f64(b), f64(x), n)
	case wide[T]() && greater:
		maxRow64AVX2(f64(b), f64(x), n)
	case wide[T]():
		minRow64AVX2(f64(b), f64(x), n)
	case hasAVX512 && greater:
		maxRow32AVX512(f32(b), f32(x), n)
	case hasAVX512:
		minRow32AVX512(f32(b), f32(x), n)
	case greater:
		maxRow32AVX2(f32(b), f32(x), n)
	default:
		minRow32AVX2(f32(b), f32(x), n)
	}
	return goExtremeRow(greater, goExtremeRow(greater, acc, x[n:]), b)
}

// extremeCols folds rows of len(acc) elements, stride apart, into acc.
func extremeCols[T float](greater bool, acc, x []T, rows, stride int) {
	n := len(acc) &^ 15
	if rows == 0 {
		return
	}
	if n > 0 && hasAVX2 {
		switch {
		case wide[T]() && hasAVX512 && greater:
			maxCols64AVX512(f64(acc), f64(x), rows, n, stride)
		case wide[T]() && hasAVX512:
			minCols64AVX512(f64(acc), f64(x), rows, n, stride)
		case wide[T]() && greater:
			maxCols64AVX2(f64(acc), f64(x), rows, n, stride)
		case wide[T]():
			minCols64AVX2(f64(acc), f64(x), rows, n, stride)
		case hasAVX512 && greater:
			maxCols32AVX512(f32(acc), f32(x), rows, n, stride)
		case hasAVX512:
			minCols32AVX512(f32(acc), f32(x), rows, n, stride)
		case greater:
			maxCols32AVX2(f32(acc), f32(x), rows, n, stride)
		default:
			minCols32AVX2(f32(acc), f32(x), rows, n, stride)
		}
		acc, x = acc[n:], x[n:]
	}
	if len(acc) > 0 {
		goExtremeCols(greater, acc, x, rows, stride)
	}
}
