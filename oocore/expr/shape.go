package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/pad"
)

// part is what an operation of boxes holds of its inputs.
const part = "what its box shows of the inputs"

func init() {
	define(`pad(x, widths..., "constant", values...)`, 2, -1, padded)
	document("pad", Doc{NumPy: "np.pad", Passes: fused + "; maximum, mean, median and minimum 1 an axis, linear_ramp 1 over the edges", Working: part})
}

// defaults fills in the numbers that are not given.
func defaults(given []int, all ...int) []int {
	copy(all, given)
	return all
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
