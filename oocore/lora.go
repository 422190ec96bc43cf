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
// and rounded to the type of W; so do embeddings, convolutions, of which A has the places, and biases of lora_B. By DoRA the rows
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
	weight := 1.
	if at := strings.LastIndexByte(adapter, '='); at > 0 {
		if _, err := os.Stat(adapter); err != nil {
			if weight, err = strconv.ParseFloat(adapter[at+1:], 64); err != nil || math.IsNaN(weight) || math.IsInf(weight, 0) {
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
	layers := map[string]factors{} // by the name of the weight's module
	for key, x := range all.All() {
		name := strings.ReplaceAll(strings.TrimPrefix(key, "base_model.model."), ".base_layer.", ".")
		module, which, is := strings.Cut(name, ".lora_")
		if !is {
			i, ok := at[name]
			switch {
			case !ok:
				return fmt.Errorf("tensor %.80q is for no array of the collection", key)
			case weight != 1:
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
	for _, module := range slices.Sorted(maps.Keys(layers)) {
		f := layers[module]
		embedding := f["embedding_A"] != nil || f["embedding_B"] != nil
		a, b := f["A"], f["B"]
		if embedding {
			a, b = f["embedding_A"], f["embedding_B"]
		}
		i, ok := at[module+".weight"]
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
		case config.DoRA && weight != 1:
			return errors.New("adapter_config.json: DoRA adapters have no weight: merge the adapter without one")
		}
		scale, err := 0., errors.Join(a.Err(), b.Err())
		if err == nil {
			scale, err = config.Scale(module, a.Shape(), b.Shape())
		}
		if err != nil {
			return fmt.Errorf("layer %.80q: %w", module, err)
		}
		scale *= weight
		open := c.members[i].make
		c.members[i].make = func() *Array {
			return merged(open(), a, b, f["magnitude_vector"], scale, embedding || config.Transposed && len(a.Shape()) == 2)
		}
		if bias := f["B.bias"]; bias != nil {
			open := c.members[j].make
			c.members[j].make = func() *Array { return plus(open(), bias.AsType(Float32).Mul(float32(scale))) }
		}
	}
	return nil
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
