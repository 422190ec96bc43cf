package oocore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// loraConfig is what of PEFT's adapter_config.json says how an adapter is merged.
type loraConfig struct {
	Type         string   `json:"peft_type"`
	Rank         float64  `json:"r"` // 0 where it is not said
	RankPattern  patterns `json:"rank_pattern"`
	Alpha        float64  `json:"lora_alpha"`
	RankStable   bool     `json:"use_rslora"`
	DoRA         bool     `json:"use_dora"`
	Transposed   bool     `json:"fan_in_fan_out"`
	AlphaPattern patterns `json:"alpha_pattern"`
	Init         any      `json:"init_lora_weights"` // a bool or a name
	Activated    []int    `json:"alora_invocation_tokens"`
	Replicated   []any    `json:"layer_replication"`
	Grouped      bool     `json:"use_qalora"`
}

// pattern is the value of the layers that it matches.
type pattern struct {
	of    string
	value float64
}

// patterns are in the order of the file: the first that matches a layer is the one.
type patterns []pattern

func (p *patterns) UnmarshalJSON(text []byte) error {
	var values map[string]float64
	if json.Unmarshal(text, &values) != nil {
		return errors.New("rank_pattern and alpha_pattern are objects of numbers")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for t, err := d.Token(); err == nil; t, err = d.Token() {
		if of, is := t.(string); is { // all values are numbers
			*p = append(*p, pattern{of, values[of]})
		}
	}
	return nil
}

// find returns the value of a layer, which is otherwise that of all.
func (p patterns) find(module string, otherwise float64) (float64, error) {
	for _, of := range p {
		r, err := regexp.Compile(`^(.*\.)?(` + of.of + `)$`)
		if err != nil {
			return 0, err
		}
		if r.MatchString(module) {
			return of.value, nil
		}
	}
	return otherwise, nil
}

// defaultAlpha is PEFT's where the file has none.
const defaultAlpha = 8

// maxConfig is the most bytes of an adapter_config.json.
const maxConfig = 16 << 20

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
	config, err := readLoRA(filepath.Join(adapter, "adapter_config.json"))
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
		scale, err := config.scale(module, f)
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

func readLoRA(path string) (c loraConfig, err error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() { // opening a pipe waits for its writer
		return c, errors.New("adapter_config.json is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return c, err
	}
	c.Alpha = defaultAlpha
	err = json.Unmarshal(text, &c)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return c, errors.New("adapter_config.json: it is not an object")
		}
		return c, fmt.Errorf("adapter_config.json: %s: its value is of another type, %s", wrong.Field, wrong.Value)
	}
	switch {
	case err != nil:
		return c, fmt.Errorf("adapter_config.json: %w", err)
	case !strings.EqualFold(c.Type, "LORA"):
		return c, fmt.Errorf("adapter_config.json: peft_type %.40q is not LORA", c.Type)
	case c.DoRA:
		return c, errors.New("adapter_config.json: DoRA adapters cannot be merged")
	case len(c.Activated) > 0:
		return c, errors.New("adapter_config.json: activated adapters (aLoRA) cannot be merged")
	case len(c.Replicated) > 0:
		return c, errors.New("adapter_config.json: the adapter is for replicated layers (layer_replication), which the base does not have")
	case c.Grouped:
		return c, errors.New("adapter_config.json: QALoRA adapters cannot be merged")
	}
	begun, _ := c.Init.(string)
	for _, of := range []string{"pissa", "olora", "corda", "loftq"} {
		if strings.HasPrefix(strings.ToLower(begun), of) {
			return c, fmt.Errorf("adapter_config.json: init_lora_weights %.40q changes the weights of the base: convert the adapter by PEFT's path_initial_model_for_weight_conversion", begun)
		}
	}
	return c, nil
}

// scale is alpha / r of a layer, of which a pattern may name alpha.
func (c *loraConfig) scale(module string, f *[2]*Array) (float64, error) {
	a, b := f[0].Shape(), f[1].Shape()
	if err := errors.Join(f[0].Err(), f[1].Err()); err != nil {
		return 0, err
	}
	if len(a) != 2 || len(b) != 2 || a[0] != b[1] || a[0] == 0 {
		return 0, fmt.Errorf("lora_A of shape %s and lora_B of shape %s are of no one rank", grid.Format(a), grid.Format(b))
	}
	rank, err := c.RankPattern.find(module, c.Rank)
	if err != nil {
		return 0, fmt.Errorf("rank_pattern: %w", err)
	}
	if rank != 0 && rank != float64(a[0]) {
		return 0, fmt.Errorf("its factors have rank %d, and adapter_config.json says %v", a[0], rank)
	}
	alpha, err := c.AlphaPattern.find(module, c.Alpha)
	if err != nil {
		return 0, fmt.Errorf("alpha_pattern: %w", err)
	}
	if c.RankStable {
		return alpha / math.Sqrt(float64(a[0])), nil
	}
	return alpha / float64(a[0]), nil
}
