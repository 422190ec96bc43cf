package codec

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// ggml is one of the block formats of ggml (ggml-common.h), as GGUF files have them: so many floats
// are so many bytes. Whole chunks only, and for reading.
type ggml struct {
	name          string
	floats, bytes int
	block         func(dst []float32, src []byte)
}

// ggmls are the formats, by their names in GGUF.
var ggmls = map[string]*ggml{
	"Q4_0": {"Q4_0", 32, 18, func(dst []float32, src []byte) {
		d := half(src)
		for i, q := range src[2:] {
			dst[i], dst[i+16] = float32(int(q&15)-8)*d, float32(int(q>>4)-8)*d
		}
	}},
	"Q4_1": {"Q4_1", 32, 20, func(dst []float32, src []byte) {
		d, m := half(src), half(src[2:])
		for i, q := range src[4:] {
			dst[i], dst[i+16] = float32(float32(q&15)*d)+m, float32(float32(q>>4)*d)+m
		}
	}},
	"Q5_0": {"Q5_0", 32, 22, func(dst []float32, src []byte) {
		d, high := half(src), binary.LittleEndian.Uint32(src[2:])
		for i, q := range src[6:] {
			dst[i] = float32(int(uint32(q&15)|high>>i&1<<4)-16) * d
			dst[i+16] = float32(int(uint32(q>>4)|high>>(i+16)&1<<4)-16) * d
		}
	}},
	"Q5_1": {"Q5_1", 32, 24, func(dst []float32, src []byte) {
		d, m, high := half(src), half(src[2:]), binary.LittleEndian.Uint32(src[4:])
		for i, q := range src[8:] {
			dst[i] = float32(float32(uint32(q&15)|high>>i&1<<4)*d) + m
			dst[i+16] = float32(float32(uint32(q>>4)|high>>(i+16)&1<<4)*d) + m
		}
	}},
	"Q8_0": {"Q8_0", 32, 34, func(dst []float32, src []byte) {
		d := half(src)
		for i, q := range src[2:] {
			dst[i] = float32(int8(q)) * d
		}
	}},
	"Q4_K": {"Q4_K", 256, 144, func(dst []float32, src []byte) {
		scales, qs := src[4:16], src[16:]
		for j := range 8 {
			d, m := scaleK(src, scales, j)
			for i, q := range qs[j/2*32:][:32] {
				dst[j*32+i] = float32(d*float32(q>>(j%2*4)&15)) - m
			}
		}
	}},
	"Q5_K": {"Q5_K", 256, 176, func(dst []float32, src []byte) {
		scales, high, qs := src[4:16], src[16:48], src[48:]
		for j := range 8 {
			d, m := scaleK(src, scales, j)
			for i, q := range qs[j/2*32:][:32] {
				dst[j*32+i] = float32(d*float32(q>>(j%2*4)&15|high[i]>>j&1<<4)) - m
			}
		}
	}},
	"Q6_K": {"Q6_K", 256, 210, func(dst []float32, src []byte) {
		low, high, scales, d := src[:128], src[128:192], src[192:208], half(src[208:])
		for n, scale := range scales { // four rows of 32 share bytes, twice
			i := n * 16
			row, at := i%128/32, i%32
			out, l, h := dst[i:][:16], low[i/128*64+row%2*32+at:][:16], high[i/128*32+at:][:16]
			by := float32(d * float32(int8(scale)))
			for k := range out {
				out[k] = by * float32(int32(l[k]>>(row/2*4&7)&15|h[k]>>(2*row&7)&3<<4)-32)
			}
		}
	}},
}

// half reads a float16.
func half(b []byte) float32 { return dtype.Float16Bits(binary.LittleEndian.Uint16(b)).Float32() }

// scaleK is the factor and the offset of a part of a block of 256, from two float16 and six bits each.
func scaleK(block, scales []byte, j int) (d, m float32) {
	s, o := scales[j%4], scales[j%4+4]
	if j < 4 {
		s, o = s&63, o&63
	} else {
		s, o = scales[j+4]&15|s>>6<<4, scales[j+4]>>4|o>>6<<4
	}
	return half(block) * float32(s), half(block[2:]) * float32(o)
}

// GGML returns how many elements are how many bytes in a block format of ggml such as Q4_K; false of
// one that cannot be decoded.
func GGML(name string) (floats, bytes int, ok bool) {
	g, ok := ggmls[name]
	if !ok {
		return 0, 0, false
	}
	return g.floats, g.bytes, true
}

// FromGGML makes the pipeline of float32 in a block format of ggml. Chunks are whole blocks.
func FromGGML(name string, chunk []int) (*Pipeline, error) {
	g, ok := ggmls[name]
	if !ok || len(chunk) == 0 || chunk[len(chunk)-1]%g.floats != 0 {
		return nil, fmt.Errorf("%v is not cut into blocks of %s", chunk, name)
	}
	return newPipeline(chunk, dtype.Float32, grid.UpTo(len(chunk)), false, []filter{g})
}

func (g *ggml) text() string                           { return g.name }
func (g *ggml) v3() json.RawMessage                    { return configured("ggml."+g.name, nil) }
func (g *ggml) bound(n int64) int64                    { return n / int64(4*g.floats) * int64(g.bytes) }
func (*ggml) decodeMemory(int64) memory                { return memory{} }
func (*ggml) encodeMemory(int64) memory                { return memory{} }
func (*ggml) close()                                   {}
func (g *ggml) decoder(int64, []byte) (decoder, error) { return g, nil }
func (g *ggml) encoder(int64, []byte) (encoder, error) {
	return nil, fmt.Errorf("%s is not written", g.name)
}

func (g *ggml) decode(dst, src []byte) (int, error) {
	blocks := len(src) / g.bytes
	if n := 4 * g.floats * blocks; n > len(dst) {
		return 0, errMore
	}
	out := dtype.Slice[float32](dst)
	for i := range blocks {
		g.block(out[i*g.floats:][:g.floats], src[i*g.bytes:][:g.bytes])
	}
	return 4 * g.floats * blocks, nil
}
