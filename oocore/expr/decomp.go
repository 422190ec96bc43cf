package expr

import (
	"fmt"
	"go/ast"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
)

// Decomposition is what an expression asks for of a tensor: an algorithm of several runs.
type Decomposition struct {
	Op          string // "cp", "tucker" or "hosvd"
	Site        graph.Site
	X           *graph.Node
	Ranks       []int   // of cp one; else one for each of Modes
	Modes       []int   // nil is all
	Iterations  int     // at the most; 0 is the algorithm's default
	Tolerance   float64 // 0 is the algorithm's default, less than 0 none
	Seed        uint64
	SVD         bool
	NonNegative bool
}

// Decomposes says whether an expression calls what runs an algorithm.
func Decomposes(src string) (found bool) {
	tree, err := (&reader{src: src}).syntax()
	if err != nil {
		return false
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			id, named := call.Fun.(*ast.Ident)
			found = found || named && (id.Name == "cp" || id.Name == "tucker" || id.Name == "hosvd")
		}
		return true
	})
	return found
}

// decompositionKey tells apart what is decomposed in one expression. It holds the array,
// so that no other one is at its address.
type decompositionKey struct {
	x    *graph.Node
	rest string
}

func (d Decomposition) key() decompositionKey {
	x := d.X
	d.X, d.Site = nil, graph.Site{}
	return decompositionKey{x, fmt.Sprintf("%+v", d)}
}

// Decomposed are the parts of a decomposition. What an algorithm does not have is nil.
type Decomposed struct {
	Whole   *graph.Node // the tensor that the others stand for
	Core    *graph.Node
	Weights *graph.Node
	Factors []*graph.Node
	Errors  *graph.Node // relative, after each iteration; nil where nothing was computed
}

// words are the options of decompositions, which is of which.
var words = map[string]string{
	"iterations=": "cp tucker", "tolerance=": "cp tucker", "seed=": "cp tucker hosvd", "modes=": "tucker hosvd",
	"svd": "cp", "nonnegative": "cp",
	"weights": "cp", "core": "tucker hosvd", "factor=": "cp tucker hosvd", "errors": "cp tucker hosvd",
}

func init() {
	const tucker = `"core" or "factor=0" or "errors")`
	define(`cp(x, rank, "iterations=50", "tolerance=1e-6", "seed=1", "svd", "nonnegative", "weights" or "factor=0" or "errors")`, 2, -1, decompose)
	define(`tucker(x, ranks..., "modes=0,2", "iterations=50", "tolerance=1e-6", "seed=1", `+tucker, 2, -1, decompose)
	define(`hosvd(x, ranks..., "modes=0,2", "seed=1", `+tucker, 2, -1, decompose)
	const (
		called = ", when it is called; then none of its own"
		parts  = "what one mode's factor leaves of the tensor, up to a share of the budget, else in a file; the factors; "
	)
	document("cp", Doc{NumPy: "tensorly.decomposition.parafac", Passes: "1 and 2 for each iteration" + called, Working: parts + "as matmul"})
	document("tucker", Doc{NumPy: "tensorly.decomposition.tucker", Passes: "4 and 2 for each iteration" + called,
		Working: parts + "a mode's length times the product of the other ranks"})
	document("hosvd", Doc{NumPy: "np.linalg.svd of each unfolding", Passes: "2 and 1 or 2 for each mode" + called, Working: parts + "a mode's Gram matrix"})
}

// decompose reads a decomposition's arguments: the array, ranks, and words, one of which
// may name a part of it.
func decompose(c *call) (*graph.Node, error) {
	in, err := c.arrays(1)
	if err != nil {
		return nil, err
	}
	d := Decomposition{Op: c.f.Name, Site: c.site, X: in[0]}
	first := 1
	for first < len(c.values) && c.values[first].Text == nil {
		first++
	}
	of := *c
	of.values = c.values[:first]
	if d.Ranks, err = of.ints(1); err != nil {
		return nil, err
	}
	switch {
	case first == 1:
		return nil, c.fail(c.args[1].Pos(), "%s takes ranks before its words: %s", d.Op, c.f.Usage)
	case d.Op == "cp" && first > 2:
		return nil, c.fail(c.args[2].Pos(), "cp takes one rank: %s", c.f.Usage)
	}
	part, factor, partAt := "", 0, ast.Expr(nil)
	var said []string
	for i := first; i < len(c.values); i++ {
		text := c.values[i].Text
		if text == nil {
			return nil, c.fail(c.args[i].Pos(), "%s takes only words after words: %s", d.Op, c.f.Usage)
		}
		word, value, number := strings.Cut(*text, "=")
		if number {
			word += "="
		}
		ok := slices.Contains(strings.Fields(words[word]), d.Op)
		if ok && slices.Contains(said, word) {
			return nil, c.fail(c.args[i].Pos(), "%s takes %q once: %s", d.Op, word, c.f.Usage)
		}
		said = append(said, word)
		if !ok || !d.set(word, value, &factor) {
			return nil, c.fail(c.args[i].Pos(), "%s does not take %q: %s", d.Op, *text, c.f.Usage)
		}
		switch word {
		case "weights", "core", "factor=", "errors":
			if part != "" {
				return nil, c.fail(c.args[i].Pos(), "%s gives one part, and %q is a second: %s", d.Op, *text, c.f.Usage)
			}
			part, partAt = word, c.args[i]
		}
	}
	factors := len(d.Ranks)
	if d.Op == "cp" {
		factors = len(d.X.Shape)
	}
	if part == "factor=" && factor >= factors && len(d.X.Shape) > 1 { // others have none at all
		return nil, c.fail(partAt.Pos(), "%s has no factor %d, but %d, counted from 0: %s", d.Op, factor, factors, c.f.Usage)
	}
	out, err := c.decomposed(d)
	if err != nil {
		return nil, err
	}
	switch part {
	case "weights":
		return out.Weights, nil
	case "core":
		return out.Core, nil
	case "factor=":
		return out.Factors[factor], nil
	case "errors":
		if out.Errors == nil {
			return nil, c.fail(partAt.Pos(), "how many errors there are follows from values, which are not computed here")
		}
		return out.Errors, nil
	}
	return out.Whole, nil
}

// set takes an option's value, where it is one.
func (d *Decomposition) set(word, value string, factor *int) bool {
	var err error
	switch word {
	case "iterations=":
		d.Iterations, err = strconv.Atoi(value)
		return err == nil && d.Iterations > 0
	case "tolerance=":
		d.Tolerance, err = strconv.ParseFloat(value, 64)
		if d.Tolerance == 0 { // which no change is less than
			d.Tolerance = -1
		}
		return err == nil && !math.IsNaN(d.Tolerance)
	case "seed=":
		d.Seed, err = strconv.ParseUint(value, 10, 64)
	case "factor=":
		*factor, err = strconv.Atoi(value)
		return err == nil && *factor >= 0
	case "modes=":
		d.Modes = nil
		for text := range strings.SplitSeq(value, ",") {
			m, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return false
			}
			d.Modes = append(d.Modes, m)
		}
	case "svd":
		d.SVD = true
	case "nonnegative":
		d.NonNegative = true
	}
	return err == nil
}

// decomposed runs a decomposition, once for all its parts that an expression takes of one
// array: a named one, for what is computed is another at each place where it is written.
func (c *call) decomposed(d Decomposition) (*Decomposed, error) {
	if c.host == nil {
		return nil, c.fail(c.args[0].Pos(), "%s follows from values, which are not computed here", d.Op)
	}
	key := d.key()
	if out := c.parts[key]; out != nil {
		return out, nil
	}
	out, err := c.host.Decompose(d)
	if err != nil {
		return nil, err
	}
	c.parts[key] = out
	return out, nil
}
