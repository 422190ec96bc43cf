package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Blocks are those of quantize_row_*_ref of ggml-quants.c, to the bit, where C compilers neither contract products
// and sums nor reorder sums: no importance matrix, sums in the order of elements, products rounded before sums.

// encoders make one block each, by the names of formats in GGUF.
var encoders = map[string]func(dst []byte, x []float32){
	"Q8_0":  kernel.EncodeQ8,
	"Q4_0":  func(dst []byte, x []float32) { encodeCentred(dst, x, 8) },
	"Q5_0":  func(dst []byte, x []float32) { encodeCentred(dst, x, 16) },
	"Q4_1":  func(dst []byte, x []float32) { encodeRange(dst, x, 15) },
	"Q5_1":  func(dst []byte, x []float32) { encodeRange(dst, x, 31) },
	"MXFP4": encodeMXFP4,
	"Q2_K":  encodeQ2K, "Q3_K": encodeQ3K, "Q4_K": encodeQ4K, "Q5_K": encodeQ5K, "Q6_K": encodeQ6K,
}

// EncodeGGML encodes as many blocks of a format of GGML as dst has. Elements that no block stands for are an error:
// what is not finite, and what is so large that its scale is not.
func EncodeGGML(name string, dst []byte, x []float32) error {
	encode, g := encoders[name], ggmls[name]
	if encode == nil {
		return fmt.Errorf("%s is not written", name)
	}
	if name == "Q8_0" { // whose scale keeps what is not finite
		encode(dst, x)
		return nil
	}
	limit := float32(1e9) // beyond which scales in float16, and squares in sums, overflow
	if name == "MXFP4" {
		limit = math.MaxFloat32
	}
	var again [256]float32
	for ; len(dst) > 0; dst, x = dst[g.bytes:], x[g.floats:] {
		block := x[:g.floats]
		encode(dst[:g.bytes], block)
		g.block(again[:g.floats], dst[:g.bytes])
		whole := true
		for i, v := range block {
			whole = whole && absolute(v) <= limit && absolute(again[i]) <= math.MaxFloat32
		}
		if !whole {
			return fmt.Errorf("an element is NaN, infinite or too large for a scale in float16, which %s does not store: leave the array out of the codec, or clip it", name)
		}
	}
	return nil
}

// nearest rounds half to even, as ggml does: by a sum whose last bit is one.
func nearest(x float32) int { return int(math.Float32bits(x+12582912)&0x7fffff) - 0x400000 }

// truncated is 0 for what C converts to no integer.
func truncated(x float32) int {
	if x > -1e9 && x < 1e9 {
		return int(x)
	}
	return 0
}

func putHalf(dst []byte, x float32) float32 {
	h := dtype.ToFloat16(x)
	binary.LittleEndian.PutUint16(dst, uint16(h))
	return h.Float32()
}

func reciprocal(d float32) float32 {
	if d == 0 {
		return 0
	}
	return 1 / d
}

// largest is the element of the largest magnitude, the first of these.
func largest(x []float32) (of, magnitude float32) {
	for _, v := range x {
		if m := absolute(v); m > magnitude {
			of, magnitude = v, m
		}
	}
	return of, magnitude
}

func absolute(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// encodeCentred is Q4_0 and Q5_0: the largest magnitude becomes -middle.
func encodeCentred(dst []byte, x []float32, middle float32) {
	most, _ := largest(x)
	d := most / -middle
	putHalf(dst, d)
	id := reciprocal(d)
	packFifth(dst[2:], int(2*middle)-1, func(i int) int { return truncated(float32(x[i]*id) + (middle + 0.5)) })
}

// encodeRange is Q4_1 and Q5_1: the least element becomes 0, the largest top.
func encodeRange(dst []byte, x []float32, top float32) {
	least, most := float32(math.MaxFloat32), float32(-math.MaxFloat32)
	for _, v := range x {
		if v < least {
			least = v
		}
		if v > most {
			most = v
		}
	}
	d := (most - least) / top
	putHalf(dst, d)
	putHalf(dst[2:], least)
	id := reciprocal(d)
	packFifth(dst[4:], int(top), func(i int) int { return truncated(float32((x[i]-least)*id) + 0.5) })
}

// packFifth stores 32 numbers of four bits, or of five up to 31, whose fifth bits come first.
func packFifth(dst []byte, top int, q func(i int) int) {
	qs := dst
	if top > 15 {
		qs = dst[4:]
	}
	high := uint32(0)
	for i := range 16 {
		low, up := uint32(uint8(min(top, q(i)))), uint32(uint8(min(top, q(i+16))))
		qs[i] = byte(low&15 | up<<4)
		high |= low>>4&1<<i | up>>4&1<<(i+16)
	}
	if top > 15 {
		binary.LittleEndian.PutUint32(dst, high)
	}
}

// encodeMXFP4 is a scale, the power of two by which the largest magnitude is one of 4 to 6, and the nearest floats of four bits.
func encodeMXFP4(dst []byte, x []float32) {
	_, most := largest(x)
	dst[0] = 0
	if most > 0 {
		dst[0] = byte(max(0, math.Floor(float64(float32(math.Log2(float64(most)))))-2+127))
	}
	d := float32(math.Ldexp(1, int(dst[0])-128))
	best := func(v float32) (at byte) {
		magnitude := absolute(v)
		least := magnitude
		for i, q := range fp4[1:8] {
			if err := absolute(float32(q*d) - magnitude); err < least {
				at, least = byte(1+i), err
			}
		}
		if at > 0 && v < 0 {
			at |= 8
		}
		return at
	}
	for i := range 16 {
		dst[1+i] = best(x[i]) | best(x[i+16])<<4
	}
}
