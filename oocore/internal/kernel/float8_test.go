package kernel

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// A conversion gives what the conversion of each number gives, over the borders of blocks.
func TestCastsOfFloat8(t *testing.T) {
	const n = 256 + 300
	for _, of := range []dtype.Type{dtype.Float8E4M3FN, dtype.Float8E5M2} {
		codes := make([]byte, n)
		for i := range codes {
			codes[i] = byte(i)
		}
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
				v := dtype.Value{Type: of, Lo: uint64(codes[i])}
				if other.Kind() < dtype.KindFloat || v.Float() != v.Float() {
					continue // TestCastOfFloats has those from float32
				}
				want := make([]byte, other.Size())
				dtype.FromFloat(other, v.Float()).Put(want)
				if got := wide[i*other.Size():][:other.Size()]; string(got) != string(want) {
					t.Fatalf("%s %#02x becomes %s %x, want %x", of, codes[i], other, got, want)
				}
				if other.Kind() == dtype.KindFloat && !other.StorageOnly() && again[i] != codes[i] {
					t.Fatalf("%s %#02x comes back from %s as %#02x", of, codes[i], other, again[i])
				}
			}
		}
	}
	// 1.0625 lies between two codes, and what is a little more nearer to the upper one.
	up, _ := Cast(dtype.Float64, dtype.Float8E4M3FN)
	dst := make([]byte, 2)
	up(2, dst, dtype.Bytes([]float64{1.0625, 1.0625 + 1e-12}), nil, nil)
	if dst[0] != 0x38 || dst[1] != 0x39 {
		t.Errorf("% x, want 38 39", dst)
	}
}
