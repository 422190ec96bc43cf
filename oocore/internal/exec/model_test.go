package exec_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// dense is an array in full, its elements as float64: the truth that runs are
// held to. Tests keep to integers that every type in use holds.
type dense struct {
	shape []int
	v     []float64
}

// fill makes an array element by element.
func fill(shape []int, f func(index []int) float64) dense {
	d := dense{slices.Clone(shape), make([]float64, grid.Size(shape))}
	index := make([]int, len(shape))
	for p := range d.v {
		d.v[p] = f(index)
		for a := len(shape) - 1; a >= 0; a-- {
			if index[a]++; index[a] < shape[a] {
				break
			}
			index[a] = 0
		}
	}
	return d
}

// at is the element at indices.
func (d dense) at(index []int) *float64 {
	p := 0
	for a, n := range d.shape {
		p = p*n + index[a]
	}
	return &d.v[p]
}

// model computes nodes by the definition of their kinds, each once.
type model map[*graph.Node]dense

func (m model) of(n *graph.Node) dense {
	if d, ok := m[n]; ok {
		return d
	}
	in := make([]dense, len(n.In))
	for i, x := range n.In {
		in[i] = m.of(x)
	}
	d := define(n, in)
	if d.shape == nil {
		d.shape = []int{}
	}
	d = fill(d.shape, func() func([]int) float64 {
		at := -1
		return func([]int) float64 { at++; return rounded(n.DType, d.v[at]) }
	}())
	m[n] = d
	return d
}

func define(n *graph.Node, in []dense) dense {
	switch n.Kind {
	case graph.Source:
		return sourceModel(n.Stored.Shape, n.DType)
	case graph.Inline:
		return dense{n.Shape, floats(n.Data, n.DType)}
	case graph.Blockwise:
		if _, reshape := n.Blocks.Op.(graph.Reorder); reshape {
			return dense{n.Shape, in[0].v}
		}
		return fill(n.Shape, func(index []int) float64 { return *in[0].at(index) - 2**in[len(in)-1].at(index) }) // twice
	case graph.Constant:
		return fill(n.Shape, func([]int) float64 { return n.Value.Float() })
	case graph.Iota, graph.Random:
		at := -1
		return fill(n.Shape, func([]int) float64 {
			at++
			if n.Kind == graph.Iota {
				return n.First.Float() + n.Delta.Float()*float64(at)
			}
			b := make([]byte, n.DType.Size())
			kernel.Random(1, b, n.DType, n.Seed, int64(at))
			return floats(b, n.DType)[0]
		})
	case graph.Elementwise:
		args := make([]float64, len(in))
		return fill(n.Shape, func(index []int) float64 {
			for i := range in {
				args[i] = *in[i].at(index)
			}
			return apply(n.Op, args)
		})
	case graph.Cast:
		if n.DType == dtype.Bool {
			return fill(n.Shape, func(index []int) float64 { return truth(*in[0].at(index) != 0) })
		}
		return in[0]
	case graph.View:
		inner := make([]int, len(in[0].shape))
		return fill(n.Shape, func(index []int) float64 {
			for d := range inner {
				inner[d] = n.View.Start[d]
				if a := n.View.Axis[d]; a >= 0 {
					inner[d] += n.View.Step[d] * index[a]
				}
			}
			return *in[0].at(inner)
		})
	case graph.Reduce:
		return reduce(n, in[0])
	case graph.MatMul:
		return multiply(n.Shape, in[0], in[1])
	}
	panic(fmt.Sprintf("no model of kind %d", n.Kind))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func apply(op kernel.Op, x []float64) float64 {
	switch op {
	case kernel.Add:
		return x[0] + x[1]
	case kernel.Subtract:
		return x[0] - x[1]
	case kernel.Multiply:
		return x[0] * x[1]
	case kernel.Minimum:
		return math.Min(x[0], x[1])
	case kernel.Maximum:
		return math.Max(x[0], x[1])
	case kernel.Less:
		return truth(x[0] < x[1])
	case kernel.LogicalNot:
		return truth(x[0] == 0)
	case kernel.Negative:
		return -x[0]
	case kernel.Absolute:
		return math.Abs(x[0])
	case kernel.Floor:
		return math.Floor(x[0])
	case kernel.Where:
		if x[0] != 0 {
			return x[1]
		}
		return x[2]
	}
	panic("no model of " + op.String())
}

// reduce folds element by element, in C order.
func reduce(n *graph.Node, x dense) dense {
	kept := func(index []int) []int {
		out := make([]int, 0, len(index))
		for d, i := range index {
			if !slices.Contains(n.Fold.Axes, d) {
				out = append(out, i)
			}
		}
		return out
	}
	out := dense{n.Shape, make([]float64, grid.Size(n.Shape))}
	best := dense{n.Shape, make([]float64, grid.Size(n.Shape))}
	for i := range out.v {
		switch n.Fold.Kind {
		case kernel.Min:
			out.v[i] = math.Inf(1)
		case kernel.Max:
			out.v[i] = math.Inf(-1)
		case kernel.ArgMax:
			best.v[i] = math.Inf(-1)
		case kernel.ArgMin:
			best.v[i] = math.Inf(1)
		case kernel.All:
			out.v[i] = 1
		}
	}
	fill(x.shape, func(index []int) float64 {
		v, acc := *x.at(index), out.at(kept(index))
		switch n.Fold.Kind {
		case kernel.Sum:
			*acc += v
		case kernel.Min:
			*acc = math.Min(*acc, v)
		case kernel.Max:
			*acc = math.Max(*acc, v)
		case kernel.Any:
			*acc = math.Max(*acc, truth(v != 0))
		case kernel.All:
			*acc = math.Min(*acc, truth(v != 0))
		case kernel.CountNonzero:
			*acc += truth(v != 0)
		case kernel.ArgMax, kernel.ArgMin:
			if b := best.at(kept(index)); n.Fold.Kind == kernel.ArgMax && v > *b || n.Fold.Kind == kernel.ArgMin && v < *b {
				*b, *acc = v, 0
				for _, d := range n.Fold.Axes {
					*acc = *acc*float64(x.shape[d]) + float64(index[d])
				}
			}
		default:
			panic("no model of " + n.Fold.Kind.String())
		}
		return 0
	})
	return out
}

// multiply takes the operands' stacks as NumPy's broadcasting does.
func multiply(shape []int, a, b dense) dense {
	last := len(shape) - 1
	element := func(x dense, index []int, row, col int) float64 {
		at := slices.Clone(index[len(shape)-len(x.shape):])
		for d := range at[:len(at)-2] {
			if x.shape[d] == 1 {
				at[d] = 0
			}
		}
		at[len(at)-2], at[len(at)-1] = row, col
		return *x.at(at)
	}
	return fill(shape, func(index []int) float64 {
		s := 0.0
		for k := range a.shape[len(a.shape)-1] {
			s += element(a, index, index[last-1], k) * element(b, index, k, index[last])
		}
		return s
	})
}

// floats are the elements as float64.
func floats(b []byte, t dtype.Type) []float64 {
	out := make([]float64, len(b)/t.Size())
	for i := range out {
		var lo [8]byte
		copy(lo[:], b[i*t.Size():(i+1)*t.Size()])
		out[i] = dtype.Value{Type: t, Lo: binary.LittleEndian.Uint64(lo[:])}.Float()
	}
	return out
}

// rounded is a result as an element of a type: integers wrap around.
func rounded(t dtype.Type, v float64) float64 {
	switch {
	case t == dtype.Bool:
		return truth(v != 0)
	case t.Kind() == dtype.KindFloat:
		return dtype.FromFloat(t, v).Float()
	case t.Integer() && v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return dtype.FromInt(t, int64(v)).Float()
	}
	return v
}

// sourceModel is what the tests' stored arrays hold: small integers that tell
// neighbours apart, along every axis.
func sourceModel(shape []int, t dtype.Type) dense {
	at := -1
	return fill(shape, func([]int) float64 {
		at++
		if t == dtype.Bool {
			return float64(at * 7 % 11 % 2)
		}
		return float64(at*5%19 - 9)
	})
}

// bytes are the elements in a type.
func (d dense) bytes(t dtype.Type) []byte {
	b := make([]byte, len(d.v)*t.Size())
	for i, v := range d.v {
		e := dtype.FromInt(t, int64(v))
		e.Put(b[i*t.Size():])
	}
	return b
}
