package fft

import (
	"context"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
)

// tile is how many elements of a line are brought to or from their places before the
// next line's are, so that both sides stay in the cache.
const tile = 64

// group transforms so many lines from src to dst. A batch that has room for more transforms
// that too, and its results are not used.
func (w *worker) group(ctx context.Context, s *blockwise.Steps, dst, src []byte, from, to place, lines int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.Next() {
		w.load(src, from, lines)
		if w.weights != nil {
			w.weigh(lines)
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	out, err := w.t.run(s, w.x, w.y, w.lines)
	if err != nil {
		return err
	}
	w.store(dst, out, to, lines)
	return nil
}

// load brings lines into w.x.
func (w *worker) load(src []byte, from place, lines int) {
	clear(w.x[:w.t.n*w.lines])
	switch w.From {
	case dtype.Float32:
		loadReal(w, dtype.Slice[float32](src), from, lines)
	case dtype.Float64:
		loadReal(w, dtype.Slice[float64](src), from, lines)
	case dtype.Complex64:
		loadComplex(w, dtype.Slice[complex64](src), from, lines)
	case dtype.Complex128:
		loadComplex(w, dtype.Slice[complex128](src), from, lines)
	}
}

// store brings transformed lines to their places.
func (w *worker) store(dst []byte, out []complex128, to place, lines int) {
	switch w.To {
	case dtype.Float32:
		storeReal(w, dtype.Slice[float32](dst), out, to, lines)
	case dtype.Float64:
		storeReal(w, dtype.Slice[float64](dst), out, to, lines)
	case dtype.Complex64:
		storeComplex(w, dtype.Slice[complex64](dst), out, to, lines)
	case dtype.Complex128:
		storeComplex(w, dtype.Slice[complex128](dst), out, to, lines)
	}
}

// loadReal brings real lines into w.x, pairs of elements as complex ones where lines
// are halved.
func loadReal[T float32 | float64](w *worker, src []T, from place, lines int) {
	b := w.lines
	n := w.used
	if w.halved() {
		n = w.used / 2
	}
	for k0 := 0; k0 < n; k0 += tile {
		for j := range lines {
			at := from.at + j*from.line
			if !w.halved() {
				at += k0 * from.step
				for k := k0; k < min(k0+tile, n); k++ {
					w.x[k*b+j] = complex(float64(src[at]), 0)
					at += from.step
				}
				continue
			}
			at += 2 * k0 * from.step
			for k := k0; k < min(k0+tile, n); k++ {
				w.x[k*b+j] = complex(float64(src[at]), float64(src[at+from.step]))
				at += 2 * from.step
			}
		}
	}
	if w.halved() && w.used%2 == 1 {
		for j := range lines {
			w.x[n*b+j] = complex(float64(src[from.at+j*from.line+(w.used-1)*from.step]), 0)
		}
	}
}

// loadComplex brings complex lines into w.x: those of an inverse swapped, as the
// inverse is the swapped transform of the swapped line.
func loadComplex[T complex64 | complex128](w *worker, src []T, from place, lines int) {
	b := w.lines
	if w.Kind == RealInverse {
		for j := range lines {
			at := from.at + j*from.line
			w.loadHalf(func(k int) complex128 {
				if k >= w.used {
					return 0
				}
				z := complex128(src[at+k*from.step])
				if k == 0 || 2*k == w.N {
					return complex(real(z), 0)
				}
				return z
			}, j)
		}
		return
	}
	inverse := w.Kind == Inverse
	for k0 := 0; k0 < w.used; k0 += tile {
		for j := range lines {
			at := from.at + j*from.line + k0*from.step
			for k := k0; k < min(k0+tile, w.used); k++ {
				z := complex128(src[at])
				if inverse {
					z = swap(z)
				}
				w.x[k*b+j] = z
				at += from.step
			}
		}
	}
}

// loadHalf brings the first half of a line's coefficients into column j: those of the
// complex elements that pairs of the real line are, or with their conjugates.
func (w *worker) loadHalf(at func(k int) complex128, j int) {
	b := w.lines
	if !w.halved() {
		w.x[j] = swap(at(0))
		for k := 1; 2*k < w.N; k++ {
			z := at(k)
			w.x[k*b+j] = swap(z)
			w.x[(w.N-k)*b+j] = complex(-imag(z), real(z))
		}
		return
	}
	h := w.N / 2
	for k := range h {
		a, c := at(k), conj(at(h-k))
		odd := (a - c) * conj(w.roots[k])
		w.x[k*b+j] = swap(a + c + complex(-imag(odd), real(odd)))
	}
}

func conj(z complex128) complex128 { return complex(real(z), -imag(z)) }

// storeReal brings real lines to their places.
func storeReal[T float32 | float64](w *worker, dst []T, out []complex128, to place, lines int) {
	b := w.lines
	n := w.t.n
	for k0 := 0; k0 < n; k0 += tile {
		for j := range lines {
			at := to.at + j*to.line
			if !w.halved() {
				at += k0 * to.step
				for k := k0; k < min(k0+tile, n); k++ {
					dst[at] = T(imag(out[k*b+j]) * w.Scale)
					at += to.step
				}
				continue
			}
			at += 2 * k0 * to.step
			for k := k0; k < min(k0+tile, n); k++ {
				z := out[k*b+j]
				dst[at] = T(imag(z) * w.Scale)
				dst[at+to.step] = T(real(z) * w.Scale)
				at += 2 * to.step
			}
		}
	}
}

// storeComplex brings coefficients to their places: all of them, or the first half.
func storeComplex[T complex64 | complex128](w *worker, dst []T, out []complex128, to place, lines int) {
	if w.real() {
		for k0 := 0; k0 < w.N/2+1; k0 += tile {
			for j := range lines {
				storeHalf(w, dst, out, to.at+j*to.line, to.step, j, k0)
			}
		}
		return
	}
	b := w.lines
	inverse := w.Kind == Inverse
	for k0 := 0; k0 < w.N; k0 += tile {
		for j := range lines {
			at := to.at + j*to.line + k0*to.step
			for k := k0; k < min(k0+tile, w.N); k++ {
				z := out[k*b+j]
				if inverse {
					z = swap(z)
				}
				dst[at] = T(scale(z, w.Scale))
				at += to.step
			}
		}
	}
}

func scale(z complex128, s float64) complex128 { return complex(real(z)*s, imag(z)*s) }

// storeHalf brings a tile of a real line's coefficients to their places: those of the
// first half, and the others, which are their conjugates, where they are asked for.
func storeHalf[T complex64 | complex128](w *worker, dst []T, out []complex128, at, step, j, k0 int) {
	b := w.lines
	halved, h := w.halved(), w.N/2
	for k := k0; k < min(k0+tile, h+1); k++ {
		var z complex128
		switch {
		case !halved:
			z = out[k*b+j]
		case k == 0:
			z = complex(real(out[j])+imag(out[j]), 0)
		case k == h:
			z = complex(real(out[j])-imag(out[j]), 0)
		default:
			// Even and odd elements' coefficients, of those of their pairs.
			a, c := out[k*b+j], conj(out[(h-k)*b+j])
			odd := (a - c) * w.roots[k]
			z = scale(a+c+complex(imag(odd), -real(odd)), 0.5)
		}
		z = scale(z, w.Scale)
		if w.Kind == Inverse {
			z = conj(z)
		}
		dst[at+k*step] = T(z)
		if w.Kind != RealForward && k > 0 && 2*k < w.N {
			dst[at+(w.N-k)*step] = T(conj(z))
		}
	}
}
