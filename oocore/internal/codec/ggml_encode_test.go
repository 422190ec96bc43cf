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

func TestEncodeRejectsWhatNoBlockStandsFor(t *testing.T) {
	for name, g := range ggmls {
		for _, v := range []float32{float32(math.NaN()), float32(math.Inf(-1)), 1e30} {
			x := make([]float32, g.floats)
			x[3], x[4] = v, 1
			err := EncodeGGML(name, make([]byte, g.bytes), x)
			if kept := name == "Q8_0" || name == "MXFP4" && v == 1e30; WritesGGML(name) && (err == nil) != kept || !WritesGGML(name) && (err == nil || !strings.Contains(err.Error(), "not written")) {
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
