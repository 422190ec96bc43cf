package graph

import (
	"context"
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("fail_if", FailIf{}, blockwise.Exact) }

// FailIf is its second input, and an error where the first, bools, is true.
type FailIf struct {
	Type   dtype.Type
	Reason string
}

// FailIf returns n, and an error when it is computed where one of the conditions holds.
// Both have one shape.
func (m *Maker) FailIf(condition, n *Node, reason string) *Node {
	return m.Make(func() (*Node, error) {
		out, err := NewBlockwise(m.Site, "fail_if", FailIf{n.DType, reason}, n.Shape, n.DType, []*Node{condition, n})
		if err != nil {
			return nil, err
		}
		return NameAxes(out, AllAxes(n)...), nil
	})
}

// Requirements is the conditions.
func (s FailIf) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box, box}, Scratch: int64(grid.Size(box))}
}

// Fill looks at the conditions and reads the elements.
func (s FailIf) Fill(ctx context.Context, t *blockwise.Task) error {
	conditions := t.Scratch[:t.Box.Size()]
	if err := t.In[0].Read(ctx, t.Box, conditions); err != nil {
		return err
	}
	if slices.Contains(conditions, 1) {
		return errors.New(s.Reason)
	}
	return t.In[1].Read(ctx, t.Box, t.Dst)
}

// Formula is the second input, where no condition is true.
func (s FailIf) Formula([]int) *blockwise.Formula {
	f := &blockwise.Formula{}
	f.Fails = []int{f.Element(0, dtype.Bool)}
	f.Result = f.Element(1, s.Type)
	return f
}
