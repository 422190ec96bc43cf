package oocore

import (
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/expr"
	"github.com/gonbext/gonbext/oocore/graph"
)

// Names are the arrays of an expression in text.
type Names map[string]*Array

// Eval is an expression in text, in Go's expression syntax over NumPy's names
// with positional axes: Eval("tanh(x - mean(x, 0))", Names{"x": x}).
func Eval(expression string, names Names) *Array {
	nodes := make(map[string]*graph.Node, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) { // for the first error to be always the same
		n, err := names[name].expression()
		if err != nil {
			return &Array{err: err}
		}
		nodes[name] = n
	}
	n, err := expr.Parse(expression, nodes)
	return made(n, err)
}
