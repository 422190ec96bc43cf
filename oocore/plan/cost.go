package plan

import (
	"encoding/binary"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan/cost"
)

// ownNanos is what computing an element of a node takes without its inputs.
func (c *compiler) ownNanos(n *graph.Node) float64 {
	size, own := float64(n.DType.Size()), 0.0
	switch n.Kind {
	case graph.Elementwise:
		own = cost.Elementwise(n.Op, n.In[len(n.In)-1].DType)
	case graph.Cast:
		own = cost.Cast(n.In[0].DType, n.DType)
	case graph.Blockwise:
		own = c.opCost(n).own
	case graph.Source:
		own = cost.Copy * size
		if n.Stored.Info.Chunks != nil {
			decode, _ := cost.Codec(n.Stored.Info.Codec)
			own += decode * size
		}
	case graph.Random:
		own = cost.Random
	case graph.Iota:
		own = cost.Iota
	case graph.Constant, graph.View:
	default:
		own = cost.Copy * size
	}
	return max(own, leastNanos)
}

// leastNanos is that of any element: it bounds the nodes that a cost is summed over.
const leastNanos = 0.02

// opCost is what an operation of boxes takes.
type opCost struct {
	own  float64   // nanoseconds an element
	read []float64 // of each input, how many times over it is read for all of the result
}

// nominal is about how many elements a task computes at once.
const nominal = 256 << 10

func (c *compiler) opCost(n *graph.Node) opCost {
	if known, ok := c.opCosts[n]; ok {
		return known
	}
	var of opCost
	op, size := n.Blocks.Op, float64(max(grid.Size(n.Shape), 1))
	whole := op.Requirements(clip(n.Shape, n.Shape))
	var inputs [][]int
	for _, in := range n.In {
		inputs = append(inputs, in.Shape)
	}
	of.own = boxNanos(op, n.DType, clip(n.Shape, n.Shape), whole, inputs) / size
	of.read = make([]float64, len(n.In))
	for k := range of.read {
		of.read[k] = 1
	}
	if !whole.DisjointReads && !whole.Gather && op.Chunks() == nil {
		rows, box := op.Requirements(grid.Auto(n.Shape, 1, nominal)), op.Requirements(cube(n.Shape, nominal))
		share := func(box []int) float64 { return float64(grid.Size(box)) / size }
		for k, in := range n.In {
			all := float64(max(grid.Size(clip(whole.Reads[k], in.Shape)), 1))
			times := func(reads []int, share float64) float64 {
				return float64(grid.Size(clip(reads, in.Shape))) / all / max(share, 1/size)
			}
			of.read[k] = max(min(times(rows.Reads[k], share(grid.Auto(n.Shape, 1, nominal))), times(box.Reads[k], share(cube(n.Shape, nominal)))), 1)
		}
	}
	c.opCosts[n] = of
	return of
}

// cube is a box of at most elems elements, alike along all axes that are long enough.
func cube(shape []int, elems int) []int {
	box := clip(shape, shape)
	for grid.Size(box) > elems {
		longest := 0
		for d := range box {
			if box[d] > box[longest] {
				longest = d
			}
		}
		box[longest] = (box[longest] + 1) / 2
	}
	return box
}

// mostSummed bounds the nodes that one cost is summed over.
const mostSummed = 1000

// costs sums what computing a node takes for each of its elements, from what is
// materialised.
type costs struct {
	c       *compiler
	most    float64 // where the sum ends
	sum     float64
	visited map[string]bool
	context int // of the operation of boxes whose inputs are summed
}

// cost is what computing an element of n takes; more than most where it is that much,
// or has too many parts to say. Parts that a program shares are counted once, and what
// an operation of boxes reads for each such operation.
func (c *compiler) cost(n *graph.Node, most float64) float64 {
	s := &costs{c: c, most: most, visited: map[string]bool{}}
	s.add(n, grid.Identity(n.Shape), 1, 0, true)
	return s.sum
}

func (s *costs) add(n *graph.Node, v grid.View, times float64, context int, first bool) {
	if s.sum > s.most {
		return
	}
	key := binary.AppendVarint(make([]byte, 0, 48), int64(context))
	key = binary.AppendVarint(key, int64(s.c.canonical.number[n]))
	for _, list := range [][]int{v.Axis, v.Start, v.Step} {
		for _, x := range list {
			key = binary.AppendVarint(key, int64(x))
		}
	}
	if s.visited[string(key)] {
		return
	}
	if s.visited[string(key)] = true; len(s.visited) > mostSummed {
		s.sum = s.most + 1
		return
	}
	if !first && s.c.materialised(n) {
		s.sum += times * cost.Copy * float64(n.DType.Size())
		return
	}
	s.sum += times * s.c.ownNanos(n)
	for k, in := range n.In {
		switch n.Kind {
		case graph.View:
			s.add(in, v.Through(n.View), times, context, false)
		case graph.Blockwise:
			s.context++
			share := float64(grid.Size(in.Shape)) / float64(max(grid.Size(n.Shape), 1))
			s.add(in, grid.Identity(in.Shape), times*min(share, mostShare)*s.c.opCost(n).read[k], s.context, false)
		default:
			s.add(in, v, times, context, false)
		}
	}
}

// mostShare bounds how much of an input an element of an operation's result counts for:
// one of a downsampled image rests on many.
const mostShare = 64
