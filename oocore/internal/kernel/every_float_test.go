package kernel

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// BenchmarkEveryFloat32 reports the greatest error of functions of float32, in units in
// the last place, over all operands between two of one sign. What is odd needs but one.
//
//	go test -run '^$' -bench EveryFloat32 -benchtime 1x ./oocore/internal/kernel
func BenchmarkEveryFloat32(b *testing.B) {
	const n = 1 << 12
	x, y := make([]float32, n), make([]float32, n)
	for _, f := range []struct {
		op        Op
		truth     func(float64) float64
		from, end float32 // whose magnitude rises
	}{
		{Tanh, math.Tanh, 1e-10, 12}, {Arctanh, math.Atanh, 1e-10, 1}, {Tan, math.Tan, 1e-10, widest32},
		{Arcsin, math.Asin, 1e-10, 1}, {Exp, math.Exp, 1e-10, 88}, {Exp, math.Exp, -1e-10, -87},
	} {
		name := f.op.String()
		if f.from < 0 {
			name = "negative " + name
		}
		own, ok := Lookup(f.op, dtype.Float32)
		if !ok {
			b.Fatal("no ", name)
		}
		b.Run(name, func(b *testing.B) {
			worst := 0.0
			for range b.N {
				for bits := math.Float32bits(f.from); bits < math.Float32bits(f.end); bits += n {
					for i := range x {
						x[i] = math.Float32frombits(bits + uint32(i))
					}
					own(n, dtype.Bytes(y), dtype.Bytes(x), nil, nil)
					for i, v := range x {
						want := f.truth(float64(v))
						if math.IsInf(want, 0) || want != want {
							continue
						}
						_, e := math.Frexp(want)
						worst = max(worst, math.Abs(float64(y[i])-want)/math.Ldexp(1, e-24))
					}
				}
			}
			b.ReportMetric(worst, "ulp")
		})
	}
}

// widest32 is the angle up to which tangents are reduced in float32; those beyond go
// another way.
const widest32 = 1 << 17
