package gguf

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// A recipe says which type each matrix of a model has: those of llama.cpp (llama_tensor_get_type of llama-quant.cpp)
// without an importance matrix, by the names that its quantizer has for them. What is most sensitive to rounding has
// more bits. What llama.cpp reads in a model's metadata, numbers of layers, of experts and of heads that share keys,
// is taken from names and shapes; its exceptions for Falcon are left out.
type recipe struct {
	usual string
	// by is the type of tensors of a role, the i-th of n; "" is the usual one.
	by map[string]func(m *model, i, n int) string
}

// model is what recipes ask of all tensors.
type model struct {
	layers, experts int
	shared          int // heads of queries for each of keys
	tied            bool
	values          int // tensors that are, or have, the projection to values
}

func always(t string) func(*model, int, int) string {
	return func(*model, int, int) string { return t }
}

// first is a type for so many of the first tensors.
func first(most func(n int) int, t, then string) func(*model, int, int) string {
	return func(_ *model, i, n int) string {
		if i < most(n) {
			return t
		}
		return then
	}
}

// sensitive is a type for the layers at both ends, an eighth of all each, and for every third between.
func sensitive(t string) func(*model, int, int) string {
	return func(_ *model, i, n int) string {
		if i < n/8 || i >= 7*n/8 || (i-n/8)%3 == 2 {
			return t
		}
		return ""
	}
}

// eight is a type for models of eight experts, and another for all others.
func eight(t, other string) func(*model, int, int) string {
	return func(m *model, _, _ int) string {
		if m.experts == 8 {
			return t
		}
		return other
	}
}

func share(of int) func(int) int { return func(n int) int { return n / of } }
func count(n int) func(int) int  { return func(int) int { return n } }

type rules = map[string]func(*model, int, int) string

var recipes = map[string]recipe{
	"f32": {usual: "float32"}, "f16": {usual: "float16"}, "bf16": {usual: "bfloat16"}, "q8_0": {usual: "Q8_0"}, "mxfp4": {usual: "MXFP4"}, "mxfp4_moe": {usual: "MXFP4"},
	"q4_0": {usual: "Q4_0"}, "q4_1": {usual: "Q4_1"}, "q5_0": {usual: "Q5_0"}, "q5_1": {usual: "Q5_1"}, "q5_k_s": {usual: "Q5_K"}, "q6_k": {usual: "Q6_K"},
	"q2_k": {"Q2_K", rules{"v": func(m *model, _, _ int) string {
		if m.shared >= 4 {
			return "Q4_K"
		}
		return "Q3_K"
	}, "down": always("Q3_K"), "o": eight("Q5_K", "Q3_K")}},
	"q3_k_s": {"Q3_K", rules{"o": eight("Q5_K", "")}},
	"q3_k_m": {"Q3_K", rules{"v": first(count(2), "Q5_K", "Q4_K"), "down": first(share(16), "Q5_K", "Q4_K"), "o": eight("Q5_K", "Q4_K")}},
	"q3_k_l": {"Q3_K", rules{"v": always("Q5_K"), "down": always("Q5_K"), "o": eight("", "Q5_K")}},
	"q4_k_s": {"Q4_K", rules{"v": first(count(4), "Q5_K", ""), "down": first(share(8), "Q5_K", ""), "o": eight("Q5_K", "")}},
	"q4_k_m": {"Q4_K", rules{"v": sensitive("Q6_K"), "down": sensitive("Q6_K"), "o": eight("Q5_K", "")}},
	"q5_k_m": {"Q5_K", rules{"v": sensitive("Q6_K"), "down": sensitive("Q6_K")}},
}

func init() {
	for _, short := range []string{"q3_k", "q4_k", "q5_k"} {
		recipes[short] = recipes[short+"_m"]
	}
}

// Sizes returns the types of tensors by a recipe, and their bytes.
func Sizes(name string, names []string, as []store.Meta) (kinds []string, bytes []int64, err error) {
	if len(names) != len(as) {
		return nil, nil, fmt.Errorf("%d names are given for %d tensors", len(names), len(as))
	}
	members := make([]storage.NewMember, len(names))
	for i := range names {
		members[i] = storage.NewMember{Name: names[i], Meta: as[i]}
	}
	kinds, ok := Types(name, members)
	if !ok {
		return nil, nil, fmt.Errorf("what %q makes of a model is not known: use one of %s", name, strings.Join(slices.Sorted(maps.Keys(recipes)), ", "))
	}
	bytes = make([]int64, len(names))
	for i, t := range members {
		floats, size, block := codec.GGML(kinds[i])
		if !block {
			floats, size = 1, t.DType.Size()
			if as, err := dtype.Parse(kinds[i]); err == nil {
				size = as.Size()
			}
		}
		bytes[i] = int64(grid.Size(t.Shape)) / int64(floats) * int64(size)
	}
	return kinds, bytes, nil
}

// shorter are the types that take the place of one whose blocks do not divide a row.
var shorter = map[string]string{"Q2_K": "Q4_0", "Q3_K": "Q4_0", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}

// roles are what tensors of checkpoints and of GGUF files are called.
var roles = map[string]string{"lm_head": "output", "output": "output", "embed_tokens": "embedding", "token_embd": "embedding", "per_layer_token_embd": "embedding", "wte": "embedding",
	"q_proj": "q", "attn_q": "q", "k_proj": "k", "attn_k": "k", "v_proj": "v", "attn_v": "v", "attn_qkv": "v", "attn_kv_b": "v", "query_key_value": "v", "c_attn": "v", "kv_b_proj": "v",
	"o_proj": "o", "attn_output": "o", "down_proj": "down", "ffn_down": "down", "ffn_down_exps": "down", "ffn_down_shexp": "down"}

// exact are parts of the names of matrices that stay as they are: small ones, and those that choose experts or positions.
var exact = regexp.MustCompile(`norm|ffn_gate_inp|ffn_gate_tid2eid|altup|laurel|per_layer_model_proj|position_emb|pos_embd|token_type|wpe|(^|\.)(gate|router)\.weight$|` +
	`ssm_conv1d|mixer\.conv1d|shortconv\.conv|indexer\.[kq]_proj|time_mix_(first|[wa][012]|v[012]|g[12]|decay_w[12]|lerp_fused)\.|attn_rel_b|sam\.ne[ct]|\.rel_pos|\.patch_(embd|merger)|codebook|code_embd`)

var layerOf, expertOf = regexp.MustCompile(`(?:^|\.)(?:layers|blk|h|blocks)\.(\d+)\.`), regexp.MustCompile(`experts\.(\d+)\.`)

// numberIn is the number that a name has.
func numberIn(of *regexp.Regexp, name string) int {
	if found := of.FindStringSubmatch(name); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n < 1<<20 {
			return n
		}
	}
	return -1
}

func role(name string) string {
	name = strings.TrimSuffix(name, ".weight")
	return roles[name[strings.LastIndexByte(name, '.')+1:]]
}

// Types are those that tensors have by a recipe, "" for one that stays as it is; false where there is no such recipe.
// What is no float stays, and so do matrices that llama.cpp does not quantize; vectors are float32.
func Types(name string, members []storage.NewMember) ([]string, bool) {
	name = strings.ToLower(name)
	r, known := recipes[name]
	if !known {
		return nil, false
	}
	m := model{tied: true}
	rows := map[string]int{} // of the first projections
	order := make([]int, len(members))
	layers := make([]int, len(members))
	for i, t := range members {
		order[i], layers[i] = i, numberIn(layerOf, t.Name)
		m.layers = max(m.layers, layers[i]+1)
		m.experts = max(m.experts, numberIn(expertOf, t.Name)+1)
		if len(t.Shape) < 2 {
			continue
		}
		what := role(t.Name)
		switch n := t.Shape[len(t.Shape)-2]; what {
		case "output":
			m.tied = false
		case "q", "k":
			rows[what] = cmp.Or(rows[what], n)
		case "v":
			m.values++
		case "down":
			if len(t.Shape) == 3 {
				m.experts = max(m.experts, t.Shape[0])
			}
		}
	}
	m.shared = rows["q"] / max(rows["k"], 1)
	slices.SortStableFunc(order, func(a, b int) int { // as llama.cpp counts them
		return cmp.Or(cmp.Compare(layers[a], layers[b]), cmp.Compare(members[a].Name, members[b].Name))
	})
	out, seen := make([]string, len(members)), map[string]int{}
	for _, at := range order {
		t := members[at]
		what := role(t.Name)
		dotted := strings.Contains(t.Name, ".") && !strings.HasSuffix(t.Name, "weight") && !strings.HasSuffix(t.Name, "_proj")
		switch {
		case t.DType.Kind() != dtype.KindFloat:
		case len(t.Shape) < 2:
			out[at] = "float32"
		case exact.MatchString(t.Name) || dotted:
		default:
			i, n := seen[what], m.layers
			if seen[what]++; what == "v" {
				n = m.values
			} else if m.experts > 1 {
				i = layers[at]
			}
			out[at] = r.of(t, name, what, &m, i, n)
		}
	}
	return out, true
}

// of is the type of a matrix, which is the i-th of n of its role.
func (r *recipe) of(t storage.NewMember, name, what string, m *model, i, n int) string {
	floats := func(of string) int {
		f, _, _ := codec.GGML(of)
		return max(f, 1)
	}
	as, row := r.usual, t.Shape[len(t.Shape)-1]
	if f := r.by[what]; f != nil {
		as = cmp.Or(f(m, i, n), as)
	}
	if floats(r.usual) > 1 {
		switch {
		case what == "output" || what == "embedding" && m.tied:
			if as = "Q6_K"; r.usual == "Q8_0" || name == "mxfp4_moe" || row%floats(r.usual) != 0 {
				as = "Q8_0"
			}
		case name == "mxfp4_moe" && (len(t.Shape) < 3 || t.Shape[0] < 2):
			as = "Q8_0"
		case (what == "v" || what == "k") && m.experts == 8:
			as = "Q8_0"
		case what == "v" && m.layers == 80 && m.shared > 1 && (as == "Q3_K" || as == "Q4_K"): // of 70 billion weights, where eight heads share it
			as = "Q5_K"
		}
	}
	if row%floats(as) != 0 {
		as = cmp.Or(shorter[as], "float16")
	}
	if row%floats(as) != 0 {
		as = "float16"
	}
	return as
}
