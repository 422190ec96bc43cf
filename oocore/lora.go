package oocore

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/lora"
)

// MergeLoRA returns the collection with a LoRA adapter merged into it: the folder of a PEFT adapter, with
// adapter_config.json and adapter_model.safetensors. As PEFT's merge_and_unload has it, a weight W becomes
// W + B·A · alpha / r, or alpha / √r of one that is rank-stabilised, with what is added computed in float32
// and rounded to the type of W. Whole weights that the adapter has (modules_to_save)
// take the place of the collection's.
func (c *Collection) MergeLoRA(adapter string) *Collection {
	c = c.orMissing()
	m := &Collection{site: graph.Caller(), source: c.source, folder: c.folder, members: slices.Clone(c.members)}
	if m.err = c.err; m.err != nil {
		return m
	}
	if err := m.mergeLoRA(adapter); err != nil {
		m.err = &Error{Op: "merge", Site: m.site, Err: fmt.Errorf("%s: %w", adapter, err)}
	}
	return m
}

func (c *Collection) mergeLoRA(adapter string) error {
	config, err := lora.Read(filepath.Join(adapter, "adapter_config.json"))
	if err != nil {
		return err
	}
	all := OpenAll(filepath.Join(adapter, "adapter_model.safetensors"))
	switch {
	case all.err != nil:
		return all.err
	case all.Len() == 0:
		return errors.New("adapter_model.safetensors has no tensor")
	}
	at := make(map[string]int, len(c.members))
	for i, of := range c.members {
		at[of.name] = i
	}
	factors := map[string]*[2]*Array{} // A and B by the name of the weight
	for key, x := range all.All() {
		name := strings.TrimPrefix(key, "base_model.model.")
		module, which, is := strings.Cut(name, ".lora_")
		if !is {
			i, ok := at[name]
			if !ok {
				return fmt.Errorf("tensor %.80q is for no array of the collection", key)
			}
			c.members[i].make = func() *Array { return x }
			continue
		}
		side := slices.Index([]string{"A", "B"}, strings.TrimSuffix(strings.TrimSuffix(which, ".weight"), ".default"))
		if side < 0 {
			return fmt.Errorf("tensor %.80q: of LoRA only lora_A and lora_B of linear layers can be merged", key)
		}
		if factors[module] == nil {
			factors[module] = new([2]*Array)
		}
		if factors[module][side] != nil {
			return fmt.Errorf("tensor %.80q: layer %.80q has another of that kind", key, module)
		}
		factors[module][side] = x
	}
	for _, module := range slices.Sorted(maps.Keys(factors)) {
		f := factors[module]
		i, ok := at[module+".weight"]
		switch {
		case !ok:
			return fmt.Errorf("the adapter is for layer %.80q, which the collection lacks", module)
		case f[0] == nil || f[1] == nil:
			return fmt.Errorf("layer %.80q has lora_A or lora_B alone", module)
		}
		scale, err := 0., errors.Join(f[0].Err(), f[1].Err())
		if err == nil {
			scale, err = config.Scale(module, f[0].Shape(), f[1].Shape())
		}
		if err != nil {
			return fmt.Errorf("layer %.80q: %w", module, err)
		}
		open := c.members[i].make
		c.members[i].make = func() *Array { return merged(open(), f, scale, config.Transposed) }
	}
	return nil
}

// merged is a weight with what its factors add.
func merged(w *Array, f *[2]*Array, scale float64, transposed bool) *Array {
	delta := f[1].AsType(Float32).MatMul(f[0].AsType(Float32))
	if transposed {
		delta = delta.T()
	}
	if shape, of := w.Shape(), delta.Shape(); w.Err() == nil && delta.Err() == nil && !slices.Equal(shape, of) {
		return made(nil, &Error{Op: "merge", Err: fmt.Errorf("the adapter adds %s to a weight of shape %s", grid.Format(of), grid.Format(shape))})
	}
	t := w.DType()
	if w.Err() == nil && (t.Kind() != dtype.KindFloat || t.StorageOnly()) {
		return made(nil, &Error{Op: "merge", Err: fmt.Errorf("a weight in %s is quantized, which an adapter cannot be added to: merge into the checkpoint that it was made of", t)})
	}
	return w.Add(delta.Mul(float32(scale)).AsType(t)).AsType(t)
}
