package kernel

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
)

// The powers of edge values in testdata/power.json.gz are NumPy's.
func TestComplexPowerOfEdgeValues(t *testing.T) {
	f, err := os.Open("testdata/power.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	if err := json.NewDecoder(text).Decode(&all); err != nil {
		t.Fatal(err)
	}
	same := func(a, b float64) bool {
		switch {
		case a == b, a != a && b != b:
			return true
		case math.IsInf(b, 0) || math.Abs(b) > 1e307: // overflow begins elsewhere
			return math.Abs(a) > 1e307
		}
		return math.Abs(a-b) <= 1e-11*math.Abs(b) || math.Abs(a-b) < 1e-320
	}
	for _, row := range all {
		var v [6]float64
		for i, text := range row {
			if v[i], err = strconv.ParseFloat(text, 64); err != nil {
				t.Fatal(err)
			}
		}
		got := complexPow(complex(v[0], v[1]), complex(v[2], v[3]))
		if !same(real(got), v[4]) || !same(imag(got), v[5]) {
			t.Errorf("(%g, %g) to the power of (%g, %g) is %g, want (%g, %g)", v[0], v[1], v[2], v[3], got, v[4], v[5])
		}
	}
}
