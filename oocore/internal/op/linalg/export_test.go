package linalg

import (
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// CholeskyPanels is Cholesky by panels of so many columns.
func CholeskyPanels(site graph.Site, n *graph.Node, tile int) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	return choleskyPanels(m, n, tile), m.Err
}

// Functions are the names of those of one matrix.
func Functions() []string { return slices.Sorted(maps.Keys(functions)) }
