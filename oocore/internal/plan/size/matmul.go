package size

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

const (
	// runBytes is how many bytes are copied from the page cache in the time that it
	// takes to begin another run of a file: 0.5 µs at 10 GB/s.
	runBytes = 5 << 10
	// shortCost is by how much more writing runs below disk.ShortRun takes: the store leaves
	// their pages to the kernel, where they fill a cgroup that cannot take them back, and are
	// written at half a gigabyte a second, where others are at 10.
	shortCost = 20
)

// cost is what a product moves with its present super-tile, in bytes copied from the
// page cache, given the bytes of both operands.
func (m *SuperTile) cost(bytesA, bytesB int64) int64 {
	down, across := m.supers()
	steps := int64(m.Panels().Len())
	cost := bytesA*across + bytesB*down + runBytes*int64(m.M)*across*steps
	if across > 1 {
		cost += runBytes * (int64(m.depth())*down*across + int64(m.M)*across)
		if m.narrowest()*m.Type.Size() < disk.ShortRun {
			cost += shortCost * int64(m.M) * int64(m.N) * int64(m.Type.Size())
		}
	}
	if m.Depth == 1 { // compute waits for reads
		cost += cost / 2
	}
	return cost
}

// depth is how many products are added up to an element.
func (m *SuperTile) depth() int { return m.K * grid.Size(m.Summed) }

// narrowest is the number of columns of the super-tile at the end of a row.
func (m *SuperTile) narrowest() int {
	_, across := m.supers()
	return m.N - (int(across)-1)*m.SuperN*m.TileN
}

// tiles is the number of tiles one below the other, and side by side.
func (m *SuperTile) tiles() (down, across int) {
	return max((m.M+m.TileM-1)/m.TileM, 1), max((m.N+m.TileN-1)/m.TileN, 1)
}

// supers is the number of super-tiles one below the other, and side by side.
func (m *SuperTile) supers() (down, across int64) {
	tilesM, tilesN := m.tiles()
	return int64((tilesM + m.SuperM - 1) / m.SuperM), int64((tilesN + m.SuperN - 1) / m.SuperN)
}

// lengths are those of the largest super-tile, and of the panels that it takes.
func (m *SuperTile) lengths() (rows, cols, k int) {
	return min(m.SuperM*m.TileM, m.M), min(m.SuperN*m.TileN, m.N), min(m.TileK, m.K)
}

// operand is the type of an operand of a product.
func (s *Stage) operand(i int) dtype.Type { return s.Programs[i].Type(s.Programs[i].Out[0]) }

// operandBytes are those of both operands of one matrix of the result.
func (s *Stage) operandBytes() (a, b int64) {
	m := s.Super
	depth := int64(m.depth())
	return int64(m.M) * depth * int64(s.operand(0).Size()), depth * int64(m.N) * int64(s.operand(1).Size())
}

// batch is the number of matrices of the result.
func (s *Stage) batch() int64 { return int64(grid.Size(s.Grid.Shape[:len(s.Grid.Shape)-2])) }

// panelBytes are those of all panels of each operand: they are made for every super-tile that it meets.
func (s *Stage) panelBytes() (a, b int64) {
	a, b = s.operandBytes()
	down, across := s.Super.supers()
	return s.batch() * a * across, s.batch() * b * down
}

// multiplications are those of a product, and as many additions.
func (s *Stage) multiplications() float64 {
	m := s.Super
	batch := grid.Size(s.Grid.Shape[:len(s.Grid.Shape)-2])
	return 2 * float64(batch) * float64(m.M) * float64(m.N) * float64(m.depth())
}

// readPanelBytes are those of the panels of operands that are read from files, not generated.
func (p *Plan) readPanelBytes(s *Stage) (n int64) {
	a, b := s.panelBytes()
	for i, bytes := range []int64{a, b} {
		for l := range s.Programs[i].Arrays() {
			if p.inFile(l.Array) {
				n += bytes
				break
			}
		}
	}
	return n
}

// sizeMatMul chooses the tiles that are computed together: those that move the
// least within room. It returns the smallest room that would do.
func (p *Plan) sizeMatMul(s *Stage, room int64) int64 {
	m := s.Super
	tilesM, tilesN := m.tiles()
	bytesA, bytesB := s.operandBytes()
	try := func(superM, superN, depth, beside int) int64 {
		m.SuperM, m.SuperN, m.Depth, m.Beside = superM, superN, depth, beside
		p.declare(s)
		s.predict()
		return s.Predicted.Host()
	}
	least := try(1, 1, 1, 1)
	best, bestCost, bestHost := [3]int{1, 1, 1}, int64(-1), int64(0)
	for superM := 1; superM <= tilesM && try(superM, 1, 1, 1) <= room; superM++ {
		for superN := 1; superN <= tilesN && try(superM, superN, 1, 1) <= room; superN++ {
			for depth := 1; depth <= 2; depth++ {
				host := try(superM, superN, depth, 1)
				if host > room {
					continue
				}
				cost := m.cost(bytesA, bytesB)
				if bestCost < 0 || cost < bestCost || cost == bestCost && host < bestHost {
					best, bestCost, bestHost = [3]int{superM, superN, depth}, cost, host
				}
			}
		}
	}
	busy, beside := 1, 1
	if tiles := tilesM * tilesN; best[0]*best[1] == tiles && m.Panels().Len() == 1 {
		// Matrices of few tiles leave workers idle while rows are written. So many are on their
		// way that all workers multiply, and as many again are written.
		busy = (p.Workers + tiles - 1) / tiles
		beside = int(max(min(int64(2*busy), s.batch()), 1))
	}
	for beside > 1 && try(best[0], best[1], min(busy+1, beside), beside) > room {
		beside--
	}
	if beside == 1 {
		try(best[0], best[1], best[2], 1)
	}
	s.Read, s.Slots = p.readPanelBytes(s), m.Depth
	return least
}
