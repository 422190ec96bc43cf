package dtype

import "math"

// float8 is the form of a float of 8 bits: sign, exponent, and so many bits of mantissa.
type float8 struct {
	mantissa, bias int
	most           uint8 // the code of the largest number
	beyond         uint8 // what larger ones are rounded to: infinity, or NaN where there is none
	nan            uint8
}

// float8s are those of "FP8 Formats for Deep Learning" (arXiv:2209.05433), as ml_dtypes has them.
var float8s = map[Type]float8{
	Float8E4M3FN: {mantissa: 3, bias: 7, most: 0x7e, beyond: 0x7f, nan: 0x7f},
	Float8E5M2:   {mantissa: 2, bias: 15, most: 0x7b, beyond: 0x7c, nan: 0x7e},
}

// Float8 returns the value of a code of t, which is Float8E4M3FN or Float8E5M2.
func Float8(t Type, code uint8) float32 {
	f := float8s[t]
	sign, code := uint32(code>>7)<<31, code&0x7f
	switch {
	case code <= f.most:
		exponent, mantissa := int(code>>f.mantissa), float64(code&(1<<f.mantissa-1))
		if exponent > 0 {
			mantissa += float64(int(1) << f.mantissa)
			exponent--
		}
		return math.Float32frombits(sign | math.Float32bits(float32(math.Ldexp(mantissa, exponent+1-f.bias-f.mantissa))))
	case code == f.beyond && f.beyond != f.nan:
		return math.Float32frombits(sign | 0x7f800000)
	}
	return math.Float32frombits(sign | 0x7fc00000)
}

// ToFloat8 rounds to nearest, ties to even, to a code of t, which is Float8E4M3FN or Float8E5M2.
// What is too large, infinity included, becomes infinite in Float8E5M2 and NaN in Float8E4M3FN,
// which has no infinity; NaN stays NaN. A sign stays.
func ToFloat8(t Type, x float32) uint8 {
	var one [1]uint8
	ToFloat8s(t, one[:], []float32{x})
	return one[0]
}

// ToFloat8s is ToFloat8 of each element.
func ToFloat8s(t Type, dst []uint8, src []float32) {
	f := float8s[t]
	drop := 23 - f.mantissa
	normal := uint32(128-f.bias) << 23                // the smallest number of a full mantissa
	rebias := uint32(127-f.bias) << 23                // between the exponents
	aligned := uint32(127+24-f.bias-f.mantissa) << 23 // whose last place is that of the smallest code
	for i, x := range src[:len(dst)] {
		u := math.Float32bits(x)
		sign := uint8(u >> 24 & 0x80)
		u &= 0x7fffffff
		switch {
		case u > 0x7f800000:
			dst[i] = sign | f.nan
			continue
		case u < normal: // adding aligns the last place, and rounds
			u = math.Float32bits(math.Float32frombits(u)+math.Float32frombits(aligned)) - aligned
		default:
			u = (u + 1<<(drop-1) - 1 + u>>drop&1 - rebias) >> drop
		}
		if u > uint32(f.most) {
			u = uint32(f.beyond)
		}
		dst[i] = sign | uint8(u)
	}
}
