package oocore

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/run"
)

// beside are reductions for the one Save that is to compute them in the pass that writes its array.
func beside(all ...*Array) (*run.SideReductions, error) {
	s := &run.SideReductions{}
	for _, a := range all {
		n, err := a.expression()
		if err != nil {
			return nil, err
		}
		if n.Kind != graph.Reduce || n.DType != dtype.Float64 {
			return nil, fmt.Errorf("%s is no reduction of floats", n)
		}
		s.Of = append(s.Of, n)
	}
	return s, nil
}
