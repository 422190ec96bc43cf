package dtype_test

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// jax are the promotions of bfloat16 that neither NumPy nor ml_dtypes define.
func jax(a, b dtype.Type) dtype.Type {
	if a == dtype.Float16 || b == dtype.Float16 {
		return dtype.Float32
	}
	return dtype.BFloat16
}

func TestPromoteAsNumPy(t *testing.T) {
	var table struct {
		Promote map[string]map[string]string
		Three   map[string]string // where that differs from one promotion after the other
		Weak    map[string]map[string]string
	}
	b := testcases.ReadFile(t, "testdata/promote.json")
	if err := json.Unmarshal(b, &table); err != nil {
		t.Fatal(err)
	}
	for _, a := range dtype.All() {
		for _, b := range dtype.All() {
			want := table.Promote[a.String()][b.String()]
			if want == "" {
				want = jax(a, b).String()
			}
			if got := dtype.Promote(a, b); got.String() != want {
				t.Errorf("Promote(%s, %s) = %s, NumPy has %s", a, b, got, want)
			}
		}
		for _, b := range dtype.All() {
			for _, c := range dtype.All() {
				want := table.Three[a.String()+" "+b.String()+" "+c.String()]
				if want == "" {
					want = dtype.Promote(dtype.Promote(a, b), c).String()
				}
				if a == dtype.BFloat16 || b == dtype.BFloat16 || c == dtype.BFloat16 {
					continue // NumPy has no rule
				}
				if got := dtype.PromoteAll(a, b, c); got.String() != want {
					t.Errorf("PromoteAll(%s, %s, %s) = %s, NumPy has %s", a, b, c, got, want)
				}
			}
		}
		for name, kind := range map[string]dtype.Kind{"int": dtype.KindInt, "float": dtype.KindFloat, "complex": dtype.KindComplex} {
			want := table.Weak[a.String()][name]
			if want == "" {
				want = map[string]string{"float": "bfloat16", "complex": "complex64"}[name] // JAX's, as float16's
			}
			if got := dtype.PromoteWeak(a, kind); got.String() != want {
				t.Errorf("PromoteWeak(%s, %s) = %s, NumPy has %s", a, name, got, want)
			}
		}
	}
}

func TestWeakNumbersAlone(t *testing.T) {
	for kind, want := range map[dtype.Kind]dtype.Type{dtype.KindInt: dtype.Int64, dtype.KindFloat: dtype.Float64, dtype.KindComplex: dtype.Complex128} {
		if got := dtype.PromoteWeak(dtype.Invalid, kind); got != want {
			t.Errorf("a number of kind %d alone is %s, not %s", kind, got, want)
		}
	}
}

type celsius float32

func TestScalar(t *testing.T) {
	for _, c := range []struct {
		v    any
		text string
		t    dtype.Type
		weak bool
	}{
		{7, "7", dtype.Int64, true}, {uint(7), "7", dtype.Int64, true}, {uint(math.MaxUint64), "18446744073709551615", dtype.Uint64, false},
		{-2.5, "-2.5", dtype.Float64, true}, {1 + 2i, "(1+2i)", dtype.Complex128, true}, {true, "true", dtype.Bool, false},
		{int8(-7), "-7", dtype.Int8, false}, {uint8(200), "200", dtype.Uint8, false}, {int64(-7), "-7", dtype.Int64, false},
		{uint32(1 << 31), "2147483648", dtype.Uint32, false}, {float32(0.1), "0.1", dtype.Float32, false}, {celsius(0.1), "0.1", dtype.Float32, false},
		{complex64(1i), "(0+1i)", dtype.Complex64, false},
		{dtype.ToFloat16(1.5), "1.5", dtype.Float16, false}, {dtype.ToBFloat16(1.5), "1.5", dtype.BFloat16, false},
	} {
		got, weak, err := dtype.Scalar(c.v)
		if err != nil || got.Type != c.t || weak != c.weak || got.String() != c.text {
			t.Errorf("Scalar(%v) = %s %s weak %v, %v", c.v, got, got.Type, weak, err)
		}
	}
	for _, v := range []any{"7", nil, []int{7}, struct{}{}} {
		if _, _, err := dtype.Scalar(v); err == nil {
			t.Errorf("Scalar(%v) is no error", v)
		}
	}
}

// TestFits compares with arithmetic on integers without bounds.
func TestFits(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		x := rapid.Int64().Draw(t, "x")
		for _, typ := range dtype.All() {
			if !typ.Integer() {
				continue
			}
			low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(8*typ.Size()))
			if typ.Kind() == dtype.KindInt {
				high.Rsh(high, 1)
				low.Neg(high)
			}
			v := big.NewInt(x)
			want := v.Cmp(low) >= 0 && v.Cmp(high) < 0
			if typ.Fits(x) != want {
				t.Fatalf("%s.Fits(%d) = %v", typ, x, !want)
			}
			w, err := dtype.ValueOf(x).Weaken(typ)
			if (err == nil) != want || want && typ != dtype.Uint64 && w.Int() != x {
				t.Fatalf("%d as %s is %s, %v", x, typ, w, err)
			}
		}
	})
}

// TestShortFloatsRoundOnce compares with the nearest of all finite halves.
func TestShortFloatsRoundOnce(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		h := rapid.Uint16Range(0, 0x7bfe).Draw(t, "half")
		lower, upper := float64(dtype.Float16Bits(h).Float32()), float64(dtype.Float16Bits(h+1).Float32())
		middle := (lower + upper) / 2 // exact in float64
		even := h + h&1
		for x, want := range map[float64]uint16{
			middle: even, math.Nextafter(middle, math.Inf(1)): h + 1, math.Nextafter(middle, 0): h, lower: h,
		} {
			if got := dtype.FromFloat(dtype.Float16, x); uint16(got.Lo) != want {
				t.Fatalf("%v rounds to %#04x, not %#04x", x, got.Lo, want)
			}
		}
	})
}

func TestConvert(t *testing.T) {
	big := uint64(1<<63 + 1<<62)
	for _, c := range []struct {
		from dtype.Value
		to   dtype.Type
		want string
	}{
		{dtype.ValueOf(int64(-1)), dtype.Uint8, "255"}, {dtype.ValueOf(int64(300)), dtype.Int8, "44"},
		{dtype.ValueOf(uint8(200)), dtype.Int8, "-56"}, {dtype.ValueOf(big), dtype.Float64, "1.3835058055282164e+19"},
		{dtype.ValueOf(math.NaN()), dtype.Bool, "true"}, {dtype.ValueOf(0i), dtype.Bool, "false"},
		{dtype.ValueOf(float32(0.1)), dtype.Float64, "0.10000000149011612"}, {dtype.ValueOf(int64(3)), dtype.Complex64, "(3+0i)"},
		{dtype.ValueOf(1 + 2i), dtype.Complex64, "(1+2i)"}, {dtype.ValueOf(true), dtype.Float32, "1"},
		{dtype.ValueOf(2.5), dtype.Int8, ""}, {dtype.ValueOf(1i), dtype.Float64, ""},
	} {
		got, ok := c.from.Convert(c.to)
		if ok != (c.want != "") || ok && (got.String() != c.want || got.Type != c.to) {
			t.Errorf("%s as %s is %s %v, want %q", c.from, c.to, got, ok, c.want)
		}
	}
}
