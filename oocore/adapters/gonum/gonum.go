// Package gonum brings matrices of gonum.org/v1/gonum/mat to arrays larger than memory, and back:
//
//	x := gonum.From(m)               // a mat.Matrix as an array
//	d, err := gonum.Dense(ctx, x)    // an array as a *mat.Dense
//
// Neither copies elements that lie as the other has them.
package gonum

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// From returns a matrix as an array of float64; a vector has one column. Of a *mat.Dense, a
// *mat.VecDense and their transposes it uses the matrix's own memory where that has no gaps: such a
// matrix must not change while the array is used. Others are copied.
func From(m mat.Matrix) *oocore.Array {
	site := graph.Caller()
	if m == nil {
		return door.Made[oocore.Array](nil, &oocore.Error{Op: "array", Site: site, Err: errors.New("the mat.Matrix is nil")})
	}
	if t, ok := m.(mat.Untransposer); ok {
		return From(t.Untranspose()).Transpose()
	}
	rows, columns := m.Dims()
	return door.Made[oocore.Array](graph.FromBytes(site, dtype.Bytes(elements(m, rows, columns)), dtype.Float64, rows, columns))
}

// elements returns those of a matrix, row by row.
func elements(m mat.Matrix, rows, columns int) []float64 {
	switch raw := m.(type) {
	case mat.RawMatrixer:
		if r := raw.RawMatrix(); r.Stride == columns {
			return r.Data[:rows*columns]
		}
	case mat.RawVectorer:
		if r := raw.RawVector(); r.Inc == 1 {
			return r.Data[:r.N]
		}
	}
	if rows == 0 || columns == 0 {
		return nil
	}
	return mat.DenseCopyOf(m).RawMatrix().Data
}

// Dense computes an array into a matrix, by oocore.Collect: the matrix is part of the budget, and
// its elements are computed to where they lie. An array of one dimension becomes a column; elements of
// other real types become float64.
func Dense(ctx context.Context, a *oocore.Array, opts ...oocore.Option) (*mat.Dense, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	shape := a.Shape()
	if len(shape) == 1 {
		shape = append(shape, 1)
	}
	reject := func(format string, args ...any) (*mat.Dense, error) {
		return nil, &oocore.Error{Op: "collect", Shapes: [][]int{a.Shape()}, Types: []oocore.DType{a.DType()}, Site: graph.Caller(), Err: fmt.Errorf(format, args...)}
	}
	switch {
	case len(shape) != 2:
		return reject("a mat.Dense has 2 dimensions, not %d: Reshape or Slice brings the array there", len(shape))
	case a.DType().Kind() == dtype.KindComplex:
		return reject("a mat.Dense has no complex elements: take Real, Imag or Abs")
	case shape[0] == 0 || shape[1] == 0:
		return reject("a mat.Dense has one element or more")
	}
	data, err := oocore.Collect[float64](ctx, a.AsType(oocore.Float64), opts...)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(shape[0], shape[1], data), nil
}
