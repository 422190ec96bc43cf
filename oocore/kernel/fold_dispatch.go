package kernel

// The inner loops of sums and variances, in the fastest form that the
// processor has. They are called directly rather than through variables so
// that their operands may live on the stack.

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

var (
	extremes32 = extremes[float32]{minRow[float32], maxRow[float32], byRow(minInto[float32]), byRow(maxInto[float32])}
	extremes64 = extremes[float64]{minRow[float64], maxRow[float64], byRow(minInto[float64]), byRow(maxInto[float64])}
)

// byRow applies a loop over one row to each.
func byRow[A, T any](into func([]A, []T)) func(acc []A, x []T, rows, stride int) {
	return func(acc []A, x []T, rows, stride int) {
		for r := range rows {
			into(acc, x[r*stride:][:len(acc)])
		}
	}
}
