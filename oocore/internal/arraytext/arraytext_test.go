package arraytext_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// printed is an array and what NumPy prints of it.
type printed struct {
	DType  string
	Shape  []int
	Values []json.RawMessage // texts, or pairs of them
	Text   string
}

func (p *printed) array(t *testing.T) *oocore.Array {
	t.Helper()
	kind, err := dtype.Parse(p.DType)
	if err != nil {
		t.Fatal(err)
	}
	text := func(raw json.RawMessage) string {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	float := func(raw json.RawMessage) float64 {
		v, err := strconv.ParseFloat(text(raw), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var a *oocore.Array
	switch kind.Kind() {
	case dtype.KindFloat:
		v := []float64{}
		for _, raw := range p.Values {
			v = append(v, float(raw))
		}
		a = oocore.FromSlice(v)
	case dtype.KindComplex:
		v := []complex128{}
		for _, raw := range p.Values {
			var parts [2]json.RawMessage
			if err := json.Unmarshal(raw, &parts); err != nil {
				t.Fatal(err)
			}
			v = append(v, complex(float(parts[0]), float(parts[1])))
		}
		a = oocore.FromSlice(v)
	default:
		if kind == dtype.Uint64 {
			v := []uint64{}
			for _, raw := range p.Values {
				x, err := strconv.ParseUint(text(raw), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				v = append(v, x)
			}
			a = oocore.FromSlice(v)
			break
		}
		v := []int64{}
		for _, raw := range p.Values {
			x, err := strconv.ParseInt(text(raw), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, x)
		}
		a = oocore.FromSlice(v)
	}
	return a.AsType(kind).Reshape(p.Shape...)
}

func check(t *testing.T, data []byte) {
	t.Helper()
	var cases []printed
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		var out bytes.Buffer
		if err := c.array(t).Print(t.Context(), &out); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if got := out.String(); got != c.Text+"\n" {
			values := c.Values
			if len(values) > 60 {
				values = slices.Concat(values[:30], values[len(values)-30:])
			}
			t.Errorf("case %d, %s %v of %s:\n%swant\n%s", i, c.DType, c.Shape, values, got, c.Text)
		}
	}
}

func TestPrintIsNumPys(t *testing.T) {
	data := testcases.ReadFile(t, "testdata/numpy.json")
	check(t, data)
}

func TestPrintIsNumPysInNewCases(t *testing.T) {
	python := testcases.Python(t, "new cases besides the committed ones")
	data, err := exec.Command(python, "reference.py", fmt.Sprint(testcases.Seed(t)), "20").Output()
	if err != nil {
		t.Fatal(err)
	}
	check(t, data)
}
