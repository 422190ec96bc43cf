// Package shape has the operations that move elements: concatenating,
// rolling, tiling, repeating, diagonals, and those that are views or choices
// and need no operation of their own.
//
// They take any box, read of each input what the box needs, and where that lies in one
// piece read it straight to its place. So they cost no pass over the data of their own.
package shape

import "github.com/gonbext/gonbext/oocore/internal/grid"

// lead is the number of elements of a box before an axis: the pieces that a part of it,
// cut along that axis, lies in.
func lead(box []int, axis int) int { return grid.Size(box[:axis]) }
