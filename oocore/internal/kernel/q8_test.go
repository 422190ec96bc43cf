package kernel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// q8Reference is a block by the definition of Q8_0: the largest magnitude is 127 of a scale in
// float16, halves away from zero.
func q8Reference(x []float32) (b []byte) {
	most := float32(0)
	for _, v := range x {
		most = max(most, v, -v)
	}
	scale := most / 127
	b = binary.LittleEndian.AppendUint16(b, uint16(dtype.ToFloat16(scale)))
	for _, v := range x {
		q := 0.
		if scale != 0 {
			q = math.Round(float64(v * (1 / scale)))
		}
		b = append(b, byte(int8(q)))
	}
	return b
}

// Blocks of every size of numbers, with ties, zeros and what is subnormal.
func TestQ8IsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var x []float32
	for exponent := -126; exponent <= 126; exponent++ {
		for kind := range 4 {
			for i := range Q8Floats {
				v := []float64{r.NormFloat64() / 8, float64(r.IntN(255)-127) / 254, (float64(i) - 15.5) / 127, float64(r.IntN(3) - 1)}[kind]
				if kind == 1 && i == 5 {
					v = 0.5 // the scale is a power of two over 254, the others whole numbers of halves of it
				}
				x = append(x, float32(math.Ldexp(v, exponent)))
			}
		}
	}
	x = append(x, make([]float32, Q8Floats)...)
	var want []byte
	for i := 0; i < len(x); i += Q8Floats {
		want = append(want, q8Reference(x[i:i+Q8Floats])...)
	}
	atEachLevel(t, func(t *testing.T) {
		whole, got := guarded(len(want), 0)
		EncodeQ8(got, x)
		for i := range len(want) / Q8Bytes {
			if g, w := got[i*Q8Bytes:][:Q8Bytes], want[i*Q8Bytes:][:Q8Bytes]; !bytes.Equal(g, w) {
				t.Errorf("%v becomes\n%x, want\n%x", x[i*Q8Floats:][:Q8Floats], g, w)
			}
		}
		for i, b := range whole {
			if b != guard && (i < 64 || i >= 64+len(want)) {
				t.Fatalf("wrote at byte %d of %d", i-64, len(want))
			}
		}
	})
}

// What no integer stands for, infinities, NaN and blocks so small that a scale's inverse is none, is
// the same with all instructions.
func TestQ8OfAnyBits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, 2000*Q8Floats)
	for i := range x {
		var top uint32 // of the largest magnitude in the block
		switch block := i / Q8Floats; block % 4 {
		case 0:
			top = 1 << 31
		case 1:
			top = 0x7f800001
		case 2:
			top = 1 << (block / 4 % 31)
		case 3:
			top = 0x01000000
		}
		x[i] = math.Float32frombits(r.Uint32N(top) | r.Uint32()&(1<<31))
	}
	var first []byte
	atEachLevel(t, func(t *testing.T) {
		got := make([]byte, len(x)/Q8Floats*Q8Bytes)
		EncodeQ8(got, x)
		if first == nil {
			first = got
		}
		for i := range len(got) / Q8Bytes {
			if g, w := got[i*Q8Bytes:][:Q8Bytes], first[i*Q8Bytes:][:Q8Bytes]; !bytes.Equal(g, w) {
				t.Fatalf("%x becomes\n%x, in plain Go\n%x", x[i*Q8Floats:][:Q8Floats], g, w)
			}
		}
	})
}
