package kernel

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// hexBytes are bytes written as hexadecimal digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(b []byte) (err error) {
	*h, err = hex.DecodeString(string(b))
	return err
}

// TestFoldNumPy compares every reduction of every dtype with what NumPy gave
// (testdata/make_reduce.py), over either axis and over both.
func TestFoldNumPy(t *testing.T) {
	text := testcases.ReadFile(t, "testdata/reduce.json")
	var cases []struct {
		Label      string
		DType      dtype.Type
		Rows, Cols int
		Data       hexBytes
		Results    map[string][]hexBytes
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		for name, want := range c.Results {
			title, param, _ := strings.Cut(name, " ddof=")
			ddof, _ := strconv.ParseFloat(param, 64)
			r := parseReduction(t, title)
			f, ok := NewFolder(r, c.DType)
			if !ok {
				t.Errorf("%v of %v: no folder", r, c.DType)
				continue
			}
			got := [][]byte{
				foldCols(f, r.Result(c.DType), c.Data, c.Rows, c.Cols, ddof),
				foldRows(f, r.Result(c.DType), c.Data, c.Rows, c.Cols, ddof),
				foldRows(f, r.Result(c.DType), c.Data, 1, c.Rows*c.Cols, ddof),
			}
			for i, axis := range []string{"axis 0", "axis 1", "both axes"} {
				compareElements(t, name+" of "+c.Label+" "+c.DType.String()+" over "+axis, r.Result(c.DType), got[i], want[i])
			}
		}
	}
}

func parseReduction(t *testing.T, name string) Reduction {
	for r := Sum; r <= CountNonzero; r++ {
		if r.String() == name {
			return r
		}
	}
	t.Fatalf("no reduction %q", name)
	return 0
}

// aligned copies to memory that is aligned for every type.
func aligned(b []byte) []byte {
	out := dtype.Bytes(make([]complex128, len(b)/16+1))[:len(b)]
	copy(out, b)
	return out
}

func foldCols(f Folder, result dtype.Type, x []byte, rows, cols int, ddof float64) []byte {
	state := aligned(make([]byte, f.Size()*cols))
	f.Init(state, cols)
	f.Cols(state, cols, 0, aligned(x), rows, cols, 0, 1)
	out := aligned(make([]byte, result.Size()*cols))
	f.Finish(out, state, cols, int64(rows), ddof)
	return out
}

func foldRows(f Folder, result dtype.Type, x []byte, rows, cols int, ddof float64) []byte {
	state := aligned(make([]byte, f.Size()*rows))
	f.Init(state, rows)
	f.Rows(state, rows, 0, aligned(x), rows, cols, 0)
	out := aligned(make([]byte, result.Size()*rows))
	f.Finish(out, state, rows, int64(cols), ddof)
	return out
}

// tolerance is the relative difference that sums in another order may have:
// NumPy's own error in the type, since ours is smaller.
func tolerance(t dtype.Type) float64 {
	switch t {
	case dtype.Float16:
		return 4e-3
	case dtype.BFloat16:
		return 3e-2
	case dtype.Float32, dtype.Complex64:
		return 4e-6
	case dtype.Float64, dtype.Complex128:
		return 1e-13
	}
	return 0
}

// floats are the elements' values as float64, a complex number's parts apart.
func floats(t dtype.Type, b []byte) []float64 {
	size := t.Size()
	if t.Kind() == dtype.KindComplex {
		size /= 2
		t = map[dtype.Type]dtype.Type{dtype.Complex64: dtype.Float32, dtype.Complex128: dtype.Float64}[t]
	}
	var out []float64
	for i := 0; i < len(b); i += size {
		var w [8]byte
		copy(w[:], b[i:i+size])
		out = append(out, dtype.Value{Type: t, Lo: view[uint64](aligned(w[:]), 1)[0]}.Float())
	}
	return out
}

func compareElements(t *testing.T, what string, typ dtype.Type, got, want []byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
		return
	}
	if k := typ.Kind(); k != dtype.KindFloat && k != dtype.KindComplex {
		if string(got) != string(want) {
			t.Errorf("%s: %x, want %x", what, got, want)
		}
		return
	}
	g, w := floats(typ, got), floats(typ, want)
	scale := 0.0 // the parts of a complex product cancel; compare with the larger
	for i := range w {
		if typ.Kind() != dtype.KindComplex || i%2 == 0 {
			scale = 0
			for _, v := range w[i:min(i+2, len(w))] {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					scale = max(scale, math.Abs(v))
				}
				if typ.Kind() != dtype.KindComplex {
					break
				}
			}
		}
		if math.IsNaN(w[i]) != math.IsNaN(g[i]) || math.Abs(g[i]-w[i]) > tolerance(typ)*scale {
			t.Errorf("%s: element %d is %v, want %v", what, i, g[i], w[i])
			return
		}
	}
}
