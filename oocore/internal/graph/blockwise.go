package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// NewBlockwise returns the result of an operation that fills boxes, of the given shape and type.
// What the inputs may be has been checked, and they have types of their own: a weak
// number is brought to its default one. args are what titles write after the inputs.
func NewBlockwise(site Site, name string, op blockwise.Op, shape []int, t dtype.Type, in []*Node, args ...string) (*Node, error) {
	if err := grid.Check(shape, t.Size()); err != nil {
		return nil, reject(site, name, err, in...)
	}
	if chunks := blockwise.ChunksOf(op); chunks != nil && (len(chunks) != len(shape) || len(shape) > 0 && slices.Min(chunks) < 1) {
		return nil, reject(site, name, fmt.Errorf("chunks %s do not cut a result of shape %s", grid.Format(chunks), grid.Format(shape)), in...)
	}
	if _, reorders := op.(Reorder); !reorders && !blockwise.Has(op, blockwise.OnlyMoves) {
		for _, n := range in {
			if n.DType.StorageOnly() {
				return nil, reject(site, name, fmt.Errorf("does not take %s: call AsType(Float32) first", n.DType), in...)
			}
		}
		if t.StorageOnly() {
			return nil, reject(site, name, errStorageOnly(t), in...)
		}
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

// Result returns a node of an operation that another package builds, or what Reject returns of
// an error.
func Result(site Site, op string, n *Node, err error, in ...*Node) (*Node, error) {
	if err != nil {
		return nil, reject(site, op, err, in...)
	}
	return n, nil
}

// Unnamed returns an error without the operation that it names.
func Unnamed(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Err
	}
	return err
}

// Renamed is Named of what may have the name of another operation.
func Renamed(err *error, site Site, op string, in ...*Node) {
	*err = Unnamed(*err)
	Named(err, site, op, in...)
}

// Named, deferred by an operation, gives its error the operation's name, as Reject does.
func Named(err *error, site Site, op string, in ...*Node) {
	if *err != nil {
		*err = reject(site, op, *err, in...)
	}
}
