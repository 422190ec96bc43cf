package kernel

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// exactCase is a function's operands and its values, high + low, to twice the
// digits of a float64 (testdata/make_functions.py), of the operands of a type.
type exactCase struct {
	Op              string
	Type            dtype.Type
	A, B, High, Low []byte
}

func readExact(t *testing.T) (cases []exactCase) {
	t.Helper()
	f, err := os.Open("testdata/functions.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []exactCase }
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all.Cases
}

// offBy is how far got is from high + low in units of the last place there of a type:
// infinite where a NaN, an infinity or the sign of a zero differs.
func offBy(t dtype.Type, got, high, low float64) float64 {
	bits, lowest, most := 52, -1022, math.MaxFloat64
	if t == dtype.Float32 {
		bits, lowest, most = 23, -126, math.MaxFloat32
	}
	switch {
	case high != high || got != got:
		if high != high && got != got {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(got, 0) && math.Abs(high) > most*(1-0x1p-24) || got == 0 && high == 0:
		if math.Signbit(got) == math.Signbit(high) {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(got, 0) || math.IsInf(high, 0):
		return math.Inf(1)
	}
	unit := math.Ldexp(1, max(math.Ilogb(high), lowest)-bits)
	return math.Abs(((got - high) - low) / unit)
}

// TestFunctionsWithinUnits: functions err by no more than their rows say.
func TestFunctionsWithinUnits(t *testing.T) {
	cases := readExact(t)
	if len(cases) < 48 {
		t.Fatalf("only %d functions", len(cases))
	}
	for _, level := range levels() {
		t.Run(level.name, func(t *testing.T) {
			defer level.use()()
			for _, c := range cases {
				f, ok := Lookup(opNamed(t, c.Op), c.Type)
				if !ok {
					t.Fatalf("no %s of %s", c.Op, c.Type)
				}
				x, y := dtype.Slice[float64](c.A), make([]float64, len(c.A)/8)
				copy(y, dtype.Slice[float64](c.B))
				got := results(f, c.Type, x, y)
				high, low := dtype.Slice[float64](c.High), dtype.Slice[float64](c.Low)
				limit := max(opNamed(t, c.Op).Row().Units.Of(c.Type), 0.5)
				worst, at := 0.0, 0
				for i := range x {
					u := offBy(c.Type, got[i], high[i], low[i])
					if u > limit {
						t.Errorf("%s of %s: of %v and %v it is %v, not %v: %.3g units off", c.Op, c.Type, x[i], y[i], got[i], high[i], u)
					}
					if u > worst {
						worst, at = u, i
					}
				}
				t.Logf("%-8s %s %.3f at %v and %v", c.Op, c.Type, worst, x[at], y[at])
			}
		})
	}
}

// results is f of numbers that are exact in a type.
func results(f Func, t dtype.Type, x, y []float64) []float64 {
	out := make([]float64, len(x))
	if t == dtype.Float64 {
		f(len(x), dtype.Bytes(out), dtype.Bytes(x), dtype.Bytes(y), nil)
		return out
	}
	narrow := [3][]float32{make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))}
	for i := range x {
		narrow[1][i], narrow[2][i] = float32(x[i]), float32(y[i])
	}
	f(len(x), dtype.Bytes(narrow[0]), dtype.Bytes(narrow[1]), dtype.Bytes(narrow[2]), nil)
	for i, v := range narrow[0] {
		out[i] = float64(v)
	}
	return out
}
