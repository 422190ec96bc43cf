package linalg

import (
	"context"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("normal_product", Normal{}, blockwise.Products) }

// Normal is (Aᵀ·A·W)ᵀ of an M × N matrix A and an N × L one W, summed over runs of
// blocks of rows: L × N for each run. A is read once.
type Normal struct {
	M, N, L int
	Rows    int // of a block
	Run     int // blocks
}

// normal cuts the rows so that a block has about 12 MiB, and runs are few and long
// beside W, which each reads.
func normal(m, n, l int) Normal {
	p := Normal{M: m, N: n, L: l, Rows: min(max(taskBytes/3/(8*n), 1), m)}
	blocks := (m + p.Rows - 1) / p.Rows
	p.Run = max(4, (4*n*l+p.Rows*n-1)/(p.Rows*n), (blocks+63)/64)
	return p
}

func (p Normal) runs() int { return (p.M + p.Rows*p.Run - 1) / (p.Rows * p.Run) }

// Chunks are the runs.
func (p Normal) Chunks() []int { return []int{1, p.L, p.N} }

// Requirements is a block of A, W, and three small matrices.
func (p Normal) Requirements([]int) blockwise.Requirements {
	var all pool
	p.layout(&all)
	return blockwise.Requirements{
		Reads:   [][]int{{p.Rows, p.N}, {p.N, p.L}},
		Scratch: all.Size(),
		State:   int64(p.L*p.N) * 8,
		Work:    int64(2 * productWork(min(p.Run*p.Rows, p.M), p.N, p.L)),
	}
}

func (p Normal) layout(all *pool) (a, w, y, yt matrix, gemm []byte) {
	return all.matrix(p.Rows, p.N), all.matrix(p.N, p.L), all.matrix(p.Rows, p.L), all.matrix(p.L, p.Rows),
		all.product(max(p.Rows, p.L), max(p.N, p.L), max(p.N, p.Rows))
}

// Fill sums over the blocks of a run, in their order.
func (p Normal) Fill(ctx context.Context, t *blockwise.Task) error {
	a, w, y, yt, gemm := p.layout(&pool{ScratchLayout: *t.ScratchLayout()})
	if err := t.In[1].Read(ctx, grid.Entire([]int{p.N, p.L}), dtype.Bytes(w.a)); err != nil {
		return err
	}
	sum := matrix{a: dtype.Slice[float64](t.Dst), rows: p.L, cols: p.N, ld: p.N}
	s := t.Steps(ctx, func(int) [][]byte { return [][]byte{t.Dst} })
	if !s.Skips() {
		sum.clear()
	}
	first := t.Box.Start[0] * p.Run * p.Rows
	for from := first; from < min(first+p.Run*p.Rows, p.M); from += p.Rows {
		rows := min(p.Rows, p.M-from)
		block := a.shaped(rows, p.N)
		block.a = block.a[:rows*p.N]
		if !s.Skips() {
			if err := t.In[0].Read(ctx, grid.Box{Start: []int{from, 0}, Shape: []int{rows, p.N}}, dtype.Bytes(block.a)); err != nil {
				return err
			}
		}
		err := t.Compute(func() error {
			if !s.Next() {
				return nil
			}
			if i := infinite(block.a); i >= 0 {
				return notFinite(block.a[i], from+i/p.N, i%p.N)
			}
			y, yt := y.shaped(rows, p.L), yt.shaped(p.L, rows)
			y.clear()
			multiply(y, block, w, gemm)
			transpose(yt, y)
			multiply(sum, yt, block, gemm)
			return s.End()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RandomOptions are the less common arguments of RandomizedSVD.
type RandomOptions struct {
	Iterations int    // passes that turn the random vectors towards the singular ones; 0: 2
	Oversample int    // vectors beside the k that are asked for; 0: 10
	Seed       uint64 // of the random vectors
}

// RandomizedSVD approximates the k largest singular values and their vectors: U m × k,
// s falling, Vᵀ k × n. Random vectors are multiplied with AᵀA and made orthonormal, some
// times over; A is then decomposed in the space that they span (N. Halko, P.-G.
// Martinsson and J. Tropp, Finding structure with randomness, SIAM Review 2011,
// algorithm 4.4 on the rows' side). The same seed gives the same result. The error is
// that of the best approximation of rank k, nearly, where singular values fall; more
// iterations bring it there faster. Values below about 10⁻⁷ of the largest are not
// told from noise.
//
// The matrix is read once in each iteration, both products of which are made of a block
// while it is in memory, and once more: 1 + Iterations passes (Halko's take twice as
// many). A task holds a block of 12 MiB in float64, or a row, and k + Oversample rows of
// n.
func RandomizedSVD(site graph.Site, a RandomArgs) (u, s, vt *graph.Node, err error) {
	n := a.X
	m := &graph.Maker{Site: site}
	u, s, vt = randomized(m, n, a.K, RandomOptions{Iterations: a.Iterations, Seed: a.Seed, Oversample: a.Oversample})
	if m.Err != nil {
		return nil, nil, nil, graph.Reject(site, "randomized_svd", m.Err, n)
	}
	return named(u, n, ofRows, ofNone), s, named(vt, n, ofNone, ofColumns), nil
}

// maxIterations bounds the nodes of one approximation.
const maxIterations = 1000

func randomized(m *graph.Maker, n *graph.Node, k int, o RandomOptions) (u, s, vt *graph.Node) {
	if m.Err != nil {
		return
	}
	dt, err := matrixOf(n)
	switch {
	case err != nil:
	case k < 1 || k > min(n.Shape[0], n.Shape[1]):
		err = fmt.Errorf("a matrix of shape %s has singular values 1 to %d, not %d", grid.Format(n.Shape), min(n.Shape[0], n.Shape[1]), k)
	case o.Iterations < 0 || o.Oversample < 0:
		err = fmt.Errorf("%d iterations and %d more vectors: neither may be negative", o.Iterations, o.Oversample)
	case o.Iterations > maxIterations:
		err = fmt.Errorf("%d iterations are more than %d: each reads the matrix once, and 2 to 10 do", o.Iterations, maxIterations)
	}
	if m.Fail(err) {
		return
	}
	n, wide := turned(m, n)
	if n = m.Cast(n, dtype.Float64); m.Err != nil {
		return
	}
	if o.Iterations == 0 {
		o.Iterations = 2
	}
	if o.Oversample == 0 {
		o.Oversample = 10
	}
	w := subspace(m, n, min(k+o.Oversample, n.Shape[1]), o)
	t, u, s, vt := ofTriangle(m, m.Product(n, w))
	vt = m.Product(m.Slice(vt, ":%d", k), m.Transpose(w))
	return t.singular(dt, m.Slice(u, ":, :%d", k), m.Slice(s, ":%d", k), vt, wide)
}

// subspace is an orthonormal basis of about the space of the l largest right singular
// vectors.
func subspace(m *graph.Maker, a *graph.Node, l int, o RandomOptions) *graph.Node {
	n := a.Shape[1]
	w := gaussian(m, o.Seed, n, l)
	p := normal(a.Shape[0], n, l)
	for range o.Iterations {
		z := m.Blockwise("normal_product", p, []int{p.runs(), l, n}, dtype.Float64, []*graph.Node{a, w})
		z = m.Transpose(m.Reduce(kernel.Sum, z, graph.ReduceOptions{Axes: []int{0}}))
		w = newTall(m, z).q(dtype.Float64, nil)
	}
	return w
}

// gaussian is n × l random numbers of the normal distribution (G. Box and M. Muller, A
// note on the generation of random normal deviates, 1958), made where they are read.
func gaussian(m *graph.Maker, seed uint64, n, l int) *graph.Node {
	u := m.Make(func() (*graph.Node, error) { return graph.Uniform(m.Site, dtype.Float64, seed, n, 2*l) })
	radius, angle := m.Slice(u, ":, :%d", l), m.Slice(u, ":, %d:", l)
	radius = m.Apply(kernel.Log1p, m.Apply(kernel.Negative, radius))
	radius = m.Apply(kernel.Sqrt, m.Apply(kernel.Multiply, radius, m.Number(-2.0)))
	angle = m.Apply(kernel.Cos, m.Apply(kernel.Multiply, angle, m.Number(2*math.Pi)))
	return m.Apply(kernel.Multiply, radius, angle)
}
