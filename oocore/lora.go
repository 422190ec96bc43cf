package oocore

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/lora"
)

// MergeLoRA returns the collection with a LoRA adapter merged into it: the folder of a PEFT adapter, with
// adapter_config.json and adapter_model.safetensors or .bin. As PEFT's merge_and_unload has it, a weight W becomes
// W + B·A · alpha / r, or alpha / √r of one that is rank-stabilised, with what is added computed in float32
// and rounded to the type of W; so do embeddings, convolutions, of which A has the places, biases of lora_B, and the weights of experts that
// target_parameters name. By DoRA the rows
// of that sum, in float32, are made as long as its magnitudes say. Whole weights that the adapter has (modules_to_save, bias)
// take the place of the collection's. FOLDER=0.5 adds half; a chain of calls merges several adapters.
func (c *Collection) MergeLoRA(adapter string) *Collection {
	c = c.orMissing()
	m := &Collection{site: graph.Caller(), source: c.source, checkpoint: c.checkpoint, members: slices.Clone(c.members)}
	if m.err = c.err; m.err != nil {
		return m
	}
	if err := m.mergeLoRA(adapter); err != nil {
		m.err = &Error{Op: "merge", Site: m.site, Err: fmt.Errorf("%s: %w", adapter, err)}
	}
	return m
}

// factors are an adapter's for a layer, by what PEFT calls them behind "lora_".
type factors map[string]*Array

// factorNames are all that there may be.
var factorNames = []string{"A", "B", "B.bias", "embedding_A", "embedding_B", "magnitude_vector"}

func (c *Collection) mergeLoRA(adapter string) error {
	part := 1.
	if at := strings.LastIndexByte(adapter, '='); at > 0 {
		if _, err := os.Stat(adapter); err != nil {
			if part, err = strconv.ParseFloat(adapter[at+1:], 64); err != nil || math.IsNaN(part) || math.IsInf(part, 0) {
				return fmt.Errorf("the weight %.40q is no number: FOLDER=0.5 adds half of an adapter", adapter[at+1:])
			}
			adapter = adapter[:at]
		}
	}
	config, err := lora.Read(filepath.Join(adapter, "adapter_config.json"))
	if err != nil {
		return err
	}
	weights := filepath.Join(adapter, "adapter_model.safetensors")
	if _, err := os.Stat(weights); err != nil {
		if _, err := os.Stat(filepath.Join(adapter, "adapter_model.bin")); err == nil {
			weights = filepath.Join(adapter, "adapter_model.bin")
		}
	}
	all := OpenAll(weights)
	switch {
	case all.err != nil:
		return all.err
	case all.Len() == 0:
		return fmt.Errorf("%s has no tensor", filepath.Base(weights))
	}
	at := make(map[string]int, len(c.members))
	for i, of := range c.members {
		at[of.name] = i
	}
	layers := map[string]factors{} // by the name of the weight's module, with a .base_layer for each of its weights that were wrapped later
	for key, x := range all.All() {
		name := strings.TrimPrefix(key, "base_model.model.")
		module, which, is := strings.Cut(name, ".lora_")
		if !is {
			name = strings.ReplaceAll(name, ".base_layer.", ".")
			i, ok := at[name]
			switch {
			case !ok:
				return fmt.Errorf("tensor %.80q is for no array of the collection", key)
			case part != 1:
				return fmt.Errorf("tensor %.80q takes the place of the collection's, which has no weight: merge the adapter without one", key)
			}
			c.members[i].make = func() *Array { return x }
			continue
		}
		which = strings.TrimSuffix(strings.Replace(which, ".default", "", 1), ".weight")
		if !slices.Contains(factorNames, which) {
			return fmt.Errorf("tensor %.80q: of LoRA only %s can be merged", key, "lora_"+strings.Join(factorNames, ", lora_"))
		}
		if layers[module] == nil {
			layers[module] = factors{}
		}
		if layers[module][which] != nil {
			return fmt.Errorf("tensor %.80q: layer %.80q has another of that kind", key, module)
		}
		layers[module][which] = x
	}
	experts, forward, err := c.experts(&config, layers, at)
	if err != nil {
		return err
	}
	for _, wrapped := range slices.Sorted(maps.Keys(layers)) {
		f, module := layers[wrapped], moduleOf(wrapped)
		embedding := f["embedding_A"] != nil || f["embedding_B"] != nil
		a, b := f["A"], f["B"]
		if embedding {
			a, b = f["embedding_A"], f["embedding_B"]
		}
		weight, n := module+".weight", 1
		if of, is := experts[wrapped]; is {
			if weight, module = of.Name, of.Name; len(f) > 2 || config.DoRA {
				return fmt.Errorf("layer %.80q: DoRA and biases of experts cannot be merged", module)
			}
			n = c.members[at[weight]].make().Shape()[0]
		}
		i, ok := at[weight]
		j, biased := at[module+".bias"]
		switch {
		case !ok:
			return fmt.Errorf("the adapter is for layer %.80q, which the collection lacks", module)
		case a == nil || b == nil:
			return fmt.Errorf("layer %.80q has lora_A or lora_B alone", module)
		case embedding && len(f) > 2:
			return fmt.Errorf("layer %.80q: DoRA, biases and other factors of embeddings cannot be merged", module)
		case f["B.bias"] != nil && !biased:
			return fmt.Errorf("the adapter has a bias for layer %.80q, which has none in the collection", module)
		case config.DoRA != (f["magnitude_vector"] != nil) && !embedding:
			return fmt.Errorf("layer %.80q: adapter_config.json says use_dora=%v, and its lora_magnitude_vector says otherwise", module, config.DoRA)
		case config.DoRA && part != 1:
			return errors.New("adapter_config.json: DoRA adapters have no weight: merge the adapter without one")
		}
		scale, err := 0., errors.Join(a.Err(), b.Err())
		if err == nil {
			scale, err = config.Scale(module, a.Shape(), b.Shape(), n)
		}
		if err != nil {
			return fmt.Errorf("layer %.80q: %w", module, err)
		}
		scale *= part
		open := c.members[i].make
		c.members[i].make = func() *Array {
			if n > 1 {
				return mergedExperts(open(), a, b, n, scale, forward)
			}
			return merged(open(), a, b, f["magnitude_vector"], scale, embedding || config.Transposed && len(a.Shape()) == 2)
		}
		if bias := f["B.bias"]; bias != nil {
			open := c.members[j].make
			c.members[j].make = func() *Array { return plus(open(), bias.AsType(Float32).Mul(float32(scale))) }
		}
	}
	return nil
}

// moduleOf is the name of a module without those of PEFT's wrappers.
func moduleOf(module string) string {
	return strings.TrimSuffix(strings.ReplaceAll(module+".", ".base_layer.", "."), ".")
}

// experts finds the layers that are for weights of experts, and whether the weight of each expert is (in, out): where one is square,
// as the others of the model are.
func (c *Collection) experts(config *lora.Config, layers map[string]factors, at map[string]int) (of map[string]lora.Target, forward bool, err error) {
	of = map[string]lora.Target{}
	var oriented, square string
	for _, wrapped := range slices.Sorted(maps.Keys(layers)) {
		f := layers[wrapped]
		if f["A"] == nil || f["B"] == nil || config.Parameters == nil {
			continue
		}
		t, err := config.TargetOf(moduleOf(wrapped), f["A"].Shape(), f["B"].Shape(), func(name string) []int {
			if i, ok := at[name]; ok {
				return c.members[i].make().Shape()
			}
			return nil
		})
		switch {
		case err != nil:
			return nil, false, fmt.Errorf("layer %.80q: %w", wrapped, err)
		case t.Name == "":
			continue
		case t.Forward && t.Backward:
			square = t.Name
		case oriented != "" && forward != t.Forward:
			return nil, false, fmt.Errorf("experts have weights (in, out) and (out, in): %.80q and %.80q", oriented, t.Name)
		default:
			oriented, forward = t.Name, t.Forward
		}
		of[wrapped] = t
	}
	if square != "" && oriented == "" {
		return nil, false, fmt.Errorf("the experts of %.80q have square weights, and the adapter does not say whether they are (in, out) or (out, in)", square)
	}
	return of, forward, nil
}

// mergedExperts is the weights of n experts with what their factors add: of A each expert has rows that follow each other, of B each n-th column.
func mergedExperts(w, a, b *Array, n int, scale float64, forward bool) *Array {
	r, in, out := a.Shape()[0]/n, a.Shape()[1], b.Shape()[0]
	delta := b.AsType(Float32).Reshape(out, r, n).Transpose(2, 0, 1).MatMul(a.AsType(Float32).Reshape(n, r, in)).Mul(float32(scale))
	if forward {
		delta = delta.Transpose(0, 2, 1)
	}
	return plus(w, delta)
}

// merged is a weight with what its factors add, and by DoRA with rows of such lengths.
func merged(w, a, b, lengths *Array, scale float64, transposed bool) *Array {
	// A convolution's A has the places of the weight behind its channels, and B one place.
	r := a.Shape()[0]
	delta := b.AsType(Float32).Reshape(-1, r).MatMul(a.AsType(Float32).Reshape(r, -1)).Mul(float32(scale))
	if transposed {
		delta = delta.T()
	} else if len(a.Shape()) > 2 {
		delta = delta.Reshape(append([]int{b.Shape()[0]}, a.Shape()[1:]...)...)
	}
	if lengths == nil {
		return plus(w, delta)
	}
	sum := plus(w.AsType(Float32), delta)
	if err := cmp.Or(sum.Err(), plus(w, delta).Err()); err != nil {
		return made(nil, err)
	}
	rows, ones, others := 0, slices.Repeat([]int{1}, len(sum.Shape())), []int{}
	if transposed {
		rows = 1
	}
	for axis, n := range sum.Shape() {
		if ones[axis] = n; axis != rows {
			ones[axis], others = 1, append(others, axis)
		}
	}
	if n := sum.Shape()[rows]; grid.Size(lengths.Shape()) != n {
		return made(nil, &Error{Op: "merge", Err: fmt.Errorf("the adapter has magnitudes of shape %s for %d rows", grid.Format(lengths.Shape()), n)})
	}
	norm := sum.Square().Sum(others...).Sqrt()
	return sum.Mul(lengths.AsType(Float32).Reshape(-1).Div(norm).Reshape(ones...)).AsType(w.DType())
}

// plus is a weight or a bias with what is added, in its type.
func plus(w, delta *Array) *Array {
	if shape, of := w.Shape(), delta.Shape(); w.Err() == nil && delta.Err() == nil && !slices.Equal(shape, of) {
		return made(nil, &Error{Op: "merge", Err: fmt.Errorf("the adapter adds %s to a weight of shape %s", grid.Format(of), grid.Format(shape))})
	}
	t := w.DType()
	if w.Err() == nil && (t.Kind() != dtype.KindFloat || t.StorageOnly()) {
		return made(nil, &Error{Op: "merge", Err: fmt.Errorf("a weight in %s is quantized, which an adapter cannot be added to: merge into the checkpoint that it was made of", t)})
	}
	return w.Add(delta.AsType(t)).AsType(t)
}
