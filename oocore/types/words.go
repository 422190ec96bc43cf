package types

// Words that calls say in place of true and false, which they take too.
type (
	// Side is where a value belongs among equal ones: before them, or after.
	Side bool
	// Triangle is the part of a matrix below and on a diagonal, or above and on it.
	Triangle bool
	// Indexing is the order of a mesh's first two axes: NumPy's "xy" or "ij".
	Indexing bool
	// Remainder is what becomes of elements at the end of an axis that fill no block.
	Remainder bool
	// Variables are what the rows of a matrix are, or its columns.
	Variables bool
	// Beginning is what sums begin with: the first element, or the initial value before it.
	Beginning bool
)

// The words.
const (
	Left    Side      = false
	Right   Side      = true
	Lower   Triangle  = false
	Upper   Triangle  = true
	XY      Indexing  = false
	IJ      Indexing  = true
	Exact   Remainder = false
	Trim    Remainder = true
	Rows    Variables = false
	Columns Variables = true
	First   Beginning = false
	Initial Beginning = true
)

// String returns the word of expressions.
func (s Side) String() string {
	if s == Right {
		return "right"
	}
	return "left"
}

// String returns the word of expressions.
func (t Triangle) String() string {
	if t == Upper {
		return "upper"
	}
	return "lower"
}
