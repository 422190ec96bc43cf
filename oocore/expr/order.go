package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/order"
)

func init() {
	const counting = "1 of lines up to 16 MiB that lie together; else 1 for each 16 bits of an element, for each 11 where results lie side by side; 2 read, 1 written of lines of under 4 MiB across a large array"
	for _, skip := range []bool{false, true} {
		prefix := map[bool]string{false: "", true: "nan"}[skip]
		for name, scale := range map[string]float64{"quantile": 1, "percentile": 100} {
			name = prefix + name
			define(name+`(x, q, axes..., "method", "weights", w, "keepdims")`, 2, -1, func(c *call) (*graph.Node, error) { return c.quantile(name, scale, skip) })
			document(name, Doc{NumPy: "np." + name, Passes: counting + `; with "weights" alike, of both, elements being of 16 bytes then`, Working: "16 MiB, 32 MiB with weights"})
		}
	}
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
