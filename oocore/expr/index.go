package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/index"
)

func init() {
	define("take(x, indices, axis)", 2, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		x, axis, err := c.along(2)
		if err != nil {
			return nil, err
		}
		return index.Take(c.site, x, in[1], axis)
	})
	define("take_along_axis(x, indices, axis)", 2, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		x, axis, err := c.along(2)
		if err != nil {
			return nil, err
		}
		return index.TakeAlong(c.site, x, in[1], axis)
	})
	define("at(x, indices...)", 2, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(len(c.values))
		if err != nil {
			return nil, err
		}
		return index.At(c.site, in[0], in[1:]...)
	})
	define(`set(x, "0:100, ::2", values)`, 3, 3, func(c *call) (*graph.Node, error) {
		if c.values[1].text == nil {
			return nil, c.fail(c.args[1].Pos(), "set takes the region as text in double quotes: %s", c.f.Usage)
		}
		x, err := c.node(c.values[0], c.args[0])
		if err != nil {
			return nil, err
		}
		values, err := c.node(c.values[2], c.args[2])
		if err != nil {
			return nil, err
		}
		return index.Set(c.site, x, *c.values[1].text, values)
	})
	define("mask(x, bools)", 2, 2, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		return index.BooleanMask(c.site, in[0], in[1], c.counter(1))
	})
	define("extract(condition, x)", 2, 2, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		for i := range in {
			if in[i], err = graph.Reshape(c.site, in[i], -1); err != nil {
				return nil, err
			}
		}
		if in[0], err = truth(c, in[0]); err != nil {
			return nil, err
		}
		return index.Compress(c.site, in[1], in[0], 0, c.counter(0))
	})
	define("compress(condition, x, axis)", 2, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		axis := []int{0}
		if len(c.values) > 2 {
			axis, err = c.ints(2)
		} else {
			in[1], err = graph.Reshape(c.site, in[1], -1)
		}
		if err == nil {
			in[0], err = truth(c, in[0])
		}
		if err != nil {
			return nil, err
		}
		return index.Compress(c.site, in[1], in[0], axis[0], c.counter(0))
	})
	positions := func(f func(c *call, m index.Mask, counts []int64) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
		return func(c *call) (*graph.Node, error) {
			in, err := c.arrays(1)
			if err != nil {
				return nil, err
			}
			bools, err := truth(c, in[0])
			if err != nil {
				return nil, err
			}
			m, counts, err := index.Count(c.site, bools, 8, c.counter(0))
			if err != nil {
				return nil, err
			}
			return f(c, m, counts)
		}
	}
	define("flatnonzero(x)", 1, 1, positions(func(c *call, m index.Mask, counts []int64) (*graph.Node, error) {
		return m.Places(c.site, counts)
	}))
	define("argwhere(x)", 1, 1, positions(func(c *call, m index.Mask, counts []int64) (*graph.Node, error) {
		return m.ArgWhere(c.site, counts)
	}))
	define("nonzero(x, axis)", 2, 2, positions(func(c *call, m index.Mask, counts []int64) (*graph.Node, error) {
		axis, err := c.ints(1)
		if err != nil {
			return nil, err
		}
		all, err := m.Positions(c.site, counts)
		if err != nil {
			return nil, err
		}
		if axis[0] < 0 || axis[0] >= len(all) {
			return nil, c.fail(c.args[1].Pos(), "there is no axis %d of %d", axis[0], len(all))
		}
		return all[axis[0]], nil
	}))

	define("ravel_multi_index(a, b..., lengths...)", 2, -1, func(c *call) (*graph.Node, error) {
		if len(c.values)%2 != 0 {
			return nil, c.fail(c.args[0].Pos(), "ravel_multi_index takes as many arrays of indices as lengths: ravel_multi_index(i, j, 3, 4)")
		}
		in, err := c.arrays(len(c.values) / 2)
		if err != nil {
			return nil, err
		}
		lengths, err := c.ints(len(in))
		if err != nil {
			return nil, err
		}
		return index.RavelMulti(c.site, in, lengths)
	})
	define("unravel_index(x, lengths..., axis)", 3, -1, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		last := len(n) - 1
		return c.one(n[last])(index.Unravel(c.site, x, n[:last]))
	}))
	for _, name := range []string{"ravel_multi_index", "unravel_index"} {
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: "a block"})
	}

	const order = "none of its own; what is pointed to is read in its order, neighbours together"
	document("take", Doc{NumPy: "np.take", Passes: order, Working: "the box's indices, and 1 MiB or a stored chunk of the array"})
	document("take_along_axis", Doc{NumPy: "np.take_along_axis", Passes: "none of its own along the last axis, else 1", Working: "the box's indices, and 4 MiB of lines"})
	document("at", Doc{NumPy: "x[i, j, ...]", Passes: order, Working: "the box's indices, and 1 MiB or a stored chunk of the array"})
	document("set", Doc{NumPy: "x[...] = values", Passes: fused, Working: part})
	const counted = "1 to count when it is called; then none of its own, or 1 where few are selected"
	for name, numpy := range map[string]string{"mask": "x[bools]", "extract": "np.extract", "compress": "np.compress",
		"flatnonzero": "np.flatnonzero", "argwhere": "np.argwhere", "nonzero": "np.nonzero"} {
		document(name, Doc{NumPy: numpy, Passes: counted, Working: "a block of 1 MiB, and 8 bytes for each in all"})
	}
}

// truth is which elements are not zero.
func truth(c *call, n *graph.Node) (*graph.Node, error) {
	return graph.Apply(c.site, kernel.LogicalOr, n, n)
}

// run computes what a function asks for; nil where nothing is computed.
func (c *call) run() index.Run {
	if c.host == nil {
		return nil
	}
	return func(n *graph.Node) ([]int64, error) { return c.host.Integers(c.f.Name, n) }
}

// counter runs a counting pass for the argument at a place.
func (c *call) counter(at int) index.Run {
	return func(n *graph.Node) ([]int64, error) { return c.values64(n, at) }
}
