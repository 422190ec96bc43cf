package graph

import (
	"encoding/binary"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// pushDownView is the array seen through a view. Views of views become one, and a view of a
// conversion is converted: what is read of it is narrower. All else is left to the
// planner, since a node does not know yet who else reads its input.
func pushDownView(site Site, n *Node, v grid.View) *Node {
	switch {
	case v.Plain(n.Shape):
		return n
	case n.Kind == Constant:
		return named(seeConstant(n, v), n, v)
	case n.Kind == View:
		return named(pushDownView(site, n.In[0], v.Through(n.View)), n, v)
	case n.Kind == Cast && n.In[0].Kind != Cast:
		moved := *n
		moved.Shape, moved.Written, moved.In = v.Shape, nil, []*Node{pushDownView(site, n.In[0], v)}
		if len(v.Shape) != 1 {
			moved.Labels = ""
		}
		return &moved
	}
	return &Node{Kind: View, Shape: v.Shape, DType: n.DType, In: []*Node{n}, View: v, Site: site}
}

func seeConstant(n *Node, v grid.View) *Node {
	moved := *n
	moved.Shape, moved.Weak, moved.NamedAfter, moved.Labels, moved.Written = v.Shape, false, nil, "", nil
	return &moved
}

// Pusher moves views down to where they save reading and computing: through elementwise
// operations to their inputs, and, as far as they select ranges, through reductions and
// products to theirs. A node that is seen twice through one view stays one node.
type Pusher struct {
	// Stop reports a node that views stay above: one that is computed as a whole. nil
	// stops nowhere.
	Stop func(n *Node) bool
	// Made gives the node to use for a new one, such as an equal one. nil takes it as it is.
	Made func(n *Node) *Node
	// Copies counts the nodes that were copied to be seen through a view.
	Copies int

	seen map[seenKey]*Node
}

type seenKey struct {
	node *Node
	view string // "" for all of it
}

// Whole returns the node with the views below it moved down.
func (p *Pusher) Whole(n *Node) *Node {
	return p.once(n, "", func() *Node {
		if n.Kind == View {
			return p.See(n.In[0], n.View, n.Site)
		}
		moved := *n
		moved.In = make([]*Node, len(n.In))
		same := true
		for i, in := range n.In {
			moved.In[i] = p.Whole(in)
			same = same && moved.In[i] == in
		}
		if same {
			return p.made(n)
		}
		return p.made(&moved)
	})
}

// See returns the node seen through a view that was written at a site.
func (p *Pusher) See(n *Node, v grid.View, site Site) *Node {
	if v.Plain(n.Shape) {
		return p.Whole(n)
	}
	return p.once(n, viewKey(v), func() *Node { return p.push(n, v, site) })
}

func (p *Pusher) once(n *Node, view string, f func() *Node) *Node {
	key := seenKey{n, view}
	out, ok := p.seen[key]
	if !ok {
		out = f()
		if p.seen == nil {
			p.seen = map[seenKey]*Node{}
		}
		p.seen[key] = out
	}
	return out
}

func (p *Pusher) made(n *Node) *Node {
	if p.Made != nil {
		return p.Made(n)
	}
	return n
}

// viewKey is equal for equal views of one array.
func viewKey(v grid.View) string {
	b := make([]byte, 0, 4*(len(v.Shape)+3*len(v.Axis)))
	for _, list := range [][]int{v.Shape, v.Axis, v.Start, v.Step} {
		for _, x := range list {
			b = binary.AppendVarint(b, int64(x))
		}
	}
	return string(b)
}

func (p *Pusher) push(n *Node, v grid.View, site Site) *Node {
	stop := p.Stop != nil && p.Stop(n)
	moved := *n // same operation, of what its inputs show
	moved.NamedAfter, moved.Labels, moved.Written = nil, "", nil
	switch {
	case n.Kind == Constant:
		return p.made(seeConstant(n, v))
	case n.Kind == View:
		return p.See(n.In[0], v.Through(n.View), site)
	case stop:
	case n.Kind == Elementwise || n.Kind == Cast:
		p.Copies++
		moved.Shape, moved.In = v.Shape, make([]*Node, len(n.In))
		for i, in := range n.In {
			moved.In[i] = p.See(in, v, site)
		}
		return p.made(&moved)
	case n.Kind == Reduce || n.Kind == MatMul:
		ranges, rest := split(v, n.Shape)
		if ranges.Plain(n.Shape) {
			break
		}
		p.Copies++
		moved.Shape = ranges.Shape
		if n.Kind == Reduce {
			moved.In = []*Node{p.See(n.In[0], onKept(ranges, n), site)}
		} else {
			moved.In = []*Node{p.See(n.In[0], onOperand(ranges, n, 0), site), p.See(n.In[1], onOperand(ranges, n, 1), site)}
		}
		return p.view(p.made(&moved), rest, site)
	}
	return p.view(p.Whole(n), v, site)
}

// view is a node below which views are where they belong, seen through another.
func (p *Pusher) view(n *Node, v grid.View, site Site) *Node {
	if v.Plain(n.Shape) {
		return n
	}
	return p.made(&Node{Kind: View, Shape: v.Shape, DType: n.DType, In: []*Node{n}, View: v, Site: site})
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
