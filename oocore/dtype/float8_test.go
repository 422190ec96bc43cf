package dtype

import (
	"bytes"
	"math"
	"math/big"
	"os/exec"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// float8Reference is a code's value by the definition of the format: sign, exponent, mantissa.
func float8Reference(t Type, code int) float64 {
	mantissa, bias := 3, 7
	if t == Float8E5M2 {
		mantissa, bias = 2, 15
	}
	m, e := code&(1<<mantissa-1), code&0x7f>>mantissa
	v := math.Ldexp(1+float64(m)/float64(int(1)<<mantissa), e-bias)
	switch {
	case t == Float8E4M3FN && code&0x7f == 0x7f, t == Float8E5M2 && code&0x7f > 0x7c:
		return math.NaN()
	case t == Float8E5M2 && code&0x7f == 0x7c:
		v = math.Inf(1)
	case e == 0:
		v = math.Ldexp(float64(m), 1-bias-mantissa)
	}
	if code >= 0x80 {
		v = math.Copysign(v, -1)
	}
	return v
}

func TestFloat8IsWhatItsBitsSay(t *testing.T) {
	for _, of := range []Type{Float8E4M3FN, Float8E5M2} {
		for code := range 256 {
			got, want := float64(Float8(of, uint8(code))), float8Reference(of, code)
			if math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want && math.Signbit(got) == (code >= 0x80)) {
				t.Errorf("%s %#02x is %v, want %v", of, code, got, want)
			}
			if back := ToFloat8(of, float32(got)); back != uint8(code) && got == got {
				t.Errorf("%s %#02x becomes %#02x", of, code, back)
			}
		}
	}
}

// nearestFloat8 searches all codes for the nearest, the one of an even code of two. What the format
// would have as its next number is beyond it.
func nearestFloat8(t Type, x float64) uint8 {
	most, next, beyond := 0x7e, 480., uint8(0x7f)
	if t == Float8E5M2 {
		most, next, beyond = 0x7b, 65536, 0x7c
	}
	best, distance := uint8(0), math.Inf(1)
	x = math.Copysign(min(math.Abs(x), 2*next), x)
	for code := 0; code <= most+1; code++ {
		v := next
		if code <= most {
			v = float8Reference(t, code)
		}
		d := new(big.Float).SetPrec(2000).Sub(big.NewFloat(math.Abs(x)).SetPrec(2000), big.NewFloat(v))
		f, _ := d.Abs(d).Float64()
		if f < distance || f == distance && code%2 == 0 {
			best, distance = uint8(code), f
			if code > most {
				best = beyond
			}
		}
	}
	if math.Signbit(x) {
		best |= 0x80
	}
	return best
}

// float8Borders are numbers at which rounding changes, and their neighbours in a float32.
func float8Borders(t Type) (all []float32) {
	last := 0x7e
	if t == Float8E5M2 {
		last = 0x7b
	}
	for code := range last {
		a, b := float8Reference(t, code), float8Reference(t, code+1)
		for _, v := range []float64{a, b, (a + b) / 2} {
			v := float32(v)
			all = append(all, v, math.Nextafter32(v, 0), math.Nextafter32(v, 1e9))
		}
	}
	beyond := float32(464)
	if t == Float8E5M2 {
		beyond = 61440
	}
	all = append(all, beyond, math.Nextafter32(beyond, 0), math.Nextafter32(beyond, 1e9), 1e30, math.MaxFloat32, math.SmallestNonzeroFloat32, 1e-30)
	for _, v := range slices.Clone(all) {
		all = append(all, -v)
	}
	return all
}

func TestToFloat8RoundsToTheNearest(t *testing.T) {
	for _, of := range []Type{Float8E4M3FN, Float8E5M2} {
		for _, v := range float8Borders(of) {
			if got, want := ToFloat8(of, v), nearestFloat8(of, float64(v)); got != want {
				t.Errorf("%v (%x) becomes %s %#02x, want %#02x", v, v, of, got, want)
			}
		}
	}
	for _, c := range []struct {
		of   Type
		x    float64
		want uint8
	}{
		{Float8E4M3FN, math.Inf(1), 0x7f}, {Float8E4M3FN, math.Inf(-1), 0xff}, {Float8E4M3FN, math.NaN(), 0x7f},
		{Float8E5M2, math.Inf(1), 0x7c}, {Float8E5M2, math.Inf(-1), 0xfc}, {Float8E5M2, math.NaN(), 0x7e},
		{Float8E4M3FN, 1.0625 + 1e-15, 0x39}, // above a tie, on which a float32 lies
	} {
		if got := uint8(FromFloat(c.of, c.x).Lo); got != c.want {
			t.Errorf("%v becomes %s %#02x, want %#02x", c.x, c.of, got, c.want)
		}
	}
}

// ml_dtypes is asked for every code, every float16 and bfloat16, and the borders.
func TestFloat8AgainstMLDtypes(t *testing.T) {
	python := testcases.Python(t, "ml_dtypes")
	for _, of := range []Type{Float8E4M3FN, Float8E5M2} {
		from := float8Borders(of)
		for u := range 1 << 16 {
			from = append(from, Float16Bits(u).Float32(), BFloat16Bits(u).Float32())
		}
		cmd := exec.Command(python, "-c", `
import sys, numpy as np, ml_dtypes
t = np.dtype(sys.argv[1])
sys.stdout.buffer.write(np.arange(256, dtype=np.uint8).view(t).astype(np.float32).tobytes())
sys.stdout.buffer.write(np.frombuffer(sys.stdin.buffer.read(), np.float32).astype(t).tobytes())`, of.String())
		cmd.Stdin = bytes.NewReader(Bytes(from))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for code, want := range Slice[float32](out[:1024]) {
			if got := Float8(of, uint8(code)); math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Errorf("%s %#02x is %v, want %v", of, code, got, want)
			}
		}
		for i, want := range out[1024:] {
			if got := ToFloat8(of, from[i]); got != want {
				t.Errorf("%v becomes %s %#02x, want %#02x", from[i], of, got, want)
			}
		}
	}
}
