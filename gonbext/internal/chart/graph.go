package chart

import (
	"iter"
	"math"
	"slices"

	"github.com/go-echarts/go-echarts/v2/types"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// graph describes a figure with two axes. Both of its forms are drawn from it alone: svg returns the
// picture, option the live chart. A heatMap describes a figure of cells in rows and columns.
type graph struct {
	base, value axis
	series      []series
	legend      bool
	spans       []span        // named above the plot
	gap         float64       // between bars, as a share of the room of each
	tooltip     types.FuncStr // a formatter of report.js; ECharts has its own if it is empty
	// What only pictures have; a figure with a raster has no live chart.
	fine   bool         // lines are drawn to tenths of pixels: those of data
	title  string       // above the plot
	raster string       // the address of a picture in the plot, behind the series
	scale  *colourScale // of the picture or of points, beside the plot
	notes  []note       // over the series
	inset  *[4]float64  // room at the left, top, right and bottom, where figures beside each other share it
}

// note is a text in the plot, on a ground that makes it readable.
type note struct {
	x, y float64
	text string
}

// axis is one of the two axes of a graph.
type axis struct {
	kind      string // of ECharts: value, time or log; or date, of seconds since 1970
	name      string
	low, high float64
	step      float64       // the least between ticks of the live chart; 0 lets ECharts choose
	ticks     []tick        // of the picture
	format    types.FuncStr // a formatter of report.js
	names     []string      // of the places 0, 1, …
}

// tick is a place on an axis with its label.
type tick struct {
	at    float64
	label string
}

// series is what one entry of the legend stands for.
type series struct {
	key
	kind   seriesKind
	x, y   []float64 // x of bars are their edges, one more than y; a y that is NaN is a gap
	low    []float64 // of a band
	width  float64   // of a line
	marks  bool      // each point of a line has one
	colors []string  // of points, one for each; none: that of the key
	sizes  []float64 // likewise, in pixels
	packed bool      // y goes to the figure's Points; packed series come first and have the same x
	names  []string  // of bars, for their tooltips
}

type seriesKind int

const (
	asLine   seriesKind = iota
	asArea              // stacked
	asBars              // stacked
	asBand              // from low to y, around the line that follows; the legend does not list it
	asSpread            // the same, a series of its own
	asPoints
)

// areas returns stacked series with the same x, one for each key that has a value above 0.
func areas(x []float64, keys []key, value func(of, i int) int64) []series {
	var all []series
	for of, k := range keys {
		s := series{key: k, kind: asArea, x: x}
		for i := range x {
			s.y = append(s.y, float64(value(of, i)))
		}
		if len(s.y) > 0 && slices.Max(s.y) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// classKeys returns the classes of memory.
func classKeys() []key {
	var keys []key
	for c := range record.Classes {
		keys = append(keys, key{name: c.String(), color: classColors[c]})
	}
	return keys
}

// highest returns the largest value that is drawn: of stacked series, of their sums.
func highest(all []series) (most float64) {
	var sum []float64
	for _, s := range all {
		for i, v := range s.y {
			if i == len(sum) {
				sum = append(sum, 0)
			}
			if s.stacked() {
				sum[i] += v
				v = sum[i]
			}
			most = max(most, v)
		}
	}
	return most
}

func (s *series) stacked() bool { return s.kind == asArea || s.kind == asBars }

// byteAxis returns an axis of bytes up to a top.
func byteAxis(top float64) axis {
	a := axis{kind: "value", high: max(top, 1), step: byteStep(top), format: "gonbext:bytes"}
	a.ticks = ticksAt(0, a.high, a.step, func(v float64) string { return units.Bytes(int64(v)) })
	return a
}

// timeAxis returns an axis of times up to an end.
func timeAxis(end float64) axis {
	a := axis{kind: "time", high: max(end, 1e-9), format: "gonbext:time"} // ECharts stacks sideways on an axis of plain values
	step := roundStep(a.high, 6)
	if a.high > 120 {
		// Whole minutes read better than their hundreds of seconds.
		step = 60 * math.Max(1, roundStep(a.high/60, 6))
	}
	a.ticks = ticksAt(0, a.high, step, seconds)
	return a
}

// share returns the place of v on the axis, from 0 to 1.
func (a *axis) share(v float64) float64 {
	if a.kind == "log" {
		return (math.Log10(v) - math.Log10(a.low)) / (math.Log10(a.high) - math.Log10(a.low))
	}
	// Of halves: the whole may be more than a float64 counts.
	return (v/2 - a.low/2) / (a.high/2 - a.low/2)
}

// byteStep returns a round step in binary units that gives four to eight lines.
func byteStep(most float64) float64 {
	step := 1.0
	for step*8 < most {
		step *= 2
	}
	return step
}

// draw sets the live chart and the picture of a figure.
func (g *graph) draw(f *figure) *figure {
	f.Option, f.Picture = g.option(f), g.svg(float64(f.Height)-20)
	return f
}

// numbers yields the runs of values without NaN, each from an index up to another.
func numbers(values []float64) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for from := 0; from < len(values); from++ {
			to := from
			for to < len(values) && !math.IsNaN(values[to]) {
				to++
			}
			if to > from && !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// hasLone reports whether a line has a point without neighbours, of which only a mark shows.
func hasLone(values []float64) bool {
	for from, to := range numbers(values) {
		if to-from == 1 {
			return true
		}
	}
	return false
}
