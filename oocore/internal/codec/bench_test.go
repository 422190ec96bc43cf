package codec

import (
	"context"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// picture is 4 MiB of a smooth float32 field, or one in steps.
func picture(steps bool) []byte {
	const n = 1024
	f := make([]float32, 0, n*n)
	for i := range n * n {
		x, y := float64(i%n), float64(i/n)
		v := math.Sin(x/97)*math.Cos(y/61)*100 + math.Sin((x+y)/23)*10 + 128
		if steps {
			v = math.Round(v)
		}
		f = append(f, float32(v))
	}
	return dtype.Bytes(f)
}

func BenchmarkChunk(b *testing.B) {
	for name, chunk := range map[string][]byte{"smooth": picture(false), "steps": picture(true)} {
		for _, text := range []string{"none", "zstd:1", "zstd:3", "gzip:1", "blosc:lz4:5:noshuffle", "blosc:lz4:5:shuffle", "blosc:lz4:1:shuffle", "blosc:lz4:5:bitshuffle",
			"blosc:lz4hc:5:shuffle", "blosc:zstd:1:shuffle", "blosc:zstd:3:shuffle", "blosc:zstd:5:shuffle", "blosc:zlib:5:shuffle"} {
			p, err := Parse(text, []int{1024, 1024}, dtype.Float32)
			if err != nil {
				b.Fatal(err)
			}
			encoded, err := encodeWhole(p, chunk)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(name+"/"+text+"/encode", func(b *testing.B) {
				e, err := p.Encoder(make([]byte, p.EncodeWork().Whole))
				if err != nil {
					b.Fatal(err)
				}
				defer e.Close()
				b.SetBytes(p.raw)
				b.ReportAllocs()
				b.ReportMetric(float64(len(chunk))/float64(len(encoded)), "ratio")
				for b.Loop() {
					if _, err := e.Whole(context.Background(), chunk); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/"+text+"/decode-stream", func(b *testing.B) {
				d, err := p.Decoder(make([]byte, p.DecodeWork().Stream))
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				out := make([]byte, 256<<10)
				b.SetBytes(p.raw)
				b.ReportAllocs()
				for b.Loop() {
					if err := d.Begin(context.Background(), &encoded); err != nil {
						b.Fatal(err)
					}
					for range len(chunk) / len(out) {
						if _, err := d.Next(context.Background(), out); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			b.Run(name+"/"+text+"/decode", func(b *testing.B) {
				d, err := p.Decoder(make([]byte, p.DecodeWork().Whole))
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				out := make([]byte, p.raw)
				b.SetBytes(p.raw)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := d.Whole(context.Background(), out, &encoded); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
