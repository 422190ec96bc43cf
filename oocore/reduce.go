package oocore

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/stats"
)

// Reduction is a way to fold elements along axes into one.
type Reduction kernel.Reduction

// String returns NumPy's name of the reduction.
func (r Reduction) String() string { return kernel.Reduction(r).String() }

// The reductions, for Reduce.
const (
	Sum          = Reduction(kernel.Sum)
	Prod         = Reduction(kernel.Prod)
	Mean         = Reduction(kernel.Mean)
	Var          = Reduction(kernel.Var)
	Std          = Reduction(kernel.Std)
	Min          = Reduction(kernel.Min)
	Max          = Reduction(kernel.Max)
	ArgMin       = Reduction(kernel.ArgMin)
	ArgMax       = Reduction(kernel.ArgMax)
	Any          = Reduction(kernel.Any)
	All          = Reduction(kernel.All)
	CountNonzero = Reduction(kernel.CountNonzero)
)

// ReduceOptions are the less common arguments of a reduction.
type ReduceOptions struct {
	Axes     []int   // none: all
	NoAxes   bool    // of no axis: each element is reduced by itself, NumPy's axis=(); not of ArgMin and ArgMax
	KeepDims bool    // reduced axes stay, with length one
	DDof     float64 // of Var and Std: subtracted from the count, 1 for a sample's
	Where    *Array  // elements to include; nil: all; not of ArgMin and ArgMax
	DType    DType   // computed and returned in; of Sum, Prod, Mean, Var and Std
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
			return stats.NaN(site, kernel.Reduction(r), in[0], g)
		}
		return graph.Aggregate(site, kernel.Reduction(r), in[0], g)
	}, operands...)
}

// RollingOptions say which windows Rolling reduces.
type RollingOptions struct {
	Window int     // elements of one
	Axis   int     // that they go along
	DDof   float64 // of Var and Std: subtracted from the count, 1 for a sample's
}
