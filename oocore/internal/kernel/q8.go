package kernel

import (
	"encoding/binary"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Q8Floats elements are Q8Bytes bytes of ggml's Q8_0: a scale in float16, and integers of 8 bits.
const (
	Q8Floats = 32
	Q8Bytes  = 2 + Q8Floats
)

// EncodeQ8 is quantize_row_q8_0_ref of ggml-quants.c for as many blocks as dst has: the largest
// magnitude becomes 127, halves are rounded away from zero.
func EncodeQ8(dst []byte, x []float32) {
	if blocks := len(dst) / Q8Bytes; !vectorQ8(blocks, dst, x) {
		for i := range blocks {
			encodeQ8((*[Q8Bytes]byte)(dst[i*Q8Bytes:]), (*[Q8Floats]float32)(x[i*Q8Floats:]))
		}
	}
}

func encodeQ8(dst *[Q8Bytes]byte, x *[Q8Floats]float32) {
	most := uint32(0) // bits of magnitudes, which rise with them, up to NaN
	for _, v := range x {
		most = max(most, math.Float32bits(v)&^(1<<31))
	}
	d := math.Float32frombits(most) / 127
	inverse := float32(0)
	if d != 0 {
		inverse = 1 / d
	}
	binary.LittleEndian.PutUint16(dst[:], uint16(dtype.ToFloat16(d)))
	for i, v := range x {
		q := toInt32(float64(2 * float32(v*inverse))) // in halves, which is exact, without what is less than one
		sign := q >> 31
		dst[2+i] = byte((q^sign-sign+1)>>1 ^ sign - sign)
	}
}
