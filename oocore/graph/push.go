package graph

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/grid"
)

// see is the array seen through a view. The view moves down to where it saves
// reading and computing: through elementwise operations to their inputs, and as
// far as it selects ranges, through reductions and products to theirs.
func see(site Site, n *Node, v grid.View) *Node {
	p := pusher{site: site, seen: map[seenKey]*Node{}}
	return p.see(n, v)
}

// pusher moves one view down. Parts that are shared stay shared: each is seen
// once through the same view.
type pusher struct {
	site Site
	seen map[seenKey]*Node
}

type seenKey struct {
	node *Node
	view string
}

func (p *pusher) see(n *Node, v grid.View) *Node {
	if v.Plain(n.Shape) {
		return n
	}
	key := seenKey{n, fmt.Sprint(v)}
	out, ok := p.seen[key]
	if !ok {
		out = p.push(n, v)
		p.seen[key] = out
	}
	return out
}

func (p *pusher) push(n *Node, v grid.View) *Node {
	moved := *n // same operation, of what its inputs show
	switch n.Kind {
	case Constant:
		moved.Shape, moved.Weak = v.Shape, false
		return &moved
	case Elementwise, Cast:
		moved.Shape, moved.In = v.Shape, make([]*Node, len(n.In))
		for i, in := range n.In {
			moved.In[i] = p.see(in, v)
		}
		return &moved
	case View:
		return p.see(n.In[0], v.Through(n.View))
	case Reduce:
		if ranges, rest := split(v, n.Shape); !ranges.Plain(n.Shape) {
			moved.Shape = ranges.Shape
			moved.In = []*Node{p.see(n.In[0], onKept(ranges, n))}
			return p.see(&moved, rest)
		}
	case MatMul:
		if ranges, rest := split(v, n.Shape); !ranges.Plain(n.Shape) {
			moved.Shape = ranges.Shape
			moved.In = []*Node{p.see(n.In[0], onOperand(ranges, n, 0)), p.see(n.In[1], onOperand(ranges, n, 1))}
			return p.see(&moved, rest)
		}
	}
	return &Node{Kind: View, Shape: v.Shape, DType: n.DType, In: []*Node{n}, View: v, Site: p.site}
}

// split writes a view of an array as one that selects rising ranges and keeps
// all axes, and a rest that reverses, reorders, repeats, adds and drops axes.
func split(v grid.View, shape []int) (ranges, rest grid.View) {
	ranges = grid.Identity(shape)
	rest = grid.View{Shape: v.Shape, Axis: v.Axis, Start: make([]int, len(shape)), Step: make([]int, len(shape))}
	for d, a := range v.Axis {
		start, step, count := v.Start[d], v.Step[d], 1
		rest.Step[d] = 1
		if a >= 0 {
			count = v.Shape[a]
		}
		switch {
		case count == 0:
			start, step = 0, 1
		case count == 1:
			step = 1
		case step < 0:
			start += step * (count - 1)
			step = -step
			rest.Start[d], rest.Step[d] = count-1, -1
		}
		ranges.Start[d], ranges.Step[d], ranges.Shape[d] = start, step, count
	}
	return ranges, rest
}

// onKept carries ranges of a reduction's result to its input.
func onKept(ranges grid.View, n *Node) grid.View {
	in := grid.Identity(n.In[0].Shape)
	for d, at := 0, 0; d < len(in.Shape); d++ {
		if slices.Contains(n.Fold.Axes, d) {
			continue
		}
		in.Start[d], in.Step[d], in.Shape[d] = ranges.Start[at], ranges.Step[at], ranges.Shape[at]
		at++
	}
	return in
}

// onOperand carries ranges of a product's result to an operand: batches, where
// they are not broadcast, and rows of the first or columns of the second.
func onOperand(ranges grid.View, n *Node, operand int) grid.View {
	in := grid.Identity(n.In[operand].Shape)
	dims := len(in.Shape)
	for d := range in.Shape {
		at := d + len(n.Shape) - dims
		switch {
		case d == dims-1-operand, d >= dims-2-n.Summed && d < dims-2:
			continue // the first's columns, the second's rows, and which matrix of those that are summed
		case d < dims-2:
			at += n.Summed
		}
		if in.Shape[d] != n.Shape[at] {
			continue
		}
		in.Start[d], in.Step[d], in.Shape[d] = ranges.Start[at], ranges.Step[at], ranges.Shape[at]
	}
	return in
}
