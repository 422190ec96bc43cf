package expr

import (
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/index"
	"github.com/gonbext/gonbext/oocore/op/pad"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// part is what an operation of boxes holds of its inputs.
const part = "what its box shows of the inputs"

func init() {
	joined := func(f func(site graph.Site, axis int, in ...*graph.Node) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
		return func(c *call) (*graph.Node, error) {
			n, axis := len(c.values), 0
			if i, ok := c.values[n-1].Number.(int64); ok {
				n, axis = n-1, int(i)
			}
			in, err := c.arrays(n)
			if err != nil {
				return nil, err
			}
			return f(c.site, axis, in...)
		}
	}
	define("concatenate(a, b..., axis)", 1, -1, joined(shape.Concatenate))
	define("stack(a, b..., axis)", 1, -1, joined(shape.Stack))
	alias("concat", "concatenate")
	for name, dims := range map[string]int{"vstack": 2, "hstack": 1, "dstack": 3} {
		define(name+"(a, b...)", 1, -1, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(len(c.values))
			if err != nil {
				return nil, err
			}
			for i, n := range in {
				if in[i], err = atLeast(c.site, n, dims); err != nil {
					return nil, err
				}
			}
			axis := map[int]int{2: 0, 1: 1, 3: 2}[dims]
			if len(in[0].Shape) == 1 { // vectors have no second axis
				axis = 0
			}
			return shape.Concatenate(c.site, axis, in...)
		})
	}
	for name, dims := range map[string]int{"atleast_1d": 1, "atleast_2d": 2, "atleast_3d": 3} {
		define(name+"(x)", 1, 1, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(1)
			if err != nil {
				return nil, err
			}
			return atLeast(c.site, in[0], dims)
		})
	}
	define("split(x, sections, axis, part)", 4, 4, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		return c.one(n[2])(shape.Split(c.site, x, n[0], n[1]))
	}))
	define("unstack(x, axis, part)", 3, 3, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		return c.one(n[1])(shape.Unstack(c.site, x, n[0]))
	}))
	define(`meshgrid(a, b..., "ij", part)`, 2, -1, func(c *call) (*graph.Node, error) {
		last := len(c.values) - 1
		n, ok := c.values[last].Number.(int64)
		if !ok {
			return nil, c.fail(c.args[last].Pos(), "meshgrid gives one of its results, by number: %s", c.f.Usage)
		}
		matrix := false
		if text := c.values[last-1].Text; text != nil {
			if matrix = *text == "ij"; !matrix && *text != "xy" {
				return nil, c.fail(c.args[last-1].Pos(), `meshgrid takes "xy" or "ij" here: %s`, c.f.Usage)
			}
			last--
		}
		in, err := c.arrays(last)
		if err != nil {
			return nil, err
		}
		return c.one(int(n))(shape.Meshgrid(c.site, matrix, in...))
	})
	define("indices(lengths..., part)", 2, -1, func(c *call) (*graph.Node, error) {
		n, err := c.ints(0)
		if err != nil {
			return nil, err
		}
		last := len(n) - 1
		return c.one(n[last])(shape.Indices(c.site, n[:last]))
	})
	document("indices", Doc{NumPy: "np.indices(lengths)[part]", Passes: fused, Working: "a block"})
	define("matrix_transpose(x)", 1, 1, onArray(func(c *call, x *graph.Node, _ []int) (*graph.Node, error) {
		return shape.Swap(c.site, x, -1, -2)
	}))
	define("block(rows, a, b...)", 2, -1, func(c *call) (*graph.Node, error) {
		rows, ok := c.values[0].Number.(int64)
		if n := int64(len(c.values) - 1); !ok || rows < 1 || n%rows != 0 {
			return nil, c.fail(c.args[0].Pos(), "block takes a number of rows, and as many arrays in each: block(2, a, b, c, d)")
		}
		in, err := c.arrays(len(c.values))
		if err != nil {
			return nil, err
		}
		return shape.Block(c.site, slices.Collect(slices.Chunk(in[1:], (len(in)-1)/int(rows))))
	})
	define("eye(rows, columns, diagonal)", 1, 3, matrix(shape.Eye))
	define("tri(rows, columns, diagonal)", 1, 3, matrix(shape.Tri))
	define(`pad(x, widths..., "constant", values...)`, 2, -1, padded)
	define(`roll(x, shift or "1, 2", axes...)`, 2, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		shifts, from := []int{}, 1
		if text := c.values[1].Text; text != nil { // one for each axis
			if shifts, err = c.list(1, *text); err != nil {
				return nil, err
			}
			from = 2
		}
		n, err := c.ints(from)
		if err != nil {
			return nil, err
		}
		if from == 1 {
			shifts, n = n[:1], n[1:]
		}
		return shape.Roll(c.site, in[0], shifts, n)
	})
	define("tile(x, times...)", 2, -1, onArray(func(c *call, x *graph.Node, times []int) (*graph.Node, error) {
		return shape.Tile(c.site, x, times)
	}))
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
	define("flip(x, axes...)", 1, -1, onArray(func(c *call, x *graph.Node, axes []int) (*graph.Node, error) {
		return shape.Flip(c.site, x, axes...)
	}))
	define("flipud(x)", 1, 1, onArray(func(c *call, x *graph.Node, _ []int) (*graph.Node, error) {
		return shape.Flip(c.site, x, 0)
	}))
	define("fliplr(x)", 1, 1, onArray(func(c *call, x *graph.Node, _ []int) (*graph.Node, error) {
		return shape.Flip(c.site, x, 1)
	}))
	define("rot90(x, quarters, axis, axis)", 1, 4, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		n = defaults(n, 1, 0, 1)
		return shape.Rotate(c.site, x, n[0], n[1], n[2])
	}))
	define("moveaxis(x, from..., to...)", 1, -1, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		if len(n)%2 != 0 {
			return nil, c.fail(c.args[len(n)].Pos(), "moveaxis takes as many places as axes: moveaxis(x, 0, 1, 2, 0) moves axis 0 to 2 and axis 1 to 0")
		}
		return shape.Move(c.site, x, n[:len(n)/2], n[len(n)/2:])
	}))
	define("rollaxis(x, axis, start)", 2, 3, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		n = defaults(n, 0, 0)
		return shape.RollAxis(c.site, x, n[0], n[1])
	}))
	define("swapaxes(x, axis, axis)", 3, 3, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		return shape.Swap(c.site, x, n[0], n[1])
	}))
	define("diagonal(x, offset, axis, axis)", 1, 4, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		n = defaults(n, 0, 0, 1)
		return shape.Diagonal(c.site, x, n[0], n[1], n[2])
	}))
	define(`trace(x, offset, axis, axis, "dtype=int64")`, 1, 5, func(c *call) (*graph.Node, error) {
		as, err := c.dtypeOption()
		if err != nil {
			return nil, err
		}
		return onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
			if len(n) > 3 {
				return nil, c.fail(c.args[4].Pos(), "trace takes an offset and two axes: %s", c.f.Usage)
			}
			n = defaults(n, 0, 0, 1)
			return shape.Trace(c.site, x, n[0], n[1], n[2], append(as, dtype.Invalid)[0])
		})(c)
	})
	define("diag(x, offset)", 1, 2, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		return shape.Diag(c.site, x, defaults(n, 0)[0])
	}))
	define("tril(x, diagonal)", 1, 2, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		return shape.Lower(c.site, x, defaults(n, 0)[0])
	}))
	define("triu(x, diagonal)", 1, 2, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		return shape.Upper(c.site, x, defaults(n, 0)[0])
	}))
	define("ravel(x)", 1, 1, onArray(func(c *call, x *graph.Node, _ []int) (*graph.Node, error) {
		return graph.Reshape(c.site, x, -1)
	}))

	for name, working := range map[string]string{
		"concatenate": part, "stack": part, "block": part, "vstack": part, "hstack": part, "dstack": part,
		"roll": part, "tile": part, "repeat": part, "diagonal": "a few squares along the diagonal",
		"split": "a block", "unstack": "a block", "meshgrid": "a block", "matrix_transpose": "a block", "eye": "a block", "tri": "a block", "flip": "a block", "flipud": "a block", "fliplr": "a block", "rot90": "a block",
		"moveaxis": "a block", "rollaxis": "a block", "swapaxes": "a block", "atleast_1d": "a block", "atleast_2d": "a block", "atleast_3d": "a block",
		"tril": "a block", "triu": "a block", "diag": "a block", "ravel": "a block; " + part + " where elements move",
	} {
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: working})
	}
	document("reshape", Doc{NumPy: "np.reshape", Passes: fused, Working: "a block; " + part + " where elements move"})
	document("trace", Doc{NumPy: "np.trace", Passes: "1 over the diagonal", Working: "a few squares along the diagonal"})
	document("pad", Doc{NumPy: "np.pad", Passes: fused + "; maximum, mean, median and minimum 1 an axis, linear_ramp 1 over the edges", Working: part})
}

// alias is another name of a function.
func alias(name, of string) {
	f := *functions[of]
	f.Name, f.Alias, f.Usage = name, of, name+strings.TrimPrefix(f.Usage, of)
	functions[name], legacy[name] = &f, legacy[of]
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

// matrix is a function of rows, columns, as many where they are left out, and a diagonal.
func matrix(f func(site graph.Site, rows, columns, diagonal int) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		n, err := c.ints(0)
		if err != nil {
			return nil, err
		}
		n = defaults(n, n[0], n[0], 0)
		return f(c.site, n[0], n[1], n[2])
	}
}

// defaults fills in the numbers that are not given.
func defaults(given []int, all ...int) []int {
	copy(all, given)
	return all
}

// atLeast adds axes as NumPy's atleast_1d, 2d and 3d do: before the others, the third
// after them.
func atLeast(site graph.Site, n *graph.Node, dims int) (*graph.Node, error) {
	var err error
	for len(n.Shape) < dims && err == nil {
		at := 0
		if len(n.Shape) == 2 {
			at = 2
		}
		n, err = graph.ExpandDims(site, n, at)
	}
	return n, err
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
