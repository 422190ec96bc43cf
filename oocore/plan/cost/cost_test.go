package cost

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// loops calls f for each elementwise operation and type that has a loop.
func loops(f func(op kernel.Op, t dtype.Type, loop kernel.Func)) {
	for op := kernel.Add; op <= kernel.MulAdd; op++ {
		for t := dtype.Bool; t <= dtype.Complex128; t++ {
			if loop, ok := kernel.Lookup(op, t); ok {
				f(op, t, loop)
			}
		}
	}
}

// A loop reads and writes each byte, and is never cheaper than that.
func TestElementwiseCostsAtLeastItsBytes(t *testing.T) {
	n := 0
	loops(func(op kernel.Op, of dtype.Type, _ kernel.Func) {
		n++
		if got, least := Elementwise(op, of), unary*float64(of.Size()); got < least || got > 100 {
			t.Errorf("%s of %s takes %g ns, and its bytes %g", op, of, got, least)
		}
	})
	if n < 500 {
		t.Errorf("only %d loops", n)
	}
}

func TestShortFloatsCostTheirConversions(t *testing.T) {
	want := Elementwise(kernel.Add, dtype.Float32) + 3*Cast(dtype.Float16, dtype.Float32)
	if got := Elementwise(kernel.Add, dtype.Float16); math.Abs(got-want) > 1e-9 {
		t.Errorf("add of float16 takes %g ns, want %g", got, want)
	}
}

func TestEveryReductionHasACost(t *testing.T) {
	for r := kernel.Sum; r.Known(); r++ {
		for of := dtype.Bool; of <= dtype.Complex128; of++ {
			if _, ok := kernel.NewFolder(r, of); ok && Fold(r, of) <= 0 {
				t.Errorf("%s of %s costs nothing", r, of)
			}
		}
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

// BenchmarkElementwise says what each loop takes, and by how much that differs from the table.
func BenchmarkElementwise(b *testing.B) {
	const n = 16384
	loops(func(op kernel.Op, of dtype.Type, loop kernel.Func) {
		b.Run(op.String()+"/"+of.String(), func(b *testing.B) {
			x, y, dst := numbers(of, n), numbers(of, n), make([]byte, n*16+64)
			first := x
			if op == kernel.Where {
				first = numbers(dtype.Bool, n)
			}
			for b.Loop() {
				loop(n, dst, first, y, x)
			}
			report(b, n, Elementwise(op, of))
		})
	})
}

// BenchmarkCast does so for conversions.
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

// BenchmarkFold does so for reductions.
func BenchmarkFold(b *testing.B) {
	const rows, columns = 128, 128
	for r := kernel.Sum; r.Known(); r++ {
		for of := dtype.Bool; of <= dtype.Complex128; of++ {
			if folder, ok := kernel.NewFolder(r, of); ok {
				b.Run(r.String()+"/"+of.String(), func(b *testing.B) {
					x, state := numbers(of, rows*columns), make([]byte, folder.Size()*columns)
					folder.Init(state, columns)
					for b.Loop() {
						folder.Cols(state, columns, 0, x, rows, columns, 0, 1)
					}
					report(b, rows*columns, Fold(r, of))
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
