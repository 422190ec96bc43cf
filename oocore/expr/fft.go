package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/fft"
)

func init() {
	const lines = "whole lines: about 4 MiB of them, or one, in the input's type, the result's, and in complex128 three times or more"
	for _, kind := range []fft.Kind{fft.Forward, fft.Inverse, fft.RealForward, fft.RealInverse} {
		name := string(kind)
		define(name+`(x, n, axis, "norm")`, 1, 4, alongAxis(func(c *call, x *graph.Node, n, axis int, norm string) (*graph.Node, error) {
			return fft.Along(c.site, kind, x, n, axis, norm)
		}))
		document(name, Doc{NumPy: "np.fft." + name, Passes: "1 read, 1 written; n of 0 is the axis's own length", Working: lines})
		define(name+`n(x, axes..., "s=8,8", "norm")`, 1, -1, withLengths(func(c *call, x *graph.Node, lengths, axes []int, norm string) (*graph.Node, error) {
			return fft.Over(c.site, kind, x, lengths, axes, norm)
		}))
		document(name+"n", Doc{NumPy: "np.fft." + name + "n", Passes: "1 read and 1 written for each axis, 2 where blocks have to be turned between them", Working: lines})
		define(name+`2(x, "s=8,8", "norm")`, 1, 3, withLengths(func(c *call, x *graph.Node, lengths, axes []int, norm string) (*graph.Node, error) {
			if len(axes) > 0 {
				return nil, c.fail(c.args[1].Pos(), "%s2 takes the last two axes: %sn takes others", name, name)
			}
			return fft.Over(c.site, kind, x, lengths, []int{-2, -1}, norm)
		}))
		document(name+"2", Doc{NumPy: "np.fft." + name + "2", Passes: "as " + name + "n", Working: lines})
	}
	define(`hfft(x, n, axis, "norm")`, 1, 4, alongAxis(func(c *call, x *graph.Node, n, axis int, norm string) (*graph.Node, error) {
		return fft.Hermitian(c.site, x, n, axis, norm)
	}))
	define(`ihfft(x, n, axis, "norm")`, 1, 4, alongAxis(func(c *call, x *graph.Node, n, axis int, norm string) (*graph.Node, error) {
		return fft.InverseHermitian(c.site, x, n, axis, norm)
	}))
	for _, name := range []string{"hfft", "ihfft"} {
		document(name, Doc{NumPy: "np.fft." + name, Passes: "1 read, 1 written; n of 0 is the axis's own length", Working: lines})
	}
	define("fftshift(x, axes...)", 1, -1, onArray(func(c *call, x *graph.Node, axes []int) (*graph.Node, error) {
		return fft.Shift(c.site, x, axes...)
	}))
	define("ifftshift(x, axes...)", 1, -1, onArray(func(c *call, x *graph.Node, axes []int) (*graph.Node, error) {
		return fft.InverseShift(c.site, x, axes...)
	}))
	define("fftfreq(n, d)", 1, 2, frequencies(fft.Frequencies))
	define("rfftfreq(n, d)", 1, 2, frequencies(fft.RealFrequencies))
	for _, name := range []string{"fftshift", "ifftshift", "fftfreq", "rfftfreq"} {
		document(name, Doc{NumPy: "np.fft." + name, Passes: fused, Working: "a block"})
	}
}

// withNorm is a function of an array, integers and perhaps text after them.
func withNorm(f func(c *call, x *graph.Node, ints []int, norm string) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		x, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		norm := ""
		if last := len(c.values) - 1; c.values[last].Text != nil {
			norm = *c.values[last].Text
			c.values = c.values[:last]
		}
		ints, err := c.ints(1)
		if err != nil {
			return nil, err
		}
		return f(c, x[0], ints, norm)
	}
}

// withLengths is withNorm with the lengths of axes in text before the norm: "s=8,8".
func withLengths(f func(c *call, x *graph.Node, lengths, axes []int, norm string) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		var lengths []int
		for i := 1; i < len(c.values); i++ {
			text := c.values[i].Text
			if text == nil || !strings.HasPrefix(*text, "s=") {
				continue
			}
			var err error
			if lengths, err = c.list(i, strings.TrimPrefix(*text, "s=")); err != nil {
				return nil, err
			}
			c.values, c.args = slices.Delete(slices.Clone(c.values), i, i+1), slices.Delete(slices.Clone(c.args), i, i+1)
			break
		}
		return withNorm(func(c *call, x *graph.Node, axes []int, norm string) (*graph.Node, error) {
			return f(c, x, lengths, axes, norm)
		})(c)
	}
}

// list is integers in the text of an argument, between commas.
func (c *call) list(at int, text string) (all []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSpace(field)
		n, err := strconv.Atoi(field)
		if c.values[0].Node != nil && err != nil {
			if n = slices.Index(c.dimNames(), field); n >= 0 {
				err = nil
			}
		}
		if err != nil {
			return nil, c.fail(c.args[at].Pos(), "%s takes integers here, such as %q: %s", c.f.Name, "2, 3", c.f.Usage)
		}
		all = append(all, n)
	}
	return all, nil
}

// alongAxis is a function of an array, a length and an axis, which is the last one where
// none is given.
func alongAxis(f func(c *call, x *graph.Node, n, axis int, norm string) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return withNorm(func(c *call, x *graph.Node, ints []int, norm string) (*graph.Node, error) {
		n, axis := 0, -1
		switch len(ints) {
		case 3:
			return nil, c.fail(c.args[3].Pos(), "a norm is text in double quotes: %s", c.f.Usage)
		case 2:
			axis = ints[1]
			fallthrough
		case 1:
			n = ints[0]
		}
		return f(c, x, n, axis, norm)
	})
}

func frequencies(f func(graph.Site, int, float64) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		n, ok := c.values[0].Number.(int64)
		if !ok {
			return nil, c.fail(c.args[0].Pos(), "%s takes an integer here: %s", c.f.Name, c.f.Usage)
		}
		d := 1.0
		if len(c.values) > 1 {
			var err error
			if d, err = c.float(1); err != nil {
				return nil, err
			}
		}
		return f(c.site, int(n), d)
	}
}
