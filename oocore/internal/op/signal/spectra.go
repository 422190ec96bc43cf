package signal

import (
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/pad"
)

// STFT is scipy.signal.stft without its frequencies and times.
func STFT(site graph.Site, a STFTArgs) (*graph.Node, error) {
	z, err := stft(&graph.Maker{Site: site}, a)
	return graph.Result(site, "stft", z, graph.Unnamed(err), a.X)
}

// borders are SciPy's names of how lines are continued at both ends.
var borders = map[string]pad.Padding{"zeros": {}, "even": {Mode: "reflect"}, "odd": {Mode: "reflect", Odd: true}, "constant": {Mode: "edge"}, "none": {}}

func stft(m *graph.Maker, a STFTArgs) (*graph.Node, error) {
	o, weights, err := a.segments(a.X, a.Axis, a.Detrend, a.Scaling, "psd")
	if err != nil {
		return nil, err
	}
	border, known := borders[a.Boundary]
	if !known {
		return nil, fmt.Errorf("the boundary %q is unknown: use zeros, even, odd, constant or none", a.Boundary)
	}
	n, ends, behind := a.X.Shape[o.Axis], 0, 0
	if a.Boundary != "none" {
		ends = o.Length / 2
	}
	if beyond := (n + 2*ends - o.Length) % o.Step; beyond > 0 && !a.Unpadded {
		behind = o.Step - beyond
	}
	x := m.Cast(a.X, o.From)
	extend := func(before, after int, p pad.Padding) {
		widths := make([][2]int, len(a.X.Shape))
		if widths[o.Axis] = [2]int{before, after}; before+after > 0 {
			x = m.Make(func() (*graph.Node, error) { return pad.Array(m.Site, x, widths, p) })
		}
	}
	extend(ends, ends, border)
	extend(0, behind, pad.Padding{})
	if single(a.X.DType) {
		o.To = dtype.Complex64
	}
	return transformed(m, "stft", o, x, weights)
}

// Welch is scipy.signal.welch without its frequencies.
func Welch(site graph.Site, a WelchArgs) (*graph.Node, error) {
	p, err := welch(&graph.Maker{Site: site}, a)
	return graph.Result(site, "welch", p, graph.Unnamed(err), a.X)
}

func welch(m *graph.Maker, a WelchArgs) (*graph.Node, error) {
	o, weights, err := a.segments(a.X, a.Axis, a.Detrend, a.Scaling, "density")
	if err != nil {
		return nil, err
	}
	n, last, factor := o.Count(), []int{len(a.X.Shape)}, 1.0
	switch o.To = dtype.Float64; a.Average {
	case "mean":
		lines := grid.Size(a.X.Shape) / a.X.Shape[o.Axis]
		o.PerSum = min(max(fft.MostRead/(o.Step*o.From.Size()*lines), leastSum), n)
	case "median":
	default:
		return nil, fmt.Errorf("the average %q is unknown: use mean or median", a.Average)
	}
	power, err := transformed(m, "welch", o, m.Cast(a.X, o.From), weights)
	if err != nil {
		return nil, err
	}
	frequencies := power.Shape[o.Axis]
	if a.Average == "mean" {
		power, factor = m.Reduce(kernel.Sum, power, graph.ReduceOptions{Axes: last}), 1/float64(n)
	} else {
		for k := 2; k < n; k += 2 { // the bias of a median of chi-squared numbers (B. Allen et al., FINDCHIRP, Phys. Rev. D 85, 2012, appendix B)
			factor += 1/float64(k+1) - 1/float64(k)
		}
		factor = 1 / factor
		power = m.Make(func() (*graph.Node, error) {
			return order.Median(m.Site, power, order.QuantileOptions{Axes: last})
		})
	}
	factors := slices.Repeat([]float64{factor}, frequencies)
	for k := range factors {
		if o.Kind == fft.RealForward && k > 0 && 2*k < o.N { // and its conjugate
			factors[k] *= 2
		}
	}
	out := m.Apply(kernel.Multiply, power, m.Along(m.Bytes(dtype.Bytes(factors), dtype.Float64, len(factors)), o.Axis, len(a.X.Shape)))
	if single(a.X.DType) {
		out = m.Cast(out, dtype.Float32)
	}
	return out, m.Err
}

// leastSum is how many segments are added up at least, so that sums are few beside signals.
const leastSum = 32

// single reports types whose spectra SciPy has in single precision.
func single(t dtype.Type) bool {
	return t.Short() || t == dtype.Float32 || t == dtype.Complex64 || t.Kind() < dtype.KindFloat && t.Size() <= 2
}

// transformed are the spectra of all segments of lines that are long enough for one.
func transformed(m *graph.Maker, name string, o fft.Segments, x *graph.Node, weights []float64) (*graph.Node, error) {
	if m.Err != nil {
		return nil, m.Err
	}
	o.In = x.Shape
	o.Out = append(slices.Clone(x.Shape), (o.Count()+o.PerSum-1)/o.PerSum)
	o.Out[o.Axis] = o.N
	if o.Kind == fft.RealForward {
		o.Out[o.Axis] = o.N/2 + 1
	}
	return m.Blockwise(name, o, o.Out, o.To, []*graph.Node{x, m.Bytes(dtype.Bytes(weights), dtype.Float64, o.Length)}, fmt.Sprint(o.Axis), fmt.Sprintf(`"nperseg=%d"`, o.Length)), m.Err
}

// segments completes the arguments for signals, and checks them. Their scaling is a spectrum or, by its other name, a
// density; the weights that it returns have it.
func (s Segments) segments(x *graph.Node, axis int, detrend, scaling, density string) (o fft.Segments, weights []float64, err error) {
	if axis, err = grid.Axis(axis, len(x.Shape)); err != nil {
		return o, nil, err
	}
	o.Axis, o.Detrend, o.Length = axis, detrend, min(s.NPerSeg, x.Shape[axis])
	if s.NPerSeg == 0 {
		o.Length = min(256, x.Shape[axis])
	}
	if s.NOverlap == -1 {
		s.NOverlap = o.Length / 2
	}
	if o.N = s.NFFT; s.NFFT == 0 {
		o.N = o.Length
	}
	o.Step = o.Length - s.NOverlap
	switch {
	case grid.Size(x.Shape) == 0:
		err = fmt.Errorf("takes an array with elements, not of shape %s", grid.Format(x.Shape))
	case o.Length < 1:
		err = fmt.Errorf("nperseg=%d is no length of segments: it is 1 or more", s.NPerSeg)
	case s.NOverlap < 0 || o.Step < 1:
		err = fmt.Errorf("noverlap=%d is no number of elements that segments of %d share", s.NOverlap, o.Length)
	case o.N < o.Length || o.N > fft.MostOfSegment:
		err = fmt.Errorf("nfft=%d is not between the %d elements of a segment and %d", o.N, o.Length, fft.MostOfSegment)
	case !(s.FS > 0) || math.IsInf(s.FS, 0):
		err = fmt.Errorf("takes a sampling frequency above 0, not %v", s.FS)
	case !slices.Contains([]string{"constant", "linear", "false"}, detrend):
		err = fmt.Errorf("the detrend %q is unknown: use constant, linear or false", detrend)
	case scaling != "spectrum" && scaling != density:
		err = fmt.Errorf("the scaling %q is unknown: use spectrum or %s", scaling, density)
	}
	if err != nil {
		return o, nil, err
	}
	// SciPy's windows of segments are periodic: they begin those that are longer by an element.
	if weights, err = shaped(s.Window, o.Length+min(o.Length-1, 1)); err != nil {
		return o, nil, err
	}
	weights = weights[:o.Length]
	sum, squares := 0.0, 0.0
	for _, w := range weights {
		sum, squares = sum+w, squares+w*w
	}
	gain := 1 / math.Sqrt(s.FS*squares)
	if scaling == "spectrum" {
		gain = 1 / math.Abs(sum)
	}
	for i := range weights {
		weights[i] *= gain
	}
	o.Kind, o.Scale, o.From, o.To, o.PerSum, o.In = fft.Forward, 1, floating(x.DType), dtype.Complex128, 1, x.Shape
	if !s.TwoSided && o.From.Kind() == dtype.KindFloat {
		o.Kind = fft.RealForward
	}
	return o, weights, nil
}
