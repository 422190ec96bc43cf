package kernel

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"math/cmplx"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// reference is NumPy's word, made by testdata/make_elementwise.py.
type reference struct {
	Values map[dtype.Type]struct {
		N    int
		A, B []byte
	}
	Cases []struct {
		Op    string
		Type  dtype.Type
		Exact bool
		B     []byte
		Out   []byte // nil: NumPy has no such loop
	}
	Casts []struct {
		From, To dtype.Type
		Out      []byte
	}
}

func readReference(t *testing.T) (r reference) {
	t.Helper()
	file := testcases.ReadFile(t, "testdata/elementwise.json.gz")
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func opNamed(t *testing.T, name string) Op {
	t.Helper()
	for _, op := range Ops() {
		if op.String() == name {
			return op
		}
	}
	t.Fatalf("no operation is called %q", name)
	return Invalid
}

// units is the distance of two elements in units of the last place of want, of
// its magnitude for complex numbers; 0 for two NaN, infinite where one is a NaN
// or an infinity that the other is not.
func units(t dtype.Type, got, want []byte) float64 {
	g, w := valueAt(t, got), valueAt(t, want)
	if bytes.Equal(got[:t.Size()], want[:t.Size()]) || cmplx.IsNaN(g) && cmplx.IsNaN(w) {
		return 0
	}
	if t.Kind() != dtype.KindFloat && t.Kind() != dtype.KindComplex {
		return math.Inf(1)
	}
	if !finite(g) || !finite(w) || g == 0 && w == 0 {
		if !samePart(real(g), real(w)) || !samePart(imag(g), imag(w)) {
			return math.Inf(1)
		}
		return 0
	}
	bits, lowest := 52, 0x1p-1074
	switch t {
	case dtype.Float32, dtype.Complex64:
		bits, lowest = 23, 0x1p-149
	case dtype.Float16:
		bits, lowest = 10, 0x1p-24
	}
	d := cmplx.Abs(g - w)
	return d / math.Max(math.Ldexp(1, math.Ilogb(math.Max(cmplx.Abs(w), lowest))-bits), lowest)
}

// samePart is for numbers of which a part is zero, infinite or NaN.
func samePart(g, w float64) bool {
	return g == w && math.Signbit(g) == math.Signbit(w) || g != g && w != w ||
		g-g == 0 && w-w == 0 && math.Abs(g-w) < 1e-6*math.Abs(w)
}

func finite(x complex128) bool { return !cmplx.IsNaN(x) && !cmplx.IsInf(x) }

func valueAt(t dtype.Type, b []byte) complex128 {
	var w [16]byte
	copy(w[:], b[:t.Size()])
	q := dtype.Slice[uint64](w[:])
	return dtype.Value{Type: t, Lo: q[0], Hi: q[1]}.Complex()
}

func TestOperationsAsNumPy(t *testing.T) {
	r := readReference(t)
	for _, level := range levels() {
		t.Run(level.name, func(t *testing.T) {
			defer level.use()()
			for _, c := range r.Cases {
				op, v := opNamed(t, c.Op), r.Values[c.Type]
				f, ok := Lookup(op, c.Type)
				if ok != (c.Out != nil) {
					t.Errorf("%s of %s: there is a loop: %v, but NumPy has one: %v", op, c.Type, ok, c.Out != nil)
				}
				if !ok || c.Out == nil {
					continue
				}
				b := v.B
				if c.B != nil {
					b = c.B
				}
				result := op.Result(c.Type)
				size := result.Size()
				got := make([]byte, v.N*size)
				f(v.N, got, v.A, b, nil)
				allowed := 2.0
				switch {
				case c.Type.Kind() == dtype.KindComplex:
					allowed = op.Row().Units.Of(c.Type)
				case c.Exact:
					allowed = 0
				}
				for i := range v.N {
					a := valueAt(c.Type, v.A[i*c.Type.Size():])
					second := valueAt(c.Type, b[i*c.Type.Size():])
					if c.Type.Kind() == dtype.KindComplex && !c.Exact && (!finite(a) || op.Arity() == 2 && !finite(second)) {
						continue // what functions of an infinite complex number are, C libraries disagree on
					}
					if u := units(result, got[i*size:], c.Out[i*size:]); u > allowed {
						t.Errorf("%s of %s: %v and %v give %v, NumPy %v (%.3g units)", op, c.Type, a,
							second, valueAt(result, got[i*size:]), valueAt(result, c.Out[i*size:]), u)
					}
				}
			}
		})
	}
}

func TestConversionsAsNumPy(t *testing.T) {
	r := readReference(t)
	for _, level := range levels() {
		t.Run(level.name, func(t *testing.T) {
			defer level.use()()
			for _, c := range r.Casts {
				v := r.Values[c.From]
				f, ok := Cast(c.From, c.To)
				if !ok {
					t.Errorf("no conversion from %s to %s", c.From, c.To)
					continue
				}
				size := c.To.Size()
				got := make([]byte, v.N*size)
				f(v.N, got, v.A, nil, nil)
				for i := range v.N {
					if units(c.To, got[i*size:], c.Out[i*size:]) != 0 {
						t.Errorf("%v from %s to %s is %v, NumPy's %v", valueAt(c.From, v.A[i*c.From.Size():]), c.From, c.To,
							valueAt(c.To, got[i*size:]), valueAt(c.To, c.Out[i*size:]))
					}
				}
			}
		})
	}
}
