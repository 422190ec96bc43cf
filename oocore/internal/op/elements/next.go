package elements

import (
	"context"
	"errors"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

func init() { blockwise.Register("nextafter", Next{}, blockwise.Exact, blockwise.KeepsAxes) }

var errComplex = errors.New("takes real numbers: use Real, Imag or Abs first")

// NextAfter is the float that comes after a on the way to b, as NumPy's nextafter; b
// where they are equal.
func NextAfter(site graph.Site, args op.Binary) (*graph.Node, error) {
	x, y, t, err := floats(site, args.A, args.B)
	if err != nil {
		return nil, graph.Reject(site, "nextafter", err, args.A, args.B)
	}
	if grid.Size(x.Shape) == 0 {
		return x, nil
	}
	return graph.NewBlockwise(site, "nextafter", Next{Pairs{t}}, x.Shape, t, []*graph.Node{x, y})
}

// Spacing returns NumPy's spacing: the distance of each float to the next one away from zero,
// with its sign, and of float16, as in NumPy, to the next larger one. That of infinities is NaN.
func Spacing(site graph.Site, a op.Unary) (*graph.Node, error) {
	return made(site, "spacing", false, []*graph.Node{a.X}, func(m *graph.Maker) *graph.Node {
		x := floating(m, a.X)
		if x == nil {
			return nil
		}
		x = m.Apply(kernel.Add, x, constant(m, x, 0)) // -0 becomes 0
		to := constant(m, x, math.Inf(1))
		if x.DType != dtype.Float16 {
			to = m.Apply(kernel.Copysign, to, x)
		}
		next := graph.Call(m, NextAfter, op.Binary{A: x, B: to})
		distance := m.Apply(kernel.Subtract, next, x)
		return m.Apply(kernel.Where, m.Apply(kernel.IsFinite, x), distance, constant(m, x, math.NaN()))
	})
}

// Pairs are elements of two arrays of one shape and type.
type Pairs struct{ Type dtype.Type }

// Requirements is the box of both inputs, of which one is read into the result.
func (o Pairs) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box, box}, Scratch: int64(grid.Size(box) * o.Type.Size()), DisjointReads: true}
}

// each reads a box of both, and computes its result in place of the first one's elements.
func (o Pairs) each(ctx context.Context, t *blockwise.Task, f func(second []byte) error) error {
	second := t.Scratch[:len(t.Dst)]
	if err := t.In[0].Read(ctx, t.Box, t.Dst); err != nil {
		return err
	}
	return t.ComputeFrom(ctx, 1, t.Box, second, func() error { return f(second) })
}

// Next steps floats of one type.
type Next struct{ Pairs }

// Fill steps each element of the first input.
func (o Next) Fill(ctx context.Context, t *blockwise.Task) error {
	return o.each(ctx, t, func(to []byte) error {
		switch o.Type {
		case dtype.Float16:
			step(dtype.Slice[dtype.Float16Bits](t.Dst), dtype.Slice[dtype.Float16Bits](to), 1<<15, func(v dtype.Float16Bits) float64 { return float64(v.Float32()) })
		case dtype.BFloat16:
			step(dtype.Slice[dtype.BFloat16Bits](t.Dst), dtype.Slice[dtype.BFloat16Bits](to), 1<<15, func(v dtype.BFloat16Bits) float64 { return float64(v.Float32()) })
		case dtype.Float32:
			step(dtype.Slice[uint32](t.Dst), dtype.Slice[uint32](to), 1<<31, func(v uint32) float64 { return float64(math.Float32frombits(v)) })
		default:
			step(dtype.Slice[uint64](t.Dst), dtype.Slice[uint64](to), 1<<63, math.Float64frombits)
		}
		return nil
	})
}

// step brings each float, as its bits, one on the way to another. Floats of one sign are
// in the order of their bits.
func step[B ~uint16 | ~uint32 | ~uint64](x, to []B, sign B, float func(B) float64) {
	for i, bits := range x {
		a, b := float(bits), float(to[i])
		switch {
		case a != a:
		case b != b || a == b: // also of zeros: the second's
			x[i] = to[i]
		case a == 0:
			x[i] = to[i]&sign | 1
		case (a < b) == (a > 0):
			x[i] = bits + 1
		default:
			x[i] = bits - 1
		}
	}
}
