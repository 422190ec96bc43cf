package linalg

import (
	"maps"
	"slices"
)

// CholeskyPanels is Cholesky by panels of so many columns.
var CholeskyPanels = choleskyPanels

// Functions are the names of those of one matrix.
func Functions() []string { return slices.Sorted(maps.Keys(functions)) }
