package oocore

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/stats"
	"github.com/gonbext/gonbext/oocore/internal/run"
)

// Reduction is a way to fold elements along axes into one, for Reduce, Coarsen and Rolling.
type Reduction uint8 // of the numbers of package kernel, by which plans are encoded

// The reductions, under NumPy's names.
const (
	ReduceSum Reduction = iota + 1
	ReduceProd
	ReduceMean
	ReduceVar
	ReduceStd
	ReduceMin
	ReduceMax
	ReduceArgMin
	ReduceArgMax
	ReduceAny
	ReduceAll
	ReduceCountNonzero
)

// The names of reductions before they had their kind before them.
//
// Deprecated: take ReduceSum for Sum, and the others alike.
const (
	Sum          = ReduceSum
	Prod         = ReduceProd
	Mean         = ReduceMean
	Var          = ReduceVar
	Std          = ReduceStd
	Min          = ReduceMin
	Max          = ReduceMax
	ArgMin       = ReduceArgMin
	ArgMax       = ReduceArgMax
	Any          = ReduceAny
	All          = ReduceAll
	CountNonzero = ReduceCountNonzero
)

// String returns NumPy's name of the reduction.
func (r Reduction) String() string { return kernel.Reduction(r).String() }

// ReduceOptions are the less common arguments of a reduction.
type ReduceOptions struct {
	Axes     []int   // none: all
	NoAxes   bool    // of no axis: each element is reduced by itself, NumPy's axis=(); not of ReduceArgMin and ReduceArgMax
	KeepDims bool    // reduced axes stay, with length one
	DDof     float64 // of ReduceVar and ReduceStd: subtracted from the count, 1 for a sample's
	Where    *Array  // elements to include; nil: all; not of ReduceArgMin and ReduceArgMax
	DType    DType   // computed and returned in; of ReduceSum, ReduceProd, ReduceMean, ReduceVar and ReduceStd
	Initial  any     // a number to begin with, which what has no elements then is; of ReduceSum, ReduceProd, ReduceMin and ReduceMax
	SkipNaN  bool    // NaN does not count, as in NumPy's nansum; not of ReduceAny, ReduceAll and ReduceCountNonzero
}

// Reduce folds along axes with the less common arguments. With Where, min and
// max of no element are the type's largest and smallest, and ReduceVar and ReduceStd
// take two passes, the mean first.
//
// With SkipNaN, what has only NaN is 0 for ReduceSum, 1 for ReduceProd and NaN else; for
// ReduceArgMin and ReduceArgMax that is an error when it is computed.
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
	DDof   float64 // of ReduceVar and ReduceStd: subtracted from the count, 1 for a sample's

	// MinPeriods above 0 has a window end at each element, as pandas' and xarray's rolling: the result is as long as
	// the array, and keeps its labels. NaN does not count, and a window of fewer other elements is NaN. Of sum, prod,
	// mean, var, std, min, max; what has no NaN becomes float64.
	MinPeriods int
}

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
