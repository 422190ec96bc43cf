package codec

import (
	_ "embed" // the grids
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
)

// The types of ggml below four bits, those of which elements are in a grid or a table, and floats of four bits. Each is a row as in ggmls; products are
// rounded before sums, as on any machine.

func init() {
	for name, g := range map[string]*ggml{
		"Q2_K": {"Q2_K", 256, 84, func(dst []float32, src []byte) {
			scales, qs, d, least := src[:16], src[16:80], half(src[80:]), half(src[82:])
			for j, s := range scales {
				by, m := d*float32(s&15), least*float32(s>>4)
				for i := range 16 {
					dst[j*16+i] = float32(by*float32(qs[j/8*32+j%2*16+i]>>(j%8/2*2)&3)) - m
				}
			}
		}},
		"Q3_K": {"Q3_K", 256, 110, func(dst []float32, src []byte) {
			high, qs, scales, d := src[:32], src[32:96], src[96:108], half(src[108:])
			for j := range 16 {
				s := int(scales[j%8]>>(j/8*4)&15|scales[8+j%4]>>(j/4*2)&3<<4) - 32
				by := d * float32(s)
				for i := range 16 {
					q := int(qs[j/8*32+j%2*16+i] >> (j % 8 / 2 * 2) & 3)
					if high[j%2*16+i]>>(j/2)&1 == 0 {
						q -= 4
					}
					dst[j*16+i] = by * float32(q)
				}
			}
		}},
		"TQ1_0": {"TQ1_0", 256, 54, func(dst []float32, src []byte) {
			d, at := half(src[52:]), 0
			for _, part := range []struct {
				qs     []byte
				digits int
			}{{src[:32], 5}, {src[32:48], 5}, {src[48:52], 4}} {
				for digit, power := 0, byte(1); digit < part.digits; digit, power = digit+1, power*3 {
					for _, q := range part.qs {
						dst[at] = d * float32(int(uint16(q*power)*3>>8)-1)
						at++
					}
				}
			}
		}},
		"TQ2_0": {"TQ2_0", 256, 66, func(dst []float32, src []byte) {
			d := half(src[64:])
			for i := range dst {
				dst[i] = d * float32(int(src[i/128*32+i%32]>>(i%128/32*2)&3)-1)
			}
		}},
		"MXFP4": {"MXFP4", 32, 17, func(dst []float32, src []byte) {
			e := uint32(src[0])
			scale := math.Float32frombits(0x00200000 << e)
			if e >= 2 {
				scale = math.Float32frombits((e - 1) << 23)
			}
			tabled(dst, src[1:], scale, &fp4)
		}},
		"NVFP4": {"NVFP4", 64, 36, func(dst []float32, src []byte) {
			for j, s := range src[:4] {
				e, m := int(s>>3&15), float64(s&7)
				d := math.Ldexp(8+m, e-7-4)
				switch {
				case s == 0 || s == 0x7f:
					d = 0
				case e == 0:
					d = math.Ldexp(m, -10)
				}
				tabled(dst[j*16:][:16], src[4+j*8:][:8], float32(d), &fp4)
			}
		}},
		"IQ4_NL": {"IQ4_NL", 32, 18, func(dst []float32, src []byte) { tabled(dst, src[2:], half(src), &nonlinear) }},
		"IQ4_XS": {"IQ4_XS", 256, 136, func(dst []float32, src []byte) {
			d, high := half(src), binary.LittleEndian.Uint16(src[2:])
			for j := range 8 {
				s := int(src[4+j/2]>>(j%2*4)&15|byte(high>>(2*j)&3<<4)) - 32
				tabled(dst[j*32:][:32], src[8+j*16:][:16], d*float32(s), &nonlinear)
			}
		}},
		"IQ2_XXS": {"IQ2_XXS", 256, 66, func(dst []float32, src []byte) {
			d, grid := half(src), grids()["IQ2_XXS"]
			for j := range 8 {
				at := src[2+8*j:]
				s := binary.LittleEndian.Uint32(at[4:])
				by := d * (.5 + float32(s>>28)) * .25
				for k := range 4 {
					signed(dst[j*32+k*8:][:8], grid[8*int(at[k]):], by, signs(s>>(7*k)))
				}
			}
		}},
		"IQ2_XS": {"IQ2_XS", 256, 74, func(dst []float32, src []byte) {
			d, grid := half(src), grids()["IQ2_XS"]
			for j := range 32 {
				q := binary.LittleEndian.Uint16(src[2+2*j:])
				by := d * (.5 + float32(src[66+j/4]>>(j/2%2*4)&15)) * .25
				signed(dst[j*8:][:8], grid[8*int(q&511):], by, signs(uint32(q>>9)))
			}
		}},
		"IQ2_S": {"IQ2_S", 256, 82, func(dst []float32, src []byte) {
			d, grid := half(src), grids()["IQ2_S"]
			for j := range 32 {
				q := int(src[2+j]) | int(src[66+j/4]>>(j%4*2)&3)<<8
				by := d * (.5 + float32(src[74+j/4]>>(j/2%2*4)&15)) * .25
				signed(dst[j*8:][:8], grid[8*q:], by, src[34+j])
			}
		}},
		"IQ3_XXS": {"IQ3_XXS", 256, 98, func(dst []float32, src []byte) {
			d, grid := half(src), grids()["IQ3_XXS"]
			for j := range 64 {
				s := binary.LittleEndian.Uint32(src[66+j/8*4:])
				by := d * (.5 + float32(s>>28)) * .5
				signed(dst[j*4:][:4], grid[4*int(src[2+j]):], by, signs(s>>(j%8/2*7))>>(j%2*4))
			}
		}},
		"IQ3_S": {"IQ3_S", 256, 110, func(dst []float32, src []byte) {
			d, grid := half(src), grids()["IQ3_S"]
			for j := range 64 {
				q := int(src[2+j]) | int(src[66+j/8]>>(j%8)&1)<<8
				by := d * float32(1+2*(src[106+j/16]>>(j/8%2*4)&15))
				signed(dst[j*4:][:4], grid[4*q:], by, src[74+j/2]>>(j%2*4))
			}
		}},
		"IQ1_S": {"IQ1_S", 256, 50, func(dst []float32, src []byte) {
			d, grid := half(src), grids()["IQ1_S"]
			for j := range 32 {
				h := binary.LittleEndian.Uint16(src[34+j/4*2:])
				q := int(src[2+j]) | int(h>>(j%4*3)&7)<<8
				shifted(dst[j*8:][:8], grid[8*q:], d*float32(2*(h>>12&7)+1), h&0x8000 != 0)
			}
		}},
		"IQ1_M": {"IQ1_M", 256, 56, func(dst []float32, src []byte) {
			var scale [2]byte // its four bits each are the highest of the scales
			for k := range 4 {
				scale[k/2] |= src[49+2*k] >> 4 << (k % 2 * 4)
			}
			d, grid := half(scale[:]), grids()["IQ1_S"]
			for j := range 32 {
				h := src[32+j/2] >> (j % 2 * 4)
				q := int(src[j]) | int(h&7)<<8
				s := binary.LittleEndian.Uint16(src[48+j/8*2:]) >> (j % 8 / 2 * 3) & 7
				shifted(dst[j*8:][:8], grid[8*q:], d*float32(2*s+1), h&8 != 0)
			}
		}},
	} {
		ggmls[name] = g
	}
}

// fp4 are the floats of four bits (E2M1), doubled, and nonlinear the values of IQ4.
var (
	fp4       = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}
	nonlinear = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
)

// tabled are elements of a table: the low halves of bytes, then the high ones.
func tabled(dst []float32, qs []byte, d float32, table *[16]float32) {
	for i, q := range qs {
		dst[i], dst[i+len(qs)] = d*table[q&15], d*table[q>>4]
	}
}

// signed are elements of a grid, of which those with a bit are negative.
func signed(dst, grid []float32, d float32, negative byte) {
	for i := range dst {
		if dst[i] = d * grid[i]; negative>>i&1 != 0 {
			dst[i] = -dst[i]
		}
	}
}

// signs are eight signs of seven bits: their number is even.
func signs(v uint32) byte {
	b := byte(v & 127)
	return b | byte(bits.OnesCount8(b)&1)<<7
}

// shifted are elements of the grid of IQ1, which lie between whole numbers.
func shifted(dst, grid []float32, d float32, down bool) {
	delta := float32(.125)
	if down {
		delta = -delta
	}
	for i := range dst {
		dst[i] = d * (grid[i] + delta)
	}
}

// ggmlGrids has the grids of ggml-common.h, packed by testdata/ggml_grids.py.
//
//go:embed ggml_grids.bin
var ggmlGrids []byte

// grids are the grids of types, point after point.
var grids = sync.OnceValue(func() map[string][]float32 {
	all, at := map[string][]float32{}, ggmlGrids
	twos, threes := []float32{8, 25, 43}, []float32{4, 12, 20, 28, 36, 44, 52, 62}
	for _, g := range []struct {
		name   string
		bytes  int
		depth  int
		values []float32
	}{{"IQ2_XXS", 512, 2, twos}, {"IQ2_XS", 1024, 2, twos}, {"IQ2_S", 2048, 2, twos}, {"IQ3_XXS", 512, 4, threes}, {"IQ3_S", 1024, 4, []float32{1, 3, 5, 7, 9, 11, 13, 15}}, {"IQ1_S", 4096, 2, []float32{-1, 0, 1}}} {
		for _, b := range at[:g.bytes] {
			for shift := 0; shift < 8; shift += g.depth {
				all[g.name] = append(all[g.name], g.values[b>>shift&(1<<g.depth-1)])
			}
		}
		at = at[g.bytes:]
	}
	return all
})
