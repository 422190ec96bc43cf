package oocore

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// newAdapter writes a LoRA adapter of factors and a configuration.
func newAdapter(t *testing.T, config string, tensors map[string]*Array) string {
	t.Helper()
	dir := t.TempDir()
	testcases.WriteFile(t, filepath.Join(dir, "adapter_config.json"), []byte(config), 0o666)
	var outputs []Output
	for name, a := range tensors {
		outputs = append(outputs, Output{Array: a, Path: filepath.Join(dir, "adapter_model.safetensors") + "#" + name})
	}
	var err error
	if len(outputs) > 0 {
		_, err = SaveAll(t.Context(), outputs)
	} else {
		err = os.WriteFile(filepath.Join(dir, "adapter_model.safetensors"), []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// smallIntegers are such that products and sums are exact, and so is what any order of them gives.
func smallIntegers(t *testing.T, n int) []float32 {
	rng := testcases.Rand(t)
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.IntN(9) - 4)
	}
	return v
}

func TestMergeLoRAIsTheFormulaOfPEFT(t *testing.T) {
	const out, in, r = 12, 7, 3
	w, a, b, bias := smallIntegers(t, out*in), smallIntegers(t, r*in), smallIntegers(t, out*r), smallIntegers(t, out)
	for name, c := range map[string]struct {
		config     string
		scale      float64
		transposed bool
		dtype      DType
	}{
		"plain":         {`{"peft_type":"LORA","r":3,"lora_alpha":6}`, 2, false, Float32},
		"rank-stable":   {`{"peft_type":"LORA","r":3,"lora_alpha":6,"use_rslora":true}`, 6 / math.Sqrt(3), false, Float32},
		"transposed":    {`{"peft_type":"LORA","r":3,"lora_alpha":1.5,"fan_in_fan_out":true}`, 0.5, true, Float32},
		"pattern":       {`{"peft_type":"LORA","r":3,"lora_alpha":1,"alpha_pattern":{"q_proj":12}}`, 4, false, Float32},
		"first pattern": {`{"peft_type":"LORA","r":3,"lora_alpha":1,"alpha_pattern":{"layers.0.q_proj":12,"q_proj":3,".*":6}}`, 4, false, Float32},
		"default alpha": {`{"peft_type":"LORA","r":3}`, 8. / 3, false, Float32},
		"rank pattern":  {`{"peft_type":"LORA","r":16,"rank_pattern":{"q_proj":3},"lora_alpha":6}`, 2, false, Float32},
		"bfloat16":      {`{"peft_type":"LORA","r":3,"lora_alpha":1}`, 1. / 3, false, BFloat16},
	} {
		t.Run(name, func(t *testing.T) {
			shape := []int{out, in}
			if c.transposed {
				shape = []int{in, out}
			}
			dir := t.TempDir()
			base := filepath.Join(dir, "m.safetensors")
			if _, err := SaveAll(t.Context(), []Output{
				{Array: FromSlice(w, shape...).AsType(c.dtype), Path: base + "#layers.0.q_proj.weight"}, {Array: FromSlice(bias, out), Path: base + "#layers.0.q_proj.bias"},
				{Array: FromSlice(bias, out), Path: base + "#head.weight"},
			}); err != nil {
				t.Fatal(err)
			}
			adapter := newAdapter(t, c.config, map[string]*Array{
				"base_model.model.layers.0.q_proj.lora_A.weight": FromSlice(a, r, in), "base_model.model.layers.0.q_proj.lora_B.weight": FromSlice(b, out, r),
				"base_model.model.head.weight": FromSlice(bias, out).Mul(3),
			})
			m, err := OpenAll(base).MergeLoRA(adapter).Save(t.Context(), filepath.Join(dir, "o.safetensors"))
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float32, out*in)
			for i := range out {
				for k := range in {
					sum := float32(0)
					for j := range r {
						sum += b[i*r+j] * a[j*in+k]
					}
					at := i*in + k
					if c.transposed {
						at = k*out + i
					}
					delta := sum * float32(c.scale)
					if c.dtype == BFloat16 {
						delta = roundToBFloat16(delta)
					}
					want[at] = w[at] + delta
					if c.dtype == BFloat16 {
						want[at] = roundToBFloat16(want[at])
					}
				}
			}
			x := m.Get("layers.0.q_proj.weight")
			if got, err := Collect[float32](t.Context(), x.AsType(Float32)); err != nil || !slices.Equal(got, want) || x.DType() != c.dtype {
				t.Errorf("%v of %s, %v, want %v", got, x.DType(), err, want)
			}
			if got, err := Collect[float32](t.Context(), m.Get("layers.0.q_proj.bias")); err != nil || !slices.Equal(got, bias) {
				t.Errorf("the bias is %v, %v", got, err)
			}
			if got, err := Item[float32](t.Context(), m.Get("head.weight").Sub(FromSlice(bias, out).Mul(3)).Abs().Max()); err != nil || got != 0 {
				t.Errorf("the whole weight of the adapter is off by %v, %v", got, err)
			}
		})
	}
}

// roundToBFloat16 is the nearest float of 8 bits of mantissa, of two the even one.
func roundToBFloat16(x float32) float32 {
	if x == 0 {
		return x
	}
	_, e := math.Frexp(float64(x))
	unit := math.Ldexp(1, e-8)
	return float32(math.RoundToEven(float64(x)/unit) * unit)
}

func TestMergeLoRARejects(t *testing.T) {
	base := filepath.Join(t.TempDir(), "m.safetensors")
	newCheckpoint(t, base)
	const lora, config = "base_model.model.layers.0", `{"peft_type":"LORA","r":2,"lora_alpha":2}`
	one := func(shape ...int) *Array { return Ones(Float32, shape...) }
	for name, c := range map[string]struct {
		config  string
		tensors map[string]*Array
		want    string
	}{
		"another layer":    {config, map[string]*Array{"base_model.model.x.lora_A.weight": one(2, 4), "base_model.model.x.lora_B.weight": one(3, 2)}, `layer "x", which the collection lacks`},
		"one factor":       {config, map[string]*Array{lora + ".lora_A.weight": one(2, 4)}, "alone"},
		"other ranks":      {config, map[string]*Array{lora + ".lora_A.weight": one(2, 4), lora + ".lora_B.weight": one(3, 1)}, "no one rank"},
		"another shape":    {config, map[string]*Array{lora + ".lora_A.weight": one(2, 5), lora + ".lora_B.weight": one(3, 2)}, "to a weight of shape (3, 4)"},
		"an embedding":     {config, map[string]*Array{lora + ".lora_embedding_A": one(2, 4)}, "alone"},
		"another factor":   {config, map[string]*Array{lora + ".lora_E": one(2, 4)}, "of LoRA only lora_A, lora_B"},
		"biased":           {config, map[string]*Array{lora + ".lora_A.weight": one(2, 4), lora + ".lora_B.weight": one(3, 2), lora + ".lora_B.bias": one(3)}, "has none in the collection"},
		"no magnitudes":    {`{"peft_type":"LORA","r":2,"use_dora":true}`, map[string]*Array{lora + ".lora_A.weight": one(2, 4), lora + ".lora_B.weight": one(3, 2)}, "lora_magnitude_vector says otherwise"},
		"few magnitudes":   {`{"peft_type":"LORA","r":2,"use_dora":true}`, map[string]*Array{lora + ".lora_A.weight": one(2, 4), lora + ".lora_B.weight": one(3, 2), lora + ".lora_magnitude_vector": one(2)}, "for 3 rows"},
		"an unknown whole": {config, map[string]*Array{"base_model.model.new.weight": one(2)}, "for no array"},
		"another method":   {`{"peft_type":"IA3"}`, map[string]*Array{"x": one(1)}, `"IA3" is not LORA`},
		"activated":        {`{"peft_type":"LORA","alora_invocation_tokens":[1]}`, map[string]*Array{"x": one(1)}, "aLoRA"},
		"PiSSA":            {`{"peft_type":"LORA","init_lora_weights":"pissa_niter_4"}`, map[string]*Array{"x": one(1)}, `"pissa_niter_4" changes the weights`},
		"replicated":       {`{"peft_type":"LORA","layer_replication":[[0,4],[2,5]]}`, map[string]*Array{"x": one(1)}, "layer_replication"},
		"QALoRA":           {`{"peft_type":"LORA","use_qalora":true}`, map[string]*Array{"x": one(1)}, "QALoRA"},
		"rank of config":   {`{"peft_type":"LORA","r":4,"lora_alpha":2}`, map[string]*Array{lora + ".lora_A.weight": one(2, 4), lora + ".lora_B.weight": one(3, 2)}, "rank 2, and adapter_config.json says 4"},
		"rank of pattern":  {`{"peft_type":"LORA","r":2,"rank_pattern":{"layers.0":8}}`, map[string]*Array{lora + ".lora_A.weight": one(2, 4), lora + ".lora_B.weight": one(3, 2)}, "says 8"},
		"no tensor":        {config, nil, "adapter_model.safetensors has no tensor"},
		"a factor twice":   {config, map[string]*Array{lora + ".lora_A.weight": one(2, 4), "layers.0.lora_A.weight": one(2, 4), lora + ".lora_B.weight": one(3, 2)}, `layer "layers.0" has another`},
		"a rank in text":   {`{"peft_type":"LORA","r":"2"}`, map[string]*Array{"x": one(1)}, "r: its value is of another type, string"},
		"patterns in text": {`{"peft_type":"LORA","rank_pattern":["x"]}`, map[string]*Array{"x": one(1)}, "rank_pattern and alpha_pattern are objects of numbers"},
		"a list":           {`[]`, map[string]*Array{"x": one(1)}, "adapter_config.json: it is not an object"},
		"no JSON":          {`{`, map[string]*Array{"x": one(1)}, "adapter_config.json"},
	} {
		_, err := OpenAll(base).MergeLoRA(newAdapter(t, c.config, c.tensors)).Save(t.Context(), filepath.Join(t.TempDir(), "o.safetensors"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := OpenAll(base).MergeLoRA(t.TempDir()).Err(); err == nil || !strings.Contains(err.Error(), "adapter_config.json") {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestMergeLoRAKinds holds each kind of layer to PEFT's formula, in float64.
func TestMergeLoRAKinds(t *testing.T) {
	rng := testcases.Rand(t)
	for range 20 {
		r, out, in := 1+rng.IntN(4), 1+rng.IntN(9), 1+rng.IntN(9)
		kernel := make([]int, rng.IntN(4)) // of a convolution; none is linear
		places := 1
		for d := range kernel {
			kernel[d] = 1 + rng.IntN(3)
			places *= kernel[d]
		}
		random := func(n int) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(rng.NormFloat64())
			}
			return v
		}
		w, bias, a, b, m, lift := random(out*in*places), random(out), random(r*in*places), random(out*r), random(out), random(out)
		dora, embedding, weight := rng.IntN(2) == 0, len(kernel) == 0 && rng.IntN(3) == 0, 1.
		if embedding {
			dora = false
		}
		if !dora {
			weight = 0.5
		}
		scale := 3. / float64(r) * weight
		delta := func(o, i int) (sum float64) { // of the weight at an output and what is behind it
			for k := range r {
				sum += float64(b[o*r+k]) * float64(a[k*in*places+i])
			}
			return sum * scale
		}
		want := make([]float64, len(w))
		for o := range out {
			norm := 0.
			for i := range in * places {
				at := o*in*places + i
				if embedding {
					at = i*out + o
				}
				want[at] = float64(w[at]) + delta(o, i)
				norm += want[at] * want[at]
			}
			for i := range in * places {
				if dora {
					want[o*in*places+i] *= float64(m[o]) / math.Sqrt(norm)
				}
			}
		}
		shape := append([]int{out, in}, kernel...)
		const module = "base_model.model.layer"
		tensors := map[string]*Array{
			module + ".lora_A.weight": FromSlice(a, append([]int{r, in}, kernel...)...),
			module + ".lora_B.weight": FromSlice(b, append([]int{out, r}, slices.Repeat([]int{1}, len(kernel))...)...), module + ".lora_B.bias": FromSlice(lift, out),
		}
		if embedding {
			shape = []int{in, out}
			tensors = map[string]*Array{module + ".lora_embedding_A": FromSlice(a, r, in), module + ".lora_embedding_B": FromSlice(b, out, r)}
		}
		config := `{"peft_type":"LORA","lora_alpha":3}`
		if dora {
			config = `{"peft_type":"LORA","lora_alpha":3,"use_dora":true}`
			tensors[module+".lora_magnitude_vector"] = FromSlice(m, append([]int{1, out}, slices.Repeat([]int{1}, len(kernel))...)...)
		}
		dir := t.TempDir()
		base := filepath.Join(dir, "m.safetensors")
		if _, err := SaveAll(t.Context(), []Output{{Array: FromSlice(w, shape...), Path: base + "#layer.weight"}, {Array: FromSlice(bias, out), Path: base + "#layer.bias"}}); err != nil {
			t.Fatal(err)
		}
		adapter := newAdapter(t, config, tensors)
		merged := OpenAll(base)
		if dora {
			merged = merged.MergeLoRA(adapter)
		} else {
			merged = merged.MergeLoRA(adapter + "=0.25").MergeLoRA(adapter + "=0.25") // which are half in all
		}
		saved, err := merged.Save(t.Context(), filepath.Join(dir, "o.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		near := func(name string, want func(i int) float64) {
			got, err := Collect[float32](t.Context(), saved.Get(name))
			for i, v := range got {
				if math.Abs(float64(v)-want(i)) > 1e-4*(1+math.Abs(want(i))) {
					t.Fatalf("%s of %v, rank %d, dora %v, embedding %v: element %d is %v, not %v", name, shape, r, dora, embedding, i, v, want(i))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		near("layer.weight", func(i int) float64 { return want[i] })
		near("layer.bias", func(i int) float64 {
			if embedding {
				return float64(bias[i])
			}
			return float64(bias[i]) + float64(lift[i])*scale
		})
	}
}

// TestMergeLoRAExperts holds weights of experts, (in, out) as gpt-oss has them and (out, in), to PEFT's einsum("o r e, e r i -> e i o"),
// with factors of two weights of one module and a rank and an alpha by the name of a weight. Of small integers sums are exact.
func TestMergeLoRAExperts(t *testing.T) {
	const experts, in, out, r = 3, 4, 6, 2
	for name, forward := range map[string]bool{"in out": true, "out in": false} {
		dir := t.TempDir()
		base := filepath.Join(dir, "m.safetensors")
		up, down := []int{experts, out, in}, []int{experts, in, in}
		if forward {
			up = []int{experts, in, out}
		}
		w, square := smallIntegers(t, experts*in*out), smallIntegers(t, experts*in*in)
		a, b, a2, b2 := smallIntegers(t, experts*r*in), smallIntegers(t, out*experts*r), smallIntegers(t, experts*in), smallIntegers(t, in*experts)
		if _, err := SaveAll(t.Context(), []Output{
			{Array: FromSlice(w, up...), Path: base + "#mlp.experts.up"}, {Array: FromSlice(square, down...), Path: base + "#mlp.experts.down"},
		}); err != nil {
			t.Fatal(err)
		}
		const config = `{"peft_type":"LORA","r":2,"lora_alpha":4,"rank_pattern":{"experts.down":1},"alpha_pattern":{"experts.down":3},"target_parameters":["experts.up","experts.down"]}`
		tensors := map[string]*Array{
			"base_model.model.mlp.experts.base_layer.lora_A.weight": FromSlice(a, experts*r, in), "base_model.model.mlp.experts.base_layer.lora_B.weight": FromSlice(b, out, experts*r),
			"base_model.model.mlp.experts.lora_A.weight": FromSlice(a2, experts, in), "base_model.model.mlp.experts.lora_B.weight": FromSlice(b2, in, experts),
		}
		m, err := OpenAll(base).MergeLoRA(newAdapter(t, config, tensors)).Save(t.Context(), filepath.Join(dir, "o.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name    string
			w, a, b []float32
			r, out  int
			scale   float32
		}{{"mlp.experts.up", w, a, b, r, out, 2}, {"mlp.experts.down", square, a2, b2, 1, in, 3}} {
			want := slices.Clone(c.w)
			for e := range experts {
				for o := range c.out {
					for i := range in {
						at := (e*c.out+o)*in + i
						if forward {
							at = (e*in+i)*c.out + o
						}
						for k := range c.r {
							want[at] += c.scale * c.b[(o*c.r+k)*experts+e] * c.a[(e*c.r+k)*in+i]
						}
					}
				}
			}
			if got, err := Collect[float32](t.Context(), m.Get(c.name)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s of %s: %v, %v, want %v", c.name, name, got, err, want)
			}
		}
		for key := range tensors {
			if strings.Contains(key, "base_layer") {
				delete(tensors, key)
			}
		}
		if err := OpenAll(base).MergeLoRA(newAdapter(t, config, tensors)).Err(); err == nil || !strings.Contains(err.Error(), "square weights") {
			t.Errorf("an adapter for square weights alone: %v", err)
		}
	}
}
