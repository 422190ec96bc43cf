package linalg

import (
	"context"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() {
	blockwise.Register("tsqr_r", TSQRR{}, blockwise.Products)
	blockwise.Register("tsqr_q", TSQRQ{}, blockwise.Products)
}

// Blocks says how matrices that stand beside each other, of M rows each and N[i]
// columns, are cut into blocks of rows. An operation's first inputs are the matrices'
// transposes.
type Blocks struct {
	M    int
	N    []int
	Rows int
}

func (b Blocks) cols() int {
	n := 0
	for _, c := range b.N {
		n += c
	}
	return n
}

func (b Blocks) count() int { return (b.M + b.Rows - 1) / b.Rows }

// taskBytes is about what a task takes with its blocks. A process of 64 MiB has room for
// it: results depend on the blocks, which are therefore the same in every budget.
const taskBytes = 36 << 20

// blocksOf cuts rows of n columns so that a block has at least twice as many rows as
// columns, so that the stack of the blocks' factors is at most half as long. A task has
// the block in float64, as much of a result, both once more as they are read and
// written, and two panels of reflections.
func blocksOf(m int, n ...int) Blocks {
	b := Blocks{M: m, N: n}
	cols := max(b.cols(), 1)
	b.Rows = min(max(taskBytes/(8*(4*cols+2*min(panel, cols))), 2*cols), max(m, 1))
	return b
}

// read brings rows of all matrices into columns, one after the other.
func (b Blocks) read(ctx context.Context, t *blockwise.Task, from int, c matrix) error {
	at := 0
	for i, n := range b.N {
		part := c.part(at, at+n, 0, c.cols)
		box := grid.Box{Start: []int{0, from}, Shape: []int{n, c.cols}}
		if err := t.In[i].Read(ctx, box, dtype.Bytes(part.a)); err != nil {
			return err
		}
		at += n
	}
	return nil
}

func (b Blocks) reads(rows int) [][]int {
	reads := make([][]int, len(b.N))
	for i, n := range b.N {
		reads[i] = []int{n, rows}
	}
	return reads
}

// check rejects what is not finite in rows from a place on.
func (b Blocks) check(c matrix, from int) error {
	at := 0
	for _, n := range b.N {
		for j := range n {
			if i := infinite(c.row(at + j)); i >= 0 {
				return notFinite(c.row(at + j)[i], from+i, j)
			}
		}
		at += n
	}
	return nil
}

// TSQRR is the R of runs of blocks, n × n each, below one another. A run of more
// than one block joins them in their order; there is then no Orthogonal of them. Final
// is that of all rows, the elements of whose diagonal are not negative.
type TSQRR struct {
	Blocks
	Run   int // blocks
	Final bool
	Type  dtype.Type
}

func (r TSQRR) runs() int { return (r.count() + r.Run - 1) / r.Run }

// Chunks are the runs.
func (r TSQRR) Chunks() []int { return []int{max(r.cols(), 1), max(r.cols(), 1)} }

// Requirements is a block in float64, with the small work of its reflections.
func (r TSQRR) Requirements([]int) blockwise.Requirements {
	var p pool
	r.layout(&p)
	blocks, n := min(r.Run, r.count()), r.cols()
	rows := r.Rows
	if r.Run > 1 {
		rows += n
	}
	return blockwise.Requirements{Reads: r.reads(r.Rows), Scratch: p.Size(), State: p.bytes, Work: int64(float64(blocks) * qrWork(rows, n))}
}

// layout is the memory of a task: where blocks are joined, the factor of those before
// stands above the next one.
func (r TSQRR) layout(p *pool) (*householder, matrix) {
	n := r.cols()
	if r.Run == 1 {
		return newHouse(p, n, r.Rows, 0), matrix{}
	}
	return newHouse(p, n, n+r.Rows, 0), p.matrix(n, r.Rows)
}

// Fill factorizes the blocks of a run.
func (r TSQRR) Fill(ctx context.Context, t *blockwise.Task) error {
	n := r.cols()
	p := &pool{ScratchLayout: *t.ScratchLayout()}
	h, block := r.layout(p)
	s := p.steps(ctx, t)
	first := t.Box.Start[0] / n * r.Run
	above := 0 // rows of the factor so far
	for i := first; i < min(first+r.Run, r.count()); i++ {
		from := i * r.Rows
		rows := min(r.Rows, r.M-from)
		to := block
		if r.Run == 1 {
			h.resize(rows)
			to = h.c
		} else {
			to.cols, to.ld = rows, rows
		}
		if !s.Skips() {
			if err := r.read(ctx, t, from, to); err != nil {
				return err
			}
		}
		err := t.Compute(func() error {
			if s.Next() {
				if err := r.check(to, from); err != nil {
					return err
				}
				if r.Run > 1 {
					h.stack(above, to)
				}
				if err := s.End(); err != nil {
					return err
				}
			}
			if r.Run > 1 {
				h.c.cols = above + rows
			}
			return h.factor(s)
		})
		if err != nil {
			return err
		}
		above = h.order()
	}
	return t.Compute(func() error {
		r.store(t.Dst, h)
		return nil
	})
}

// stack puts a block below the factor of those before.
func (h *householder) stack(above int, block matrix) {
	for j := range h.c.rows {
		to := h.c.a[j*h.c.ld:][:above+block.cols]
		clear(to[min(j+1, above):above])
		copy(to[above:], block.row(j))
	}
}

// store writes R, with zeros below its diagonal and below its rows.
func (r TSQRR) store(dst []byte, h *householder) {
	for i := range r.cols() {
		row := h.w.a[:r.cols()]
		clear(row)
		if i < h.order() {
			sign := 1.0
			if r.Final && math.Signbit(h.c.row(i)[i]) {
				sign = -1
			}
			for j := i; j < r.cols(); j++ {
				row[j] = sign * h.c.row(j)[i]
			}
		}
		store(dst, r.Type, i*r.cols(), row)
	}
}

// TSQRQ is Q times a factor: of each block the product of its reflections with
// the rows of its input after the matrix, n to a block, that Q of the stack of the
// blocks' Triangles has. One block has the factor itself, Final as its Triangles are,
// and without that input Q alone.
type TSQRQ struct {
	Blocks
	K     int  // columns of the factor and the result
	With  bool // there is a factor
	Final bool
	Type  dtype.Type
}

// Chunks are the blocks.
func (q TSQRQ) Chunks() []int { return []int{q.Rows, max(q.K, 1)} }

// Requirements is a block and its result in float64, with the factor's rows.
func (q TSQRQ) Requirements([]int) blockwise.Requirements {
	var p pool
	q.layout(&p)
	n := q.cols()
	need := blockwise.Requirements{Reads: q.reads(q.Rows), Scratch: p.Size(), State: p.bytes, Work: int64(qrWork(q.Rows, n) + reflectWork(q.Rows, n, q.K))}
	if q.With {
		need.Reads = append(need.Reads, []int{q.K, q.cols()})
	}
	return need
}

func (q TSQRQ) layout(p *pool) (h *householder, d, factor matrix) {
	h = newHouse(p, q.cols(), q.Rows, q.K)
	d = p.stateMatrix(q.K, q.Rows)
	if q.With {
		factor = p.matrix(q.K, q.cols())
	}
	return h, d, factor
}

// Fill computes the rows of a block.
func (q TSQRQ) Fill(ctx context.Context, t *blockwise.Task) error {
	from, rows := t.Box.Start[0], t.Box.Shape[0]
	p := &pool{ScratchLayout: *t.ScratchLayout()}
	h, d, factor := q.layout(p)
	h.resize(rows)
	d.cols, d.ld = rows, rows
	s := p.steps(ctx, t)
	if !s.Skips() {
		if err := q.read(ctx, t, from, h.c); err != nil {
			return err
		}
	}
	if q.With {
		box := grid.Box{Start: []int{0, from / q.Rows * q.cols()}, Shape: []int{q.K, q.cols()}}
		if err := t.In[len(q.N)].Read(ctx, box, dtype.Bytes(factor.a)); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		if s.Next() {
			if err := q.check(h.c, from); err != nil {
				return err
			}
			if err := s.End(); err != nil {
				return err
			}
		}
		if err := h.factor(s); err != nil {
			return err
		}
		if s.Next() {
			q.begin(h, d, factor)
			if err := s.End(); err != nil {
				return err
			}
		}
		if err := h.unfold(s, d); err != nil {
			return err
		}
		storeTransposed(t.Dst, q.Type, d)
		return nil
	})
}

// begin fills d with what Q is multiplied with.
func (q TSQRQ) begin(h *householder, d, factor matrix) {
	d.clear()
	for j := range q.K {
		row := d.row(j)
		if q.With {
			copy(row[:min(q.cols(), d.cols)], factor.row(j))
		} else if j < d.cols {
			row[j] = 1
		}
	}
	if q.Final {
		for i := range h.order() {
			if math.Signbit(h.c.row(i)[i]) {
				for j := range q.K {
					d.row(j)[i] *= -1
				}
			}
		}
	}
}
