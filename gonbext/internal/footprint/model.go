package footprint

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/units"
)

// Tensor is an array of a model.
type Tensor struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
	Type  string `json:"type"` // as which it is stored
	Bytes int64  `json:"bytes"`
}

// Model is what the tensors of a checkpoint take, as they are or converted.
type Model struct {
	Path         string   `json:"path"`
	Codec        string   `json:"codec,omitempty"`
	Bytes        int64    `json:"bytes"`
	Types        []Tally  `json:"types"`
	Tensors      []Tensor `json:"tensors"`
	Device       int64    `json:"device,omitempty"` // memory of the device asked about
	FitsOnDevice bool     `json:"fits_device"`
}

// Tally is what all tensors of a type take.
type Tally struct {
	Type    string `json:"type"`
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`
}

// block is how many elements of a row, one after the other, are so many bytes.
type block struct{ elements, bytes int }

// blocks are those of ggml, by the names that it has for them.
var blocks = map[string]block{"F32": {1, 4}, "F16": {1, 2}, "BF16": {1, 2}, "Q8_0": {32, 34}, "Q4_0": {32, 18}, "Q4_1": {32, 20}, "Q5_0": {32, 22},
	"Q5_1": {32, 24}, "Q3_K": {256, 110}, "Q4_K": {256, 144}, "Q5_K": {256, 176}, "Q6_K": {256, 210}, "MXFP4": {32, 17}}

// shorter are the types that take the place of one whose blocks do not divide a row.
var shorter = map[string]string{"Q3_K": "Q4_0", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}

// recipe says which type a tensor of two dimensions or more has in a converted model.
type recipe struct {
	usual string
	// by is the type of tensors of a role in a layer of so many; "" is the usual one.
	by map[string]func(layer, layers int) string
}

func always(t string) func(int, int) string { return func(int, int) string { return t } }

func first(n func(layers int) int, t, then string) func(int, int) string {
	return func(layer, layers int) string {
		if layer < n(layers) {
			return t
		}
		return then
	}
}

// sensitive is a type for the layers at both ends, an eighth of all each, and for every third between.
func sensitive(t string) func(int, int) string {
	return func(layer, layers int) string {
		if layer < layers/8 || layer >= 7*layers/8 || (layer-layers/8)%3 == 2 {
			return t
		}
		return ""
	}
}

func share(of int) func(int) int { return func(layers int) int { return layers / of } }
func number(n int) func(int) int { return func(int) int { return n } }

// recipes are those of llama.cpp's quantize (llama_tensor_get_type), by the names that models have: what is most sensitive to rounding
// has more bits.
var recipes = map[string]recipe{
	"f32": {usual: "F32"}, "f16": {usual: "F16"}, "bf16": {usual: "BF16"}, "q8_0": {usual: "Q8_0"}, "mxfp4": {usual: "MXFP4"},
	"q4_0": {usual: "Q4_0"}, "q4_1": {usual: "Q4_1"}, "q5_0": {usual: "Q5_0"}, "q5_1": {usual: "Q5_1"},
	"q3_k_s": {usual: "Q3_K"}, "q5_k_s": {usual: "Q5_K"}, "q6_k": {usual: "Q6_K"},
	"q3_k_m": {"Q3_K", map[string]func(int, int) string{"v": first(number(2), "Q5_K", "Q4_K"), "down": first(share(16), "Q5_K", "Q4_K"), "o": always("Q4_K")}},
	"q3_k_l": {"Q3_K", map[string]func(int, int) string{"v": always("Q5_K"), "down": always("Q5_K"), "o": always("Q5_K")}},
	"q4_k_s": {"Q4_K", map[string]func(int, int) string{"v": first(number(4), "Q5_K", ""), "down": first(share(8), "Q5_K", "")}},
	"q4_k_m": {"Q4_K", map[string]func(int, int) string{"v": sensitive("Q6_K"), "down": sensitive("Q6_K")}},
	"q5_k_m": {"Q5_K", map[string]func(int, int) string{"v": sensitive("Q6_K"), "down": sensitive("Q6_K")}},
}

// roles are what tensors of checkpoints and of GGUF files are called.
var roles = map[string]string{"lm_head": "output", "output": "output", "embed_tokens": "embedding", "token_embd": "embedding", "wte": "embedding",
	"v_proj": "v", "attn_v": "v", "o_proj": "o", "attn_output": "o", "down_proj": "down", "ffn_down": "down"}

var layerOf = regexp.MustCompile(`(?:^|\.)(?:layers|blk|h|blocks)\.(\d+)\.`)

// ModelOf works out what tensors take, of which t has the types that they are stored in, where they are converted to codec; "" leaves
// them as they are.
func ModelOf(path, codec string, tensors []Tensor, device *cuda.Card) (*Model, error) {
	m := &Model{Path: path, Codec: codec, Tensors: slices.Clone(tensors)}
	r, known := recipes[strings.ToLower(codec)]
	if codec != "" && !known {
		return nil, fmt.Errorf("what %q makes of a model is not known: use one of %s", codec, strings.Join(slices.Sorted(maps.Keys(recipes)), ", "))
	}
	layers, tied := 0, true
	for _, t := range tensors {
		if l, ok := layer(t.Name); ok {
			layers = max(layers, l+1)
		}
		tied = tied && role(t.Name) != "output"
	}
	tallies := map[string]*Tally{}
	for i := range m.Tensors {
		t := &m.Tensors[i]
		if known {
			t.Type = r.of(*t, layers, tied)
			b := blocks[t.Type]
			t.Bytes = int64(host.Elements(t.Shape) / b.elements * b.bytes)
		}
		if m.Bytes += t.Bytes; tallies[t.Type] == nil {
			tallies[t.Type] = &Tally{Type: t.Type}
		}
		tallies[t.Type].Tensors++
		tallies[t.Type].Bytes += t.Bytes
	}
	for _, of := range tallies {
		m.Types = append(m.Types, *of)
	}
	slices.SortFunc(m.Types, func(a, b Tally) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type)) })
	if device != nil {
		m.Device = device.Usable()
		m.FitsOnDevice = m.Bytes <= m.Device
	}
	return m, nil
}

func layer(name string) (n int, ok bool) {
	if found := layerOf.FindStringSubmatch(name); found != nil {
		n, err := strconv.Atoi(found[1])
		return n, err == nil
	}
	return 0, false
}

func role(name string) string {
	parts := strings.Split(strings.TrimSuffix(name, ".weight"), ".")
	return roles[parts[len(parts)-1]]
}

// of is the type of a tensor. Vectors, such as norms and biases, stay in single precision.
func (r *recipe) of(t Tensor, layers int, tied bool) string {
	if len(t.Shape) < 2 {
		return "F32"
	}
	as, what := r.usual, role(t.Name)
	if f := r.by[what]; f != nil {
		n, _ := layer(t.Name)
		as = cmp.Or(f(n, layers), as)
	}
	if whole := blocks[r.usual].elements > 1 && r.usual != "Q8_0"; whole && (what == "output" || what == "embedding" && tied) {
		as = "Q6_K"
	}
	if layers == 80 && what == "v" && (as == "Q3_K" || as == "Q4_K") { // eight heads share it there
		as = "Q5_K"
	}
	row := t.Shape[len(t.Shape)-1]
	if row%blocks[as].elements != 0 {
		as = cmp.Or(shorter[as], "F16")
	}
	if row%blocks[as].elements != 0 {
		as = "F16"
	}
	return as
}

// Output is the report for a terminal.
func (m *Model) Output() (chart.Output, error) {
	types := chart.Table{Caption: "By type", Head: []string{"type", "tensors", "bytes", ""}, Texts: 1}
	for _, t := range m.Types {
		types.Rows = append(types.Rows, []string{t.Type, units.Count(int64(t.Tensors)), units.Count(t.Bytes), units.Bytes(t.Bytes)})
	}
	all := chart.Table{Caption: "By tensor", Head: []string{"tensor", "shape", "type", "bytes", ""}, Texts: 3}
	for _, t := range m.Tensors {
		all.Rows = append(all.Rows, []string{t.Name, units.Shape(t.Shape), t.Type, units.Count(t.Bytes), units.Bytes(t.Bytes)})
	}
	fits := "What runs the model takes more than its tensors: for what it has read, and for what it computes."
	switch {
	case m.FitsOnDevice:
		fits = fmt.Sprintf("It fits a device of %s, with %s to spare. ", units.Bytes(m.Device), units.Bytes(m.Device-m.Bytes)) + fits
	case m.Device > 0:
		fits = fmt.Sprintf("It does not fit a device of %s: it takes %s more. ", units.Bytes(m.Device), units.Bytes(m.Bytes-m.Device)) + fits
	}
	what := m.Path
	if m.Codec != "" {
		what += " as " + m.Codec
	}
	return chart.Tables(what, fmt.Sprintf("%s tensors, %s", units.Count(int64(len(m.Tensors))), units.Exact(m.Bytes)), fits, types, all)
}
