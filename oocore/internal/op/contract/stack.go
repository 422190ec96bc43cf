package contract

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() {
	blockwise.Register("matmul_stack", Stack{}, blockwise.Products)
	blockwise.Register("matmul_stack_integers", IntegerStack{}, blockwise.Exact)
}

// Stack multiplies the matrices of two stacks, which broadcast together. Each product is
// whole: what one takes to begin and to end is then spent on many of them. Their bits are
// those of kernel.Gemm on one after the other.
type Stack struct {
	A, B, Out []int      // shapes
	In, Type  dtype.Type // of the operands and of the result
}

// IntegerStack is a Stack of integers or bools, of which each machine gives the same bits.
type IntegerStack struct{ Stack }

// stackBytes is the most that the matrices of both operands and of the result have together
// in a box.
const stackBytes = 1 << 20

// leastStacked is how many matrices a box has at least. Of larger ones each repays a task, which
// a device may take.
const leastStacked = 64

// StackOf is the operation of a product of a type, by the shapes of its operands and its own;
// nil where its matrices are too large, or too few, to gain by it.
func StackOf(a, b, out []int, in, t dtype.Type) blockwise.Op {
	s := Stack{a, b, out, in, t}
	if m, n, k := s.lengths(); min(m, n, k) == 0 || grid.Size(s.stack()) < leastStacked {
		return nil
	}
	if t.Kind() < dtype.KindFloat {
		return IntegerStack{s}
	}
	return s
}

// lengths are those of one product.
func (s Stack) lengths() (m, n, k int) {
	d := len(s.Out)
	return s.Out[d-2], s.Out[d-1], s.A[len(s.A)-1]
}

// stack is the part of the stack that a box has.
func (s Stack) stack() []int {
	m, n, k := s.lengths()
	return grid.Auto(s.Out[:len(s.Out)-2], (m*k+k*n)*s.In.Size()+m*n*s.Type.Size(), stackBytes)
}

// Chunks are whole matrices.
func (s Stack) Chunks() []int {
	m, n, _ := s.lengths()
	return append(s.stack(), m, n)
}

// Requirements is both operands' matrices, and for one product what kernel.Gemm takes.
func (s Stack) Requirements(box []int) blockwise.Requirements {
	m, n, k := s.lengths()
	stack := grid.Box{Start: make([]int, len(box)-2), Shape: box[:len(box)-2]}
	var p blockwise.ScratchLayout
	s.layout(&p, s.operand(s.A, stack), s.operand(s.B, stack))
	const nanos, perNano = 100, 16 // a product takes at least so long, and does so many multiplications
	return blockwise.Requirements{
		Reads:   [][]int{s.operand(s.A, stack).Shape, s.operand(s.B, stack).Shape},
		Scratch: p.Size(),
		Work:    int64(stack.Size()) * int64(nanos+m*n*k/perNano),
	}
}

// layout takes memory for both operands' boxes, for sums of a wider type than the result,
// and for kernel.Gemm.
func (s Stack) layout(p *blockwise.ScratchLayout, a, b grid.Box) (x, y, sums, work []byte) {
	m, n, k := s.lengths()
	x, y = p.Take(a.Size()*s.In.Size()), p.Take(b.Size()*s.In.Size())
	if wide := kernel.GemmType(s.Type); wide != s.Type {
		sums = p.Take(m * n * wide.Size())
	}
	return x, y, sums, p.Take(int(kernel.GemmWork(s.In, m, n, k)))
}

// operand is the box of an operand that a box of the stack takes.
func (s Stack) operand(shape []int, stack grid.Box) grid.Box {
	n := len(shape) - 2
	b := grid.Box{Start: make([]int, n+2), Shape: slices.Clone(shape)}
	first := len(stack.Shape) - n
	for d := range n {
		if shape[d] > 1 {
			b.Start[d], b.Shape[d] = stack.Start[first+d], stack.Shape[first+d]
		}
	}
	return b
}

// Fill multiplies one pair of matrices after the other.
func (s Stack) Fill(ctx context.Context, t *blockwise.Task) error {
	d := len(s.Out) - 2
	stack := grid.Box{Start: t.Box.Start[:d], Shape: t.Box.Shape[:d]}
	a, b := s.operand(s.A, stack), s.operand(s.B, stack)
	x, y, sums, work := s.layout(t.ScratchLayout(), a, b)
	t.WillRead(1, b)
	if err := t.In[0].Read(ctx, a, x); err != nil {
		return err
	}
	if err := t.In[1].Read(ctx, b, y); err != nil {
		return err
	}
	m, n, k := s.lengths()
	wide := kernel.GemmType(s.Type)
	multiply := kernel.Gemm
	if s.Type == dtype.Int32 && s.In != dtype.Int32 {
		multiply = kernel.GemmInt32
	}
	var round kernel.Func
	if sums != nil {
		round, _ = kernel.Cast(wide, s.Type)
	}
	return t.Compute(func() error {
		clear(t.Dst)
		ofA, ofB, size := m*k*s.In.Size(), k*n*s.In.Size(), m*n*s.Type.Size()
		dst := t.Dst
		for i, j := range grid.Places(stack.Shape, strides(stack.Shape, a.Shape[:len(a.Shape)-2]), strides(stack.Shape, b.Shape[:len(b.Shape)-2])) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			c := dst
			if round != nil {
				c = sums
				clear(c)
			}
			multiply(s.In, m, n, k, x[i*ofA:], k, y[j*ofB:], n, c, n, work)
			if round != nil {
				round(m*n, dst, c, nil, nil)
			}
			dst = dst[size:]
		}
		return nil
	})
}

// strides are by how many matrices of an operand's box one goes on along each axis of the stack.
func strides(stack, operand []int) []int {
	all := make([]int, len(stack))
	for d, step := range grid.Strides(operand) {
		if operand[d] > 1 {
			all[len(stack)-len(operand)+d] = step
		}
	}
	return all
}
