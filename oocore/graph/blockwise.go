package graph

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
)

// NewBlockwise returns the result of an operation that fills boxes, of the given shape and type.
// What the inputs may be has been checked, and they have types of their own: a weak
// number is brought to its default one. args are what titles write after the inputs.
func NewBlockwise(site Site, name string, op blockwise.Op, shape []int, t dtype.Type, in []*Node, args ...string) (*Node, error) {
	if err := grid.Check(shape, t.Size()); err != nil {
		return nil, reject(site, name, err, in...)
	}
	if chunks := op.Chunks(); chunks != nil && (len(chunks) != len(shape) || len(shape) > 0 && slices.Min(chunks) < 1) {
		return nil, reject(site, name, fmt.Errorf("chunks %s do not cut a result of shape %s", grid.Format(chunks), grid.Format(shape)), in...)
	}
	operands := make([]*Node, len(in))
	for i, n := range in {
		var err error
		if operands[i], err = cast(site, n, n.DType); err != nil {
			return nil, reject(site, name, err, in...)
		}
	}
	return &Node{Kind: Blockwise, Shape: slices.Clone(shape), DType: t, In: operands, Site: site,
		Blocks: &Blocks{Op: op, Name: name, Args: args}}, nil
}

// Reject returns the error of an operation that another package builds: what, on which
// operands, where in the program, and why.
func Reject(site Site, op string, err error, in ...*Node) error { return reject(site, op, err, in...) }
