package scan

import (
	"fmt"
	"math"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// What is carried by rules other than sums and products: the extreme so far, in 8 bytes; the last
// element that is a number and, in 8 bytes more, how many elements ago that was; a sum that decays;
// the first element, the last, and what was added to that; what a filter remembers: see filter.go; or a
// mean that each number moves towards itself: see average.go.
const (
	largestRule  = "max"
	smallestRule = "min"
	fillRule     = "fill"
	decayRule    = "decay"
	unwrapRule   = "unwrap"
	filterRule   = "filter"
	averageRule  = "average"
)

// nothing is how long ago an element was that there has not been, and none stands for that element.
var (
	nothing = math.Inf(1)
	none    = math.Float64frombits(0x7ff80000deadbeef)
)

func isNone(v float64) bool { return math.Float64bits(v) == math.Float64bits(none) }

// MaximumAccumulate is NumPy's maximum.accumulate; a NaN stays.
func MaximumAccumulate(site graph.Site, a CumulativeArgs) (*graph.Node, error) {
	return extremes(site, "maximum_accumulate", largestRule, a)
}

// MinimumAccumulate is NumPy's minimum.accumulate; a NaN stays.
func MinimumAccumulate(site graph.Site, a CumulativeArgs) (*graph.Node, error) {
	return extremes(site, "minimum_accumulate", smallestRule, a)
}

func extremes(site graph.Site, name, rule string, a CumulativeArgs) (*graph.Node, error) {
	if a.X.DType.Kind() == dtype.KindComplex {
		return nil, graph.Reject(site, name, fmt.Errorf("takes real numbers, which have an order"), a.X)
	}
	axis := 0
	if len(a.Axis) > 0 {
		axis = a.Axis[0]
	}
	return rules(site, name, a.X, axis, Scan{Rule: rule})
}

// rules is a scan by a rule along an axis.
func rules(site graph.Site, name string, n *graph.Node, axis int, s Scan) (*graph.Node, error) {
	at, err := grid.Axis(axis, len(n.Shape))
	if err == nil {
		n, err = graph.AsType(site, n, n.DType) // of a weak number
	}
	if err != nil {
		return nil, graph.Reject(site, name, err, n)
	}
	return s.nodes(site, name, n, at, []string{fmt.Sprint(at)})
}

// FFill has each NaN replaced by the last number before it along an axis.
func FFill(site graph.Site, a FillArgs) (*graph.Node, error) { return fill(site, "ffill", a) }

// BFill has each NaN replaced by the next number along an axis.
func BFill(site graph.Site, a FillArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	axis, err := grid.Axis(a.Axis, len(a.X.Shape))
	if err != nil {
		return nil, graph.Reject(site, "bfill", err, a.X)
	}
	x := a.X
	a.X = reversed(m, x, axis)
	out := m.Make(func() (*graph.Node, error) { return fill(site, "bfill", a) })
	return m.Result("bfill", reversed(m, out, axis), x)
}

func reversed(m *graph.Maker, n *graph.Node, axis int) *graph.Node {
	return m.Slice(n, "%s::-1", strings.Repeat(":, ", axis))
}

func fill(site graph.Site, name string, a FillArgs) (*graph.Node, error) {
	if a.Limit < 0 {
		return nil, graph.Reject(site, name, fmt.Errorf("limit=%d is no number of elements to fill at most: it is 1 or more", a.Limit), a.X)
	}
	if _, err := grid.Axis(a.Axis, len(a.X.Shape)); err != nil || a.X.DType.Kind() < dtype.KindFloat {
		return a.X, graphError(site, name, err, a.X) // integers have no NaN
	}
	return rules(site, name, a.X, a.Axis, Scan{Rule: fillRule, Numbers: []float64{float64(a.Limit)}})
}

func graphError(site graph.Site, name string, err error, in ...*graph.Node) error {
	_, err = graph.Result(site, name, nil, err, in...)
	return err
}

// InterpolateNA has each NaN that is between numbers along an axis replaced by the line through the nearest of
// both sides, elements being one apart. Each side's number and its place are scanned together, as
// the parts of a complex number.
func InterpolateNA(site graph.Site, a AxisArgs) (*graph.Node, error) {
	x := a.X
	axis, err := grid.Axis(a.Axis, len(x.Shape))
	if err == nil && x.DType.Kind() == dtype.KindComplex {
		err = fmt.Errorf("takes real numbers")
	}
	if err != nil {
		return nil, graph.Reject(site, "interpolate_na", err, x)
	}
	if x.DType.Kind() < dtype.KindFloat {
		return x, nil
	}
	m := &graph.Maker{Site: site}
	place := m.Along(m.Cast(m.Arange(x.Shape[axis]), dtype.Float64), axis, len(x.Shape))
	imaginary := m.Full(dtype.ValueOf(1i))
	both := m.Apply(kernel.Add, m.Cast(x, dtype.Complex128), m.Apply(kernel.Multiply, m.Cast(place, dtype.Complex128), imaginary))
	before := graph.Call(m, FFill, FillArgs{X: both, Axis: axis})
	after := graph.Call(m, BFill, FillArgs{X: both, Axis: axis})
	step := m.Apply(kernel.Subtract, after, before)
	slope := m.Apply(kernel.Divide, m.Apply(kernel.Real, step), m.Apply(kernel.Imag, step))
	line := m.Apply(kernel.Add, m.Apply(kernel.Real, before), m.Apply(kernel.Multiply, slope, m.Apply(kernel.Subtract, place, m.Apply(kernel.Imag, before))))
	return m.Result("interpolate_na", m.Cast(m.Apply(kernel.Where, m.Apply(kernel.IsNaN, x), line, x), x.DType), x)
}

// EWMMean is pandas' ewm(alpha=alpha).mean(): the mean of the elements up to each, whose weights fall by 1 -
// alpha with each element between; NaN has no weight. Sums of elements and of weights are scanned together, as
// the parts of a complex number. Recursive is adjust=False, see average.go.
func EWMMean(site graph.Site, a EWMArgs) (*graph.Node, error) {
	x := a.X
	axis, err := grid.Axis(a.Axis, len(x.Shape))
	switch {
	case err != nil:
	case x.DType.Kind() == dtype.KindComplex:
		err = fmt.Errorf("takes real numbers")
	case !(a.Alpha > 0 && a.Alpha <= 1):
		err = fmt.Errorf("takes an alpha above 0, at most 1, not %v", a.Alpha)
	}
	if err != nil {
		return nil, graph.Reject(site, "ewm_mean", err, x)
	}
	if a.Recursive && a.Alpha < 1 {
		m := &graph.Maker{Site: site}
		wide := x
		if x.DType.Kind() < dtype.KindFloat {
			wide = m.Cast(x, dtype.Float64)
		}
		out := m.Make(func() (*graph.Node, error) {
			return rules(site, "ewm_mean", wide, axis, Scan{Rule: averageRule, Numbers: []float64{a.Alpha}})
		})
		return m.Result("ewm_mean", out, x)
	}
	if a.Alpha == 1 { // nothing is left of earlier elements where there is a later one
		out, err := FFill(site, FillArgs{X: x, Axis: axis})
		if err == nil && x.DType.Kind() < dtype.KindFloat {
			out, err = graph.AsType(site, x, dtype.Float64)
		}
		return graph.Result(site, "ewm_mean", out, graph.Unnamed(err), x)
	}
	m := &graph.Maker{Site: site}
	weighed := m.Apply(kernel.Add, m.Cast(x, dtype.Complex128), m.Full(dtype.ValueOf(1i)))
	both := m.Apply(kernel.Where, m.Apply(kernel.IsNaN, x), m.Full(dtype.ValueOf(0i)), weighed)
	sums := m.Make(func() (*graph.Node, error) {
		return rules(site, "ewm_mean", both, axis, Scan{Rule: decayRule, Numbers: []float64{1 - a.Alpha}})
	})
	out := m.Apply(kernel.Divide, m.Apply(kernel.Real, sums), m.Apply(kernel.Imag, sums))
	if x.DType.Kind() == dtype.KindFloat {
		out = m.Cast(out, x.DType)
	}
	return m.Result("ewm_mean", out, x)
}

// Unwrap is NumPy's unwrap: what neighbours differ by is brought to within half a period, and what
// that changes is added up.
func Unwrap(site graph.Site, a UnwrapArgs) (*graph.Node, error) {
	var err error
	switch {
	case a.P.DType.Kind() == dtype.KindComplex:
		err = fmt.Errorf("takes real numbers")
	case !(a.Period >= 0) || math.IsInf(a.Period, 0):
		err = fmt.Errorf("takes a period above 0, not %v", a.Period)
	case math.IsNaN(a.Discont) || math.IsInf(a.Discont, 0):
		err = fmt.Errorf("takes a finite number as discont, not %v", a.Discont)
	}
	if a.Period == 0 {
		a.Period = 2 * math.Pi
	}
	m := &graph.Maker{Site: site, Err: err}
	p := a.P
	if p.DType.Kind() < dtype.KindFloat {
		p = m.Cast(p, dtype.Float64)
	}
	out := m.Make(func() (*graph.Node, error) {
		return rules(site, "unwrap", p, a.Axis, Scan{Rule: unwrapRule, Numbers: []float64{a.Period, max(a.Discont, a.Period/2)}})
	})
	return out, graphError(site, "unwrap", graph.Unnamed(m.Err), a.P)
}

// ruleWords are those of one element's state by a rule.
func (s Scan) ruleWords() int {
	switch {
	case s.Rule == filterRule:
		return s.filterWords() * s.Type.Size() / 8
	case s.Rule == fillRule && s.Type == dtype.Complex128:
		return 4 // twice 16 bytes
	case s.Rule == unwrapRule:
		return 3
	case s.Rule == averageRule:
		return averageWords
	case s.Rule == fillRule, s.Rule == decayRule:
		return 2
	}
	return 1
}

func (s Scan) beginRule(state []byte) {
	w := s.ruleWords()
	switch numbers := dtype.Slice[float64](state); {
	case s.Rule == fillRule:
		for i := range numbers {
			numbers[i] = math.NaN()
			if i%w == w-1 {
				numbers[i] = nothing
			}
		}
	case s.Rule == decayRule, s.Rule == filterRule:
		clear(state)
	case s.Rule == averageRule:
		for i := range numbers {
			numbers[i] = noAverage[i%w]
		}
	case s.Rule == unwrapRule: // nothing before the first element
		for i := range numbers {
			numbers[i] = []float64{none, none, 0}[i%w]
		}
	case s.Type.Kind() == dtype.KindFloat:
		for i := range numbers {
			numbers[i] = math.Inf(map[string]int{largestRule: -1, smallestRule: 1}[s.Rule])
		}
	default:
		first := map[string]int64{largestRule: math.MinInt64, smallestRule: math.MaxInt64}[s.Rule]
		for i := range dtype.Slice[int64](state) {
			dtype.Slice[int64](state)[i] = first
		}
	}
}

// passRule is pass: the state after a block is next where the block decides it, or follows from both.
func (s Scan) passRule(state, next []byte) {
	w := s.ruleWords()
	a, b := dtype.Slice[float64](state), dtype.Slice[float64](next)
	if s.Rule == filterRule {
		s.passFilter(a, b)
		return
	}
	decay := 0.0
	if s.Rule == decayRule {
		decay = math.Pow(s.Numbers[0], float64(s.Block))
	}
	for i := 0; i < len(b); i += w {
		var was [averageWords]float64
		copy(was[:], a[i:i+w])
		switch {
		case s.Rule == averageRule:
			s.passAverage(average(a[i:i+w]), average(b[i:i+w]))
		case s.Rule == fillRule:
			if b[i+w-1] < nothing {
				copy(a[i:i+w], b[i:i+w])
			} else {
				a[i+w-1] += float64(s.Block)
			}
		case s.Rule == decayRule:
			for k := i; k < i+w; k++ {
				if decay != 0 { // else infinity would be NaN
					b[k] += decay * a[k]
				}
				a[k] = b[k]
			}
		case s.Rule == unwrapRule:
			a[i+2] += s.change(b[i], a[i+1]) + b[i+2]
			a[i+1] = b[i+1]
		case s.Type.Kind() == dtype.KindFloat:
			extreme(s.Rule == largestRule, &a[i], b[i])
		default:
			extreme(s.Rule == largestRule, &dtype.Slice[int64](state)[i], dtype.Slice[int64](next)[i])
		}
		copy(b[i:i+w], was[:])
	}
}

// extreme makes a the larger, or smaller, of both; NaN stays.
func extreme[S int64 | float64](largest bool, a *S, v S) {
	if largest && v > *a || !largest && v < *a || v != v {
		*a = v
	}
}

func (s Scan) runRule(dst, src []byte, cols, skip int, state []byte) {
	if s.Rule == filterRule { // of a complex number both parts alike
		s.runFilter(dtype.Slice[float64](dst), dtype.Slice[float64](src), cols*s.Type.Size()/8, skip, dtype.Slice[float64](state))
		return
	}
	switch s.Type {
	case dtype.Bool, dtype.Uint8:
		runRule[uint8](s, dst, src, cols, skip, state)
	case dtype.Uint16:
		runRule[uint16](s, dst, src, cols, skip, state)
	case dtype.Uint32:
		runRule[uint32](s, dst, src, cols, skip, state)
	case dtype.Uint64:
		runExtremes(s, dst, src, cols, skip, state, func(v uint64) int64 { return int64(v ^ 1<<63) }, func(v int64) uint64 { return uint64(v) ^ 1<<63 })
	case dtype.Int8:
		runRule[int8](s, dst, src, cols, skip, state)
	case dtype.Int16:
		runRule[int16](s, dst, src, cols, skip, state)
	case dtype.Int32:
		runRule[int32](s, dst, src, cols, skip, state)
	case dtype.Int64:
		runRule[int64](s, dst, src, cols, skip, state)
	case dtype.Float16:
		runFloats(s, dst, src, cols, skip, state, widen[dtype.Float16Bits], toFloat16)
	case dtype.BFloat16:
		runFloats(s, dst, src, cols, skip, state, widen[dtype.BFloat16Bits], toBFloat16)
	case dtype.Float32:
		runFloats(s, dst, src, cols, skip, state, func(v float32) float64 { return float64(v) }, func(v float64) float32 { return float32(v) })
	case dtype.Float64:
		runFloats(s, dst, src, cols, skip, state, func(v float64) float64 { return v }, func(v float64) float64 { return v })
	case dtype.Complex64:
		runFill(s, dst, src, cols, skip, state, func(v complex64) bool { return v != v })
	case dtype.Complex128:
		if s.Rule == decayRule {
			runDecay(s, dtype.Slice[float64](dst), dtype.Slice[float64](src), 2*cols, skip, dtype.Slice[float64](state))
			return
		}
		runFill(s, dst, src, cols, skip, state, func(v complex128) bool { return v != v })
	}
}

func runRule[T uint8 | uint16 | uint32 | int8 | int16 | int32 | int64](s Scan, dst, src []byte, cols, skip int, state []byte) {
	runExtremes(s, dst, src, cols, skip, state, func(v T) int64 { return int64(v) }, func(v int64) T { return T(v) })
}

func runFloats[T dtype.Element](s Scan, dst, src []byte, cols, skip int, state []byte, wide func(T) float64, narrow func(float64) T) {
	if s.Rule == fillRule {
		runFill(s, dst, src, cols, skip, state, func(v T) bool { return math.IsNaN(wide(v)) })
		return
	}
	if s.Rule == averageRule {
		runAverage(s, dst, src, cols, skip, state, wide, narrow)
		return
	}
	if s.Rule == unwrapRule {
		a := dtype.Slice[float64](state)
		rows(dtype.Slice[T](dst), dtype.Slice[T](src), cols, skip, func(dst, src []T) {
			for c, x := range src {
				v, at := wide(x), a[3*c:3*c+3]
				at[2] += s.change(v, at[1])
				if isNone(at[1]) {
					at[0] = v
				}
				if at[1] = v; dst != nil {
					dst[c] = narrow(v + at[2])
				}
			}
		})
		return
	}
	runExtremes(s, dst, src, cols, skip, state, wide, narrow)
}

// change is what unwrap adds to an element and all behind it, by the one before.
func (s Scan) change(v, before float64) float64 {
	period, discont := s.Numbers[0], s.Numbers[1]
	if isNone(before) {
		return 0
	}
	step := v - before
	if math.Abs(step) < discont {
		return 0
	}
	within := math.Mod(step+period/2, period)
	if within < 0 {
		within += period
	}
	if within -= period / 2; within == -period/2 && step > 0 {
		within = period / 2
	}
	return within - step
}

func runExtremes[T dtype.Element, S int64 | float64](s Scan, dst, src []byte, cols, skip int, state []byte, wide func(T) S, narrow func(S) T) {
	a, largest := dtype.Slice[S](state), s.Rule == largestRule
	rows(dtype.Slice[T](dst), dtype.Slice[T](src), cols, skip, func(dst, src []T) {
		for c, v := range src {
			extreme(largest, &a[c], wide(v))
		}
		for c := range dst {
			dst[c] = narrow(a[c])
		}
	})
}

func runFill[T dtype.Element](s Scan, dst, src []byte, cols, skip int, state []byte, missing func(T) bool) {
	w := s.ruleWords()
	last, ago := dtype.Slice[T](state), dtype.Slice[float64](state)
	step := len(last) / max(cols, 1)
	limit := nothing
	if s.Numbers[0] > 0 {
		limit = s.Numbers[0]
	}
	rows(dtype.Slice[T](dst), dtype.Slice[T](src), cols, skip, func(dst, src []T) {
		for c, v := range src {
			since := &ago[c*w+w-1]
			if !missing(v) {
				last[c*step], *since = v, 0
			} else if *since++; *since <= limit && *since < nothing {
				v = last[c*step]
			}
			if dst != nil {
				dst[c] = v
			}
		}
	})
}

func runDecay(s Scan, dst, src []float64, cols, skip int, state []float64) {
	decay := s.Numbers[0]
	rows(dst, src, cols, skip, func(dst, src []float64) {
		for c, v := range src {
			state[c] = decay*state[c] + v
		}
		copy(dst, state)
	})
}
