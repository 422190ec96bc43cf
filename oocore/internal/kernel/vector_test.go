package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// exact32 is the float64 functions by which those of float32 are judged; they have a
// test of their own.
var exact32 = func() map[Op]func(float64) float64 {
	all := map[Op]func(float64) float64{}
	for _, row := range Rows() {
		if f := portableLookup(row.Op, dtype.Float64); f != nil && row.Family == Function && row.Arity == 1 {
			x, y := make([]float64, 1), make([]float64, 1)
			all[row.Op] = func(v float64) float64 {
				x[0] = v
				f(1, dtype.Bytes(y), dtype.Bytes(x), nil, nil)
				return y[0]
			}
		}
	}
	return all
}()

// ulps is how far got is from the exact value, in units of the last place of a
// float32 there; not finite where one is and the other is not.
func ulps(got float32, exact float64) float64 {
	want := float32(exact)
	switch {
	case got == want && (got != 0 || math.Signbit(float64(got)) == math.Signbit(exact)), got != got && exact != exact:
		if math.IsInf(exact, 0) || exact != exact || math.IsInf(float64(want), 0) {
			return 0
		}
	case math.IsInf(float64(got), 0) != math.IsInf(float64(want), 0), (got != got) != (exact != exact),
		got == 0 && want == 0:
		return math.Inf(1)
	}
	unit := math.Max(math.Ldexp(1, math.Ilogb(exact)-23), 0x1p-149)
	if exact == 0 {
		unit = 0x1p-149
	}
	return math.Abs(float64(got)-exact) / unit
}

// hard are bit patterns around which functions of float32 change their ways.
func hard32() (bits []uint32) {
	centres := []float64{0, 1, -1, math.Ln2 / 2, 0.625, math.Sqrt2, math.Sqrt2 / 2, 9, 20, 40, 88.72284, -87.33655, -103.97208,
		-110, 90, 127, 128, -126, -149, -150, 0x1p-20, 0x1p-126, 0x1p-149, math.MaxFloat32, 0x1p40, 0x1p39, 1e22}
	for k := range 40 {
		centres = append(centres, float64(k)*math.Pi/4)
	}
	for _, c := range centres {
		at := math.Float32bits(float32(c))
		for d := range uint32(2000) {
			bits = append(bits, at+d, at-d, at+d^1<<31)
		}
	}
	return bits
}

func TestFloat32FunctionsWithinUnits(t *testing.T) {
	var bits []uint32
	for b := uint64(0); b < 1<<32; b += 4099 {
		bits = append(bits, uint32(b))
	}
	bits = append(bits, hard32()...)
	x, got := make([]float32, len(bits)), make([]float32, len(bits))
	for i, b := range bits {
		x[i] = math.Float32frombits(b)
	}
	for _, level := range levels() {
		t.Run(level.name, func(t *testing.T) {
			defer level.use()()
			for op, exact := range exact32 {
				f, _ := Lookup(op, dtype.Float32)
				f(len(x), dtype.Bytes(got), dtype.Bytes(x), nil, nil)
				worst, at := 0.0, 0
				for i := range x {
					if u := ulps(got[i], exact(float64(x[i]))); u > worst {
						worst, at = u, i
					}
				}
				t.Logf("%-6s %.3f at %g", op, worst, x[at])
				if worst > max(op.Row().Units.Of(dtype.Float32), 0.5) {
					t.Errorf("%s of %g (%#x) is %g, not %g: %.3g units off", op, x[at], bits[at], got[at], exact(float64(x[at])), worst)
				}
			}
		})
	}
}

func BenchmarkLoops(b *testing.B) {
	const n = 16384
	buffers := make([][]byte, 4)
	for i := range buffers {
		buffers[i] = make([]byte, n*16)
	}
	run := func(name string, f Func, t dtype.Type, bytes int) {
		x := dtype.Slice[float32](buffers[1])
		for i := range x {
			x[i] = float32(i%1000) / 250
		}
		copy(buffers[2], buffers[1])
		copy(buffers[3], buffers[1])
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(n * bytes))
			for range b.N {
				f(n, buffers[0], buffers[1], buffers[2], buffers[3])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
	for _, op := range []Op{Add, Divide, Minimum, Sqrt, Exp, Tanh, Log, Expm1, Log1p, Sin, Cos, Arctan, Cbrt, Power, Less, Where} {
		f, _ := Lookup(op, dtype.Float32)
		run(fmt.Sprint(op, "/float32"), f, dtype.Float32, 4*op.Arity()+op.Result(dtype.Float32).Size())
	}
	for _, op := range []Op{Add, Multiply, Sqrt, Exp, Expm1, Tanh, Log, Log2, Log1p, Sin, Tan, Arctan, Arcsin, Cbrt, Hypot, Power} {
		f, _ := Lookup(op, dtype.Float64)
		run(fmt.Sprint(op, "/float64"), f, dtype.Float64, 8*op.Arity()+8)
	}
	for _, c := range []struct{ from, to dtype.Type }{{dtype.Float32, dtype.Float16}, {dtype.Float16, dtype.Float32}, {dtype.Float32, dtype.Float64},
		{dtype.Float64, dtype.Float32}, {dtype.Float32, dtype.BFloat16}, {dtype.Uint8, dtype.Float32}} {
		f, _ := Cast(c.from, c.to)
		run(fmt.Sprint(c.from, " to ", c.to), f, c.from, c.from.Size()+c.to.Size())
	}
	// tanh(sqrt(b)*2 + exp(-b)), a block at a time as the executor does it.
	lookup := func(op Op) Func { f, _ := Lookup(op, dtype.Float32); return f }
	sqrt, mul, neg, exp, add, tanh := lookup(Sqrt), lookup(Multiply), lookup(Negative), lookup(Exp), lookup(Add), lookup(Tanh)
	run("expression/float32", func(n int, dst, b, two, t []byte) {
		sqrt(n, dst, b, nil, nil)
		mul(n, dst, dst, two, nil)
		neg(n, t, b, nil, nil)
		exp(n, t, t, nil, nil)
		add(n, dst, dst, t, nil)
		tanh(n, dst, dst, nil, nil)
	}, dtype.Float32, 8)
	run("random/float32", func(n int, dst, _, _, _ []byte) { Random(n, dst, dtype.Float32, 1, 0) }, dtype.Float32, 4)
	run("random/float64", func(n int, dst, _, _, _ []byte) { Random(n, dst, dtype.Float64, 1, 0) }, dtype.Float64, 8)
}
