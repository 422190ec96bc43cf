package linalg

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("linalg", Batched{}, blockwise.Products) }

// Batched applies a function to each matrix of a stack: of every input, which all have
// the stack's axes first.
type Batched struct {
	Function string
	Stack    []int
	In       [][2]int // matrices of the inputs
	Out      []int    // shape of one result: of at most two dimensions
	Limit    float64  // of lstsq and pinv: the smallest singular value by the largest that counts
	Type     dtype.Type
}

// function computes one result from a matrix of each input, which it may change. The state
// between its steps is what it has taken as such, and more that it names.
type function struct {
	do  func(s *blockwise.Steps, in []matrix, out []float64) error
	in  bool // the inputs are part of the state; else only the first step reads them
	out int  // the step from which on the result is; never
}

// never is the step that no function comes to.
const never = math.MaxInt

// functions prepare themselves in a task's memory.
var functions = map[string]func(e Batched, p *pool) function{
	"cholesky":        cholesky,
	"det":             det,
	"slogdet":         slogdet,
	"inv":             inverse,
	"solve":           solve,
	"lu":              factors,
	"svd":             decompose,
	"svd_full":        decomposeFully,
	"svdvals":         values,
	"eigh":            eigen,
	"qr_q":            orthogonal,
	"qr_r":            triangle,
	"lstsq":           leastSquares,
	"lstsq_residuals": residuals,
	"pinv":            pseudoinverse,

	"det_complex":      detComplex,
	"slogdet_complex":  slogdetComplex,
	"lu_complex":       luComplex,
	"svd_complex":      decomposeComplex,
	"svd_complex_full": decomposeComplexFully,
	"eigh_complex":     eigenComplex,
	"eig_complex":      eigenGeneral,
}

const stackBytes = 4 << 20

// Chunks are whole matrices, of small ones so many as are together about 4 MiB.
func (e Batched) Chunks() []int {
	most := grid.Size(e.Out)
	for _, m := range e.In {
		most = max(most, m[0]*m[1])
	}
	chunks := grid.Auto(e.Stack, 8*max(most, 1), stackBytes)
	for _, n := range e.Out {
		chunks = append(chunks, max(n, 1))
	}
	return chunks
}

// Requirements is the matrices of a box in float64, and one result with its work.
func (e Batched) Requirements(box []int) blockwise.Requirements {
	var p pool
	count := grid.Size(box[:len(e.Stack)])
	f, _, _ := e.layout(&p, count)
	var need blockwise.Requirements
	one := p.bytes
	for _, m := range e.In {
		need.Reads = append(need.Reads, append(slices.Clone(box[:len(e.Stack)]), m[0], m[1]))
		if f.in {
			one += 8 * int64(m[0]*m[1])
		}
	}
	if f.out != never {
		one += 8 * int64(grid.Size(e.Out))
	}
	if count == 1 {
		need.State = one
	}
	need.Scratch = p.Size()
	need.Work = int64(float64(count) * e.work())
	return need
}

func (e Batched) layout(p *pool, count int) (f function, in [][]float64, out []float64) {
	f = functions[e.Function](e, p)
	for _, m := range e.In {
		in = append(in, p.floats(count*m[0]*m[1]))
	}
	return f, in, p.floats(grid.Size(e.Out))
}

// state is the memory of the state between the steps of one matrix.
func (f function) state(kept [][]byte, in [][]float64, out []float64) blockwise.State {
	if f.in {
		for _, x := range in {
			kept = append(kept, dtype.Bytes(x))
		}
	}
	with := append(slices.Clone(kept), dtype.Bytes(out))
	return func(done int) [][]byte {
		if done >= f.out {
			return with
		}
		return kept
	}
}

// Fill computes one matrix of the box after the other. Of a box of several the state is not
// saved: they are small.
func (e Batched) Fill(ctx context.Context, t *blockwise.Task) error {
	d := len(e.Stack)
	stack := grid.Box{Start: t.Box.Start[:d], Shape: t.Box.Shape[:d]}
	count := stack.Size()
	p := &pool{ScratchLayout: *t.ScratchLayout()}
	f, in, out := e.layout(p, count)
	var s *blockwise.Steps
	if count == 1 {
		s = t.Steps(ctx, f.state(p.kept, in, out))
	}
	for i, m := range e.In {
		if s.Skips() {
			break
		}
		box := grid.Box{Start: append(slices.Clone(stack.Start), 0, 0), Shape: append(slices.Clone(stack.Shape), m[0], m[1])}
		if err := t.In[i].Read(ctx, box, dtype.Bytes(in[i])); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		one := make([]matrix, len(in))
		for k := range count {
			if count > 1 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for i, m := range e.In {
				n := m[0] * m[1]
				one[i] = matrix{a: in[i][k*n : (k+1)*n], rows: m[0], cols: m[1], ld: m[1]}
				if s.Skips() {
					continue
				}
				if at := infinite(one[i].a); at >= 0 {
					return e.where(stack, k, notFinite(one[i].a[at], at/m[1], at%m[1]))
				}
			}
			if err := f.do(s, one, out); err != nil {
				return e.where(stack, k, err)
			}
			store(t.Dst, e.Type, k*len(out), out)
		}
		return nil
	})
}

// where adds which matrix of a stack an error is of.
func (e Batched) where(stack grid.Box, k int, err error) error {
	if len(e.Stack) == 0 {
		return err
	}
	at := make([]int, len(e.Stack))
	for d := len(at) - 1; d >= 0; d-- {
		at[d] = stack.Start[d] + k%stack.Shape[d]
		k /= stack.Shape[d]
	}
	return fmt.Errorf("matrix %s: %w", place(at), err)
}
