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
// digits of a float64 (testdata/make_functions.py).
type exactCase struct {
	Op              string
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

// offBy is how far got is from high + low in units of the last place there:
// infinite where a NaN, an infinity or the sign of a zero differs.
func offBy(got, high, low float64) float64 {
	switch {
	case high != high || got != got:
		if high != high && got != got {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(high, 0) || math.IsInf(got, 0) || got == 0 && high == 0:
		if got == high && math.Signbit(got) == math.Signbit(high) {
			return 0
		}
		return math.Inf(1)
	}
	unit := 0x1p-1074
	if math.Abs(high) >= 0x1p-1022 {
		unit = math.Ldexp(1, math.Ilogb(high)-52)
	}
	return math.Abs(((got - high) - low) / unit)
}

func TestFloat64FunctionsWithinOneUnit(t *testing.T) {
	cases := readExact(t)
	if len(cases) < 20 {
		t.Fatalf("only %d functions", len(cases))
	}
	for _, level := range levels() {
		t.Run(level.name, func(t *testing.T) {
			defer level.use()()
			for _, c := range cases {
				f, ok := Lookup(opNamed(t, c.Op), dtype.Float64)
				if !ok {
					t.Fatalf("no %s of float64", c.Op)
				}
				x, y := dtype.Slice[float64](c.A), make([]float64, len(c.A)/8)
				copy(y, dtype.Slice[float64](c.B))
				got := make([]float64, len(x))
				f(len(x), dtype.Bytes(got), c.A, dtype.Bytes(y), nil)
				high, low := dtype.Slice[float64](c.High), dtype.Slice[float64](c.Low)
				worst, at := 0.0, 0
				for i := range x {
					u := offBy(got[i], high[i], low[i])
					if u > 1 {
						t.Errorf("%s of %v and %v is %v, not %v: %.3g units off", c.Op, x[i], y[i], got[i], high[i], u)
					}
					if u > worst {
						worst, at = u, i
					}
				}
				t.Logf("%-8s %.3f at %v and %v", c.Op, worst, x[at], y[at])
			}
		})
	}
}
