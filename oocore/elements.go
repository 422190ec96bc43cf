package oocore

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/elements"
)

// Select returns, for each element, the choice that belongs to the first condition that is true
// there, and otherwise where none is. Choices and otherwise are arrays or numbers of Go, with as many
// choices as conditions. It is computed in the pass that reads it.
func Select(conditions []*Array, choices []any, otherwise any) *Array {
	return build("select", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		k := len(conditions)
		return elements.Select(site, in[1:1+k], in[1+k:], in[0])
	}, slices.Concat([]any{otherwise}, anys(conditions), choices)...)
}

// Closeness says how close two numbers must be to count as equal: |a-b| is at most Absolute +
// Relative·|b|. NumPy's are Relative: 1e-5 and Absolute: 1e-8.
type Closeness struct {
	Relative, Absolute float64
	EqualNaN           bool // NaN is close to NaN
}
