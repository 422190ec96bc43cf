package vm

import (
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// Layout cuts blocks of N dimensions into the rows and columns that a folder
// takes: neighbouring axes that are both kept, or both reduced, count as one.
type Layout struct {
	what     plan.Fold
	size     int   // of an element
	position []int // by axis, if reduced: what one step adds to the position
	state    []int // by axis, if kept: what one step adds to the accumulator's index
	start    []int // of the chunk
	groups   []group
}

// group is a run of axes: kept ones with the stride of the accumulator's index,
// or reduced ones with the stride of the position.
type group struct {
	kept      bool
	n, stride int
}

// NewLayout returns the layout of a stage's i-th fold.
func NewLayout(s *plan.Stage, i int) Layout {
	prog := &s.Programs[0]
	l := Layout{what: s.Folds[i], size: prog.Type(prog.Out[s.FoldOut(i)]).Size(),
		position: make([]int, len(s.Grid.Shape)), state: make([]int, len(s.Grid.Shape))}
	n := 1
	for d := len(s.Grid.Shape) - 1; d >= 0; d-- {
		if l.what.Folds(d) {
			l.position[d] = n
			n *= s.Grid.Shape[d]
		}
	}
	return l
}

// Chunk prepares for the blocks of a chunk, whose kept positions have an
// accumulator each.
func (l *Layout) Chunk(c grid.Box) {
	l.start = c.Start
	n := 1
	for d := len(c.Shape) - 1; d >= 0; d-- {
		if !l.what.Folds(d) {
			l.state[d] = n
			n *= c.Shape[d]
		}
	}
}

// Fold gives a block's elements, dense in C order, to the folder.
func (l *Layout) Fold(f kernel.Folder, state []byte, n int, x []byte, b grid.Box) {
	off, first := 0, 0
	l.groups = l.groups[:0] // innermost first
	for d := len(b.Shape) - 1; d >= 0; d-- {
		kept := !l.what.Folds(d)
		stride := l.position[d]
		if kept {
			stride = l.state[d]
			off += (b.Start[d] - l.start[d]) * stride
		} else {
			first += b.Start[d] * stride
		}
		if b.Shape[d] == 1 {
			continue
		}
		if k := len(l.groups) - 1; k >= 0 && l.groups[k].kept == kept && l.groups[k].n*l.groups[k].stride == stride {
			l.groups[k].n *= b.Shape[d]
			continue
		}
		l.groups = append(l.groups, group{kept, b.Shape[d], stride})
	}
	g := l.groups
	// The innermost group is the folder's columns if its elements follow each other
	// in accumulators or positions, and the one around it its rows.
	cols, rows := group{kept: false, n: 1, stride: 1}, group{n: 1}
	if len(g) > 0 && g[0].stride == 1 {
		cols, g = g[0], g[1:]
		if len(g) > 0 && g[0].kept != cols.kept && (!g[0].kept || g[0].stride == 1) {
			rows, g = g[0], g[1:]
		}
	}
	l.walk(f, state, n, x[:b.Size()*l.size], off, first, g, rows, cols)
}

// walk visits the outer groups, the outermost being the last.
func (l *Layout) walk(f kernel.Folder, state []byte, n int, x []byte, off, first int, outer []group, rows, cols group) {
	if len(outer) == 0 {
		if cols.kept {
			f.Cols(state, n, off, x, rows.n, cols.n, int64(first), int64(rows.stride))
		} else {
			f.Rows(state, n, off, x, rows.n, cols.n, int64(first))
		}
		return
	}
	g := outer[len(outer)-1]
	inner := outer[:len(outer)-1]
	part := len(x) / g.n
	for i := range g.n {
		if g.kept {
			l.walk(f, state, n, x[i*part:(i+1)*part], off+i*g.stride, first, inner, rows, cols)
		} else {
			l.walk(f, state, n, x[i*part:(i+1)*part], off, first+i*g.stride, inner, rows, cols)
		}
	}
}
