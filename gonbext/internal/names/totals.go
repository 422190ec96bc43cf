package names

import (
	"cmp"
	"slices"
)

// Totals sums arrays by element type, the type with the most bytes first.
type Totals []Total

// Total is the sum of the arrays of one element type.
type Total struct {
	DType  string `json:"dtype"`
	Arrays int64  `json:"arrays"`
	Bytes  int64  `json:"bytes"` // of the elements
}

// Add counts one more array.
func (t *Totals) Add(dtype string, bytes int64) {
	i := slices.IndexFunc(*t, func(t Total) bool { return t.DType == dtype })
	if i < 0 {
		i = len(*t)
		*t = append(*t, Total{DType: dtype})
	}
	(*t)[i].Arrays++
	(*t)[i].Bytes += bytes
	slices.SortFunc(*t, func(a, b Total) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.DType, b.DType))
	})
}
