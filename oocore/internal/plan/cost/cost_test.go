package cost

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func TestShortFloatsCostTheirConversions(t *testing.T) {
	want := Elementwise(kernel.Add, dtype.Float32) + 3*Cast(dtype.Float16, dtype.Float32)
	if got := Elementwise(kernel.Add, dtype.Float16); math.Abs(got-want) > 1e-9 {
		t.Errorf("add of float16 takes %g ns, want %g", got, want)
	}
}

// Names are compared as a whole, and each filter counts.
func TestCodecCountsEachFilter(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "none": 0, "zstd:3": 1, "shuffle+zlib": 3, "big-endian+blosc:lz4:5:shuffle": 0.12, "zstdish": 0, "lz4hc": 0} {
		if got, _ := Codec(text); got != want {
			t.Errorf("decoding a byte of %q takes %g ns, want %g", text, got, want)
		}
	}
}

// BenchmarkCast says what each conversion takes, and by how much that differs from the table.
func BenchmarkCast(b *testing.B) {
	const n = 16384
	for from := dtype.Bool; from <= dtype.Complex128; from++ {
		for to := dtype.Bool; to <= dtype.Complex128; to++ {
			if loop, ok := kernel.Cast(from, to); ok {
				b.Run(from.String()+"/"+to.String(), func(b *testing.B) {
					x, dst := numbers(from, n), make([]byte, n*16+64)
					for b.Loop() {
						loop(n, dst, x, nil, nil)
					}
					report(b, n, Cast(from, to))
				})
			}
		}
	}
}

// numbers are elements between 1 and 2, or small integers.
func numbers(t dtype.Type, n int) []byte {
	count, _ := kernel.Cast(dtype.Uint8, t)
	out, small := make([]byte, n*t.Size()+64), make([]byte, n)
	for i := range small {
		small[i] = byte(1 + i%7)
	}
	count(n, out, small, nil, nil)
	return out
}

func report(b *testing.B, n int, table float64) {
	each := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
	b.ReportMetric(each, "ns/element")
	b.ReportMetric(each/table, "measured/table")
}
