package compile

import (
	"encoding/binary"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/cost"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
)

// ownNanos is what computing an element of a node that is seen through a view takes without
// its inputs.
func (c *compiler) ownNanos(n *graph.Node, v grid.View) float64 {
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
	case graph.Random, graph.Iota:
		own = cost.Generator(n.Kind == graph.Random, v)
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
	whole := op.Requirements(grid.Clip(n.Shape, n.Shape))
	var inputs [][]int
	for _, in := range n.In {
		inputs = append(inputs, in.Shape)
	}
	of.own = cost.Boxes(op, n.DType, grid.Clip(n.Shape, n.Shape), whole, inputs) / size
	of.read = slices.Repeat([]float64{1}, len(n.In))
	if !whole.DisjointReads && !whole.Gather && blockwise.ChunksOf(op) == nil {
		rows, box := op.Requirements(grid.Auto(n.Shape, 1, nominal)), op.Requirements(shapes.Cube(n.Shape, nominal))
		share := func(box []int) float64 { return float64(grid.Size(box)) / size }
		for k, in := range n.In {
			all := float64(max(grid.Size(grid.Clip(whole.Reads[k], in.Shape)), 1))
			times := func(reads []int, share float64) float64 {
				return float64(grid.Size(grid.Clip(reads, in.Shape))) / all / max(share, 1/size)
			}
			of.read[k] = max(min(times(rows.Reads[k], share(grid.Auto(n.Shape, 1, nominal))), times(box.Reads[k], share(shapes.Cube(n.Shape, nominal)))), 1)
		}
	}
	c.opCosts[n] = of
	return of
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
	sources []reads
}

// reads are how a stored array is read.
type reads struct {
	of      *graph.Node
	readers []*graph.Node
	nanos   float64
}

// source returns the reads of a stored array.
func (s *costs) source(n *graph.Node) *reads {
	i := slices.IndexFunc(s.sources, func(r reads) bool { return r.of == n })
	if i < 0 {
		i = len(s.sources)
		s.sources = append(s.sources, reads{of: n})
	}
	return &s.sources[i]
}

// cost is what computing an element of n takes; more than most where it is that much,
// or has too many parts to say. Parts that a program shares are counted once, and what
// an operation of boxes reads for each such operation. A stored array is not counted where
// the passes that read n read it anyway.
func (c *compiler) cost(n *graph.Node, most float64) float64 {
	s := &costs{c: c, most: most, visited: map[string]bool{}}
	s.add(n, grid.Identity(n.Shape), 1, 0, nil)
	for _, r := range s.sources {
		if !c.readAnyway(n, &r) {
			s.sum += r.nanos
		}
	}
	return s.sum
}

// pass identifies a pass that computes or reads a node: readers with as many materialised nodes
// below them are likely to share one.
type pass struct {
	over  *graph.Node
	depth int
}

// countReaders counts the readers of each node in each pass, before it is known what else is
// materialised.
func (c *compiler) countReaders(nodes []*graph.Node) {
	depth := c.depths(nodes)
	c.passes, c.readers = map[*graph.Node][]int{}, map[pass]int{}
	for _, root := range c.roots {
		c.passes[root] = append(c.passes[root], depth[root])
	}
	for _, n := range slices.Backward(nodes) {
		if c.materialised(n) {
			c.passes[n] = []int{depth[n]}
		}
		for k, in := range n.In {
			if slices.Contains(n.In[:k], in) {
				continue
			}
			for _, d := range c.passes[n] {
				c.readers[pass{in, d}]++
				if all := c.passes[in]; len(all) < mostReadings && !slices.Contains(all, d) {
					c.passes[in] = append(all, d)
				}
			}
		}
	}
}

// readAnyway reports a stored array that has further readers in all passes that compute n.
func (c *compiler) readAnyway(n *graph.Node, r *reads) bool {
	for _, d := range c.passes[n] {
		others := c.readers[pass{r.of, d}]
		for _, by := range r.readers {
			if slices.Contains(c.passes[by], d) {
				others--
			}
		}
		if others <= 0 {
			return false
		}
	}
	return true
}

// add adds what a node takes that is read by another; nil for the first.
func (s *costs) add(n *graph.Node, v grid.View, times float64, context int, by *graph.Node) {
	if s.sum > s.most {
		return
	}
	if n.Kind == graph.Source {
		if r := s.source(n); !slices.Contains(r.readers, by) {
			r.readers = append(r.readers, by)
		}
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
	if by != nil && s.c.materialised(n) {
		s.sum += times * cost.Copy * float64(n.DType.Size())
		return
	}
	if own := times * s.c.ownNanos(n, v); n.Kind == graph.Source {
		s.source(n).nanos += own
	} else {
		s.sum += own
	}
	for k, in := range n.In {
		switch n.Kind {
		case graph.View:
			s.add(in, v.Through(n.View), times, context, n)
		case graph.Blockwise:
			s.context++
			share := float64(grid.Size(in.Shape)) / float64(max(grid.Size(n.Shape), 1))
			s.add(in, grid.Identity(in.Shape), times*min(share, mostShare)*s.c.opCost(n).read[k], s.context, n)
		default:
			s.add(in, v, times, context, n)
		}
	}
}

// mostShare bounds how much of an input an element of an operation's result counts for:
// one of a downsampled image rests on many.
const mostShare = 64
