package codec

import (
	"context"
	"strconv"
	"testing"

	lib "github.com/pierrec/lz4/v4"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// FuzzBlosc decodes any bytes as a Blosc chunk of 4 KiB, whole and as a stream: both
// come to the same elements, or fail.
func FuzzBlosc(f *testing.F) {
	all, read := references(f)
	for i := range all {
		if chunk := read(strconv.Itoa(i) + ".chunk"); len(chunk) < 2000 && len(chunk) > frameHeader && chunk[0] == frameVersion {
			f.Add(chunk)
		}
	}
	p, err := Parse("blosc:lz4:5:shuffle", []int{1000}, dtype.Float32)
	if err != nil {
		f.Fatal(err)
	}
	d, err := p.Decoder(make([]byte, max(p.DecodeWork().Whole, p.DecodeWork().Stream)))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, data []byte) { bothWays(t, d, data) })
}

// FuzzPipeline decodes any bytes by any of the pipelines.
func FuzzPipeline(f *testing.F) {
	var decoders []*Decoder
	for i, text := range append(texts, "zstd:22", "blosc:zlib:1:bitshuffle", "blosc:blosclz") {
		p, err := Parse(text, []int{1000}, dtype.Float32)
		if err != nil {
			f.Fatal(err)
		}
		d, err := p.Decoder(make([]byte, max(p.DecodeWork().Whole, p.DecodeWork().Stream)))
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(d.Close)
		decoders = append(decoders, d)
		if text == "blosc:blosclz" {
			continue // not written
		}
		data, err := encodeWhole(p, field(p.raw, p.t))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), []byte(data))
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		bothWays(t, decoders[int(which)%len(decoders)], data)
	})
}

// FuzzLZ4 holds our decoder of blocks to that of the library that compresses them,
// which also takes blocks that end too early.
func FuzzLZ4(f *testing.F) {
	compress := lz4InGo{}.compressor(false, 1, nil)
	for _, n := range []int{20, 300, 4000} {
		block := make([]byte, 2*n)
		f.Add(block[:compress(block, field(int64(n), dtype.Float32))])
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		got, want := make([]byte, 5000), make([]byte, 5000)
		n, err := decodeLZ4(got, block)
		m, failed := lib.UncompressBlock(block, want)
		if err == nil && failed == nil && (n != m || string(got[:n]) != string(want[:m])) {
			t.Errorf("%d bytes, and %d by the library", n, m)
		}
	})
}

// bothWays decodes data whole and as a stream.
func bothWays(t *testing.T, d *Decoder, data stored) {
	whole, stream := make([]byte, d.p.raw), make([]byte, d.p.raw)
	start := allocated()
	_, failed := d.Whole(context.Background(), whole, &data)
	err := d.Begin(context.Background(), &data)
	for at := 0; err == nil && at < len(stream); at += 500 {
		_, err = d.Next(context.Background(), stream[at:at+500])
	}
	if made := allocated() - start; made > 16<<20 {
		t.Errorf("%d bytes were allocated", made)
	}
	if failed == nil && err == nil && string(whole) != string(stream) {
		t.Error("as a stream there are other elements")
	}
}
