package pad

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "pad", Passes: op.Fused + "; maximum, mean, median and minimum 1 an axis, linear_ramp 1 over the edges", Holds: op.Shown, Build: op.ByHand(`x, widths..., "constant", values...`, 2, -1, padded), Examples: `pad(x, 2, "constant"); pad(s, 3, 5, "reflect")`,
		Go: "Array.Pad"},
}

// padded reads its arguments by hand, as numbers are widths before the mode and values after it: widths, before and after alike, or before and after for all axes, or two for each
// axis; a mode; and what the mode takes: numbers likewise, or the word odd.
func padded(c *op.Call) (*graph.Node, error) {
	x, err := c.Node(0)
	if err != nil {
		return nil, err
	}
	mode := slices.IndexFunc(c.Values, func(v op.Value) bool { return v.Text != nil })
	if mode < 0 {
		mode = len(c.Values)
	}
	integer := func(what string) func(at int) (int, error) {
		return func(at int) (int, error) {
			n, ok := c.Values[at].Number.(int64)
			if !ok {
				return 0, c.Fail(at, "%s is an integer", what)
			}
			return int(n), nil
		}
	}
	widths, err := sides(c, 1, mode, "widths", integer("a width"))
	if err != nil {
		return nil, err
	}
	p, rest := Padding{}, mode+1
	if mode < len(c.Values) {
		p.Mode = *c.Values[mode].Text
	}
	if rest < len(c.Values) && c.Values[rest].Text != nil {
		kind := *c.Values[rest].Text
		if p.Odd = kind == "odd"; !p.Odd && kind != "even" {
			return nil, c.Fail(rest, "a reflection is %q or %q, not %q", "even", "odd", kind)
		}
		rest++
	}
	switch {
	case rest >= len(c.Values):
	case p.Mode == "constant" || p.Mode == "linear_ramp":
		p.Values, err = sides(c, rest, len(c.Values), "values", c.Scalar)
	default:
		p.Stat, err = sides(c, rest, len(c.Values), "numbers of elements", integer("a number of elements"))
	}
	if err != nil {
		return nil, err
	}
	return Array(c.Site, x, widths, p)
}

// sides reads arguments from one place to another: one for both sides of all axes, or two for
// each axis, or for all.
func sides[T any](c *op.Call, from, to int, what string, read func(at int) (T, error)) ([][2]T, error) {
	var all [][2]T
	for at := from; at < to; at++ {
		v, err := read(at)
		if err != nil {
			return nil, err
		}
		if (at-from)%2 == 0 {
			all = append(all, [2]T{v, v})
		} else {
			all[len(all)-1][1] = v
		}
	}
	if n := to - from; n != 1 && (n <= 0 || n%2 != 0) {
		return nil, c.Fail(min(from, len(c.Values)-1), "%s are one number, or two for all axes or for each", what)
	}
	return all, nil
}
