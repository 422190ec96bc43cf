package compile

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// canonical gives equal nodes one node, so that what is written twice is computed once
// and passes compare nodes by their pointers. A node's key has the numbers of its
// inputs, not their text: it is as short for the last node of an expression as for the
// first.
type canonical struct {
	number map[*graph.Node]int
	byKey  map[string]*graph.Node
}

func newCanonical() *canonical {
	return &canonical{number: map[*graph.Node]int{}, byKey: map[string]*graph.Node{}}
}

// canonicalise makes equal nodes one, and drops views that change nothing. Views of
// views become one.
func (c *compiler) canonicalise() error {
	p := graph.Pusher{Stop: func(*graph.Node) bool { return true }, Made: c.canonical.of}
	for i, n := range c.roots {
		c.roots[i] = p.Whole(n)
	}
	return nil
}

// of returns the first node that computes the same. The inputs are canonical.
func (c *canonical) of(n *graph.Node) *graph.Node {
	if _, ok := c.number[n]; ok {
		return n
	}
	key := c.key(n)
	if first, ok := c.byKey[key]; ok {
		return first
	}
	c.byKey[key] = n
	c.number[n] = len(c.number)
	return n
}

func (c *canonical) key(n *graph.Node) string {
	b := append(make([]byte, 0, 64), byte(n.Kind), byte(n.DType), byte(n.Op))
	ints := func(list ...int) {
		b = binary.AppendVarint(b, int64(len(list)))
		for _, x := range list {
			b = binary.AppendVarint(b, int64(x))
		}
	}
	ints(n.Shape...)
	for _, in := range n.In {
		ints(c.number[in])
	}
	switch n.Kind {
	case graph.Source:
		b = fmt.Appendf(b, "%q %v %v", n.Stored.Info.Path, n.Stored.Shape, n.Stored.Info.ID)
	case graph.Constant:
		b = fmt.Appendf(b, "%v", n.Value)
	case graph.Inline:
		b = fmt.Appendf(b, "%p %d", unsafe.SliceData(n.Data), len(n.Data))
	case graph.Iota:
		b = fmt.Appendf(b, "%v %v", n.First, n.Delta)
	case graph.Random:
		b = binary.AppendUvarint(b, n.Seed)
	case graph.View:
		ints(n.View.Axis...)
		ints(n.View.Start...)
		ints(n.View.Step...)
	case graph.Reduce:
		b = fmt.Appendf(b, "%v", *n.Fold)
	case graph.MatMul:
		ints(n.Summed)
	case graph.Blockwise:
		b = append(b, opKey(n)...)
	}
	return string(b)
}

// opKey is what two nodes of the same operation have in common. An operation that
// cannot be written is like no other.
func opKey(n *graph.Node) string {
	if blockwise.Name(n.Blocks.Op) != "" {
		if text, err := json.Marshal(blockwise.Value{Op: n.Blocks.Op}); err == nil {
			return fmt.Sprintf("%T %s", n.Blocks.Op, text)
		}
	}
	return fmt.Sprintf("%p", n.Blocks)
}
