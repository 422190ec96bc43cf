package plan

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// MatMul says how a product is cut into tiles. Each is the sum over k of products of
// TileK columns, in order of k, matrix by matrix of those that are summed.
type MatMul struct {
	M, N, K             int
	Summed              []int `json:",omitempty"` // lengths of the operands' axes before the last two along which products are added up
	TileM, TileN, TileK int
	Type                dtype.Type // of the accumulators
}

// even cuts n into parts of about tile, all alike, each a multiple of a number.
func even(n, tile, multiple int) int {
	parts := max((n+tile-1)/tile, 1)
	each := (n + parts - 1) / parts
	return max((each+multiple-1)/multiple*multiple, 1)
}

// Cut chooses the tiles by the lengths and the type alone.
func (m *MatMul) Cut() {
	// Several tiles even in a small product, so that all cores have work; none so
	// small that packing shows.
	side := 1024
	for side > 256 && ((m.M+side-1)/side)*((m.N+side-1)/side) < 8 {
		side /= 2
	}
	m.TileM, m.TileN = even(m.M, side, 12), even(m.N, side, 32)
	m.TileK = 2048 / m.Type.Size()
	if m.K < 3*m.TileK/2 {
		m.TileK = m.K // one panel, which often lies together
	}
	m.TileK = even(m.K, max(m.TileK, 1), 1)
}

// Panels are the parts of what is summed that are added up one after the other: of one
// matrix, some columns of a and as many rows of b.
func (m *MatMul) Panels() grid.Grid {
	g := grid.Grid{Shape: append(slices.Clone(m.Summed), m.K)}
	for range m.Summed {
		g.Chunks = append(g.Chunks, 1)
	}
	g.Chunks = append(g.Chunks, m.TileK)
	return g
}

// OperandBox is the part of an operand's domain, of the first or the second, that a box of a product's result is made of.
func (s *Stage) OperandBox(operand int, result grid.Box) grid.Box {
	domain := s.Programs[operand].Domain
	box, n := grid.Entire(slices.Clone(domain)), len(domain)-2
	if batch := len(result.Shape) - 2; batch > 0 {
		for d := range n - len(s.MatMul.Summed) {
			if at := d - (n - len(s.MatMul.Summed)) + batch; domain[d] > 1 {
				box.Start[d], box.Shape[d] = result.Start[at], result.Shape[at]
			}
		}
	}
	at := len(result.Shape) - 2 + operand // the rows of the first, the columns of the second
	box.Start[n+operand], box.Shape[n+operand] = result.Start[at], result.Shape[at]
	return box
}
