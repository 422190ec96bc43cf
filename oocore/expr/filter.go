package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/filter"
	"github.com/gonbext/gonbext/oocore/op/window"
)

func init() {
	for name, f := range map[string]func(graph.Site, *graph.Node, []int, window.Border) (*graph.Node, error){
		"uniform_filter": filter.Uniform, "median_filter": filter.MedianOf,
		"minimum_filter": filter.Minimum, "maximum_filter": filter.Maximum,
	} {
		define(name+`(x, sizes..., "reflect", constant)`, 2, -1, func(c *call) (*graph.Node, error) {
			x, err := c.arrays(1)
			if err != nil {
				return nil, err
			}
			numbers, border, _, err := c.filtered(1)
			if err != nil {
				return nil, err
			}
			sizes := make([]int, len(numbers))
			for i := range numbers {
				n, ok := c.values[1+i].Number.(int64)
				if !ok {
					return nil, c.fail(c.args[1+i].Pos(), "%s takes an integer here: %s", c.f.Name, c.f.Usage)
				}
				sizes[i] = int(n)
			}
			return f(c.site, x[0], sizes, border)
		})
		document(name, Doc{NumPy: "scipy.ndimage." + name, Passes: fused, Working: "a box with its border"})
	}
	define(`gaussian_filter(x, sigmas..., "reflect", constant, orders...)`, 2, -1, func(c *call) (*graph.Node, error) {
		x, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		sigmas, border, rest, err := c.filtered(1)
		if err != nil {
			return nil, err
		}
		orders := []int{0}
		if rest < len(c.values) {
			if orders, err = c.ints(rest); err != nil {
				return nil, err
			}
		}
		return filter.Gaussian(c.site, x[0], sigmas, orders, 4, border)
	})
	document("gaussian_filter", Doc{NumPy: "scipy.ndimage.gaussian_filter", Passes: fused, Working: "a box with its border, for each axis"})
	for name, f := range map[string]func(graph.Site, *graph.Node, *graph.Node, window.Border) (*graph.Node, error){
		"convolve": filter.Convolve, "correlate": filter.Correlate,
	} {
		define(name+`(x, weights, "reflect", constant)`, 2, 4, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(2)
			if err != nil {
				return nil, err
			}
			_, border, _, err := c.filtered(2)
			if err != nil {
				return nil, err
			}
			return f(c.site, in[0], in[1], border)
		})
		document(name, Doc{NumPy: "scipy.ndimage." + name, Passes: fused + "; 1 with more than 1000 weights",
			Working: "a box with its border; then three tiles in complex128 too"})
	}
	define("downsample(x, factors...)", 2, -1, onArray(func(c *call, x *graph.Node, factors []int) (*graph.Node, error) {
		return filter.Downsample(c.site, x, factors)
	}))
	document("downsample", Doc{NumPy: "skimage.transform.downscale_local_mean", Passes: fused, Working: "the elements of a few blocks"})
}

// filtered are the arguments of a filter from a place on: numbers, a mode, the constant
// beyond the edges. It returns the place after them.
func (c *call) filtered(from int) (numbers []float64, b window.Border, next int, err error) {
	next = from
	for ; next < len(c.values) && c.values[next].Text == nil; next++ {
		n, err := c.float(next)
		if err != nil {
			return nil, b, 0, err
		}
		numbers = append(numbers, n)
	}
	if next == len(c.values) {
		return numbers, b, next, nil
	}
	b.Mode = window.Mode(*c.values[next].Text)
	if next++; next < len(c.values) {
		b.Value, err = c.float(next)
		next++
	}
	return numbers, b, next, err
}
