package signal

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/filter"
	"github.com/gonbext/gonbext/oocore/internal/op/pad"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// Coefficients are those of a filter, in the type of what they are multiplied with where that is as wide.
type Coefficients struct {
	Values []float64
	Type   dtype.Type
}

// Doubles are coefficients in float64.
func Doubles(v []float64) Coefficients { return Coefficients{v, dtype.Float64} }

// coefficients are those of an argument: an array of dims dimensions, whose last is as long as columns where that is not 0, or
// numbers in text.
func coefficients(name string, v op.Value, read op.Labels, dims, columns int) (c Coefficients, err error) {
	switch n := v.Node; {
	case v.Number != nil:
		f, _ := v.Float()
		return Doubles([]float64{f}), nil
	case v.Text != nil:
		all, err := op.ParseNumbers(*v.Text)
		if err != nil {
			return c, v.Reject(fmt.Sprintf("takes %s as an array or as numbers in text, such as %q", name, "1, -0.5"))
		}
		return Doubles(all), nil
	case n.DType.Kind() == dtype.KindComplex:
		return c, fmt.Errorf("takes %s of real numbers", name)
	case len(n.Shape) != dims || columns > 0 && n.Shape[dims-1] != columns:
		return c, fmt.Errorf("%s of shape %s has another form than SciPy's", name, grid.Format(n.Shape))
	case grid.Size(n.Shape) > mostCoefficients:
		return c, fmt.Errorf("takes up to %d numbers of %s, not %d", mostCoefficients, name, grid.Size(n.Shape))
	case read == nil:
		return c, fmt.Errorf("%s is read where the filter is made, and nothing is computed here", name)
	default:
		all, err := read(n)
		switch all := all.(type) {
		case []float64:
			c.Values = all
		case []int64:
			for _, i := range all {
				c.Values = append(c.Values, float64(i))
			}
		}
		c.Type = n.DType
		return c, err
	}
}

// mostCoefficients bounds what a plan has of a filter.
const mostCoefficients = 4096

func lfilter(site graph.Site, a lfilterArgs) (*graph.Node, error) {
	b, err := coefficients("b", a.B, a.Read, 1, 0)
	if err == nil {
		var d Coefficients
		if d, err = coefficients("a", a.A, a.Read, 1, 0); err == nil {
			return LFilter(site, b, d, a.X, a.Axis)
		}
	}
	return nil, graph.Reject(site, "lfilter", err, a.X)
}

func sosfilt(site graph.Site, a sosArgs) (*graph.Node, error) {
	sos, err := coefficients("sos", a.SOS, a.Read, 2, 6)
	if err != nil {
		return nil, graph.Reject(site, "sosfilt", err, a.X)
	}
	return SOSFilt(site, sos, a.X, a.Axis)
}

func sosfiltfilt(site graph.Site, a sosfiltfiltArgs) (*graph.Node, error) {
	sos, err := coefficients("sos", a.SOS, a.Read, 2, 6)
	if err != nil {
		return nil, graph.Reject(site, "sosfiltfilt", err, a.X)
	}
	return SOSFiltFilt(site, sos, a.X, a.Axis, a.Extension)
}

// filtered brings signals to the type that they are filtered in, and returns that of the result.
func filtered(m *graph.Maker, x *graph.Node, of ...Coefficients) (wide *graph.Node, result dtype.Type) {
	result = floating(x.DType)
	for _, c := range of {
		if result == dtype.Float32 && floating(c.Type) == dtype.Float64 {
			result = dtype.Float64
		}
		if result == dtype.Complex64 && floating(c.Type) == dtype.Float64 {
			result = dtype.Complex128
		}
	}
	if x.DType.Kind() == dtype.KindComplex {
		return m.Cast(x, dtype.Complex128), result
	}
	return m.Cast(x, dtype.Float64), result
}

// floating is a type as signals have it: single or double precision, real or complex.
func floating(t dtype.Type) dtype.Type {
	switch {
	case t.Kind() == dtype.KindComplex:
		return t
	case t.Short() || t == dtype.Float32:
		return dtype.Float32
	}
	return dtype.Float64
}

// section is a filter divided by the first number of its denominator, of at least two numbers each.
func section(b, a []float64) (s scan.Section, err error) {
	switch {
	case len(a) == 0 || a[0] == 0:
		return s, errors.New("a filter's denominator begins with 0 or with nothing: it is divided by that")
	case len(b) == 0:
		return s, errors.New("a filter's numerator has no numbers")
	}
	n := max(len(a), len(b), 2)
	s.B, s.A = make([]float64, n), make([]float64, n)
	for i, v := range b {
		s.B[i] = v / a[0]
	}
	for i, v := range a {
		s.A[i] = v / a[0]
	}
	if slices.ContainsFunc(slices.Concat(s.A, s.B), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		err = errors.New("takes finite coefficients")
	}
	return s, err
}

// LFilter is scipy.signal.lfilter from rest: a filter of the coefficients of its numerator and its denominator. One
// without a denominator is a sum over a window.
func LFilter(site graph.Site, b, a Coefficients, x *graph.Node, axis int) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	s, err := section(b.Values, a.Values)
	if err == nil {
		axis, err = grid.Axis(axis, len(x.Shape))
	}
	if err != nil || grid.Size(x.Shape) == 0 {
		_, t := filtered(m, x, a, b)
		return graph.Result(site, "lfilter", m.Cast(x, t), err, x)
	}
	wide, t := filtered(m, x, a, b)
	if len(a.Values) == 1 {
		taps := m.Along(m.Bytes(dtype.Bytes(s.B[:len(b.Values)]), dtype.Float64, len(b.Values)), axis, len(x.Shape))
		origin := make([]int, len(x.Shape))
		origin[axis] = -(len(b.Values) / 2) // the window ends at the element
		wide = graph.Call(m, filter.Convolve, filter.WeightArgs{X: wide, Weights: taps, Border: window.Border{Mode: window.Constant, Origin: origin}})
	} else {
		wide = m.Make(func() (*graph.Node, error) { return scan.Filter(site, "lfilter", wide, axis, []scan.Section{s}) })
	}
	out := m.Cast(wide, t)
	return graph.Result(site, "lfilter", out, graph.Unnamed(m.Err), x)
}

// cascade are second-order sections, six numbers each.
func cascade(sos Coefficients) (all []scan.Section, err error) {
	if n := len(sos.Values); n == 0 || n%6 != 0 {
		return nil, fmt.Errorf("takes second-order sections of six numbers each, not %d", n)
	}
	for c := range slices.Chunk(sos.Values, 6) {
		if c[3] != 1 {
			return nil, fmt.Errorf("a section's denominator begins with %v, and sos[:, 3] is 1", c[3])
		}
		s, err := section(c[:3], c[3:])
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// SOSFilt is scipy.signal.sosfilt from rest: a cascade of second-order sections.
func SOSFilt(site graph.Site, sos Coefficients, x *graph.Node, axis int) (*graph.Node, error) {
	sections, err := cascade(sos)
	m := &graph.Maker{Site: site, Err: err}
	wide, t := filtered(m, x, sos)
	out := m.Make(func() (*graph.Node, error) { return scan.Filter(site, "sosfilt", wide, axis, sections) })
	out = m.Cast(out, t)
	return graph.Result(site, "sosfilt", out, graph.Unnamed(m.Err), x)
}

// SOSFiltFilt is scipy.signal.sosfiltfilt: a cascade there and back, so that it shifts no phase. It begins on each side
// as if the first element had always been there, which is to say that the differences from that element are
// filtered from rest, and the element is passed on as the filter passes a constant.
func SOSFiltFilt(site graph.Site, sos Coefficients, x *graph.Node, axis int, e Extension) (*graph.Node, error) {
	sections, err := cascade(sos)
	if err == nil {
		axis, err = grid.Axis(axis, len(x.Shape))
	}
	if err != nil {
		return nil, graph.Reject(site, "sosfiltfilt", err, x)
	}
	gain, taps, zeros, poles := 1.0, 2*len(sections)+1, 0, 0
	for _, s := range sections {
		a, b := 0.0, 0.0
		for i := range s.A {
			a, b = a+s.A[i], b+s.B[i]
		}
		if a == 0 {
			return nil, graph.Reject(site, "sosfiltfilt", errors.New("has a pole at frequency 0, where it passes no constant"), x)
		}
		gain *= b / a
		if s.B[2] == 0 {
			zeros++
		}
		if s.A[2] == 0 {
			poles++
		}
	}
	if e.PadLen < 0 {
		e.PadLen = 3 * (taps - min(zeros, poles))
	}
	p, known := map[string]pad.Padding{"odd": {Mode: "reflect", Odd: true}, "even": {Mode: "reflect"}, "constant": {Mode: "edge"}, "none": {}}[e.PadType]
	n := x.Shape[axis]
	switch {
	case !known:
		err = fmt.Errorf("the padtype %q is unknown: use odd, even, constant or none", e.PadType)
	case e.PadType == "none":
		e.PadLen = 0
	case grid.Size(x.Shape) == 0:
		err = fmt.Errorf("takes an array with elements, not of shape %s", grid.Format(x.Shape))
	case n <= e.PadLen:
		err = fmt.Errorf("lines of %d elements along axis %d are continued by %d: they have to be longer, or padlen shorter", n, axis, e.PadLen)
	}
	if err != nil {
		return nil, graph.Reject(site, "sosfiltfilt", err, x)
	}
	m := &graph.Maker{Site: site}
	y, t := filtered(m, x, sos)
	if e.PadLen > 0 {
		widths := make([][2]int, len(x.Shape))
		widths[axis] = [2]int{e.PadLen, e.PadLen}
		y = m.Make(func() (*graph.Node, error) { return pad.Array(site, y, widths, p) })
	}
	for range 2 {
		first := m.Part(y, axis, 0, 1)
		d := m.Make(func() (*graph.Node, error) {
			return scan.Filter(site, "sosfiltfilt", m.Apply(kernel.Subtract, y, first), axis, sections)
		})
		y = m.Apply(kernel.Add, d, m.Apply(kernel.Multiply, first, m.Full(dtype.ValueOf(gain))))
		y = m.Slice(y, "%s::-1", strings.Repeat(":, ", axis))
	}
	out := m.Cast(m.Part(y, axis, e.PadLen, e.PadLen+n), t)
	return graph.Result(site, "sosfiltfilt", out, graph.Unnamed(m.Err), x)
}
