package codec

import (
	"encoding/binary"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// FP4 has what floats in blocks of four bits each (E2M1) are stored as: the elements, two to a byte, the first in the lower half, and
// the scales of the blocks.
//
// Of MXFP4 (OCP Microscaling Formats 1.0) a scale is a power of two, in E8M0: the exponent of the block's largest magnitude less two,
// by which that is one of 4 to 8, where 6 is the most. Blocks with what is not finite have the scale NaN.
// Of NVFP4 a scale is a sixth of the largest magnitude, in E4M3. Its array has been divided by a scale of its own.
// Elements are rounded to the nearest, ties to even, and saturated.
var FP4 = map[string]struct {
	Floats, Elements, Size int // of a block: floats, and elements of how many bytes that they become
	Encode                 func(dst []byte, x []float32)
}{
	"mxfp4": {32, 16, 1, func(dst []byte, x []float32) {
		for ; len(dst) > 0; dst, x = dst[16:], x[32:] {
			e := mxScale(x[:32])
			d := float32(math.NaN())
			if e < 255 {
				d = float32(math.Ldexp(1, int(e)-127))
			}
			packFP4(dst[:16], x, d)
		}
	}},
	"mxfp4 scale": {32, 1, 1, func(dst []byte, x []float32) {
		for i := range dst {
			dst[i] = mxScale(x[32*i:][:32])
		}
	}},
	"nvfp4": {16, 8, 1, func(dst []byte, x []float32) {
		for ; len(dst) > 0; dst, x = dst[8:], x[16:] {
			packFP4(dst[:8], x, nvScale(x[:16]))
		}
	}},
	"nvfp4 scale": {16, 1, 4, func(dst []byte, x []float32) {
		for ; len(dst) > 0; dst, x = dst[4:], x[16:] {
			binary.NativeEndian.PutUint32(dst, math.Float32bits(nvScale(x[:16])))
		}
	}},
}

// mostBits are the bits of the largest magnitude, of which NaN is the largest.
func mostBits(x []float32) (most uint32) {
	for _, v := range x {
		most = max(most, math.Float32bits(v)&^(1<<31))
	}
	return most
}

func mxScale(x []float32) byte {
	e := mostBits(x) >> 23
	if e == 255 {
		return 255
	}
	return byte(max(e, 2) - 2)
}

func nvScale(x []float32) float32 {
	s := math.Float32frombits(mostBits(x)) / 6
	if s > 448 && s <= math.MaxFloat32 {
		s = 448
	}
	return dtype.Float8(dtype.Float8E4M3FN, dtype.ToFloat8(dtype.Float8E4M3FN, s))
}

// packFP4 packs two floats for each byte of dst, divided by the scale. Of the scale 0 all are 0; NaN is 6.
func packFP4(dst []byte, x []float32, scale float32) {
	code := func(v float32) byte {
		m := absolute(v) / scale
		if scale == 0 {
			m = 0
		} else if m != m {
			return 7
		}
		// Steps are of a half up to 2, of one up to 4 and of two above: the least of what each gives is the code.
		m = min(m, 6)
		c := byte(min(nearest(2*m), nearest(m)+2, nearest(m/2)+4))
		return c | byte(math.Float32bits(v)>>31<<3)
	}
	for i := range dst {
		dst[i] = code(x[2*i]) | code(x[2*i+1])<<4
	}
}
