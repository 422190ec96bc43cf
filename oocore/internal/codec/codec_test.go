package codec

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stored is a chunk's encoded bytes in memory: a Source and a Sink.
type stored []byte

func (s *stored) Size() int64 { return int64(len(*s)) }

func (s *stored) ReadAt(_ context.Context, p []byte, at int64) error {
	if at < 0 || at+int64(len(p)) > int64(len(*s)) {
		return io.ErrUnexpectedEOF
	}
	copy(p, (*s)[at:])
	return nil
}

func (s *stored) Write(_ context.Context, p []byte) error {
	*s = append(*s, p...)
	return nil
}

func (s *stored) WriteAt(_ context.Context, p []byte, at int64) error {
	if at < 0 || at+int64(len(p)) > int64(len(*s)) {
		return fmt.Errorf("%d bytes at %d lie outside of %d written", len(p), at, len(*s))
	}
	copy((*s)[at:], p)
	return nil
}

// field is a picture: smooth, in steps, so that there is something to compress.
func field(bytes int64, t dtype.Type) []byte {
	out := make([]byte, bytes)
	n := int(bytes) / t.Size()
	for i := range n {
		v := math.Round(100*math.Sin(float64(i)/97) + 30*math.Cos(float64(i%512)/11))
		one := out[i*t.Size() : (i+1)*t.Size()]
		var b [16]byte
		switch t.Kind() {
		case dtype.KindFloat, dtype.KindComplex:
			if t.Size() == 8 && t == dtype.Float64 || t == dtype.Complex128 {
				binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			} else {
				binary.LittleEndian.PutUint32(b[:], math.Float32bits(float32(v)))
			}
		default:
			binary.LittleEndian.PutUint64(b[:], uint64(int64(v)))
		}
		copy(one, b[:])
	}
	return out
}

// encodeWhole and the functions below are one chunk's way with memory of exactly the
// size that the pipeline asks for.
func encodeWhole(p *Pipeline, chunk []byte) (stored, error) {
	e, err := p.Encoder(make([]byte, p.EncodeWork().Whole))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	out, err := e.Whole(context.Background(), chunk)
	return slices.Clone(stored(out)), err
}

func encodeStream(p *Pipeline, chunk []byte, parts []int) (stored, error) {
	e, err := p.Encoder(make([]byte, p.EncodeWork().Stream))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	var out stored
	if err := e.Begin(context.Background(), &out); err != nil {
		return nil, err
	}
	for _, n := range parts {
		if err := e.Next(context.Background(), chunk[:n]); err != nil {
			return nil, err
		}
		chunk = chunk[n:]
	}
	n, err := e.End(context.Background())
	if err == nil && n != int64(len(out)) {
		return nil, fmt.Errorf("End says %d bytes, the sink has %d", n, len(out))
	}
	return out, err
}

func decodeWhole(p *Pipeline, data stored) ([]byte, error) {
	d, err := p.Decoder(make([]byte, p.DecodeWork().Whole))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out := make([]byte, p.raw)
	n, err := d.Whole(context.Background(), out, &data)
	if err == nil && n != int64(len(data)) {
		return nil, fmt.Errorf("%d bytes read of %d", n, len(data))
	}
	return out, err
}

func decodeStream(p *Pipeline, data stored, parts []int) ([]byte, error) {
	d, err := p.Decoder(make([]byte, p.DecodeWork().Stream))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := d.Begin(context.Background(), &data); err != nil {
		return nil, err
	}
	out := make([]byte, p.raw)
	at := 0
	for _, n := range parts {
		if _, err := d.Next(context.Background(), out[at:at+n]); err != nil {
			return nil, err
		}
		at += n
	}
	return out, nil
}

// engines runs a test with the machine's libraries in C, where it has them, and with
// those in Go.
func engines(t *testing.T, test func(t *testing.T)) {
	if loadZstd() != nil || loadLZ4() != nil {
		t.Run("C", test)
	}
	zstd, lz4 := zstdOf, blockOf
	zstdOf = func() zstdEngine { return zstdInGo{} }
	blockOf = func() lz4Engine { return lz4InGo{} }
	defer func() { zstdOf, blockOf = zstd, lz4 }()
	t.Run("Go", test)
}

// texts are the pipelines that people ask for.
var texts = []string{"none", "zstd:1", "zstd:3:checksum", "zstd:-5", "gzip:1", "gzip:6",
	"blosc:lz4:5:shuffle", "blosc:lz4:1:bitshuffle", "blosc:lz4hc:3:noshuffle", "blosc:zstd:3:shuffle", "blosc:zlib:5:shuffle", "blosc:lz4:0:shuffle"}

func TestStringIsParsed(t *testing.T) {
	for _, text := range texts {
		p, err := Parse(text, []int{10, 10}, dtype.Float32)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != text {
			t.Errorf("%q is %q", text, p)
		}
		v3, err := FromV3(p.V3(), []int{10, 10}, dtype.Float32)
		if err != nil || v3.String() != text {
			t.Errorf("%q through its metadata %s: %q, %v", text, p.V3(), v3, err)
		}
	}
}

// makePipeline draws what an array can have: order, bytes, and one or more filters.
func makePipeline(t *rapid.T) *Pipeline {
	dt := rapid.SampledFrom(dtype.All()).Draw(t, "dtype")
	chunk := rapid.SliceOfN(rapid.IntRange(1, 40), 0, 3).Draw(t, "chunk")
	var codecs []json.RawMessage
	if rapid.Bool().Draw(t, "transposed") {
		codecs = append(codecs, configured("transpose", transposeConfig{rapid.Permutation(grid.UpTo(len(chunk))).Draw(t, "order")}))
	}
	codecs = append(codecs, configured("bytes", bytesConfig{rapid.SampledFrom([]string{"little", "big"}).Draw(t, "endian")}))
	for _, text := range rapid.SliceOfN(rapid.SampledFrom(append(texts, "crc32c", "crc32c")), 0, 3).Draw(t, "filters") {
		if text == "crc32c" || strings.HasPrefix(text, "numcodecs.") {
			codecs = append(codecs, configured(text, nil))
			continue
		}
		p, err := Parse(text, chunk, dt)
		if err != nil {
			t.Fatal(err)
		}
		codecs = append(codecs, p.V3()[1:]...)
	}
	p, err := FromV3(codecs, chunk, dt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// parts splits a chunk at random elements.
func parts(t *rapid.T, p *Pipeline) []int {
	n := int(p.raw) / p.t.Size()
	cuts := rapid.SliceOfN(rapid.IntRange(0, n), 0, 6).Draw(t, "cuts")
	slices.Sort(cuts)
	var all []int
	last := 0
	for _, at := range append(cuts, n) {
		all = append(all, (at-last)*p.t.Size())
		last = at
	}
	return all
}

func TestRoundTrip(t *testing.T) { engines(t, roundTrip) }

func roundTrip(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		p := makePipeline(t)
		chunk := field(p.raw, p.t)
		if rapid.Bool().Draw(t, "noise") {
			chunk = rapid.SliceOfN(rapid.Byte(), int(p.raw), int(p.raw)).Draw(t, "bytes")
		}
		whole, err := encodeWhole(p, chunk)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(whole)) > p.MaxEncoded() {
			t.Fatalf("%s: %d bytes, more than MaxEncoded %d", p, len(whole), p.MaxEncoded())
		}
		got, err := decodeWhole(p, whole)
		if err != nil || !bytes.Equal(got, chunk) {
			t.Fatalf("%s: whole: %v", p, err)
		}
		// Streams have the elements in another order.
		moved := make([]byte, len(chunk))
		p.move(moved, chunk)
		streamed, err := encodeStream(p, moved, parts(t, p))
		if err != nil {
			t.Fatal(err)
		}
		for i, data := range []stored{whole, streamed} {
			name := []string{"whole", "stream"}[i]
			got, err := decodeWhole(p, data)
			if err != nil || !bytes.Equal(got, chunk) {
				t.Fatalf("%s: encoded by %s, decoded whole: %v", p, name, err)
			}
			got, err = decodeStream(p, data, parts(t, p))
			if err != nil || !bytes.Equal(got, moved) {
				t.Fatalf("%s: encoded by %s, decoded as stream: %v", p, name, err)
			}
		}
	})
}

// TestDamaged changes and shortens encoded chunks everywhere: what comes out is an
// error, or what was encoded.
func TestDamaged(t *testing.T) { engines(t, damaged) }

func damaged(t *testing.T) {
	for _, text := range texts {
		t.Run(text, func(t *testing.T) {
			p, err := Parse(text, []int{20, 16}, dtype.Float32)
			if err != nil {
				t.Fatal(err)
			}
			chunk := field(p.raw, p.t)
			data, err := encodeWhole(p, chunk)
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Decoder(make([]byte, max(p.DecodeWork().Whole, p.DecodeWork().Stream)))
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			out := make([]byte, p.raw)
			try := func(what string, bad stored, mayDiffer bool) {
				for _, how := range []string{"whole", "stream"} {
					clear(out)
					var err error
					if how == "whole" {
						_, err = d.Whole(context.Background(), out, &bad)
					} else if err = d.Begin(context.Background(), &bad); err == nil {
						_, err = d.Next(context.Background(), out)
					}
					if err == nil && !mayDiffer && !bytes.Equal(out, chunk) {
						t.Fatalf("%s, %s: decoded to something else", what, how)
					}
					if err != nil && strings.Contains(err.Error(), "\n") {
						t.Fatalf("%s, %s: the error has several lines: %v", what, how, err)
					}
				}
			}
			for n := range len(data) {
				try(fmt.Sprintf("cut to %d", n), data[:n:n], false)
			}
			// Formats without a checksum cannot tell what elements were.
			mayDiffer := !strings.Contains(text, "checksum") && !strings.HasPrefix(text, "gzip")
			for i := range data {
				bad := slices.Clone(data)
				bad[i] ^= 1 << (i % 8)
				try(fmt.Sprintf("byte %d changed", i), bad, mayDiffer || i < 12)
			}
		})
	}
}

// TestDeflateCompresses wants of every level what Huffman codes save where no bytes
// repeat.
func TestDeflateCompresses(t *testing.T) {
	chunk := picture(false)
	for level := 1; level <= 9; level++ {
		p, err := Parse(fmt.Sprintf("gzip:%d", level), []int{1024, 1024}, dtype.Float32)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := encodeWhole(p, chunk)
		if err != nil {
			t.Fatal(err)
		}
		if len(encoded) > len(chunk)*9/10 {
			t.Errorf("level %d makes %d bytes of %d", level, len(encoded), len(chunk))
		}
	}
}
