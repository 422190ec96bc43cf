package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The short ways of float32 against the definitions: equal to the bit for
// quotients and remainders, within a unit in the last place for powers.
func TestSingleAgreesWithTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.1, -0.1, 3, -3, 1e-45, -1e-45, math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1 << 22, 1 << 24}
	draw := func(i int) float32 {
		switch i % 4 {
		case 0:
			return special[r.IntN(len(special))]
		case 1:
			return float32(r.IntN(2001) - 1000)
		case 2:
			return float32(r.NormFloat64())
		}
		return math.Float32frombits(r.Uint32())
	}
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }
	for i := range 2_000_000 {
		x, y := draw(i), draw(i/4)
		if got, want := floorDivideSingle(x, y), floorDivideFloat(x, y); !same(got, want) {
			t.Fatalf("%v // %v = %v, want %v", x, y, got, want)
		}
		if got, want := remainderSingle(x, y), remainderFloat(x, y); !same(got, want) {
			t.Fatalf("%v mod %v = %v, want %v", x, y, got, want)
		}
		wide, rare := formulaPowerFloat32(float64(x), float64(y))
		got, want := float32(wide), float32(power(float64(x), float64(y)))
		if rare {
			continue
		}
		if !same(got, want) && math.Abs(float64(int32(math.Float32bits(got)))-float64(int32(math.Float32bits(want)))) > 1 {
			t.Fatalf("%v to the power of %v = %v, want %v", x, y, got, want)
		}
	}
}
