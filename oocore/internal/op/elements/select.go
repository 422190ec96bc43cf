package elements

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Select is NumPy's select: of each element the choice of the first condition that is
// true, and otherwise, which may be nil for 0, where none is. Types of all choices meet.
func Select(site graph.Site, conditions, choices []*graph.Node, otherwise *graph.Node) (*graph.Node, error) {
	out, err := choose(site, conditions, choices, otherwise)
	return graph.Result(site, "select", out, err, append(conditions, choices...)...)
}

func choose(site graph.Site, conditions, choices []*graph.Node, out *graph.Node) (*graph.Node, error) {
	if len(conditions) == 0 || len(conditions) != len(choices) {
		return nil, fmt.Errorf("%d conditions are not for %d choices", len(conditions), len(choices))
	}
	var err error
	if out == nil {
		if out, err = graph.Scalar(site, 0); err != nil {
			return nil, err
		}
	}
	all := append(slices.Clone(choices), out)
	var types []dtype.Type
	for _, n := range all {
		if !n.Weak {
			types = append(types, n.DType)
		}
	}
	if len(types) > 0 { // numbers take the type in which the arrays meet
		t := dtype.PromoteAll(types...)
		for _, n := range all {
			if n.Weak {
				t = dtype.PromoteWeak(t, n.DType.Kind())
			}
		}
		for i, n := range all {
			if n.Weak {
				if _, err := n.Value.Weaken(t); err != nil {
					return nil, err
				}
			}
			if all[i], err = graph.AsType(site, n, t); err != nil {
				return nil, err
			}
		}
		choices, out = all[:len(choices)], all[len(choices)]
	}
	for i := len(choices) - 1; i >= 0; i-- {
		if conditions[i].DType != dtype.Bool {
			return nil, fmt.Errorf("condition %d has %s, not bools", i, conditions[i].DType)
		}
		if out, err = graph.Apply(site, kernel.Where, conditions[i], choices[i], out); err != nil {
			return nil, graph.Unnamed(err)
		}
	}
	return out, nil
}

// Filled is NumPy's full_like: one value, everywhere in the array's shape, in its type.
func Filled(site graph.Site, a op.Binary) (*graph.Node, error) {
	n, value := a.A, a.B
	if value.Weak {
		if _, err := value.Value.Weaken(n.DType); err != nil {
			return nil, graph.Reject(site, "full_like", err, n)
		}
	}
	m := &graph.Maker{Site: site}
	return m.BroadcastTo(m.Cast(value, n.DType), n.Shape...), m.Err
}
