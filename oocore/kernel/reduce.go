package kernel

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Reduction is a way to fold elements into one.
type Reduction uint8

// The reductions, under NumPy's names.
const (
	Sum Reduction = iota + 1
	Prod
	Mean
	Var
	Std
	Min
	Max
	ArgMin
	ArgMax
	Any
	All
	CountNonzero
)

var reductionNames = [...]string{Sum: "sum", Prod: "prod", Mean: "mean", Var: "var", Std: "std", Min: "min",
	Max: "max", ArgMin: "argmin", ArgMax: "argmax", Any: "any", All: "all", CountNonzero: "count_nonzero"}

// String is NumPy's name of the reduction.
func (r Reduction) String() string {
	if !r.Known() {
		return fmt.Sprintf("Reduction(%d)", uint8(r))
	}
	return reductionNames[r]
}

// Known is whether r is one of the reductions above.
func (r Reduction) Known() bool { return r >= Sum && int(r) < len(reductionNames) }

// Result is NumPy's type of the reduction of elements of type t.
func (r Reduction) Result(t dtype.Type) dtype.Type {
	switch r {
	case ArgMin, ArgMax, CountNonzero:
		return dtype.Int64
	case Any, All:
		return dtype.Bool
	case Sum, Prod:
		switch t.Kind() {
		case dtype.KindBool, dtype.KindInt:
			return dtype.Int64
		case dtype.KindUint:
			return dtype.Uint64
		}
	case Mean, Var, Std:
		switch t {
		case dtype.Complex64:
			if r != Mean {
				return dtype.Float32
			}
		case dtype.Complex128:
			if r != Mean {
				return dtype.Float64
			}
		default:
			if t.Kind() != dtype.KindFloat {
				return dtype.Float64
			}
		}
	}
	return t
}

// Folder folds elements of one type by one reduction. Accumulators live in the
// caller's memory: for n results, n × Size() bytes whose layout is the Folder's
// own (it may keep the accumulators' fields apart). The result of a sequence of
// calls depends on that sequence alone.
type Folder interface {
	// Size is the bytes of one accumulator.
	Size() int
	// Init makes n accumulators empty.
	Init(state []byte, n int)
	// Rows folds each of rows × cols elements, dense, into the accumulator of
	// its row: row r into accumulator off+r of the n. first is the position,
	// along the reduced axes, of each row's first element, and the others follow
	// it one by one.
	Rows(state []byte, n, off int, x []byte, rows, cols int, first int64)
	// Cols folds rows × cols elements, dense, into the accumulator of their
	// column: column c into accumulator off+c of the n. Row r is at position
	// first + r·step along the reduced axes.
	Cols(state []byte, n, off int, x []byte, rows, cols int, first, step int64)
	// Merge folds n accumulators of src, which come later, into those of dst.
	Merge(dst, src []byte, n int)
	// Finish writes n results of the reduction's Result type. count is the
	// number of elements folded into each. The state is spent.
	Finish(dst, state []byte, n int, count int64, ddof float64)
}
