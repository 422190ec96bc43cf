package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/contract"
)

func init() {
	for name, f := range map[string]func(graph.Site, *graph.Node, *graph.Node) (*graph.Node, error){
		"dot": contract.Dot, "inner": contract.Inner, "vdot": contract.Vdot, "outer": contract.Outer, "kron": contract.Kron,
	} {
		define(name+"(a, b)", 2, 2, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(2)
			if err != nil {
				return nil, err
			}
			return f(c.site, in[0], in[1])
		})
		document(name, Doc{NumPy: "np." + name, Passes: "as matmul", Working: "as matmul"})
	}
	for name, f := range map[string]func(graph.Site, *graph.Node, *graph.Node, int) (*graph.Node, error){"vecdot": contract.Vecdot, "cross": contract.Cross} {
		define(name+"(a, b, axis)", 2, 3, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(2)
			if err != nil {
				return nil, err
			}
			axis, err := c.ints(2)
			if err != nil {
				return nil, err
			}
			return f(c.site, in[0], in[1], append(axis, -1)[0])
		})
	}
	document("vecdot", Doc{NumPy: "np.vecdot", Passes: "1", Working: "an accumulator for each result"})
	document("cross", Doc{NumPy: "np.cross", Passes: fused, Working: part})
	document("outer", Doc{NumPy: "np.outer", Passes: fused, Working: "a block"})
	document("kron", Doc{NumPy: "np.kron", Passes: fused, Working: "a block"})
	define("tensordot(a, b, axes...)", 2, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		axes, err := c.ints(2)
		if err != nil {
			return nil, err
		}
		var ofA, ofB []int
		switch n := len(axes); {
		case n == 0:
			axes = []int{2}
			fallthrough
		case n == 1:
			if most := min(len(in[0].Shape), len(in[1].Shape)); axes[0] < 0 || axes[0] > most {
				return nil, c.fail(c.args[min(2, len(c.args)-1)].Pos(), "tensordot sums over %d axes, where arrays of shapes %s and %s have %d in common", axes[0], grid.Format(in[0].Shape), grid.Format(in[1].Shape), most)
			}
			for i := range axes[0] {
				ofA, ofB = append(ofA, i-axes[0]), append(ofB, i)
			}
		case n%2 == 0:
			ofA, ofB = axes[:n/2], axes[n/2:]
		default:
			return nil, c.fail(c.args[2].Pos(), "tensordot takes one number of axes, or as many axes of a as of b: tensordot(a, b, 0, 1, 1, 2)")
		}
		return contract.Tensordot(c.site, in[0], in[1], ofA, ofB)
	})
	document("tensordot", Doc{NumPy: "np.tensordot", Passes: "as matmul; one more over an operand whose remaining axes lie apart, or whose summed ones do and are short, or do not end alike in both", Working: "as matmul"})
	define(`einsum("ij,jk->ik", a, b, ...)`, 2, -1, func(c *call) (*graph.Node, error) {
		if c.values[0].Text == nil {
			return nil, c.fail(c.args[0].Pos(), "einsum takes its subscripts in double quotes: %s", c.f.Usage)
		}
		in := make([]*graph.Node, len(c.args)-1)
		for i := range in {
			var err error
			if in[i], err = c.node(c.values[i+1], c.args[i+1]); err != nil {
				return nil, err
			}
		}
		return contract.Einsum(c.site, *c.values[0].Text, in...)
	})
	document("einsum", Doc{NumPy: "np.einsum", Passes: "as matmul, for each two operands, in the order that moves the fewest bytes", Working: "as matmul"})
}
