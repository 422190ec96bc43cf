package expr

import (
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/edit"
	"github.com/gonbext/gonbext/oocore/op/index"
	"github.com/gonbext/gonbext/oocore/op/order"
	"github.com/gonbext/gonbext/oocore/op/shape"
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
	define(`set(x, "0:100, ::2", bools or indices, values, axis)`, 3, 4, assigned)
	define("append(a, b, axis)", 2, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		axis, err := c.ints(2)
		for i := range in {
			if err == nil && len(axis) == 0 {
				in[i], err = graph.Reshape(c.site, in[i], -1)
			}
		}
		if err != nil {
			return nil, err
		}
		return shape.Concatenate(c.site, append(axis, 0)[0], in...)
	})
	define(`insert(x, index or "1, 4" or "2:8", values, axis)`, 3, 4, func(c *call) (*graph.Node, error) {
		x, axis, err := c.along(3)
		if err != nil {
			return nil, err
		}
		values, err := c.node(c.values[2], c.args[2])
		if err != nil {
			return nil, err
		}
		if spec := text(c.values[1]); strings.Contains(spec, ":") {
			v, d, err := c.every(x, axis, spec)
			if err != nil {
				return nil, err
			}
			return edit.InsertEvery(c.site, x, v.Start[0], v.Step[0], v.Shape[0], values, d)
		}
		indices, alone, err := c.places(1)
		if err != nil {
			return nil, err
		}
		return edit.Insert(c.site, x, indices, alone, values, axis)
	})
	define(`delete(x, index or "1, 4" or "2:8", axis)`, 2, 3, func(c *call) (*graph.Node, error) {
		x, axis, err := c.along(2)
		if err != nil {
			return nil, err
		}
		if spec := text(c.values[1]); strings.Contains(spec, ":") {
			v, d, err := c.every(x, axis, spec)
			if err != nil {
				return nil, err
			}
			return edit.DeleteEvery(c.site, x, v.Start[0], v.Step[0], v.Shape[0], d)
		}
		indices, _, err := c.places(1)
		if err != nil {
			return nil, err
		}
		return edit.Delete(c.site, x, indices, axis)
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

	define(`ravel_multi_index(a, b..., lengths..., "wrap" or "clip"..., "F")`, 2, -1, raveled)
	define(`unravel_index(x, lengths..., axis, "F")`, 3, -1, func(c *call) (*graph.Node, error) {
		fortran := c.option("F")
		return onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
			if len(n) < 2 {
				return nil, c.fail(c.args[0].Pos(), "unravel_index takes lengths and an axis: %s", c.f.Usage)
			}
			lengths, axis := n[:len(n)-1], n[len(n)-1]
			all, err := index.Unravel(c.site, x, reversed(lengths, fortran))
			return c.one(axis)(reversed(all, fortran), err)
		})(c)
	})
	for _, name := range []string{"ravel_multi_index", "unravel_index"} {
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: "a block"})
	}

	for name, upper := range map[string]bool{"tril_indices": false, "triu_indices": true} {
		define(name+"(rows, diagonal, columns, part)", 4, 4, func(c *call) (*graph.Node, error) {
			n, err := c.ints(0)
			if err != nil {
				return nil, err
			}
			return c.one(n[3])(order.TriangleIndices(c.site, n[0], n[2], n[1], upper))
		})
		document(name, Doc{NumPy: "np." + name + "(rows, diagonal, columns)[part]", Passes: "as cumsum over the rows; then as searchsorted and take", Working: "as searchsorted and take"})
	}

	const pointed = "none of its own; what is pointed to is read in its order, neighbours together"
	document("take", Doc{NumPy: "np.take", Passes: pointed, Working: "the box's indices, and 1 MiB or a stored chunk of the array"})
	document("take_along_axis", Doc{NumPy: "np.take_along_axis", Passes: "none of its own along the last axis, else 1", Working: "the box's indices, and 4 MiB of lines"})
	document("at", Doc{NumPy: "x[i, j, ...]", Passes: pointed, Working: "the box's indices, and 1 MiB or a stored chunk of the array"})
	document("set", Doc{NumPy: "x[...] = values", Passes: fused + "; of a mask and a list of values those of cumsum over the mask, of indices those of argsort over them", Working: part})
	for _, name := range []string{"append", "insert", "delete"} {
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: part})
	}
	const counted = "1 to count when it is called; then none of its own, or 1 where few are selected"
	for name, numpy := range map[string]string{"mask": "x[bools]", "extract": "np.extract", "compress": "np.compress",
		"flatnonzero": "np.flatnonzero", "argwhere": "np.argwhere", "nonzero": "np.nonzero"} {
		document(name, Doc{NumPy: numpy, Passes: counted, Working: "a block of 1 MiB, and 8 bytes for each in all"})
	}
}

// raveled reads the arguments of ravel_multi_index: arrays of indices, as many lengths, what
// becomes of indices out of range, for all axes or for each, and the order.
func raveled(c *call) (*graph.Node, error) {
	fortran := c.option("F")
	words := len(c.values)
	for words > 0 && c.values[words-1].Text != nil {
		words--
	}
	modes := c.values[words:]
	if c.values = c.values[:words]; words == 0 || words%2 != 0 {
		return nil, c.fail(c.args[0].Pos(), "ravel_multi_index takes as many arrays of indices as lengths: ravel_multi_index(i, j, 3, 4)")
	}
	in, err := c.arrays(words / 2)
	if err != nil {
		return nil, err
	}
	lengths, err := c.ints(len(in))
	if err != nil {
		return nil, err
	}
	if len(modes) > 1 && len(modes) != len(in) {
		return nil, c.fail(c.args[words].Pos(), "there are %d modes for %d axes: %s", len(modes), len(in), c.f.Usage)
	}
	for d, n := range in {
		if len(modes) == 0 {
			break
		}
		mode := *modes[min(d, len(modes)-1)].Text
		if in[d], err = index.Within(c.site, n, lengths[d], mode); err != nil {
			return nil, err
		}
	}
	return index.RavelMulti(c.site, reversed(in, fortran), reversed(lengths, fortran))
}

// reversed is a list in the opposite order, where that is so.
func reversed[T any](list []T, is bool) []T {
	list = slices.Clone(list)
	if is {
		slices.Reverse(list)
	}
	return list
}

// assigned is an array with values in a region, where a mask is true, or where indices
// along an axis point to.
func assigned(c *call) (*graph.Node, error) {
	x, err := c.node(c.values[0], c.args[0])
	if err != nil {
		return nil, err
	}
	values, err := c.node(c.values[2], c.args[2])
	if err != nil {
		return nil, err
	}
	axis, err := c.ints(3)
	if err != nil {
		return nil, err
	}
	at := c.values[1]
	if len(axis) > 0 && (at.Text != nil || at.Node == nil || at.Node.DType == dtype.Bool) {
		return nil, c.fail(c.args[3].Pos(), "only indices in an array are along an axis: %s", c.f.Usage)
	}
	switch {
	case at.Text != nil:
		return index.Set(c.site, x, *at.Text, values)
	case at.Node != nil && at.Node.DType == dtype.Bool:
		return edit.SetMask(c.site, x, at.Node, values)
	case at.Node != nil:
		return edit.SetAt(c.site, x, at.Node, values, append(axis, 0)[0])
	}
	return nil, c.fail(c.args[1].Pos(), "set takes the region as text in double quotes, a mask or an array of indices: %s", c.f.Usage)
}

// places are indices along an axis: one number, which alone says, several in text, or the
// elements of an array.
func (c *call) places(at int) (indices []int, alone bool, err error) {
	switch v := c.values[at]; {
	case v.Text != nil && strings.TrimSpace(*v.Text) == "":
		return nil, false, nil
	case v.Text != nil:
		indices, err = c.list(at, *v.Text)
		return indices, false, err
	case v.Node != nil:
		wide, err := c.computed(at)
		for _, i := range wide {
			indices = append(indices, int(i))
		}
		return indices, len(c.values[at].Node.Shape) == 0, err
	}
	n, ok := c.values[at].Number.(int64)
	if !ok {
		return nil, false, c.fail(c.args[at].Pos(), "%s takes an index here: %s", c.f.Name, c.f.Usage)
	}
	return []int{int(n)}, true, nil
}

// every is the indices along an axis that a slice in text selects.
func (c *call) every(x *graph.Node, axis int, spec string) (v grid.View, d int, err error) {
	if d, err = grid.Axis(axis, len(x.Shape)); err == nil {
		v, err = grid.ParseSlice(spec, x.Shape[d:d+1])
	}
	if err != nil {
		err = graph.Reject(c.site, c.f.Name, err, x)
	}
	return v, d, err
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
