package scan

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// What is carried along a line is one to three words of 8 bytes: an integer; a float64
// and, in a sum of float64, what rounding has lost of it; or a float64 with an exponent
// of two, in a product. Complex sums are those of their parts.

// words are those of one element's state.
func (s Scan) words() int {
	switch {
	case s.Rule != "":
		return s.ruleWords()
	case s.Type.Integer():
		return 1
	case s.Product && s.Type.Kind() == dtype.KindComplex:
		return 3
	case s.Product, s.Type == dtype.Float64, s.Type == dtype.Complex64:
		return 2
	case s.Type == dtype.Complex128:
		return 4
	}
	return 1
}

// begin makes states neutral.
func (s Scan) begin(state []byte) {
	if s.Rule != "" {
		s.beginRule(state)
		return
	}
	clear(state)
	if !s.Product {
		return
	}
	if s.Type.Integer() {
		for i := range dtype.Slice[uint64](state) {
			dtype.Slice[uint64](state)[i] = 1
		}
		return
	}
	v := dtype.Slice[float64](state)
	for i := 0; i < len(v); i += s.words() {
		v[i] = 1
		if s.Type.Kind() == dtype.KindComplex {
			v[i+2] = math.NaN()
		}
	}
}

// pass leaves in next what was carried so far, and carries next on.
func (s Scan) pass(state, next []byte) {
	if s.Rule != "" {
		s.passRule(state, next)
		return
	}
	if s.Type.Integer() {
		a, b := dtype.Slice[uint64](state), dtype.Slice[uint64](next)
		for i, x := range b {
			b[i] = a[i]
			if s.Product {
				a[i] *= x
			} else {
				a[i] += x
			}
		}
		return
	}
	a, b := dtype.Slice[float64](state), dtype.Slice[float64](next)
	w := s.words()
	for i := 0; i < len(b); i += w {
		var was [4]float64
		copy(was[:], a[i:i+w])
		switch {
		case s.Product && w == 3:
			z := scaled128{complex(a[i], a[i+1]), a[i+2]}
			z.multiply(complex(b[i], b[i+1]))
			a[i], a[i+1], a[i+2] = real(z.z), imag(z.z), z.exponent+b[i+2]
		case s.Product:
			p := scaled{a[i], a[i+1]}
			p.multiply(b[i])
			a[i], a[i+1] = p.x, p.exponent+b[i+1]
		case s.Type == dtype.Float64 || s.Type == dtype.Complex128:
			for k := i; k < i+w; k += 2 {
				a[k], a[k+1] = add(a[k], a[k+1], b[k])
				a[k+1] += b[k+1]
			}
		default:
			for k := i; k < i+w; k++ {
				a[k] += b[k]
			}
		}
		copy(b[i:i+w], was[:])
	}
}

// run carries on through rows of columns, and writes the rows after the first `skip`
// to dst where that is not nil.
func (s Scan) run(dst, src []byte, cols, skip int, state []byte) {
	if s.Rule != "" {
		s.runRule(dst, src, cols, skip, state)
		return
	}
	if s.Type.Integer() { // which wrap around: the sign changes no bits
		kernel.BySize(s.Type.Size(), runInts[uint8], runInts[uint16], runInts[uint32], runInts[uint64])(s.Product, dst, src, cols, skip, state)
		return
	}
	switch s.Type {
	case dtype.Float16:
		runShort(s.Product, dst, src, cols, skip, state, toFloat16)
	case dtype.BFloat16:
		runShort(s.Product, dst, src, cols, skip, state, toBFloat16)
	case dtype.Float32, dtype.Complex64:
		switch {
		case !s.Product:
			runSums(dtype.Slice[float32](dst), dtype.Slice[float32](src), cols*s.Type.Size()/4, skip, dtype.Slice[float64](state))
		case s.Type == dtype.Complex64:
			runComplex(dtype.Slice[complex64](dst), dtype.Slice[complex64](src), cols, skip, dtype.Slice[float64](state))
		default:
			runProducts(dtype.Slice[float32](dst), dtype.Slice[float32](src), cols, skip, dtype.Slice[float64](state))
		}
	default:
		switch {
		case !s.Product:
			runExact(dtype.Slice[float64](dst), dtype.Slice[float64](src), cols*s.Type.Size()/8, skip, dtype.Slice[float64](state))
		case s.Type == dtype.Complex128:
			runComplex(dtype.Slice[complex128](dst), dtype.Slice[complex128](src), cols, skip, dtype.Slice[float64](state))
		default:
			runProducts(dtype.Slice[float64](dst), dtype.Slice[float64](src), cols, skip, dtype.Slice[float64](state))
		}
	}
}

// rows goes through the rows of src: f gets each and where it goes, nil for the first
// `skip` and where there is no dst.
func rows[T any](dst, src []T, cols, skip int, f func(dst, src []T)) {
	for r := 0; r*cols < len(src); r++ {
		var to []T
		if dst != nil && r >= skip {
			to = dst[(r-skip)*cols:][:cols]
		}
		f(to, src[r*cols:][:cols])
	}
}

func runInts[T interface {
	uint8 | uint16 | uint32 | uint64
}](product bool, dst, src []byte, cols, skip int, state []byte) {
	d, x, a := dtype.Slice[T](dst), dtype.Slice[T](src), dtype.Slice[uint64](state)
	if cols == 1 {
		acc := T(a[0])
		for i, v := range x {
			if product {
				acc *= v
			} else {
				acc += v
			}
			if i >= skip && d != nil {
				d[i-skip] = acc
			}
		}
		a[0] = uint64(acc)
		return
	}
	rows(d, x, cols, skip, func(dst, src []T) {
		for c, v := range src {
			if product {
				a[c] *= uint64(v)
			} else {
				a[c] += uint64(v)
			}
		}
		for c := range dst {
			dst[c] = T(a[c])
		}
	})
}

// runSums adds in float64 what has fewer bits.
func runSums(dst, src []float32, cols, skip int, state []float64) {
	if cols == 1 {
		acc := state[0]
		n := min(skip, len(src))
		if dst == nil {
			n = len(src)
		}
		for _, v := range src[:n] {
			acc += float64(v)
		}
		for i, v := range src[n:] {
			acc += float64(v)
			dst[i] = float32(acc)
		}
		state[0] = acc
		return
	}
	rows(dst, src, cols, skip, func(dst, src []float32) {
		state := state[:len(src)]
		for c, v := range src {
			state[c] += float64(v)
		}
		for c := range dst {
			dst[c] = float32(state[c])
		}
	})
}

// runExact adds with what rounding loses.
func runExact(dst, src []float64, cols, skip int, state []float64) {
	if cols == 1 {
		sum, lost := state[0], state[1]
		for i, v := range src {
			sum, lost = add(sum, lost, v)
			if dst != nil && i >= skip {
				dst[i-skip] = total(sum, lost)
			}
		}
		state[0], state[1] = sum, lost
		return
	}
	rows(dst, src, cols, skip, func(dst, src []float64) {
		for c, v := range src {
			state[2*c], state[2*c+1] = add(state[2*c], state[2*c+1], v)
		}
		for c := range dst {
			dst[c] = total(state[2*c], state[2*c+1])
		}
	})
}

// add is Knuth's exact addition: what the sum loses of v goes to lost.
func add(sum, lost, v float64) (float64, float64) {
	s := sum + v
	b := s - sum
	return s, lost + ((sum - (s - b)) + (v - b))
}

// total is a sum with what it has lost, which is NaN where the sum is infinite.
func total(sum, lost float64) float64 {
	if t := sum + lost; t == t {
		return t
	}
	return sum
}

// short is a float of 16 bits.
type short interface {
	dtype.Float16Bits | dtype.BFloat16Bits
	Float32() float32
}

func widen[H short](h H) float64 { return float64(h.Float32()) }

func toFloat16(x float64) dtype.Float16Bits {
	return dtype.Float16Bits(dtype.FromFloat(dtype.Float16, x).Lo)
}

func toBFloat16(x float64) dtype.BFloat16Bits {
	return dtype.BFloat16Bits(dtype.FromFloat(dtype.BFloat16, x).Lo)
}

func runShort[H short](product bool, dst, src []byte, cols, skip int, state []byte, round func(float64) H) {
	a := dtype.Slice[float64](state)
	rows(dtype.Slice[H](dst), dtype.Slice[H](src), cols, skip, func(dst, src []H) {
		for c, h := range src {
			v := widen(h)
			if !product {
				a[c] += v
				continue
			}
			p := scaled{a[2*c], a[2*c+1]}
			p.multiply(v)
			a[2*c], a[2*c+1] = p.x, p.exponent
		}
		for c := range dst {
			if product {
				dst[c] = round(scaled{a[2*c], a[2*c+1]}.value())
			} else {
				dst[c] = round(a[c])
			}
		}
	})
}

// scaled is x times a power of two. x is between 2^±400, zero, infinite or NaN.
type scaled struct{ x, exponent float64 }

const (
	largest  = 0x1p400
	smallest = 0x1p-400
)

func (p *scaled) multiply(v float64) {
	x := p.x * v
	if m := math.Abs(x); m < largest && m > smallest || v == 0 || p.x == 0 || math.IsInf(v, 0) || math.IsInf(p.x, 0) || x != x {
		p.x = x
		return
	}
	a, i := math.Frexp(p.x)
	b, k := math.Frexp(v)
	p.x = a * b
	p.exponent += float64(i + k)
}

func (p scaled) value() float64 { return times(p.x, p.exponent) }

// times is x·2^exponent.
func times(x, exponent float64) float64 {
	if exponent == 0 {
		return x
	}
	return math.Ldexp(x, int(max(min(exponent, 1<<20), -1<<20)))
}

func runProducts[T float32 | float64](dst, src []T, cols, skip int, state []float64) {
	rows(dst, src, cols, skip, func(dst, src []T) {
		for c, v := range src {
			p := scaled{state[2*c], state[2*c+1]}
			p.multiply(float64(v))
			state[2*c], state[2*c+1] = p.x, p.exponent
			if dst != nil {
				dst[c] = T(p.value())
			}
		}
	})
}

// scaled128 is z times a power of two. Its exponent is NaN while it has no factor yet: the
// first one stays as it is, since by 1+0i an infinite one would get a NaN part.
type scaled128 struct {
	z        complex128
	exponent float64
}

func (p *scaled128) multiply(v complex128) {
	if p.exponent != p.exponent {
		p.z, p.exponent = v, 0
		return
	}
	z := p.z * v
	m := max(math.Abs(real(z)), math.Abs(imag(z)))
	if m < largest && m > smallest || v == 0 || p.z == 0 || !finite(v) || !finite(p.z) {
		p.z = z
		return
	}
	a, i := reduce(p.z)
	b, k := reduce(v)
	p.z = a * b
	p.exponent += float64(i + k)
}

func finite(z complex128) bool {
	m := max(math.Abs(real(z)), math.Abs(imag(z)))
	return m <= math.MaxFloat64 // and no NaN
}

// reduce brings the larger part to between a half and one.
func reduce(z complex128) (complex128, int) {
	_, e := math.Frexp(max(math.Abs(real(z)), math.Abs(imag(z))))
	return complex(math.Ldexp(real(z), -e), math.Ldexp(imag(z), -e)), e
}

func runComplex[T complex64 | complex128](dst, src []T, cols, skip int, state []float64) {
	rows(dst, src, cols, skip, func(dst, src []T) {
		for c, v := range src {
			s := state[3*c : 3*c+3]
			p := scaled128{complex(s[0], s[1]), s[2]}
			p.multiply(complex128(v))
			s[0], s[1], s[2] = real(p.z), imag(p.z), p.exponent
			if dst != nil {
				dst[c] = T(complex(times(s[0], s[2]), times(s[1], s[2])))
			}
		}
	})
}
