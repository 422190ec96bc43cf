// Package decompose has the decompositions of tensors in expressions, which package decomp runs.
package decompose

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

const (
	called = ", when it is called; then none of its own"
	left   = "what one mode's factor leaves of the tensor, up to a share of the budget, else in a file; the factors; "
)

// Rows are the decompositions of tensors, which package decomp runs.
var Rows = []op.Row{
	{Name: "cp", NumPy: "tensorly.decomposition.parafac", Passes: "1 and 2 for each iteration" + called, Holds: left + "as matmul", Build: op.ByHand(`x, rank, "iterations=50", "tolerance=1e-6", "seed=1", "svd", "nonnegative", "weights" or "factor=0" or "errors"`, 2, -1, parts), Examples: `cp(t, 8, "iterations=2")`,
		Go: "decomp.CP"},
	{Name: "tucker", NumPy: "tensorly.decomposition.tucker", Passes: "4 and 2 for each iteration" + called, Holds: left + "a mode's length times the product of the other ranks", Build: op.ByHand(`x, ranks..., "modes=0,2", "iterations=50", "tolerance=1e-6", "seed=1", "core" or "factor=0" or "errors"`, 2, -1, parts), Examples: `tucker(t, 8, 8, 8, "iterations=2")`,
		Go: "decomp.Tucker"},
	{Name: "hosvd", NumPy: "np.linalg.svd of each unfolding", Passes: "2 and 1 or 2 for each mode" + called, Holds: left + "a mode's Gram matrix", Build: op.ByHand(`x, ranks..., "modes=0,2", "seed=1", "core" or "factor=0" or "errors"`, 2, -1, parts), Examples: "hosvd(t, 8, 8, 8)",
		Go: "decomp.HOSVD"},
}

// words are the options of decompositions, which is of which.
var words = map[string]string{
	"iterations=": "cp tucker", "tolerance=": "cp tucker", "seed=": "cp tucker hosvd", "modes=": "tucker hosvd",
	"svd": "cp", "nonnegative": "cp",
	"weights": "cp", "core": "tucker hosvd", "factor=": "cp tucker hosvd", "errors": "cp tucker hosvd",
}

// options are what words say.
type options struct {
	op.Decomposition
	factor int
}

// parts reads a decomposition's arguments by hand, as which part is given is a word that may have a number: the
// array, ranks, and words, one of which may name a part of it.
func parts(c *op.Call) (*graph.Node, error) {
	x, err := c.Node(0)
	if err != nil {
		return nil, err
	}
	d := options{Decomposition: op.Decomposition{Op: c.Name, Site: c.Site, X: x}}
	first := 1
	for first < len(c.Values) && c.Values[first].Text == nil {
		first++
	}
	of := *c
	of.Values = c.Values[:first]
	if d.Ranks, err = of.Ints(1); err != nil {
		return nil, err
	}
	switch {
	case first == 1:
		return nil, c.Fail(1, "%s takes ranks before its words: %s", d.Op, c.Usage)
	case d.Op == "cp" && first > 2:
		return nil, c.Fail(2, "cp takes one rank: %s", c.Usage)
	}
	part, partAt := "", 0
	var said []string
	for i := first; i < len(c.Values); i++ {
		text := c.Values[i].Text
		if text == nil {
			return nil, c.Fail(i, "%s takes only words after words: %s", d.Op, c.Usage)
		}
		word, value, number := strings.Cut(*text, "=")
		if number {
			word += "="
		}
		ok := slices.Contains(strings.Fields(words[word]), d.Op)
		if ok && slices.Contains(said, word) {
			return nil, c.Fail(i, "%s takes %q once: %s", d.Op, word, c.Usage)
		}
		said = append(said, word)
		if !ok || !d.set(word, value) {
			return nil, c.Fail(i, "%s does not take %q: %s", d.Op, *text, c.Usage)
		}
		switch word {
		case "weights", "core", "factor=", "errors":
			if part != "" {
				return nil, c.Fail(i, "%s gives one part, and %q is a second: %s", d.Op, *text, c.Usage)
			}
			part, partAt = word, i
		}
	}
	factors := len(d.Ranks)
	if d.Op == "cp" {
		factors = len(d.X.Shape)
	}
	if part == "factor=" && d.factor >= factors && len(d.X.Shape) > 1 { // others have none at all
		return nil, c.Fail(partAt, "%s has no factor %d, but %d, counted from 0: %s", d.Op, d.factor, factors, c.Usage)
	}
	if c.Decompose == nil {
		return nil, c.Fail(0, "%s follows from values, which are not computed here", d.Op)
	}
	out, err := c.Decompose(d.Decomposition)
	if err != nil {
		return nil, err
	}
	switch part {
	case "weights":
		return out.Weights, nil
	case "core":
		return out.Core, nil
	case "factor=":
		return out.Factors[d.factor], nil
	case "errors":
		if out.Errors == nil {
			return nil, c.Fail(partAt, "how many errors there are follows from values, which are not computed here")
		}
		return out.Errors, nil
	}
	return out.Whole, nil
}

// set takes an option's value, where it is one.
func (d *options) set(word, value string) bool {
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
		d.factor, err = strconv.Atoi(value)
		return err == nil && d.factor >= 0
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
