//go:build !amd64

package kernel

// sum adds a row, in float64.
func sum[T float](x []T) float64 { return goSum(x) }

// dev adds the squared deviations of a row from mean.
func dev[T float](x []T, mean float64) float64 { return goDev(x, mean) }

// sumCols adds rows of len(acc) elements, stride apart, to acc.
func sumCols[T float](acc []float64, x []T, rows, stride int) { goSumCols(acc, x, rows, stride) }

// devCols adds the squared deviations of such rows from mean to acc.
func devCols[T float](acc, mean []float64, x []T, rows, stride int) {
	goDevCols(acc, mean, x, rows, stride)
}

// extremeRow folds a row into the lesser, or the greater.
func extremeRow[T float](greater bool, acc T, x []T) T { return goExtremeRow(greater, acc, x) }

// extremeCols folds rows of len(acc) elements, stride apart, into acc.
func extremeCols[T float](greater bool, acc, x []T, rows, stride int) {
	goExtremeCols(greater, acc, x, rows, stride)
}
