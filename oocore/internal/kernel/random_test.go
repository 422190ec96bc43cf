package kernel

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestPhilox is the known answers that the authors publish with Random123.
func TestPhilox(t *testing.T) {
	if got, want := Philox(0, 0, 0), [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}; got != want {
		t.Errorf("of zeros it is %x, not %x", got, want)
	}
}

func TestRandomDependsOnPositionAlone(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		u := rapid.SampledFrom([]dtype.Type{dtype.Float32, dtype.Float64}).Draw(t, "type")
		seed, at := rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(0, 1<<40).Draw(t, "at")
		n := rapid.IntRange(0, 300).Draw(t, "n")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		var first []byte
		for _, level := range levels() {
			restore := level.use()
			whole, parts := make([]byte, n*u.Size()), make([]byte, n*u.Size())
			Random(n, whole, u, seed, at)
			Random(cut, parts, u, seed, at)
			Random(n-cut, parts[cut*u.Size():], u, seed, at+int64(cut))
			restore()
			if !bytes.Equal(whole, parts) {
				t.Fatalf("%s with %s: %d from %d differ when cut at %d", u, level.name, n, at, cut)
			}
			if first == nil {
				first = whole
			}
			if !bytes.Equal(first, whole) {
				t.Fatalf("%s: %d from %d differ with %s", u, n, at, level.name)
			}
		}
	})
}

func TestRandomIsUniform(t *testing.T) {
	const n = 1 << 20
	for _, u := range []dtype.Type{dtype.Float32, dtype.Float64} {
		raw, x := make([]byte, n*u.Size()), make([]byte, n*8)
		Random(n, raw, u, 42, 0)
		cast, _ := Cast(u, dtype.Float64)
		cast(n, x, raw, nil, nil)
		var counts [16]int
		sum, squares, serial := 0.0, 0.0, 0.0
		v := dtype.Slice[float64](x)
		for i, a := range v {
			if a < 0 || a >= 1 {
				t.Fatalf("%s: %v is not in [0, 1)", u, a)
			}
			counts[int(16*a)]++
			sum, squares, serial = sum+a, squares+a*a, serial+(a-0.5)*(v[(i+1)%n]-0.5)
		}
		// Six standard deviations of each.
		bound := 6 / math.Sqrt(n)
		if d := math.Abs(sum/n - 0.5); d > bound*math.Sqrt(1.0/12) {
			t.Errorf("%s: the mean is %g off", u, d)
		}
		if d := math.Abs(squares/n - 1.0/3); d > bound*math.Sqrt(4.0/45) {
			t.Errorf("%s: the mean square is %g off", u, d)
		}
		if d := math.Abs(serial / n); d > bound/12 {
			t.Errorf("%s: neighbours correlate by %g", u, d)
		}
		for i, c := range counts {
			if d := math.Abs(float64(c)/n - 1.0/16); d > bound*math.Sqrt(15)/16 {
				t.Errorf("%s: sixteenth %d is %g off", u, i, d)
			}
		}
	}
}
