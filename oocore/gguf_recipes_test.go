package oocore

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/format/gguf"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A model of four layers written by each recipe has the types, sizes and elements that the gguf package reads, and the blocks
// that it makes, of the types for which it has an encoder.
func TestGGUFByRecipes(t *testing.T) {
	python := testcases.Python(t, "the gguf package")
	rng := testcases.Rand(t)
	dir := t.TempDir()
	c := &Collection{}
	var names []string
	var as []store.Meta
	add := func(name string, shape ...int) {
		n := 1
		for _, of := range shape {
			n *= of
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		a := FromSlice(x, shape...)
		c.members = append(c.members, named{name: name, make: func() *Array { return a }})
		names, as = append(names, name), append(as, store.Meta{Shape: shape, DType: Float32})
	}
	add("token_embd.weight", 8, 256)
	add("output_norm.weight", 256)
	for i := range 4 {
		for name, shape := range map[string][]int{"attn_q": {4, 256}, "attn_v": {1, 256}, "ffn_down": {2, 512}, "ffn_up": {3, 96}, "ffn_gate": {3, 33}, "ffn_gate_inp": {3, 256}} {
			add(fmt.Sprintf("blk.%d.%s.weight", i, name), shape...)
		}
	}
	if _, err := c.Save(t.Context(), filepath.Join(dir, "x.npz")); err != nil {
		t.Fatal(err)
	}
	for _, codec := range []string{"q2_k", "q3_k_m", "q4_k_m", "q5_k_s", "q6_k", "q4_0", "q4_1", "q5_0", "q5_1", "mxfp4", "Q8_0", "bf16"} {
		path := filepath.Join(dir, codec+".gguf")
		saved, err := c.Save(t.Context(), path, Codec(codec))
		if err != nil {
			t.Fatalf("%s: %v", codec, err)
		}
		if _, err := saved.Map(func(_ string, a *Array) *Array { return a.AsType(Float32) }).Save(t.Context(), filepath.Join(dir, codec+".npz")); err != nil {
			t.Fatal(err)
		}
		types, bytes, err := gguf.Sizes(codec, names, as)
		if err != nil {
			t.Fatal(err)
		}
		var said string
		for i, name := range names {
			said += fmt.Sprintln(name, types[i], bytes[i])
		}
		testcases.WriteFile(t, filepath.Join(dir, codec+".txt"), []byte(said), 0o666)
	}
	cmd := exec.Command(python, "-c", `
import gguf, glob, numpy as np
from gguf import GGMLQuantizationType as T
x = np.load("x.npz")
for f in glob.glob("*.gguf"):
    said = [l.split(" ") for l in open(f[:-4] + "txt").read().splitlines()]
    got, r = np.load(f[:-4] + "npz"), {t.name: t for t in gguf.GGUFReader(f).tensors}
    assert sorted(r) == sorted(s[0] for s in said), f
    for name, type, size in said:
        t = r[name]
        assert t.n_bytes == int(size), (f, name, t.n_bytes, size)
        if type in ("float32", "float16", "bfloat16", ""):
            continue
        assert t.tensor_type.name == type, (f, name, t.tensor_type, type)
        if type in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"):
            assert np.array_equal(t.data, gguf.quantize(x[name], t.tensor_type)), (f, name)
        d = gguf.dequantize(t.data, t.tensor_type)
        assert np.array_equal(d, got[name]), (f, name)
        assert np.abs(d - x[name]).max() < (2 if type in ("Q2_K", "MXFP4") else 1), (f, name)
`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
