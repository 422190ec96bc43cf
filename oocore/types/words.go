package types

// These types name what a bool argument means. A call takes their constants, or true and false.
type (
	// Side says whether a value is placed before or after the elements that equal it.
	Side bool
	// Triangle is the part of a matrix below and on a diagonal, or above and on it.
	Triangle bool
	// Indexing is the order of a mesh's first two axes: NumPy's "xy" or "ij".
	Indexing bool
	// Remainder says what happens to elements at the end of an axis that do not fill a block.
	Remainder bool
	// Variables says whether the rows or the columns of a matrix are the variables.
	Variables bool
	// Beginning says whether cumulative sums begin with the first element, or with the initial value before it.
	Beginning bool
)

// The values of these types.
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

// String returns the word that stands for the value in expressions.
func (s Side) String() string {
	if s == Right {
		return "right"
	}
	return "left"
}

// String returns the word that stands for the value in expressions.
func (t Triangle) String() string {
	if t == Upper {
		return "upper"
	}
	return "lower"
}
