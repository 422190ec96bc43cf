package kernel

import (
	"math"
	"math/bits"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Functions of floats are formulas (internal/asm) of which formulas.go is the plain
// form: the same operations in the same order as in the vector loops, so that
// results are equal to the bit on every machine. Those of float64 err by less than one
// unit in the last place, those of float32 by less than two. What a formula calls rare
// is computed here.

// helped is a vector loop that stops before a vector with a rare operand, and
// has that vector's elements computed by the plain one.
func helped(vector func(n int, dst, a, b, c []byte) int, lanes int, op Op, t dtype.Type) Func {
	plain, size, two := portableLookup(op, t), t.Size(), op.Arity() == 2
	return func(n int, dst, a, b, c []byte) {
		for {
			done := vector(n, dst, a, b, c)
			if done == n {
				return
			}
			end := min(done+lanes, n)
			dst, a = dst[done*size:], a[done*size:]
			if two {
				b = b[done*size:]
			}
			plain(end-done, dst, a, b, c)
			if end == n {
				return
			}
			n -= end
			skip := (end - done) * size
			dst, a = dst[skip:], a[skip:]
			if two {
				b = b[skip:]
			}
		}
	}
}

// What follows is operations that are one instruction, or a few, in a vector.

func unordered[T float](x, y T) bool { return x != x || y != y }

// scaled is x·2ⁿ. Neither power of two, nor the first product, leaves the range.
func scaled(x, n float64) float64 {
	half := math.RoundToEven(0.5 * n)
	return x * wholePower(half) * wholePower(n-half)
}

func wholePower(n float64) float64 {
	const magic = 3 << 51 // its sum with n has n in the low bits
	return math.Float64frombits(math.Float64bits(n+magic)<<52 + math.Float64bits(1))
}

// scaled32 is the same in float32, where float64 has room.
func scaled32(x, n float32) float32 { return float32(float64(x) * wholePower(float64(n))) }

// fma32 is x·y + z rounded once: the product is exact in float64, and of the sum there
// the last bit is set where something is lost, so that the second rounding sees it.
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	v := s - p
	lost := (p - (s - v)) + (c - v)
	if b := math.Float64bits(s); b&1 == 0 && (lost > 0 || lost < 0) {
		if (lost > 0) == (s > 0) {
			b++
		} else {
			b--
		}
		s = math.Float64frombits(b)
	}
	return float32(s)
}

// fraction64 and exponent64 are x as m·2ᵉ with m from ¾ up to 1½.
func fraction64(x float64) float64 {
	if x < 0x1p-1022 {
		x *= 0x1p54
	}
	const one, least = 0x3ff << 52, 0x3fe8 << 48
	b := math.Float64bits(x)
	return math.Float64frombits(b - (b+one-least)&(0xfff<<52) + one)
}

func exponent64(x float64) float64 {
	switch {
	case !(x < math.Inf(1)):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	bias := 1023
	if x < 0x1p-1022 {
		x, bias = x*0x1p54, bias+54
	}
	const one, least = 0x3ff << 52, 0x3fe8 << 48
	return float64(int((math.Float64bits(x)+one-least)>>52) - bias)
}

// fraction32 and exponent32 are of float32, which are all normal in float64.
func fraction32(x float32) float32 { return float32(fraction64(float64(x))) }
func exponent32(x float32) float32 { return float32(exponent64(float64(x))) }

// The functions of which some operands are rare.

func sin(x float64) float64 {
	y, rare := formulaSinFloat64(x)
	if rare {
		return formulaSinReduced(wideAngle(x))
	}
	return y
}

func cos(x float64) float64 {
	y, rare := formulaCosFloat64(x)
	if rare {
		hi, lo, word := wideAngle(x)
		return formulaSinReduced(hi, lo, word+1)
	}
	return y
}

func tan(x float64) float64 {
	y, rare := formulaTanFloat64(x)
	if rare {
		return formulaTanReduced(wideAngle(x))
	}
	return y
}

// wideAngle is x, at least 2³⁰, less the nearest multiple of π/2, and that multiple
// in the low bits of word: M. Payne and R. Hanek, "Radian reduction for
// trigonometric functions", 1983.
func wideAngle(x float64) (hi, lo, word float64) {
	if math.IsInf(x, 0) {
		return math.NaN(), 0, 0
	}
	// |x| is m·2ᵉ, and quarter turns have 2/π·2ᵉ: of it, the bits from that of two
	// on, of which there are none left over after multiplication by m.
	b := math.Float64bits(x) &^ (1 << 63)
	m, e := b&(1<<52-1)|1<<52, int(b>>52)-1075
	from := 64 + e - 2
	var w, y [4]uint64
	for i := range w {
		at, shift := from/64+i, from%64
		w[i] = quarterTurns[at] << shift
		if shift > 0 {
			w[i] |= quarterTurns[at+1] >> (64 - shift)
		}
	}
	carry := uint64(0)
	for i := 3; i >= 0; i-- {
		high, low := bits.Mul64(w[i], m)
		var c uint64
		y[i], c = bits.Add64(low, carry, 0)
		carry = high + c
	}
	turns := y[0] >> 62
	for i := range 3 {
		y[i] = y[i]<<2 | y[i+1]>>62
	}
	y[3] <<= 2
	sign := 1.0
	if y[0]>>63 != 0 { // more than half a turn: from above
		turns++
		sign = -1
		for i := range y {
			y[i] = ^y[i]
		}
	}
	scale := 1.0
	for y[0] == 0 { // once, as no float64 is that near to a multiple of π/2
		y[0], y[1], y[2], y[3] = y[1], y[2], y[3], 0
		scale *= 0x1p-64
	}
	z := bits.LeadingZeros64(y[0])
	top := y[0]<<z | y[1]>>(64-z)
	next := y[1]<<z | y[2]>>(64-z)
	scale *= math.Ldexp(sign, -z)
	head := float64(top>>11) * 0x1p-53 * scale
	tail := float64(top<<53>>1|next>>12) * 0x1p-116 * scale
	const right, rest = math.Pi / 2, 6.123233995736766e-17
	p := head * right
	q := math.FMA(head, right, -p) + float64(head*rest) + float64(tail*right)
	hi = p + q
	lo = q - (hi - p)
	if math.Signbit(x) {
		hi, lo, turns = -hi, -lo, -turns
	}
	return hi, lo, 3<<51 + float64(int64(turns))
}

// arctan2 of what is rare: definitions, and points that are scaled first.
func arctan2(y, x float64) float64 {
	v, rare := formulaArctan2Float64(y, x)
	if !rare {
		return v
	}
	if x == 0 || y == 0 || x-x != 0 || y-y != 0 {
		return math.Atan2(y, x)
	}
	_, i := math.Frexp(x)
	_, j := math.Frexp(y)
	switch {
	case j-i > 200:
		return math.Copysign(math.Pi/2, y)
	case i-j > 200 && x < 0:
		return math.Copysign(math.Pi, y)
	case i-j > 200:
		return y / x
	}
	v, _ = formulaArctan2Float64(math.Ldexp(y, -j), math.Ldexp(x, -j))
	return v
}

// hypot of what is rare: definitions, and legs that are scaled first.
func hypot(x, y float64) float64 {
	v, rare := formulaHypotFloat64(x, y)
	if !rare {
		return v
	}
	if x-x != 0 || y-y != 0 {
		return math.Hypot(x, y)
	}
	scale := 0x1p700
	if math.Abs(x) > 1 || math.Abs(y) > 1 {
		scale = 0x1p-700
	}
	v, _ = formulaHypotFloat64(x*scale, y*scale)
	return v / scale
}

// arcsinh and arccosh of what is rare are ln 2x = 2·ln(2·√(x/2)).

func arcsinh(x float64) float64 {
	y, rare := formulaArcsinhFloat64(x)
	if rare {
		return math.Copysign(2*formulaLogFloat64(2*math.Sqrt(math.Abs(x)/2)), x)
	}
	return y
}

func arccosh(x float64) float64 {
	y, rare := formulaArccoshFloat64(x)
	if rare {
		return 2 * formulaLogFloat64(2*math.Sqrt(x/2))
	}
	return y
}
