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

// ReductionRow is all that there is to say of a reduction.
type ReductionRow struct {
	Reduction Reduction // the row's number, by which plans are encoded
	Name      string    // NumPy's
	Sentence  string    // what the method does: "returns the sum along the axes"
	Family    ReductionFamily
	Join      Op // of a number to begin with and the result; Invalid where there is none
	Nanos     Costs
}

// ReductionFamily groups reductions by what they give.
type ReductionFamily uint8

// The families of reductions.
const (
	Total    ReductionFamily = iota // of the elements' type; of integers and bools in 64 bits
	Average                         // of integers a float
	Spread                          // and of complex numbers that of their parts
	Extreme                         // an element
	Position                        // of an element, as int64
	Truth                           // bool; NaN counts as true, as it does for Count
	Count                           // int64
)

var reductionRows = [...]ReductionRow{
	Sum:          {Name: "sum", Sentence: "returns the sum along the axes; of integers in 64 bits, of floats at least as accurate as NumPy's", Family: Total, Join: Add, Nanos: Costs{0.54, 0.48, 0.08, 0.13, 0.29}},
	Prod:         {Name: "prod", Sentence: "returns the product along the axes", Family: Total, Join: Multiply, Nanos: Costs{0.65, 0.77, 0.77, 0.76, 1.6}},
	Mean:         {Name: "mean", Sentence: "returns the average along the axes; of integers in float64", Family: Average, Nanos: Costs{0.79, 0.31, 0.08, 0.13, 0.29}},
	Var:          {Name: "var", Sentence: "returns the variance along the axes, with the count as divisor: see Reduce for DDof", Family: Spread, Nanos: Costs{1.1, 0.58, 0.31, 0.3, 0.81}},
	Std:          {Name: "std", Sentence: "returns the standard deviation along the axes: the root of Var", Family: Spread, Nanos: Costs{1.1, 0.57, 0.31, 0.29, 0.99}},
	Min:          {Name: "min", Sentence: "returns the smallest element along the axes; NaN where there is one", Family: Extreme, Join: Minimum, Nanos: Costs{0.47, 0.62, 0.09, 0.14, 24}},
	Max:          {Name: "max", Sentence: "returns the largest element along the axes; NaN where there is one", Family: Extreme, Join: Maximum, Nanos: Costs{0.39, 0.62, 0.09, 0.14, 24}},
	ArgMin:       {Name: "argmin", Sentence: "returns the position of the first smallest element along an axis; without one, in the array as if flattened", Family: Position, Nanos: Costs{0.53, 0.66, 0.69, 0.7, 30}},
	ArgMax:       {Name: "argmax", Sentence: "returns the position of the first largest element along an axis; without one, in the array as if flattened", Family: Position, Nanos: Costs{0.71, 0.74, 0.63, 0.56, 29}},
	Any:          {Name: "any", Sentence: "returns whether an element along the axes is true, that is, not zero", Family: Truth, Nanos: Costs{0.55, 0.31, 0.84, 0.84, 0.74}},
	All:          {Name: "all", Sentence: "returns whether all elements along the axes are true", Family: Truth, Nanos: Costs{0.47, 0.32, 0.38, 0.38, 1.2}},
	CountNonzero: {Name: "count_nonzero", Sentence: "returns the number of elements along the axes that are not zero", Family: Count, Nanos: Costs{0.62, 0.53, 0.77, 0.77, 1.2}},
}

// Reductions returns the row of each reduction.
func Reductions() (all []*ReductionRow) {
	for r := Sum; r.Known(); r++ {
		all = append(all, r.Row())
	}
	return all
}

// Known is whether r is one of the reductions above.
func (r Reduction) Known() bool { return r != 0 && int(r) < len(reductionRows) }

// Row returns the reduction's row; an empty one of what is none.
func (r Reduction) Row() *ReductionRow {
	if !r.Known() {
		return &ReductionRow{}
	}
	return &reductionRows[r]
}

// Cost returns the nanoseconds of one core that an element takes.
func (r *ReductionRow) Cost(t dtype.Type) float64 { return r.Nanos.Of(t) }

// String returns NumPy's name of the reduction.
func (r Reduction) String() string {
	if !r.Known() {
		return fmt.Sprintf("Reduction(%d)", uint8(r))
	}
	return r.Row().Name
}

// Result is NumPy's type of the reduction of elements of type t.
func (r Reduction) Result(t dtype.Type) dtype.Type {
	switch f := r.Row().Family; {
	case f == Position || f == Count:
		return dtype.Int64
	case f == Truth:
		return dtype.Bool
	case f == Total && t.Kind() == dtype.KindUint:
		return dtype.Uint64
	case f == Total && t.Kind() < dtype.KindFloat:
		return dtype.Int64
	case (f == Average || f == Spread) && t.Kind() < dtype.KindFloat:
		return dtype.Float64
	case f == Spread:
		return part(t)
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
