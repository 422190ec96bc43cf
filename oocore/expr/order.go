package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/order"
)

func init() {
	const sorting = "1 of lines up to 16 MiB, else 2 read, 2 written"
	for name, f := range map[string]func(graph.Site, *graph.Node, int, bool) (*graph.Node, error){"sort": order.Sort, "argsort": order.Argsort} {
		define(name+`(x, axis, "descending")`, 1, 3, func(c *call) (*graph.Node, error) {
			x, ints, text, err := c.mixed(1)
			if err == nil && (len(ints) > 1 || len(text) > 1 || len(text) == 1 && text[0] != "descending") {
				err = c.fail(c.args[1].Pos(), `%s takes an axis and "descending": %s`, name, c.f.Usage)
			}
			if err != nil {
				return nil, err
			}
			return f(c.site, x, append(ints, -1)[0], len(text) > 0)
		})
	}
	document("sort", Doc{NumPy: "np.sort", Passes: sorting, Working: "32 MiB; 80 MiB for lines of real elements over 8 GiB"})
	document("argsort", Doc{NumPy: "np.argsort, stable", Passes: sorting + " of 8 or 16 bytes an element", Working: "48 MiB"})
	for name, f := range map[string]func(graph.Site, *graph.Node, int, int) (*graph.Node, error){"topk": order.Top, "argtopk": order.ArgTop} {
		define(name+"(x, k, axis)", 2, 3, onArray(func(c *call, x *graph.Node, ints []int) (*graph.Node, error) {
			return f(c.site, x, ints[0], append(ints, -1)[1])
		}))
		document(name, Doc{NumPy: "da." + name, Passes: "1; those of sort for more than a quarter of 16 MiB; 2 read, 1 written across a large array where elements are complex or k is over 1 in 256", Working: "48 MiB"})
	}
	define(`searchsorted(list, values, "right")`, 2, 3, func(c *call) (*graph.Node, error) {
		in, right, err := c.search()
		if err != nil {
			return nil, err
		}
		return order.SearchSorted(c.site, in[0], in[1], right)
	})
	define(`digitize(x, edges, "right")`, 2, 3, func(c *call) (*graph.Node, error) {
		in, right, err := c.search()
		if err != nil {
			return nil, err
		}
		return order.Digitize(c.site, in[0], in[1], right)
	})
	for _, name := range []string{"searchsorted", "digitize"} {
		document(name, Doc{NumPy: "np." + name, Passes: fused + "; for lists above 64 KiB 1, and pieces of the list for each 256 Ki values", Working: "the list, or 16 MiB"})
	}
	define(`isin(x, list, "invert")`, 2, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		if len(c.values) > 2 && (c.values[2].Text == nil || *c.values[2].Text != "invert") {
			return nil, c.fail(c.args[2].Pos(), `isin takes "invert" here, or nothing: %s`, c.f.Usage)
		}
		out, err := order.IsIn(c.site, in[0], in[1])
		if err != nil || len(c.values) == 2 {
			return out, err
		}
		return graph.Apply(c.site, kernel.LogicalNot, out)
	})
	document("isin", Doc{NumPy: "np.isin", Passes: "those of sort over the list; then as searchsorted and take", Working: "as searchsorted and take"})
	for i, name := range []string{"unique", "unique_counts", "unique_index", "unique_inverse"} {
		define(name+"(x)", 1, 1, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(1)
			if err != nil {
				return nil, err
			}
			d, err := order.Unique(c.site, in[0], i == 1, i == 2, c.run())
			if err != nil || i < 3 {
				return []*graph.Node{d.Values, d.Counts, d.First}[i%3], err
			}
			return order.Inverse(c.site, in[0], d.Values)
		})
		document(name, Doc{NumPy: []string{"np.unique", "np.unique_counts(x).counts", "np.unique(x, return_index=True)[1]", "np.unique_inverse(x).inverse_indices"}[i],
			Passes: "1 that counts up to 16384 distinct elements; for more those of sort to count them, and again" + []string{3: "; then as searchsorted"}[i], Working: "16 MiB"})
	}
	alias("unique_values", "unique")
	define("union1d(a, b)", 2, 2, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		both, err := order.Union(c.site, in[0], in[1])
		if err != nil {
			return nil, err
		}
		d, err := order.Unique(c.site, both, false, false, c.run())
		return d.Values, err
	})
	document("union1d", Doc{NumPy: "np.union1d", Passes: "as unique over both", Working: "16 MiB"})
	const counting = "1 of lines up to 16 MiB that lie together; else 1 for each 16 bits of an element, for each 11 where results lie side by side; 2 read, 1 written of lines of under 4 MiB across a large array"
	for _, skip := range []bool{false, true} {
		prefix := map[bool]string{false: "", true: "nan"}[skip]
		define(prefix+`median(x, axes..., "keepdims")`, 1, -1, func(c *call) (*graph.Node, error) {
			x, axes, text, err := c.mixed(1)
			if err != nil {
				return nil, err
			}
			keep := slices.Contains(text, "keepdims")
			if len(text) > 1 || len(text) == 1 && !keep {
				return nil, c.fail(c.args[1].Pos(), `%s takes axes and "keepdims": %s`, c.f.Name, c.f.Usage)
			}
			return order.Median(c.site, x, order.QuantileOptions{Axes: axes, KeepDims: keep, SkipNaN: skip})
		})
		document(prefix+"median", Doc{NumPy: "np." + prefix + "median", Passes: counting, Working: "16 MiB"})
		for name, scale := range map[string]float64{"quantile": 1, "percentile": 100} {
			name = prefix + name
			define(name+`(x, q, axes..., "method", "weights", w, "keepdims")`, 2, -1, func(c *call) (*graph.Node, error) { return c.quantile(name, scale, skip) })
			document(name, Doc{NumPy: "np." + name, Passes: counting + `; with "weights" alike, of both, elements being of 16 bytes then`, Working: "16 MiB, 32 MiB with weights"})
		}
	}
}

// search are two arrays, and whether the third argument is "right".
func (c *call) search() ([]*graph.Node, bool, error) {
	in, err := c.arrays(2)
	if err != nil || len(c.values) < 3 {
		return in, false, err
	}
	side := c.values[2].Text
	if side == nil || *side != "left" && *side != "right" {
		return nil, false, c.fail(c.args[2].Pos(), `%s takes "left" or "right" here: %s`, c.f.Name, c.f.Usage)
	}
	return in, *side == "right", nil
}

// quantile is of one number, or of several in a text: "0.25, 0.5, 0.75".
func (c *call) quantile(name string, scale float64, skip bool) (*graph.Node, error) {
	var q []float64
	integers := scale == 1 // NumPy's of integers are elements
	list := c.values[1].Text != nil
	if list {
		fields := strings.Split(*c.values[1].Text, ",")
		if strings.TrimSpace(*c.values[1].Text) == "" { // none
			fields = nil
		}
		for _, field := range fields {
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil {
				return nil, c.fail(c.args[1].Pos(), `%s takes numbers here, such as "0.25, 0.5": %q is none`, name, field)
			}
			_, err = strconv.Atoi(strings.TrimSpace(field))
			integers = integers && err == nil
			q = append(q, v/scale)
		}
	} else {
		_, integer := c.values[1].Number.(int64)
		integers = integers && integer
		v, err := c.float(1)
		if err != nil {
			return nil, err
		}
		q = append(q, v/scale)
	}
	var weights *graph.Node
	for i := 2; i < len(c.values); i++ {
		if c.follows("weights", i) {
			weights = c.values[i+1].Node
			c.values, c.args = slices.Delete(slices.Clone(c.values), i, i+2), slices.Delete(slices.Clone(c.args), i, i+2)
			break
		}
	}
	x, axes, text, err := c.mixed(2)
	o := order.QuantileOptions{Axes: axes, SkipNaN: skip, Weights: weights}
	if last := len(text) - 1; last >= 0 && text[last] == "keepdims" {
		o.KeepDims, text = true, text[:last]
	}
	if err == nil && len(text) > 1 {
		err = c.fail(c.args[2].Pos(), "%s takes one method: %s", name, c.f.Usage)
	}
	if err != nil {
		return nil, err
	}
	if len(text) > 0 {
		o.Method = order.Method(text[0])
	}
	if integers && weights == nil && (o.Method == "" || o.Method == "linear") {
		o.Method = "lower"
	}
	return order.Quantile(c.site, name, x, q, list, o)
}

// mixed are the first argument and, from a place on, the integers and the texts.
func (c *call) mixed(from int) (x *graph.Node, ints []int, text []string, err error) {
	in, err := c.arrays(1)
	if err != nil {
		return nil, nil, nil, err
	}
	for i := from; i < len(c.values); i++ {
		switch v := c.values[i]; {
		case v.Text != nil:
			text = append(text, *v.Text)
		default:
			n, ok := v.Number.(int64)
			if !ok {
				return nil, nil, nil, c.fail(c.args[i].Pos(), "%s takes an integer or a text here: %s", c.f.Name, c.f.Usage)
			}
			ints = append(ints, int(n))
		}
	}
	return in[0], ints, text, nil
}
