package graph

import "github.com/gonbext/gonbext/oocore/dtype"

// chain has the error of the first of several operations that was rejected. Those after it
// take a number for its result, and what they return does not matter.
type chain struct{ err error }

// of returns the result of an operation.
func (c *chain) of(n *Node, err error) *Node {
	if c.err == nil {
		c.err = err
	}
	if err != nil {
		return &Node{Kind: Constant, Shape: []int{}, DType: dtype.Int64, Value: dtype.ValueOf(int64(0))}
	}
	return n
}

// end returns the result of the last operation, or the error of the first that was rejected.
func (c *chain) end(n *Node, err error) (*Node, error) {
	if n = c.of(n, err); c.err != nil {
		return nil, c.err
	}
	return n, nil
}
