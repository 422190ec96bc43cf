package linalg

import (
	"context"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

func init() { blockwise.Register("normal_product", Normal{}) }

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

// Rounding is Products: most of the work is in products of matrices.
func (Normal) Rounding() blockwise.Rounding { return blockwise.Products }

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
	a, w, y, yt, gemm := p.layout(&pool{Parts: *t.Parts()})
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
func RandomizedSVD(site graph.Site, n *graph.Node, k int, o RandomOptions) (u, s, vt *graph.Node, err error) {
	if u, s, vt, err = randomized(site, n, k, o); err != nil {
		return nil, nil, nil, graph.Reject(site, "randomized_svd", err, n)
	}
	return named(u, n, ofRows, ofNone), s, named(vt, n, ofNone, ofColumns), nil
}

// maxIterations bounds the nodes of one approximation.
const maxIterations = 1000

func randomized(site graph.Site, n *graph.Node, k int, o RandomOptions) (u, s, vt *graph.Node, err error) {
	dt, err := matrixOf(n)
	if err != nil {
		return nil, nil, nil, err
	}
	if most := min(n.Shape[0], n.Shape[1]); k < 1 || k > most {
		return nil, nil, nil, fmt.Errorf("a matrix of shape %s has singular values 1 to %d, not %d", grid.Format(n.Shape), most, k)
	}
	if o.Iterations < 0 || o.Oversample < 0 {
		return nil, nil, nil, fmt.Errorf("%d iterations and %d more vectors: neither may be negative", o.Iterations, o.Oversample)
	}
	if o.Iterations > maxIterations {
		return nil, nil, nil, fmt.Errorf("%d iterations are more than %d: each reads the matrix once, and 2 to 10 do", o.Iterations, maxIterations)
	}
	n, wide, err := turned(site, n)
	if err != nil {
		return nil, nil, nil, err
	}
	if n, err = graph.AsType(site, n, dtype.Float64); err != nil {
		return nil, nil, nil, err
	}
	if o.Iterations == 0 {
		o.Iterations = 2
	}
	if o.Oversample == 0 {
		o.Oversample = 10
	}
	w, err := subspace(site, n, min(k+o.Oversample, n.Shape[1]), o)
	if err != nil {
		return nil, nil, nil, err
	}
	y, err := graph.Product(site, n, w)
	if err != nil {
		return nil, nil, nil, err
	}
	t, u, s, vt, err := ofTriangle(site, y)
	if err != nil {
		return nil, nil, nil, err
	}
	if u, err = graph.Slice(site, u, fmt.Sprintf(":, :%d", k)); err != nil {
		return nil, nil, nil, err
	}
	if s, err = graph.Slice(site, s, fmt.Sprintf(":%d", k)); err != nil {
		return nil, nil, nil, err
	}
	if vt, err = graph.Slice(site, vt, fmt.Sprintf(":%d", k)); err != nil {
		return nil, nil, nil, err
	}
	if w, err = graph.Transpose(site, w); err != nil {
		return nil, nil, nil, err
	}
	if vt, err = graph.Product(site, vt, w); err != nil {
		return nil, nil, nil, err
	}
	return t.singular(site, dt, u, s, vt, wide)
}

// subspace is an orthonormal basis of about the space of the l largest right singular
// vectors.
func subspace(site graph.Site, a *graph.Node, l int, o RandomOptions) (*graph.Node, error) {
	m, n := a.Shape[0], a.Shape[1]
	w, err := gaussian(site, o.Seed, n, l)
	if err != nil {
		return nil, err
	}
	p := normal(m, n, l)
	for range o.Iterations {
		z, err := graph.NewBlockwise(site, "normal_product", p, []int{p.runs(), l, n}, dtype.Float64, []*graph.Node{a, w})
		if err != nil {
			return nil, err
		}
		if z, err = graph.Aggregate(site, kernel.Sum, z, graph.ReduceOptions{Axes: []int{0}}); err != nil {
			return nil, err
		}
		if z, err = graph.Transpose(site, z); err != nil {
			return nil, err
		}
		t, err := newTall(site, z)
		if err != nil {
			return nil, err
		}
		if w, err = t.q(dtype.Float64, nil); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// gaussian is n × l random numbers of the normal distribution (G. Box and M. Muller, A
// note on the generation of random normal deviates, 1958), made where they are read.
func gaussian(site graph.Site, seed uint64, n, l int) (*graph.Node, error) {
	u, err := graph.Uniform(site, dtype.Float64, seed, n, 2*l)
	if err != nil {
		return nil, err
	}
	radius, err := graph.Slice(site, u, fmt.Sprintf(":, :%d", l))
	if err != nil {
		return nil, err
	}
	angle, err := graph.Slice(site, u, fmt.Sprintf(":, %d:", l))
	if err != nil {
		return nil, err
	}
	number := func(op kernel.Op, a *graph.Node, f float64) (*graph.Node, error) {
		v, err := graph.Scalar(site, f)
		if err != nil {
			return nil, err
		}
		return graph.Apply(site, op, a, v)
	}
	if radius, err = graph.Apply(site, kernel.Negative, radius); err != nil {
		return nil, err
	}
	if radius, err = graph.Apply(site, kernel.Log1p, radius); err != nil {
		return nil, err
	}
	if radius, err = number(kernel.Multiply, radius, -2); err != nil {
		return nil, err
	}
	if radius, err = graph.Apply(site, kernel.Sqrt, radius); err != nil {
		return nil, err
	}
	if angle, err = number(kernel.Multiply, angle, 2*math.Pi); err != nil {
		return nil, err
	}
	if angle, err = graph.Apply(site, kernel.Cos, angle); err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.Multiply, radius, angle)
}
