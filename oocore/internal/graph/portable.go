package graph

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Portable is an expression as it travels to another process: its nodes, inputs before what they are inputs of.
type Portable struct{ Nodes []PortableNode }

// PortableNode is a node without its inputs and its operation of boxes, which are named.
type PortableNode struct {
	Node   Node
	Inputs []int
	Op     []byte
}

// Pack returns an expression for another process. The error is of a Go function, or of an array that only this
// process has.
func Pack(root *Node) (*Portable, error) {
	p := &Portable{}
	index := map[*Node]int{}
	for n := range Nodes(root) {
		one := PortableNode{Node: *n}
		for _, in := range n.In {
			one.Inputs = append(one.Inputs, index[in])
		}
		one.Node.In = nil
		if n.Stored != nil {
			if storage.InProcess(n.Stored.Info.Path) {
				return nil, fmt.Errorf("%s is of the program's own", n.Name)
			}
			stored := *n.Stored
			stored.Info.Keep = nil
			one.Node.Stored = &stored
		}
		if n.Blocks != nil {
			if blockwise.Name(n.Blocks.Op) == "" {
				return nil, fmt.Errorf("%s has a Go function, which exists in its program only", n.Blocks.Name)
			}
			b, err := json.Marshal(blockwise.Value{Op: n.Blocks.Op})
			if err != nil {
				return nil, err
			}
			blocks := *n.Blocks
			blocks.Op = nil
			one.Node.Blocks, one.Op = &blocks, b
		}
		index[n] = len(p.Nodes)
		p.Nodes = append(p.Nodes, one)
	}
	return p, nil
}

// Unpack returns the expression. The error is of a file that has changed since it was opened; of objects the run
// that reads them finds out.
func (p *Portable) Unpack() (*Node, error) {
	nodes := make([]*Node, len(p.Nodes))
	for i, one := range p.Nodes {
		n := one.Node
		for _, k := range one.Inputs {
			n.In = append(n.In, nodes[k])
		}
		if n.Blocks != nil {
			var op blockwise.Value
			if err := json.Unmarshal(one.Op, &op); err != nil {
				return nil, err
			}
			n.Blocks.Op = op.Op
		}
		if n.Stored != nil && n.Stored.Info.ID != (store.FileVersion{}) && blob.PlaceOf(n.Stored.Info.Path).Files { // else it is planned only
			info, err := storage.Describe(n.Stored.Info.Path)
			if err != nil {
				return nil, err
			}
			if !info.ID.Equal(n.Stored.Info.ID) {
				return nil, fmt.Errorf("%s has changed since it was opened: open it again", n.Stored.Info.Path)
			}
			n.Stored.Info = info
		}
		nodes[i] = &n
	}
	if len(nodes) == 0 {
		return nil, errors.New("an expression without nodes")
	}
	return nodes[len(nodes)-1], nil
}
