package plan

import (
	"encoding/binary"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// What computing takes, in nanoseconds of one core. These figures only decide between
// keeping and computing again, where a factor of two does not matter. The stages
// of a plan follow from them, and so does its fingerprint.
const (
	// keepNanos is what writing a byte of a materialised array takes, and fetchNanos what
	// each stage or operation takes that reads it.
	keepNanos, fetchNanos = 2, 1
	// stageNanos is the overhead of a stage, without its tasks.
	stageNanos = 1e6
	readNanos  = 0.25 // of a byte that is in memory or a file
	codedNanos = 0.5  // of a byte that is decoded
	moveNanos  = 0.5  // of a byte that an operation of boxes puts into its result
	leastNanos = 0.05 // of any element: what bounds the nodes that a cost is summed over
)

// opNanos is what an elementwise operation takes for each byte of its operands.
func opNanos(op kernel.Op) float64 {
	switch {
	case op == kernel.Power || op == kernel.Arctan2 || op == kernel.Hypot || op == kernel.Remainder || op == kernel.FloorDivide:
		return 2
	case op == kernel.Divide || op == kernel.Sqrt || op == kernel.Reciprocal:
		return 0.15
	case op >= kernel.Cbrt && op <= kernel.Arctanh:
		return 0.5
	}
	return 0.06
}

// ownNanos is what computing an element of a node takes without its inputs.
func (c *compiler) ownNanos(n *graph.Node) float64 {
	size := float64(n.DType.Size())
	switch n.Kind {
	case graph.Elementwise:
		t := n.In[len(n.In)-1].DType
		own := opNanos(n.Op) * float64(t.Size())
		if t.Kind() == dtype.KindComplex {
			own *= 4
		}
		return max(own, leastNanos)
	case graph.Cast:
		return max(0.06*max(size, float64(n.In[0].DType.Size())), leastNanos)
	case graph.Blockwise:
		return c.opCost(n).own
	case graph.Source:
		if n.Stored.Info.Chunks != nil {
			return codedNanos * size
		}
		return readNanos * size
	case graph.Random:
		return 2
	case graph.Constant, graph.View:
		return leastNanos
	}
	return max(readNanos*size, leastNanos)
}

// opCost is what an operation of boxes takes.
type opCost struct {
	own  float64   // nanoseconds an element
	read []float64 // of each input, how many times over it is read for all of the result
}

// nominal is about how many elements a task computes at once.
const nominal = 256 << 10

func (c *compiler) opCost(n *graph.Node) opCost {
	cost, ok := c.opCosts[n]
	if ok {
		return cost
	}
	op, size := n.Blocks.Op, float64(max(grid.Size(n.Shape), 1))
	whole := op.Requirements(clip(n.Shape, n.Shape))
	cost.own = max(float64(whole.Work)/size, moveNanos*float64(n.DType.Size()))
	cost.read = make([]float64, len(n.In))
	for k := range cost.read {
		cost.read[k] = 1
	}
	if !whole.DisjointReads && !whole.Gather && op.Chunks() == nil {
		rows, box := op.Requirements(grid.Auto(n.Shape, 1, nominal)), op.Requirements(cube(n.Shape, nominal))
		share := func(box []int) float64 { return float64(grid.Size(box)) / size }
		for k, in := range n.In {
			all := float64(max(grid.Size(clip(whole.Reads[k], in.Shape)), 1))
			times := func(reads []int, share float64) float64 {
				return float64(grid.Size(clip(reads, in.Shape))) / all / max(share, 1/size)
			}
			cost.read[k] = max(min(times(rows.Reads[k], share(grid.Auto(n.Shape, 1, nominal))), times(box.Reads[k], share(cube(n.Shape, nominal)))), 1)
		}
	}
	c.opCosts[n] = cost
	return cost
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
		s.sum += times * readNanos * float64(n.DType.Size())
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
