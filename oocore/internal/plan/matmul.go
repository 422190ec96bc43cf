package plan

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
)

// MatMul says how a product is cut into tiles. Each is the sum over k of products of
// TileK columns, in order of k, matrix by matrix of those that are summed.
type MatMul struct {
	M, N, K             int
	Summed              []int `json:",omitempty"` // lengths of the operands' axes before the last two along which products are added up
	TileM, TileN, TileK int
	Type                dtype.Type // of the accumulators
}

// SuperTile says how many tiles of a product, SuperM × SuperN, are computed together:
// both operands' panels are read once for all of them.
type SuperTile struct {
	*MatMul
	SuperM, SuperN int
	Depth          int // panels in flight: 2 reads ahead
	Beside         int // super-tiles in memory at once: more than 1 where one has too few tiles for all workers
}

// even cuts n into parts of about tile, all alike, each a multiple of a number.
func even(n, tile, multiple int) int {
	parts := max((n+tile-1)/tile, 1)
	each := (n + parts - 1) / parts
	return max((each+multiple-1)/multiple*multiple, 1)
}

// cut chooses the tiles by the lengths and the type alone.
func (m *MatMul) cut() {
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

// boxed is the operation that computes a node box by box: its own, or that of a stack of small
// matrices; nil for none.
func boxed(n *graph.Node) blockwise.Op {
	switch {
	case n.Kind == graph.Blockwise:
		return n.Blocks.Op
	case n.Kind == graph.MatMul && n.Summed == 0:
		return contract.StackOf(n.In[0].Shape, n.In[1].Shape, n.Shape, n.In[0].DType, n.DType)
	}
	return nil
}

// stackStage multiplies the matrices of stacks, many in a task.
func (c *compiler) stackStage(n *graph.Node) error {
	s := Stage{Kind: MapStage, Name: n.String(), Site: n.Site.String(), FixedChunks: true, Programs: []Program{c.fuse(n, n)}}
	s.Grid = grid.Grid{Shape: n.Shape, Chunks: clip(blockwise.ChunksOf(boxed(n)), n.Shape)}
	out, err := c.result(n)
	if err != nil {
		return err
	}
	s.Outputs = []int{out}
	c.add(s)
	return nil
}

func (c *compiler) matmulStage(n *graph.Node) error {
	a, b := n.In[0], n.In[1]
	d := len(n.Shape)
	last := len(a.Shape) - 2
	m := &MatMul{M: n.Shape[d-2], N: n.Shape[d-1], K: a.Shape[last+1], Summed: a.Shape[last-n.Summed : last], Type: kernel.GemmType(n.DType)}
	m.cut()
	s := Stage{Kind: MatMulStage, Name: n.String(), Site: n.Site.String(), MatMul: m,
		Programs: []Program{c.program(a), c.program(b)}}
	out, err := c.result(n)
	if err != nil {
		return err
	}
	s.Outputs = []int{out}
	s.Grid = grid.Grid{Shape: n.Shape, Chunks: clip(panel(d, m.TileM, m.TileN), n.Shape)}
	c.add(s)
	return nil
}

// decodeOperand makes one side of a product read a temporary array where what it reads
// is encoded: its panels are read many times over. That array is the stored one, where
// the operand is most of it as it is, else the operand.
func (c *compiler) decodeOperand(prog *Program, site string) {
	p := c.plan
	stored := p.storedChunks(prog)
	if stored == nil {
		return
	}
	t := prog.Type(prog.Out[0])
	if len(prog.Code) == 0 && len(prog.Loads) == 1 {
		load := &prog.Loads[0]
		if a := p.Arrays[load.Array]; 2*grid.Size(prog.Domain) > grid.Size(a.Shape) {
			i, ok := c.decodes[load.Array]
			if !ok {
				copied := Program{Domain: a.Shape, Out: []int{0}, Loads: []Load{{Kind: LoadArray, Type: a.DType, Array: load.Array, View: grid.Identity(a.Shape)}}}
				i = c.decode(a.Name, copied, a.DType, p.storedChunks(&copied), site)
				c.decodes[load.Array] = i
			}
			load.Array = i
			return
		}
	}
	name := "an operand"
	for l := range prog.Arrays() {
		name += " of " + p.Arrays[l.Array].Name
		break
	}
	i := c.decode(name, *prog, t, stored, site)
	*prog = Program{Domain: prog.Domain, Out: []int{0}, Loads: []Load{{Kind: LoadArray, Type: t, Array: i, View: grid.Identity(prog.Domain)}}}
}

// decode adds the stage that fills a temporary array with a program's values.
func (c *compiler) decode(name string, prog Program, t dtype.Type, stored []int, site string) int {
	p := c.plan
	i := p.add(temporary(name, prog.Domain, t))
	p.Stages = append(p.Stages, Stage{Kind: MapStage, Name: "decode " + name, Site: site, Programs: []Program{prog}, Outputs: []int{i},
		Grid: grid.Grid{Shape: prog.Domain, Chunks: grow(stored, prog.Domain, chunkBytes/t.Size())},
		Note: "a pass of its own: a product reads its operands many times"})
	return i
}

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

// depth is how many products are added up to an element.
func (m *MatMul) depth() int { return m.K * grid.Size(m.Summed) }

// narrowest is the number of columns of the super-tile at the end of a row.
func (m *SuperTile) narrowest() int {
	_, across := m.supers()
	return m.N - (int(across)-1)*m.SuperN*m.TileN
}

// tiles is the number of tiles one below the other, and side by side.
func (m *MatMul) tiles() (down, across int) {
	return max((m.M+m.TileM-1)/m.TileM, 1), max((m.N+m.TileN-1)/m.TileN, 1)
}

// supers is the number of super-tiles one below the other, and side by side.
func (m *SuperTile) supers() (down, across int64) {
	tilesM, tilesN := m.tiles()
	return int64((tilesM + m.SuperM - 1) / m.SuperM), int64((tilesN + m.SuperN - 1) / m.SuperN)
}

// operand is the type of an operand of a product.
func (s *Stage) operand(i int) dtype.Type { return s.Programs[i].Type(s.Programs[i].Out[0]) }

// operandBytes are those of both operands of one matrix of the result.
func (s *Stage) operandBytes() (a, b int64) {
	m := s.MatMul
	depth := int64(m.depth())
	return int64(m.M) * depth * int64(s.operand(0).Size()), depth * int64(m.N) * int64(s.operand(1).Size())
}

// batch is the number of matrices of the result.
func (s *Stage) batch() int64 { return int64(grid.Size(s.Grid.Shape[:len(s.Grid.Shape)-2])) }

// panelBytes are those of all panels of each operand: they are made for every super-tile that it meets.
func (s *SizedStage) panelBytes() (a, b int64) {
	a, b = s.operandBytes()
	down, across := s.Super.supers()
	return s.batch() * a * across, s.batch() * b * down
}

// readPanelBytes are those of the panels of operands that are read from files, not generated.
func (p *Sized) readPanelBytes(s *SizedStage) (n int64) {
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
func (p *Sized) sizeMatMul(s *SizedStage, room int64) int64 {
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
