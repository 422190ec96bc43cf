package kernel

import "math"

const (
	// run bounds the elements that are added without carrying errors.
	run = 1024
	// strip bounds the columns whose partial results live on the stack.
	strip = 256
)

// sum32 adds float32 in float64. Its state is n sums.
type sum32 struct{ mean bool }

func (sum32) Size() int { return 8 }

func (sum32) Init(state []byte, n int) { clear(view[float64](state, n)) }

func (sum32) Rows(state []byte, n, off int, x []byte, rows, cols int, _ int64) {
	acc, v := view[float64](state, n)[off:off+rows], view[float32](x, rows*cols)
	for r := range acc {
		acc[r] += sum(v[r*cols:][:cols])
	}
}

func (sum32) Cols(state []byte, n, off int, x []byte, rows, cols int, _, _ int64) {
	acc, v := view[float64](state, n)[off:off+cols], view[float32](x, rows*cols)
	if !narrow(acc, v, rows) {
		sumCols(acc, v, rows, cols)
	}
}

func (sum32) Merge(dst, src []byte, n int) {
	addInto(view[float64](dst, n), view[float64](src, n))
}

func (s sum32) Finish(dst, state []byte, n int, count int64, _ float64) {
	out := view[float32](dst, n)
	for i, v := range view[float64](state, n) {
		if s.mean {
			v /= float64(count)
		}
		out[i] = float32(v)
	}
}

// sum64 adds float64. Its state is n sums, then n errors that rounding has
// left: Knuth's two-sum joins the sums of short runs.
type sum64 struct{ mean bool }

func (sum64) Size() int { return 16 }

func (sum64) Init(state []byte, n int) { clear(view[float64](state, 2*n)) }

func (sum64) Rows(state []byte, n, off int, x []byte, rows, cols int, _ int64) {
	both, v := view[float64](state, 2*n), view[float64](x, rows*cols)
	for r := range rows {
		s, e := &both[off+r], &both[n+off+r]
		for row := v[r*cols:][:cols]; len(row) > 0; {
			k := min(run, len(row))
			carry(s, e, sum(row[:k]))
			row = row[k:]
		}
	}
}

func (sum64) Cols(state []byte, n, off int, x []byte, rows, cols int, _, _ int64) {
	both, v := view[float64](state, 2*n), view[float64](x, rows*cols)
	var part [strip]float64
	if wide := part[:min(cols, strip)]; narrow(wide, v, rows) {
		carryAll(both[off:], both[n+off:], wide)
		return
	}
	for r := 0; r < rows; r += run / 16 {
		h := min(run/16, rows-r)
		for c := 0; c < cols; c += strip {
			p := part[:min(strip, cols-c)]
			clear(p)
			sumCols(p, v[r*cols+c:], h, cols)
			carryAll(both[off+c:], both[n+off+c:], p)
		}
	}
}

func (sum64) Merge(dst, src []byte, n int) {
	d, s := view[float64](dst, 2*n), view[float64](src, 2*n)
	carryAll(d, d[n:], s[:n])
	addInto(d[n:], s[n:])
}

func (s sum64) Finish(dst, state []byte, n int, count int64, _ float64) {
	out, both := view[float64](dst, n), view[float64](state, 2*n)
	for i := range out {
		v := both[i] + both[n+i]
		if v != v { // the error of an infinite sum is NaN
			v = both[i]
		}
		if s.mean {
			v /= float64(count)
		}
		out[i] = v
	}
}

// carry adds v to sum and what that rounds off to err.
func carry(sum, err *float64, v float64) {
	t := *sum + v
	b := t - *sum
	*err += (*sum - (t - b)) + (v - b)
	*sum = t
}

func carryAll(sum, err, v []float64) {
	sum, err = sum[:len(v)], err[:len(v)]
	for i := range v {
		carry(&sum[i], &err[i], v[i])
	}
}

// narrow folds rows too short for vectors as fewer, longer rows: f rows of c
// elements, being dense, are one row of f·c. It says whether it did.
func narrow[T float](acc []float64, x []T, rows int) bool {
	c := len(acc)
	if c == 0 || c >= 16 || rows < 16 {
		return false
	}
	var part [strip]float64
	f := min(64/c, rows)
	wide := part[:f*c]
	whole := rows / f
	sumCols(wide, x, whole, len(wide))
	for i, v := range wide {
		acc[i%c] += v
	}
	sumCols(acc, x[whole*f*c:], rows-whole*f, c)
	return true
}

func goSum[T float](x []T) float64 {
	var a, b, c, d, e, f, g, h float64
	for ; len(x) >= 8; x = x[8:] {
		a += float64(x[0])
		b += float64(x[1])
		c += float64(x[2])
		d += float64(x[3])
		e += float64(x[4])
		f += float64(x[5])
		g += float64(x[6])
		h += float64(x[7])
	}
	s := ((a + b) + (c + d)) + ((e + f) + (g + h))
	for _, v := range x {
		s += float64(v)
	}
	return s
}

func goDev[T float](x []T, mean float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		p, q, r, s := float64(x[0])-mean, float64(x[1])-mean, float64(x[2])-mean, float64(x[3])-mean
		a += p * p
		b += q * q
		c += r * r
		d += s * s
	}
	t := (a + b) + (c + d)
	for _, v := range x {
		p := float64(v) - mean
		t += p * p
	}
	return t
}

func goSumCols[T float](acc []float64, x []T, rows, stride int) {
	for r := range rows {
		addInto(acc, x[r*stride:][:len(acc)])
	}
}

func goDevCols[T float](acc, mean []float64, x []T, rows, stride int) {
	mean = mean[:len(acc)]
	for r := range rows {
		row := x[r*stride:][:len(acc)]
		for c, v := range row {
			d := float64(v) - mean[c]
			acc[c] += d * d
		}
	}
}

// divisor is max(count-ddof, 0), NumPy's of a variance.
func divisor(count int64, ddof float64) float64 { return math.Max(float64(count)-ddof, 0) }

func goExtremeRow[T float](greater bool, acc T, x []T) T {
	if greater {
		return maxRow(acc, x)
	}
	return minRow(acc, x)
}

func goExtremeCols[T float](greater bool, acc, x []T, rows, stride int) {
	for r := range rows {
		if row := x[r*stride:][:len(acc)]; greater {
			maxInto(acc, row)
		} else {
			minInto(acc, row)
		}
	}
}
