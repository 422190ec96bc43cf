package kernel

import "unsafe"

// arg folds to the position of the first extreme. Its state is n positions,
// -1 where empty, then n values.
type arg[T any] struct {
	// first is the index of the extreme that comes first in x.
	first func(x []T) int
	// into keeps elements at position pos where they come before what is kept.
	into func(at []int64, best, x []T, pos int64)
	// beats says whether v is more extreme than w; NaN is more than any number.
	beats func(v, w T) bool
}

func (a *arg[T]) Size() int {
	var v T
	return 8 + int(unsafe.Sizeof(v))
}

func (a *arg[T]) fields(state []byte, n int) (at []int64, best []T) {
	return view[int64](state, n), view[T](state[8*n:], n)
}

func (a *arg[T]) Init(state []byte, n int) {
	at, best := a.fields(state, n)
	clear(best)
	for i := range at {
		at[i] = -1
	}
}

func (a *arg[T]) Rows(state []byte, n, off int, x []byte, rows, cols int, first int64) {
	if cols == 0 {
		return
	}
	at, best := a.fields(state, n)
	v := view[T](x, rows*cols)
	for r := range rows {
		row := v[r*cols:][:cols]
		i := a.first(row)
		a.put(&at[off+r], &best[off+r], row[i], first+int64(i))
	}
}

func (a *arg[T]) Cols(state []byte, n, off int, x []byte, rows, cols int, first, step int64) {
	at, best := a.fields(state, n)
	at, best = at[off:off+cols], best[off:off+cols]
	v := view[T](x, rows*cols)
	if cols == 1 && rows > 0 { // a column on its own is a row
		i := a.first(v)
		a.put(&at[0], &best[0], v[i], first+int64(i)*step)
		return
	}
	for r := range rows {
		a.into(at, best, v[r*cols:][:cols], first+int64(r)*step)
	}
}

func (a *arg[T]) Merge(dst, src []byte, n int) {
	at, best := a.fields(dst, n)
	from, value := a.fields(src, n)
	for i, pos := range from {
		if pos >= 0 {
			a.put(&at[i], &best[i], value[i], pos)
		}
	}
}

func (a *arg[T]) put(at *int64, best *T, v T, pos int64) { keep(a.beats, at, best, v, pos) }

// keep keeps the more extreme of two, or else the earlier: chunks along two
// reduced axes do not come in the order of positions.
func keep[T any](beats func(v, w T) bool, at *int64, best *T, v T, pos int64) {
	if *at < 0 || beats(v, *best) || pos < *at && !beats(*best, v) {
		*at, *best = pos, v
	}
}

func (a *arg[T]) Finish(dst, state []byte, n int, _ int64, _ float64) {
	at, _ := a.fields(state, n)
	copy(view[int64](dst, n), at)
}

// newArg makes the loops from beats, for types whose order is not Go's.
func newArg[T any](beats func(v, w T) bool) Folder {
	return &arg[T]{
		beats: beats,
		first: func(x []T) int {
			best := 0
			for i, v := range x {
				if beats(v, x[best]) {
					best = i
				}
			}
			return best
		},
		into: func(at []int64, best, x []T, pos int64) {
			for i, v := range x {
				keep(beats, &at[i], &best[i], v, pos)
			}
		},
	}
}

func below[T integer | float](v, w T) bool { return v < w || v != v && w == w }

func above[T integer | float](v, w T) bool { return v > w || v != v && w == w }

// belowComplex orders by real, then by imaginary part, as NumPy.
func belowComplex[T complexNumber](v, w T) bool {
	if v != v || w != w {
		return v != v && w == w
	}
	a, b := parts(complex128(v)), parts(complex128(w))
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

func aboveComplex[T complexNumber](v, w T) bool {
	if v != v || w != w {
		return v != v && w == w
	}
	return belowComplex(w, v)
}

func firstMin[T integer | float](x []T) int {
	at, best := 0, x[0]
	for i, v := range x {
		if !(v >= best) && best == best {
			at, best = i, v
		}
	}
	return at
}

func firstMax[T integer | float](x []T) int {
	at, best := 0, x[0]
	for i, v := range x {
		if !(v <= best) && best == best {
			at, best = i, v
		}
	}
	return at
}

func argMinInto[T integer | float](at []int64, best, x []T, pos int64) {
	at, best = at[:len(x)], best[:len(x)]
	for i, v := range x {
		if v > best[i] && at[i] >= 0 {
			continue
		}
		keep(below[T], &at[i], &best[i], v, pos)
	}
}

func argMaxInto[T integer | float](at []int64, best, x []T, pos int64) {
	at, best = at[:len(x)], best[:len(x)]
	for i, v := range x {
		if v < best[i] && at[i] >= 0 {
			continue
		}
		keep(above[T], &at[i], &best[i], v, pos)
	}
}

// parts are the real and the imaginary part.
func parts(v complex128) [2]float64 { return *(*[2]float64)(unsafe.Pointer(&v)) }
