package codec

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// words are big-endian.
func words(all ...uint16) (b []byte) {
	for _, w := range all {
		b = binary.BigEndian.AppendUint16(b, w)
	}
	return b
}

// tileOf is the pipeline of a tile of n elements.
func tileOf(t testing.TB, f FITS, n int, of dtype.Type) *Pipeline {
	t.Helper()
	p, err := FromFITS(f, []int{n}, of)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTilesByHand has what FITS Standard 4.0 says of each coding, written out.
func TestTilesByHand(t *testing.T) {
	list := func(of ...uint16) []byte {
		return words(append([]uint16{0, 7, 0xff9c, uint16(7 + len(of)), 0, 0, 0}, of...)...)
	}
	rice := func(bytes int) FITS { return FITS{Coding: "RICE_1", Block: 16, Bytes: bytes} }
	for _, c := range []struct {
		how  FITS
		of   dtype.Type
		data []byte
		want []byte
	}{
		// 10, 11, 9, 9: 0 bits are low, and 0, 2, 3 and 0 in unary
		{rice(1), dtype.Uint8, []byte{10, 0b001_1_001_0, 0b001_1_0000}, []byte{10, 11, 9, 9}},
		// all are equal, as block 0 says
		{rice(2), dtype.Int16, []byte{0xff, 0xfe, 0}, []byte{0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff}},
		// all bits: 0, and 255, which is mapped to 0xff by -128 modulo 256
		{rice(1), dtype.Uint8, []byte{127, 0b111_00000, 0b000_11111, 0b111_00000}, []byte{127, 255}},
		{FITS{Coding: "RICE_1", Block: 32, Bytes: 1, Flip: true}, dtype.Int8, []byte{10, 0}, []byte{0x8a, 0x8a}},
		{FITS{Coding: "PLIO_1"}, dtype.Int16, list(0x0002, 0x2004, 0x4003, 0x1001, 2, 0x5003, 0x7001, 0x6002),
			[]byte{0, 0, 0, 0, 5, 0, 5, 0, 5, 0, 0, 0, 0, 0, 1, 0x20, 0, 0x20, 2, 0x20, 0, 0}},
		{FITS{Coding: "PLIO_1"}, dtype.Uint8, words(0, 0, 5, 0x2004, 0x4002), []byte{5, 5}}, // the older head
		{FITS{Coding: "NOCOMPRESS"}, dtype.Int32, []byte{0xff, 0xfe, 0, 1}, []byte{0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0}},
		{FITS{Coding: "NOCOMPRESS", Quantum: &Quantum{Scale: 0.5, Zero: 1, Missing: true, Blank: 7}}, dtype.Float64, []byte{3, 7}, []byte{0, 0, 0, 0, 0, 0, 4, 0x40, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f}},
	} {
		n := len(c.want) / c.of.Size()
		if got, err := decodeWhole(tileOf(t, c.how, n, c.of), c.data); err != nil || string(got) != string(c.want) {
			t.Errorf("%s of %s: % x, want % x: %v", c.how.Coding, c.of, got, c.want, err)
		}
	}
	for _, c := range []struct {
		how  FITS
		data []byte
		want string
	}{
		{rice(2), []byte{1}, "end too early"},
		{rice(2), []byte{0, 1, 0b0001_0000}, "end too early"},
		{rice(2), []byte{0, 1}, "end too early"},
		{rice(4), []byte{0, 0, 0, 0, 0b11111_000}, "more bits than its integers"},
		{rice(4), []byte{0, 1, 0, 0, 0}, "its integer 65536 is none of BITPIX 16"},
		{FITS{Coding: "PLIO_1"}, words(0), "end too early"},
		{FITS{Coding: "PLIO_1"}, words(0, 7, 0), "end too early"},
		{FITS{Coding: "PLIO_1"}, list(0x1001), "end too early"},
		{FITS{Coding: "PLIO_1"}, list(0x4fff), "more bytes than a chunk has"},
		{FITS{Coding: "PLIO_1"}, list(0x8001), "no list of lines"},
		{FITS{Coding: "PLIO_1"}, words(0, 7, 0xff9c, 900, 0, 0, 0, 0), "end too early"},
		{FITS{Coding: "NOCOMPRESS"}, []byte{1, 2, 3}, "its 2 elements have 3 bytes"},
		{FITS{Coding: "NOCOMPRESS"}, words(1, 2, 3), "its 2 elements have 6 bytes"},
		{FITS{Coding: "GZIP_1"}, words(1, 2, 3), "gzip"},
	} {
		_, err := decodeWhole(tileOf(t, c.how, 2, dtype.Int16), c.data)
		rejected(t, c.how.Coding, err, c.want)
	}
	for want, how := range map[string]FITS{`"HCOMPRESS_1" of FITS is not supported`: {Coding: "HCOMPRESS_1"}, "BLOCKSIZE 0": {Coding: "RICE_1", Bytes: 2}, "BYTEPIX 8": {Coding: "RICE_ONE", Block: 32, Bytes: 8}, "floats by RICE_1": rice(4)} {
		_, err := FromFITS(how, []int{2}, dtype.Float32)
		rejected(t, want, err, want)
	}
}

// TestDithersEndAsTheStandardSays holds the 10,000th random number to the seed that appendix I of the standard has for it.
func TestDithersEndAsTheStandardSays(t *testing.T) {
	if got, want := dithers()[9999], float32(1043618065.0/math.MaxInt32); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// FuzzTiles decodes any bytes as tiles of any coding.
func FuzzTiles(f *testing.F) {
	quantum := &Quantum{Scale: 0.1, Zero: 3, Missing: true, Blank: -5, Dither: true, Seed: 9999, Zeros: true}
	var decoders []*Decoder
	for _, c := range []FITS{{Coding: "RICE_1", Block: 32, Bytes: 1}, {Coding: "RICE_1", Block: 16, Bytes: 2}, {Coding: "RICE_1", Block: 32, Bytes: 4}, {Coding: "PLIO_1"}, {Coding: "GZIP_1"}, {Coding: "GZIP_2"}, {Coding: "NOCOMPRESS"}} {
		for _, of := range []dtype.Type{dtype.Int16, dtype.Int32, dtype.Float64} {
			if c.Quantum = nil; of == dtype.Float64 {
				c.Quantum = quantum
			}
			p := tileOf(f, c, 500, of)
			d, err := p.Decoder(make([]byte, max(p.DecodeWork().Whole, p.DecodeWork().Stream)))
			if err != nil {
				f.Fatal(err)
			}
			f.Cleanup(d.Close)
			decoders = append(decoders, d)
		}
	}
	random := testcases.Rand(f)
	for i := range 400 {
		data := make([]byte, random.IntN(3000))
		bits := uint32(1)<<random.IntN(9) - 1 // few, which make long runs of zeros
		for j := range data {
			data[j] = byte(random.Uint32() & bits & random.Uint32())
		}
		f.Add(byte(i), data)
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) { bothWays(t, decoders[int(which)%len(decoders)], data) })
}
