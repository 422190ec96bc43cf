// Package lora reads how the adapters of PEFT are merged into the weights that they were made for.
package lora

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Config is what of PEFT's adapter_config.json says how an adapter is merged.
type Config struct {
	Type         string   `json:"peft_type"`
	Rank         float64  `json:"r"` // 0 where it is not said
	RankPattern  patterns `json:"rank_pattern"`
	Alpha        float64  `json:"lora_alpha"`
	RankStable   bool     `json:"use_rslora"`
	DoRA         bool     `json:"use_dora"`
	Transposed   bool     `json:"fan_in_fan_out"`
	AlphaPattern patterns `json:"alpha_pattern"`
	Parameters   []string `json:"target_parameters"` // weights that are no module's own, as those of many experts
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

// Read reads adapter_config.json, and rejects adapters that cannot be merged.
func Read(path string) (c Config, err error) {
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

// Scale is alpha / r of a layer of so many experts whose lora_A and lora_B have these shapes. A pattern may name alpha.
func (c *Config) Scale(module string, a, b []int, experts int) (float64, error) {
	if len(a) < 2 || len(a) != len(b) || a[0] != b[1] || a[0] == 0 || grid.Size(b) != b[0]*b[1] {
		return 0, fmt.Errorf("lora_A of shape %s and lora_B of shape %s are of no one rank", grid.Format(a), grid.Format(b))
	}
	rank, err := c.RankPattern.find(module, c.Rank)
	if err != nil {
		return 0, fmt.Errorf("rank_pattern: %w", err)
	}
	of := float64(a[0] / experts)
	if rank != 0 && rank != of || a[0]%experts != 0 {
		return 0, fmt.Errorf("its factors have rank %v, and adapter_config.json says %v", float64(a[0])/float64(experts), rank)
	}
	alpha, err := c.AlphaPattern.find(module, c.Alpha)
	if err != nil {
		return 0, fmt.Errorf("alpha_pattern: %w", err)
	}
	if c.RankStable {
		return alpha / math.Sqrt(of), nil
	}
	return alpha / of, nil
}

// Target is a weight of experts, of shape (experts, …, …), that factors are for.
type Target struct {
	Name string
	// Forward is that each expert's weight is (in, out), and Backward that it is (out, in); both of a square one.
	Forward, Backward bool
}

// TargetOf returns the weight of experts that a module's factors of these shapes are for: of target_parameters the one that is the
// module's, and has that shape. Where a module has several, adapters do not say which of its factors is whose.
func (c *Config) TargetOf(module string, a, b []int, shape func(name string) []int) (of Target, err error) {
	for _, target := range c.Parameters {
		name := module + "." + target[strings.LastIndexByte(target, '.')+1:]
		w := shape(name)
		if !strings.HasSuffix("."+name, "."+target) || len(w) != 3 || len(a) != 2 || len(b) != 2 || w[0] == 0 || a[0]%w[0] != 0 {
			continue
		}
		t := Target{name, w[1] == a[1] && w[2] == b[0], w[1] == b[0] && w[2] == a[1]}
		if (t.Forward || t.Backward) && of.Name != "" {
			return of, fmt.Errorf("its factors may be those of %.80q or of %.80q, which have one shape", of.Name, name)
		}
		if t.Forward || t.Backward {
			of = t
		}
	}
	return of, nil
}
