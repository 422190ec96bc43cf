package oocore_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Uniform numbers are below 1, which 16 bits and 8 would round some of them to.
func TestRandomOfShortFloatsIsRejected(t *testing.T) {
	for _, of := range []oocore.DType{oocore.Float16, oocore.BFloat16, oocore.Float8E4M3FN, oocore.Float8E5M2} {
		if err := oocore.Random(of, 1, 10).Err(); err == nil || !strings.Contains(err.Error(), "draws float32 or float64, not "+of.String()) {
			t.Errorf("%s: %v", of, err)
		}
	}
}

// Integers with a zero point that 8 bits of a float cannot hold are those of the same values in
// float32, also when they were saved.
func TestQuantizeOfSmallFloatsKeepsZeroPoints(t *testing.T) {
	x := oocore.FromSlice([]float32{-0.75, -0.5, 0, 1.5, 3.25, 5.5}, 6).AsType(oocore.Float8E4M3FN)
	o := oocore.QuantizeOptions{DType: oocore.Uint8, Affine: true}
	path := filepath.Join(t.TempDir(), "q.safetensors")
	q := saved(t, x.Quantize(o), path+"#x")
	want := collect[uint8](t, x.AsType(oocore.Float32).Quantize(o).Values)
	if got := collect[uint8](t, q.Values); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A weight that is quantized takes no adapter: what it adds would be lost in rounding.
func TestMergeLoRARejectsQuantizedWeights(t *testing.T) {
	dir := t.TempDir()
	save := func(a *oocore.Array, path string) {
		t.Helper()
		saved(t, a, filepath.Join(dir, path))
	}
	save(oocore.Ones(oocore.Int8, 3, 4), "m.safetensors#l.weight")
	save(oocore.Ones(oocore.Float32, 2, 4), "adapter_model.safetensors#base_model.model.l.lora_A.weight")
	save(oocore.Ones(oocore.Float32, 3, 2), "adapter_model.safetensors#base_model.model.l.lora_B.weight")
	testcases.WriteFile(t, filepath.Join(dir, "adapter_config.json"), []byte(`{"peft_type":"LORA","r":2,"lora_alpha":2}`), 0o666)
	_, err := oocore.OpenAll(filepath.Join(dir, "m.safetensors")).MergeLoRA(dir).Save(t.Context(), filepath.Join(dir, "o.safetensors"))
	if err == nil || !strings.Contains(err.Error(), "a weight in int8 is quantized") {
		t.Error(err)
	}
}
