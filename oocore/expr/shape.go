package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/index"
	"github.com/gonbext/gonbext/oocore/op/pad"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// part is what an operation of boxes holds of its inputs.
const part = "what its box shows of the inputs"

func init() {
	define(`pad(x, widths..., "constant", values...)`, 2, -1, padded)
	define("repeat(x, times, axis)", 2, 3, func(c *call) (*graph.Node, error) {
		x, axis, err := c.along(2)
		if err != nil {
			return nil, err
		}
		if times, ok := c.values[1].Number.(int64); ok {
			return shape.Repeat(c.site, x, int(times), axis)
		}
		counts, err := c.computed(1)
		if err != nil {
			return nil, err
		}
		each := make([]int, len(counts))
		for i, n := range counts {
			each[i] = int(n)
		}
		return index.RepeatEach(c.site, x, each, axis)
	})

	document("repeat", Doc{NumPy: "np.repeat", Passes: fused, Working: part})
	document("pad", Doc{NumPy: "np.pad", Passes: fused + "; maximum, mean, median and minimum 1 an axis, linear_ramp 1 over the edges", Working: part})
}

// one is the part of several results that the last argument says.
func (c *call) one(part int) func(all []*graph.Node, err error) (*graph.Node, error) {
	return func(all []*graph.Node, err error) (*graph.Node, error) {
		if err == nil && (part < 0 || part >= len(all)) {
			err = c.fail(c.args[len(c.args)-1].Pos(), "there is no part %d of %d", part, len(all))
		}
		if err != nil {
			return nil, err
		}
		return all[part], nil
	}
}

// defaults fills in the numbers that are not given.
func defaults(given []int, all ...int) []int {
	copy(all, given)
	return all
}

// along is the first argument and the axis that stands at a place; without it, the
// array as if it were flat.
func (c *call) along(at int) (*graph.Node, int, error) {
	in, err := c.arrays(1)
	if err != nil {
		return nil, 0, err
	}
	if at >= len(c.values) {
		flat, err := graph.Reshape(c.site, in[0], -1)
		return flat, 0, err
	}
	axis, err := c.ints(at)
	if err != nil {
		return nil, 0, err
	}
	return in[0], axis[0], nil
}

// computed are the elements of an argument that the result's shape depends on.
func (c *call) computed(at int) ([]int64, error) {
	n, err := c.node(c.values[at], c.args[at])
	if err != nil {
		return nil, err
	}
	return c.values64(n, at)
}

// values64 computes a node of integers for the argument at a place.
func (c *call) values64(n *graph.Node, at int) ([]int64, error) {
	if c.host == nil {
		return nil, c.fail(c.args[at].Pos(), "the shape of %s follows from values, which are not computed here", c.f.Name)
	}
	wide, err := index.Integers(c.site, n)
	if err != nil {
		return nil, graph.Reject(c.site, c.f.Name, err, n)
	}
	return c.host.Integers(c.f.Name, wide)
}

// padded reads pad's arguments: widths, before and after alike, or before and after for
// all axes, or two for each axis; a mode; and what the mode takes: numbers likewise, or
// the word odd.
func padded(c *call) (*graph.Node, error) {
	in, err := c.arrays(1)
	if err != nil {
		return nil, err
	}
	mode := len(c.values)
	for i := range c.values {
		if c.values[i].Text != nil {
			mode = i
			break
		}
	}
	p := pad.Padding{}
	widths, err := pairs(c, 1, mode, "widths", func(i int) (int, error) {
		n, ok := c.values[i].Number.(int64)
		if !ok {
			return 0, c.fail(c.args[i].Pos(), "a width is an integer")
		}
		return int(n), nil
	})
	if err != nil || mode == len(c.values) {
		if err != nil {
			return nil, err
		}
		return pad.Array(c.site, in[0], widths, p)
	}
	p.Mode = *c.values[mode].Text
	rest := mode + 1
	if rest < len(c.values) && c.values[rest].Text != nil {
		switch kind := *c.values[rest].Text; kind {
		case "odd", "even":
			p.Odd = kind == "odd"
		default:
			return nil, c.fail(c.args[rest].Pos(), "a reflection is %q or %q, not %q", "even", "odd", kind)
		}
		rest++
	}
	if rest == len(c.values) {
		return pad.Array(c.site, in[0], widths, p)
	}
	if p.Mode == "constant" || p.Mode == "linear_ramp" {
		p.Values, err = pairs(c, rest, len(c.values), "values", func(i int) (any, error) { return c.scalar(i) })
	} else {
		p.Stat, err = pairs(c, rest, len(c.values), "numbers of elements", func(i int) (int, error) {
			n, ok := c.values[i].Number.(int64)
			if !ok {
				return 0, c.fail(c.args[i].Pos(), "a number of elements is an integer")
			}
			return int(n), nil
		})
	}
	if err != nil {
		return nil, err
	}
	return pad.Array(c.site, in[0], widths, p)
}

// scalar is a number that stands as an argument, true and false among them.
func (c *call) scalar(at int) (any, error) {
	switch v := c.values[at]; {
	case v.Number != nil:
		if i, ok := v.Number.(int64); ok {
			return int(i), nil
		}
		return v.Number, nil
	case v.Node != nil && v.Node.Kind == graph.Constant && len(v.Node.Shape) == 0:
		return v.Node.Value.Lo != 0, nil
	}
	return nil, c.fail(c.args[at].Pos(), "%s takes a number here: %s", c.f.Name, c.f.Usage)
}

// pairs reads arguments from one place to another: one for both sides of all axes, or
// two for each axis, or for all.
func pairs[T any](c *call, from, to int, what string, read func(i int) (T, error)) ([][2]T, error) {
	var all []T
	for i := from; i < to; i++ {
		v, err := read(i)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(all) == 1 {
		return [][2]T{{all[0], all[0]}}, nil
	}
	if len(all) == 0 || len(all)%2 != 0 {
		return nil, c.fail(c.args[min(from, len(c.args)-1)].Pos(), "%s are one number, or two for all axes or for each", what)
	}
	list := make([][2]T, len(all)/2)
	for i := range list {
		list[i] = [2]T{all[2*i], all[2*i+1]}
	}
	return list, nil
}
