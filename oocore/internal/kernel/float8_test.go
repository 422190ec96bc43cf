package kernel

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

var float8Types = []dtype.Type{dtype.Float8E4M3FN, dtype.Float8E5M2}

// A conversion gives what the conversion of each number gives, over the borders of blocks.
func TestCastsOfFloat8(t *testing.T) {
	const n = 256 + 300
	codes := make([]byte, n)
	for i := range codes {
		codes[i] = byte(i)
	}
	atEachLevel(t, func(t *testing.T) {
		for _, of := range float8Types {
			for _, other := range dtype.Stored() {
				out, ok := Cast(of, other)
				back, ok2 := Cast(other, of)
				if !ok || !ok2 {
					t.Errorf("no cast between %s and %s", of, other)
					continue
				}
				wide, again := make([]byte, n*other.Size()), make([]byte, n)
				out(n, wide, codes, nil, nil)
				back(n, again, wide, nil, nil)
				for i := range n {
					v, single := dtype.Value{Type: of, Lo: uint64(codes[i])}, dtype.Float8(of, codes[i])
					want := make([]byte, other.Size())
					switch nan := single != single; {
					case other == dtype.Float32: // with a NaN's sign, as those that follow
						dtype.Slice[float32](want)[0] = single
					case other == dtype.Float16:
						dtype.Slice[dtype.Float16Bits](want)[0] = dtype.ToFloat16(single)
					case other == dtype.BFloat16:
						dtype.Slice[dtype.BFloat16Bits](want)[0] = dtype.ToBFloat16(single)
					case nan || other.Kind() < dtype.KindFloat:
						continue // TestCastOfFloats has those from float32
					default:
						dtype.FromFloat(other, v.Float()).Put(want)
					}
					if got := wide[i*other.Size():][:other.Size()]; string(got) != string(want) {
						t.Fatalf("%s %#02x becomes %s %x, want %x", of, codes[i], other, got, want)
					}
					if other.Kind() == dtype.KindFloat && !other.StorageOnly() && single == single && again[i] != codes[i] {
						t.Fatalf("%s %#02x comes back from %s as %#02x", of, codes[i], other, again[i])
					}
				}
			}
		}
	})
	// 1.0625 lies between two codes, and what is a little more nearer to the upper one.
	up, _ := Cast(dtype.Float64, dtype.Float8E4M3FN)
	dst := make([]byte, 2)
	up(2, dst, dtype.Bytes([]float64{1.0625, 1.0625 + 1e-12}), nil, nil)
	if dst[0] != 0x38 || dst[1] != 0x39 {
		t.Errorf("% x, want 38 39", dst)
	}
}

// Every float16 and bfloat16, and the float32 around those and around ties, become what
// dtype.ToFloat8 makes of them, which is held to the format's definition and to ml_dtypes.
func TestCastsToFloat8RoundAsEachNumber(t *testing.T) {
	var halves []dtype.Float16Bits
	var tops []dtype.BFloat16Bits
	var singles []float32
	for u := range uint32(1 << 16) {
		halves, tops = append(halves, dtype.Float16Bits(u)), append(tops, dtype.BFloat16Bits(u))
		for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			singles = append(singles, math.Float32frombits(u<<16|low))
		}
	}
	atEachLevel(t, func(t *testing.T) {
		for _, to := range float8Types {
			check := func(from dtype.Type, data []byte, n int, number func(i int) float32) {
				f, _ := Cast(from, to)
				got := make([]byte, n)
				f(n, got, data, nil, nil)
				for i, code := range got {
					if want := dtype.ToFloat8(to, number(i)); code != want {
						t.Fatalf("%s %v (%#08x) becomes %s %#02x, want %#02x", from, number(i), math.Float32bits(number(i)), to, code, want)
					}
				}
			}
			check(dtype.Float16, dtype.Bytes(halves), len(halves), func(i int) float32 { return halves[i].Float32() })
			check(dtype.BFloat16, dtype.Bytes(tops), len(tops), func(i int) float32 { return tops[i].Float32() })
			check(dtype.Float32, dtype.Bytes(singles), len(singles), func(i int) float32 { return singles[i] })
		}
	})
}
