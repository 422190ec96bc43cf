package oocore

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

const ggufFixture = "internal/format/gguf/testdata/all.gguf"

// blocksOfQ8 are the bytes of elements in Q8_0, by its definition: the largest magnitude of 32 is 127
// of a scale in float16, halves away from zero.
func blocksOfQ8(x []float32) (b []byte) {
	for block := range slices.Chunk(x, 32) {
		most := float32(0)
		for _, v := range block {
			most = max(most, v, -v)
		}
		scale := most / 127
		b = binary.LittleEndian.AppendUint16(b, uint16(dtype.ToFloat16(scale)))
		for _, v := range block {
			q := 0.
			if scale != 0 {
				q = math.Floor(math.Abs(float64(v*(1/scale))) + 0.5)
			}
			b = append(b, byte(int8(math.Copysign(q, float64(v)))))
		}
	}
	return b
}

func TestGGUFInQ8HasTheBlocksOfItsDefinition(t *testing.T) {
	rng := testcases.Rand(t)
	dir := t.TempDir()
	x := make([]float32, 3*5*96)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	clear(x[:32])
	names := Names{"x": FromSlice(x, 3, 5, 96)}
	c, err := (&Collection{members: []named{
		{name: "w", make: func() *Array { return names["x"].AsType(Float64) }}, {name: "bias", make: func() *Array { return Eval("astype(slice(x, \"0, 0\"), \"float16\")", names) }},
		{name: "odd", make: func() *Array { return Eval("slice(x, \":, 0, :33\")", names) }}, {name: "counts", make: func() *Array { return FromSlice([]int32{1, 2}, 2) }},
	}}).Like(ggufFixture).Save(t.Context(), filepath.Join(dir, "m.gguf"), Codec("q8_0"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]DType{"w": Float32, "bias": Float32, "odd": Float16, "counts": Int32} {
		if a := c.Get(name); a.DType() != want {
			t.Errorf("%s has %s, %v", name, a.DType(), a.Err())
		}
	}
	want := blocksOfQ8(x)
	file := testcases.ReadFile(t, filepath.Join(dir, "m.gguf"))
	if !bytes.Contains(file, want) {
		t.Error("the blocks are others")
	}
	fixture := testcases.ReadFile(t, ggufFixture)
	if pairs := []byte("tokenizer.ggml.tokens"); !bytes.Contains(file, pairs) || !bytes.Contains(fixture, pairs) {
		t.Error("the pairs of the template are not there")
	}
	got, err := Collect[float32](t.Context(), c.Get("w"))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		scale := dtype.Float16Bits(binary.LittleEndian.Uint16(want[i/32*34:])).Float32()
		if w := float32(int8(want[i/32*34+2+i%32])) * scale; v != w {
			t.Fatalf("element %d is %v, want %v", i, v, w)
		}
	}
	// One more tensor, which leaves the others as they are.
	if _, err := FromSlice(x[:64], 2, 32).Save(t.Context(), filepath.Join(dir, "m.gguf#more"), Codec("q8_0")); err != nil {
		t.Fatal(err)
	}
	if same, err := Collect[float32](t.Context(), Open(filepath.Join(dir, "m.gguf#w"))); err != nil || !slices.Equal(same, got) {
		t.Errorf("another tensor changed this one: %v", err)
	}
	if n := OpenAll(filepath.Join(dir, "m.gguf")).Len(); n != 5 {
		t.Errorf("%d tensors, want 5", n)
	}
	if _, err := FromSlice([]bool{true}).Save(t.Context(), filepath.Join(dir, "b.gguf")); err == nil || !strings.Contains(err.Error(), "no bool") {
		t.Errorf("bools: %v", err)
	}
	if _, err := FromSlice(x[:64], 2, 32).Save(t.Context(), filepath.Join(dir, "x.npy"), Codec("q8_0")); err == nil {
		t.Error("an npy file has blocks")
	}
	python := os.Getenv("GONBEXT_PYTHON")
	if !testcases.Full() || python == "" {
		return // the rest is of the gguf package, for which GONBEXT_TEST=full and GONBEXT_PYTHON name a Python that has it
	}
	testcases.WriteFile(t, filepath.Join(dir, "x.f32"), dtype.Bytes(x), 0o666)
	cmd := exec.Command(python, "-c", `
import gguf, numpy as np
r = gguf.GGUFReader("m.gguf")
x = np.fromfile("x.f32", "<f4").reshape(3, 5, 96)
t = {t.name: t for t in r.tensors}
assert np.array_equal(t["w"].data, gguf.quantize(x, gguf.GGMLQuantizationType.Q8_0)), "w"
assert np.array_equal(t["bias"].data, x[0, 0].astype("f2").astype("f4")) and list(t["odd"].shape) == [33, 3]
assert t["more"].tensor_type == gguf.GGMLQuantizationType.Q8_0 and t["counts"].data.dtype == np.int32
assert r.get_field("general.file_type").contents() == 7 and r.get_field("general.quantization_version").contents() == 2 and r.get_field("tokenizer.ggml.tokens").contents()[2] == "ä"`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
