package footprint

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// llama are the tensors of a Llama 2 of so many layers and lengths.
func llama(layers, dim, hidden, kv int) (all []Tensor) {
	add := func(name string, shape ...int) {
		all = append(all, Tensor{Name: name + ".weight", Shape: shape, Type: "F16"})
	}
	add("model.embed_tokens", 32000, dim)
	for i := range layers {
		at := fmt.Sprintf("model.layers.%d.", i)
		add(at+"input_layernorm", dim)
		add(at+"post_attention_layernorm", dim)
		add(at+"self_attn.q_proj", dim, dim)
		add(at+"self_attn.k_proj", kv, dim)
		add(at+"self_attn.v_proj", kv, dim)
		add(at+"self_attn.o_proj", dim, dim)
		add(at+"mlp.gate_proj", hidden, dim)
		add(at+"mlp.up_proj", hidden, dim)
		add(at+"mlp.down_proj", dim, hidden)
	}
	add("model.norm", dim)
	add("lm_head", 32000, dim)
	return all
}

// Converted models have the sizes, in GB, that their publisher states for the files of llama.cpp: huggingface.co/TheBloke,
// Llama-2-7B-GGUF, Llama-2-13B-GGUF and Llama-2-70B-GGUF, of September 2023. Headers and vocabularies are less than 1 MB of them. The larger ones in
// q4_k_s, and 70B in q3_k_m, are left out: since then these recipes give more bits to more layers.
func TestConvertedModelsHaveTheSizesOfPublishedFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		tensors []Tensor
		sizes   string
	}{
		{"7B", llama(32, 4096, 11008, 4096), "q3_k_s 2.95 q3_k_m 3.30 q3_k_l 3.60 q4_0 3.83 q4_k_s 3.86 q4_k_m 4.08 q5_0 4.65 q5_k_s 4.65 q5_k_m 4.78 q6_k 5.53 q8_0 7.16"},
		{"13B", llama(40, 5120, 13824, 5120), "q3_k_s 5.66 q3_k_m 6.34 q3_k_l 6.93 q4_0 7.37 q4_k_m 7.87 q5_0 8.97 q5_k_s 8.97 q5_k_m 9.23 q6_k 10.68 q8_0 13.83"},
		{"70B", llama(80, 8192, 28672, 1024), "q3_k_s 29.92 q3_k_l 36.15 q4_0 38.87 q4_k_m 41.42 q5_0 47.46 q5_k_s 47.46 q5_k_m 48.75 q6_k 56.59 q8_0 73.29"},
	} {
		words := strings.Fields(c.sizes)
		for i := 0; i < len(words); i += 2 {
			var want float64
			fmt.Sscan(words[i+1], &want)
			m, err := ModelOf("model", words[i], c.tensors, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(m.Bytes) / 1e9; math.Abs(got-want) > 0.0065 {
				t.Errorf("%s as %s: %.3f GB, want %.2f", c.name, words[i], got, want)
			}
		}
	}
}

func TestRowsThatBlocksDoNotDivide(t *testing.T) {
	m, err := ModelOf("model", "q4_k_m", []Tensor{
		{Name: "blk.0.attn_q.weight", Shape: []int{8, 512}},    // 4,096 elements in 16 blocks of 144 bytes
		{Name: "blk.0.attn_k.weight", Shape: []int{8, 96}},     // 24 blocks of 32 in Q5_0
		{Name: "blk.0.ffn_up.weight", Shape: []int{8, 7}},      // 56 elements in float16
		{Name: "blk.0.attn_norm.weight", Shape: []int{512}},    // in float32
		{Name: "token_embd.weight", Shape: []int{10, 256}},     // without an output of its own: Q6_K
		{Name: "blk.1.attn_v.weight", Shape: []int{3, 2, 256}}, // the last of two layers
	}, gpu(t, "24GiB"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Tensor{{Type: "Q4_K", Bytes: 2304}, {Type: "Q5_0", Bytes: 528}, {Type: "float16", Bytes: 112}, {Type: "float32", Bytes: 2048}, {Type: "Q6_K", Bytes: 2100}, {Type: "Q6_K", Bytes: 1260}} {
		if got := m.Tensors[i]; got.Type != want.Type || got.Bytes != want.Bytes {
			t.Errorf("%+v, want %s of %d bytes", got, want.Type, want.Bytes)
		}
	}
	if m.Bytes != 2304+528+112+2048+2100+1260 || !m.FitsOnDevice || m.Device == 0 || len(m.Types) != 5 {
		t.Errorf("%+v", m)
	}
	if _, err := ModelOf("model", "q9", nil, nil); err == nil || !strings.Contains(err.Error(), "q4_k_m") {
		t.Errorf("%v", err)
	}
}
