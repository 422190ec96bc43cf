package linalg

import (
	"context"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

func init() {
	blockwise.Register("cholesky_panel", Panel{}, blockwise.Products)
	blockwise.Register("cholesky_join", Panels{}, blockwise.Products)
}

// Panels is how a lower triangular matrix lies in panels of Tile columns: of each its
// square on the diagonal, and what is below.
type Panels struct{ N, Tile int }

func (p Panels) count() int { return (p.N + p.Tile - 1) / p.Tile }

// width is the columns of panel k, and below where the rows below its square begin.
func (p Panels) width(k int) int { return min(p.Tile, p.N-k*p.Tile) }
func (p Panels) below(k int) int { return min((k+1)*p.Tile, p.N) }

// Panel is a part of panel K of a Cholesky factor: the square, or what is below it, in
// blocks of rows. Its inputs are the matrix, of which the lower triangle is read, what
// is below the squares of earlier panels, and the panel's square.
type Panel struct {
	Panels
	K      int
	Square bool
}

// Chunks are the square, or squares below it.
func (p Panel) Chunks() []int { return []int{p.Tile, p.width(p.K)} }

// Requirements is a block of the result, and of earlier panels the rows that it meets, in
// three or four squares of float64.
func (p Panel) Requirements(box []int) blockwise.Requirements {
	var all pool
	p.layout(&all)
	w := p.width(p.K)
	need := blockwise.Requirements{Reads: [][]int{{box[0], w}}, Scratch: all.Size(), State: all.bytes}
	for range p.K {
		need.Reads = append(need.Reads, []int{max(box[0], w), p.Tile})
	}
	work := float64(p.K) * productWork(box[0], p.Tile, w)
	if p.Square {
		work += choleskyWork(w)
	} else {
		need.Reads = append(need.Reads, []int{w, w})
		work += solveWork(w, box[0])
	}
	need.Work = int64(work)
	return need
}

// work is the memory of a task.
type panelWork struct {
	block, left, right, turned matrix
	chol                       *chol
	gemm                       []byte
}

func (p Panel) layout(all *pool) panelWork {
	w := panelWork{block: all.stateMatrix(p.Tile, p.Tile), left: all.matrix(p.Tile, p.Tile), turned: all.matrix(p.Tile, p.Tile)}
	if !p.Square {
		w.right = all.matrix(p.Tile, p.Tile)
	}
	w.chol = newChol(all, p.Tile)
	w.gemm = all.product(p.Tile, p.Tile, p.Tile)
	return w
}

// shaped is the same memory as a matrix of another shape.
func (m matrix) shaped(rows, cols int) matrix {
	return matrix{a: m.a, rows: rows, cols: cols, ld: cols}
}

// Fill subtracts what earlier panels give, and then takes the root of the square, or
// divides by it.
func (p Panel) Fill(ctx context.Context, t *blockwise.Task) error {
	at, cols := p.K*p.Tile, p.width(p.K)
	first := at
	if !p.Square {
		first = p.below(p.K) + t.Box.Start[0]
	}
	rows := t.Box.Shape[0]
	all := &pool{ScratchLayout: *t.ScratchLayout()}
	w := p.layout(all)
	s := all.steps(ctx, t)
	block, left, right := w.block.shaped(rows, cols), w.left.shaped(rows, p.Tile), w.right.shaped(cols, p.Tile)
	read := func(in int, m matrix, row, col int) error {
		return t.In[in].Read(ctx, grid.Box{Start: []int{row, col}, Shape: []int{m.rows, m.cols}}, dtype.Bytes(m.a[:m.rows*m.cols]))
	}
	if !s.Skips() {
		if err := read(0, block, first, at); err != nil {
			return err
		}
	}
	if s.Next() {
		if i := infinite(block.a[:rows*cols]); i >= 0 {
			return notFinite(block.a[i], first+i/cols, at+i%cols)
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	for k := range p.K {
		other := left
		if !s.Skips() {
			if err := read(1+k, left, first-p.below(k), 0); err != nil {
				return err
			}
			if !p.Square {
				if err := read(1+k, right, at-p.below(k), 0); err != nil {
					return err
				}
				other = right
			}
		}
		err := t.Compute(func() error {
			if !s.Next() {
				return nil
			}
			turned := w.turned.shaped(p.Tile, cols)
			transpose(turned, other)
			for i, v := range turned.a[:p.Tile*cols] {
				turned.a[i] = -v
			}
			multiply(block, left, turned, w.gemm)
			return s.End()
		})
		if err != nil {
			return err
		}
	}
	if p.Square {
		return t.Compute(func() error {
			if err := w.chol.factor(s, block, at); err != nil {
				return err
			}
			store(t.Dst, dtype.Float64, 0, block.a[:rows*cols])
			return nil
		})
	}
	square := w.right.shaped(cols, cols)
	if err := read(1+p.K, square, 0, 0); err != nil {
		return err
	}
	return t.Compute(func() error {
		turned := w.turned.shaped(cols, rows)
		transpose(turned, block)
		if err := forward(nil, square, turned, false, w.chol.minus, w.gemm); err != nil {
			return err
		}
		storeTransposed(t.Dst, dtype.Float64, turned)
		return nil
	})
}

// Requirements is a part of a panel.
func (p Panels) Requirements(box []int) blockwise.Requirements {
	rows, cols := min(box[0], p.N), min(box[1], p.Tile)
	var need blockwise.Requirements
	for k := range p.count() {
		w := p.width(k)
		need.Reads = append(need.Reads, []int{min(rows, w), min(cols, w)})
		if k+1 < p.count() {
			need.Reads = append(need.Reads, []int{min(rows, p.N-p.below(k)), min(cols, w)})
		}
	}
	need.Scratch = int64(rows) * int64(cols) * 8
	return need
}

// Fill joins what the box has of each panel's square and of what is below.
func (p Panels) Fill(ctx context.Context, t *blockwise.Task) error {
	clear(t.Dst)
	r0, c0 := t.Box.Start[0], t.Box.Start[1]
	r1, c1 := r0+t.Box.Shape[0], c0+t.Box.Shape[1]
	for k := c0 / p.Tile; k < p.count() && k*p.Tile < c1; k++ {
		at := k * p.Tile
		left, right := max(c0, at), min(c1, at+p.width(k))
		for part, rows := range [][2]int{{at, p.below(k)}, {p.below(k), p.N}} {
			top, bottom := max(r0, rows[0]), min(r1, rows[1])
			if top >= bottom {
				continue
			}
			box := grid.Box{Start: []int{top - rows[0], left - at}, Shape: []int{bottom - top, right - left}}
			from := matrix{a: dtype.Slice[float64](t.Scratch[:8*box.Size()]), rows: box.Shape[0], cols: box.Shape[1], ld: box.Shape[1]}
			if err := t.In[2*k+part].Read(ctx, box, dtype.Bytes(from.a)); err != nil {
				return err
			}
			dst := dtype.Slice[float64](t.Dst)
			for i := range from.rows {
				copy(dst[(top-r0+i)*t.Box.Shape[1]+left-c0:], from.row(i))
			}
		}
	}
	return nil
}

// Larger matrices than this are factorized in panels of half as many columns.
const wholeMatrix = 2048

// Cholesky is NumPy's cholesky: the lower triangular L of a = L·Lᵀ, of which the lower
// triangle is read. A matrix that is not positive definite is an error, which names the
// first pivot that is not positive, when it is computed.
//
// A stack of matrices, or one of up to 2048 rows, is one pass, and each has to fit a
// task. A larger one is computed panel by panel of 1024 columns, in two passes each that
// read all earlier panels: n³/6144 elements in all. A task holds five squares of a
// panel's width in float64, 40 MiB.
func Cholesky(site graph.Site, a op.Unary) (*graph.Node, error) {
	n := a.X
	m := &graph.Maker{Site: site}
	return m.Result("cholesky", named(lowerFactor(m, n), n, ofRows, ofNone), n)
}

func lowerFactor(m *graph.Maker, n *graph.Node) *graph.Node {
	if len(n.Shape) != 2 || n.Shape[0] <= wholeMatrix {
		return ofSquares(m, "cholesky", n, func(size int) []int { return []int{size, size} })
	}
	if _, _, err := squareOf(n); isComplex(n) && err == nil {
		return inRealForm(m, n, func(n *graph.Node) *graph.Node { return lowerFactor(m, n) })
	}
	return choleskyPanels(m, n, wholeMatrix/2)
}

func choleskyPanels(m *graph.Maker, n *graph.Node, tile int) *graph.Node {
	if m.Err != nil {
		return nil
	}
	if _, _, err := squareOf(n); m.Fail(err) {
		return nil
	}
	dt, err := matrixOf(n)
	if m.Fail(err) {
		return nil
	}
	p := Panels{N: n.Shape[0], Tile: tile}
	wide := m.Cast(n, dtype.Float64)
	var all, below []*graph.Node
	for k := range p.count() {
		in := append([]*graph.Node{wide}, below...)
		name := fmt.Sprint(k)
		square := m.Blockwise("cholesky_panel", Panel{p, k, true}, []int{p.width(k), p.width(k)}, dtype.Float64, in, name)
		all = append(all, square)
		if k+1 == p.count() {
			break
		}
		rest := m.Blockwise("cholesky_panel", Panel{p, k, false}, []int{p.N - p.below(k), p.width(k)}, dtype.Float64, append(in, square), name)
		all, below = append(all, rest), append(below, rest)
	}
	return m.Cast(m.Blockwise("cholesky", p, n.Shape, dtype.Float64, all), dt)
}

// chol is the factorization A = L·Lᵀ of a positive definite matrix by blocks, in its
// lower triangle: what is above is not looked at.
type chol struct {
	minus []float64 // work: a panel, transposed, times -1
	gemm  []byte
}

func newChol(p *pool, n int) *chol {
	return &chol{minus: p.floats(n * min(n, panel)), gemm: p.product(n, panel, n)}
}

// factor puts L in the matrix's place, the state of its steps, with zeros above. first is
// what the errors add to a pivot's place.
func (f *chol) factor(s *blockwise.Steps, a matrix, first int) error {
	for k := 0; k < a.rows; k += panel {
		if !s.Next() {
			continue
		}
		if err := f.panel(a, k, first); err != nil {
			return err
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	return nil
}

// panel makes the columns of L from k on, with the zeros above.
func (f *chol) panel(a matrix, k, first int) error {
	n := a.rows
	end := min(k+panel, n)
	if k > 0 {
		minus := matrix{a: f.minus, rows: k, cols: end - k, ld: end - k}
		transpose(minus, a.part(k, end, 0, k))
		for i, v := range minus.a[:k*(end-k)] {
			minus.a[i] = -v
		}
		multiply(a.part(k, n, k, end), a.part(k, n, 0, k), minus, f.gemm)
	}
	for i := k; i < n; i++ {
		row := a.row(i)
		for j := k; j < min(i, end); j++ {
			other := a.row(j)
			row[j] = (row[j] - dot(row[k:j], other[k:j])) / other[j]
		}
		if i < end {
			d := row[i] - dot(row[k:i], row[k:i])
			if !(d > 0) {
				return notDefinite(first+i, d)
			}
			row[i] = math.Sqrt(d)
			clear(row[i+1:])
		}
	}
	return nil
}

func notDefinite(pivot int, d float64) error {
	return fmt.Errorf("the matrix is not positive definite: pivot %d is %.3g", pivot, d)
}
