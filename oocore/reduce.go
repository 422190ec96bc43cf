package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/stats"
)

// Reduction is a way to fold elements along axes into one.
type Reduction = kernel.Reduction

// The reductions, for Reduce.
const (
	Sum          = kernel.Sum
	Prod         = kernel.Prod
	Mean         = kernel.Mean
	Var          = kernel.Var
	Std          = kernel.Std
	Min          = kernel.Min
	Max          = kernel.Max
	ArgMin       = kernel.ArgMin
	ArgMax       = kernel.ArgMax
	Any          = kernel.Any
	All          = kernel.All
	CountNonzero = kernel.CountNonzero
)

// ReduceOptions are the less common arguments of a reduction.
type ReduceOptions struct {
	Axes     []int   // none: all
	NoAxes   bool    // of no axis: each element is reduced by itself, NumPy's axis=(); not of ArgMin and ArgMax
	KeepDims bool    // reduced axes stay, with length one
	DDof     float64 // of Var and Std: subtracted from the count, 1 for a sample's
	Where    *Array  // elements to include; nil: all; not of ArgMin and ArgMax
	DType    DType   // computed and returned in; of Sum, Prod, Mean, Var and Std; integers not of Var and Std
	Initial  any     // a number to begin with, which what has no elements then is; of Sum, Prod, Min and Max
	SkipNaN  bool    // NaN does not count, as in NumPy's nansum; not of Any, All and CountNonzero
}

// Reduce folds along axes with the less common arguments. With Where, min and
// max of no element are the type's largest and smallest, and Var and Std take two
// passes, the mean first.
//
// With SkipNaN, what has only NaN is 0 for Sum, 1 for Prod and NaN else; for ArgMin and
// ArgMax that is an error when it is computed.
func (a *Array) Reduce(r Reduction, o ReduceOptions) *Array {
	operands := []any{a}
	if o.Where != nil {
		operands = append(operands, o.Where)
	}
	return build(r.String(), func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		g := graph.ReduceOptions{Axes: o.Axes, NoAxes: o.NoAxes, KeepDims: o.KeepDims, DDof: o.DDof, DType: o.DType, Initial: o.Initial}
		if o.Where != nil {
			g.Where = in[1]
		}
		if o.SkipNaN {
			return stats.NaN(site, r, in[0], g)
		}
		return graph.Aggregate(site, r, in[0], g)
	}, operands...)
}
