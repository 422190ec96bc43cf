package kernel

import "math"

// variance folds to a variance or standard deviation. Its state is n counts,
// n means and n sums of squared deviations, all float64.
type variance[T float] struct{ root bool }

func (variance[T]) Size() int { return 24 }

func (variance[T]) Init(state []byte, n int) { clear(view[float64](state, 3*n)) }

// moments are the fields of some of a state's accumulators.
type moments struct{ count, mean, dev []float64 }

func momentsOf(state []byte, n, off, k int) moments {
	all := view[float64](state, 3*n)
	return moments{all[off:][:k], all[n+off:][:k], all[2*n+off:][:k]}
}

func (variance[T]) Rows(state []byte, n, off int, x []byte, rows, cols int, _ int64) {
	if cols == 0 {
		return
	}
	m, v := momentsOf(state, n, off, rows), view[T](x, rows*cols)
	for r := range rows {
		row := v[r*cols:][:cols]
		mean := sum(row) / float64(cols)
		m.join(r, float64(cols), mean, dev(row, mean))
	}
}

func (variance[T]) Cols(state []byte, n, off int, x []byte, rows, cols int, _, _ int64) {
	if rows == 0 || cols == 0 {
		return
	}
	v := view[T](x, rows*cols)
	f := 1
	if cols < 16 && rows >= 16 { // as in narrow: rows too short for vectors are taken several at once
		f = min(64/cols, rows)
	}
	var mean, dev [strip]float64
	whole, rest := rows/f, rows%f
	tail := v[whole*f*cols:]
	for c := 0; c < cols; c += strip {
		k := min(strip, cols-c)
		mk, dk := mean[:k*f], dev[:k*f]
		clear(mk)
		clear(dk)
		sumCols(mk, v[c:], whole, cols*f)
		for i := k; i < len(mk); i++ {
			mk[i%k] += mk[i]
		}
		sumCols(mk[:k], tail[min(c, len(tail)):], rest, cols)
		for i := range k {
			mk[i] /= float64(rows)
		}
		for i := k; i < len(mk); i++ {
			mk[i] = mk[i%k]
		}
		devCols(dk, mk, v[c:], whole, cols*f)
		for i := k; i < len(dk); i++ {
			dk[i%k] += dk[i]
		}
		devCols(dk[:k], mk[:k], tail[min(c, len(tail)):], rest, cols)
		momentsOf(state, n, off+c, k).joinAll(float64(rows), mk[:k], dk[:k])
	}
}

func (variance[T]) Merge(dst, src []byte, n int) {
	d, s := momentsOf(dst, n, 0, n), momentsOf(src, n, 0, n)
	for i := range n {
		d.join(i, s.count[i], s.mean[i], s.dev[i])
	}
}

func (w variance[T]) Finish(dst, state []byte, n int, count int64, ddof float64) {
	out, m := view[T](dst, n), momentsOf(state, n, 0, n)
	for i, d := range m.dev {
		v := d / divisor(count, ddof)
		if w.root {
			v = math.Sqrt(v)
		}
		out[i] = T(v)
	}
}

// join adds count elements of a mean and a sum of squared deviations to
// accumulator i (Chan, Golub and LeVeque, 1979).
func (m moments) join(i int, count, mean, dev float64) {
	switch {
	case count == 0:
		return
	case m.count[i] == 0:
		m.count[i], m.mean[i], m.dev[i] = count, mean, dev
		return
	}
	total := m.count[i] + count
	share := count / total
	delta := mean - m.mean[i]
	m.dev[i] += dev + delta*delta*m.count[i]*share
	m.mean[i] += delta * share
	m.count[i] = total
}

// joinAll is join for accumulators side by side, dividing only where counts
// differ from their neighbour's.
func (m moments) joinAll(count float64, mean, dev []float64) {
	had, share := -1.0, 0.0
	for i := range mean {
		if m.count[i] == 0 {
			m.count[i], m.mean[i], m.dev[i] = count, mean[i], dev[i]
			continue
		}
		if m.count[i] != had {
			had = m.count[i]
			share = count / (had + count)
		}
		delta := mean[i] - m.mean[i]
		m.dev[i] += dev[i] + delta*delta*had*share
		m.mean[i] += delta * share
		m.count[i] = had + count
	}
}
