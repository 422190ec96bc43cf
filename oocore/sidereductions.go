package oocore

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// sideReductions are reductions to a float64 each, along all axes of arrays of the shape of one
// that is saved, which are computed in the pass that writes it.
type sideReductions struct {
	of     []*Array
	values []float64
}

// with returns the option of the one Save that computes them.
func (b *sideReductions) with() Option {
	return set(func(s *settings) { s.sideReductions = b })
}

func (b *sideReductions) nodes() (all []*graph.Node, err error) {
	for _, a := range b.of {
		n, err := a.expression()
		if err != nil {
			return nil, err
		}
		if n.Kind != graph.Reduce || n.DType != dtype.Float64 {
			return nil, fmt.Errorf("%s is no reduction of floats", n)
		}
		all = append(all, n)
	}
	return all, nil
}

// places returns the memory for their values. A Save whose array has been saved before computes none and
// does not call it: values is nil then.
func (b *sideReductions) places() (all [][]byte) {
	b.values = make([]float64, len(b.of))
	for i := range b.values {
		all = append(all, dtype.Bytes(b.values[i:i+1]))
	}
	return all
}
