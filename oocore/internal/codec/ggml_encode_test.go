package codec

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// testdata/ggml.blocks has the blocks that quantize_row_*_ref of ggml d99724f2 makes of testdata/ggml.f32, type by type
// in the order of their names: built by gcc -O2 -ffp-contract=off for amd64, of 24 blocks of 256 elements (normal, of one
// sign, of scales from part to part, on a grid, one element, constant, sparse, of heavy tails, tiny, with empty parts).
// Builds that contract products and sums differ in 1 to 2 blocks of 100.
func TestEncodedBlocksAreThoseOfGGML(t *testing.T) {
	t.Run("vectors", testEncodedBlocks)
	defer func(has bool) { hasAVX2 = has }(hasAVX2)
	hasAVX2 = false
	t.Run("plain Go", testEncodedBlocks)
}

func testEncodedBlocks(t *testing.T) {
	x := dtype.Slice[float32](testcases.ReadFile(t, "testdata/ggml.f32"))
	want := testcases.ReadFile(t, "testdata/ggml.blocks")
	for _, name := range slices.Sorted(maps.Keys(encoders)) {
		g := ggmls[name]
		got := make([]byte, len(x)/g.floats*g.bytes)
		if err := EncodeGGML(name, got, x); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(got); i += g.bytes {
			if got, want := got[i:][:g.bytes], want[i:][:g.bytes]; !bytes.Equal(got, want) {
				t.Errorf("%s, block %d:\n%x, want\n%x", name, i/g.bytes, got, want)
			}
		}
		want = want[len(got):]
	}
	if len(want) > 0 {
		t.Errorf("%d bytes are left", len(want))
	}
}

// TestVectorsEncodeAsPlainGo compares blocks of all kinds of elements: of few values, of one sign, tiny, huge, with zeros of both signs.
func TestVectorsEncodeAsPlainGo(t *testing.T) {
	if !hasAVX2 {
		t.Skip("there are no vector loops")
	}
	defer func() { hasAVX2 = true }()
	random := testcases.Rand(t)
	x := make([]float32, 256)
	for range 400 {
		scale, kind := math.Ldexp(1, random.IntN(100)-85), random.IntN(5)
		for i := range x {
			v := random.NormFloat64() * scale
			switch kind {
			case 1:
				v = math.Abs(v)
			case 2:
				v = scale * float64(random.IntN(4)-1)
			case 3:
				v *= math.Copysign(float64(random.IntN(2)), v)
			case 4:
				v = math.Pow(v, 3)
			}
			x[i] = float32(max(-1e5, min(1e5, v)))
		}
		for _, name := range []string{"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"} {
			of := [2][]byte{make([]byte, ggmls[name].bytes), make([]byte, ggmls[name].bytes)}
			for i := range of {
				hasAVX2 = i == 0
				if err := EncodeGGML(name, of[i], x); err != nil {
					t.Fatalf("%s of %v: %v", name, x, err)
				}
			}
			if !bytes.Equal(of[0], of[1]) {
				t.Fatalf("%s of %v:\n%x, want\n%x", name, x, of[0], of[1])
			}
		}
	}
}

func TestEncodeRejectsWhatNoBlockStandsFor(t *testing.T) {
	for name, g := range ggmls {
		for _, v := range []float32{float32(math.NaN()), float32(math.Inf(-1)), 1e30} {
			x := make([]float32, g.floats)
			x[3], x[4] = v, 1
			err := EncodeGGML(name, make([]byte, g.bytes), x)
			if kept := name == "Q8_0" || name == "MXFP4" && v == 1e30; encoders[name] != nil && (err == nil) != kept || encoders[name] == nil && (err == nil || !strings.Contains(err.Error(), "not written")) {
				t.Errorf("%s of %v: %v", name, v, err)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	x := dtype.Slice[float32](testcases.ReadFile(b, "testdata/ggml.f32"))
	for _, name := range slices.Sorted(maps.Keys(encoders)) {
		dst := make([]byte, len(x)/ggmls[name].floats*ggmls[name].bytes)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				if err := EncodeGGML(name, dst, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
