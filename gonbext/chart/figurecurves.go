package chart

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// curveColors and curveStrokes tell the lines of a plot apart, by colour and without.
var (
	curveColors  = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8a63d2", "#7f7f7f"}
	curveStrokes = []stroke{"", dashed, dotted, dashDot, "9 3", "1 4", "8 2 2 2 2 2", "3 5"}
)

// maxMarked is how many points a line has at most for each to get a mark of its own.
const maxMarked = 60

// curvesLine says what a plot shows.
func curvesLine(f *record.Figure) string {
	var parts []string
	for _, c := range f.Curves {
		part := counted(c.Length, "element", "elements")
		if low, high, ok := finite(c.Mean, c.Low, c.High); ok {
			part += fmt.Sprintf(" from %.6g to %.6g", low, high)
		} else if c.Length > 0 {
			part += ", none of them finite"
		}
		if len(f.Curves) > 1 {
			part = clip(plain(c.Name), 30) + ": " + part
		}
		if c.Step > 1 {
			part += ", " + units.Count(int64(c.Step)) + " behind a point"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " · ")
}

// merged are curves of fewer blocks, each of several of theirs, where they have more values than
// maxPlotted.
func merged(curves []record.Curve) []record.Curve {
	values := 0
	for _, c := range curves {
		values += len(c.Mean) + len(c.Low) + len(c.High)
	}
	if values <= maxPlotted {
		return curves
	}
	most := maxPlotted / 3 / len(curves)
	all := slices.Clone(curves)
	for i := range all {
		c := &all[i]
		if len(c.Mean) <= most {
			continue
		}
		if len(c.Low) == 0 {
			c.Low, c.High = c.Mean, c.Mean
		}
		each := int(ceilDiv(int64(len(c.Mean)), int64(most)))
		m := record.Curve{Name: c.Name, Length: c.Length, Step: c.Step * each}
		for from := 0; from < len(c.Mean); from += each {
			to := min(from+each, len(c.Mean))
			low, high, ok := finite(c.Low[from:to], c.High[from:to])
			mean, elements := math.NaN(), 0.0
			if !ok {
				low, high = mean, mean
			}
			for k, v := range c.Mean[from:to] {
				n := float64(min(c.Step, c.Length-(from+k)*c.Step))
				switch {
				case math.IsNaN(v):
				case elements == 0:
					mean, elements = v, n
				default:
					elements += n
					mean += (v - mean) * (n / elements)
				}
			}
			m.Mean, m.Low, m.High = append(m.Mean, mean), append(m.Low, low), append(m.High, high)
		}
		*c = m
	}
	return all
}

// plotDrawing draws curves; nil where there is nothing to draw.
func plotDrawing(f *record.Figure, alt string) (*figure, string) {
	curves := merged(f.Curves)
	var lists []record.Floats
	length := 0
	for _, c := range curves {
		lists = append(lists, c.Mean, c.Low, c.High)
		length = max(length, c.Length)
	}
	low, high, ok := finite(lists...)
	if f.Low < f.High {
		low, high = f.Low, f.High
	}
	bottom, top, step := numberAxis(low, high)
	if f.Low < f.High {
		bottom, top = low, high
	}
	if !ok || !(top-bottom <= math.MaxFloat64) { // longer than a float64 counts
		return nil, ""
	}
	out := &figure{Title: cmp.Or(plain(f.Title), "Plot"), Alt: "Line chart: " + alt, Height: 300}
	for _, c := range curves {
		if c.Step > 1 {
			out.Caption = "Lines are means of blocks; the bands around them reach from the least to the greatest element."
		}
	}
	last := float64(max(length-1, 1))
	live := charts.NewLine()
	base(&live.BaseConfiguration, labelled(f))
	live.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Name: plain(f.X), NameLocation: "middle", NameGap: nameGap, Type: "value", Min: 0, Max: last, MinInterval: 1, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Name: plain(f.Y), Type: "value", Min: bottom, Max: top, AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Formatter: "gonbext:number"}}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
	)
	var keys []key
	for i := range curves {
		keys = append(keys, key{cmp.Or(clip(plain(curves[i].Name), 40), "curve "+strconv.Itoa(i+1)), curveColors[i%len(curveColors)], curveStrokes[i%len(curveStrokes)]})
	}
	d := newDrawing(760, 280)
	from := 16.0
	if len(keys) > 1 {
		height, marks := d.legend(keys)
		d.draw(keys, marks)
		from = height + 8
	}
	if f.Y != "" {
		from += 12
	}
	left := 0
	for _, v := range axisTicks(bottom, top, step) {
		left = max(left, len(fmt.Sprintf("%.6g", round9(v))))
	}
	p := &plot{drawing: d, left: 22 + 6.8*float64(left), right: d.width - 20, top: from, bottom: d.height - 30, xMax: last, yMax: top - bottom}
	p.names(f)
	p.values(bottom, top, step, func(v float64) string { return fmt.Sprintf("%.6g", round9(v)) })
	for v, each := 0.0, max(roundStep(last, 8), 1); v <= last*1.0001; v += each {
		p.tick(v, units.Count(int64(v)))
	}
	for i := range curves {
		c, k := within(curves[i], bottom, top), keys[i]
		at := func(j int) float64 { // the middle of a block
			first := j * c.Step
			return float64(first+min(first+c.Step, c.Length)-1) / 2
		}
		marks := c.Step == 1 && len(c.Mean) <= maxMarked
		short := func(v float64) float64 {
			if marks {
				return v
			}
			return near(v, bottom, top, 1000)
		}
		if len(c.Low) > 0 {
			var band []opts.LineData
			for j := range c.Low {
				band = append(band, point(at(j), short(c.Low[j])), point(at(j), short(c.High[j])))
			}
			live.AddSeries(k.name+", least to greatest", band,
				charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}), charts.WithItemStyleOpts(opts.ItemStyle{Color: k.color, Opacity: opts.Float(0.4)}),
				charts.WithLineStyleOpts(opts.LineStyle{Width: 1, Color: k.color, Opacity: opts.Float(0.4)}))
			p.envelope(c, bottom, at, k.color)
		}
		var data []opts.LineData
		for j, v := range c.Mean {
			data = append(data, point(at(j), short(v)))
		}
		live.AddSeries(k.name, data, charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(marks || hasLone(c.Mean))}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: k.color}), charts.WithLineStyleOpts(opts.LineStyle{Width: 2, Color: k.color, Type: lineType(k.line)}))
		p.curve(c.Mean, bottom, at, k, marks)
	}
	if len(keys) > 1 {
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.name
		}
		withLegend(&live.BaseConfiguration, names...)
	}
	out.Option = live.JSON()
	return out, d.done()
}

// within is a curve with what is outside of a range at its ends.
func within(c record.Curve, low, high float64) *record.Curve {
	for _, list := range []*record.Floats{&c.Mean, &c.Low, &c.High} {
		*list = slices.Clone(*list)
		for i, v := range *list {
			(*list)[i] = min(max(v, low), high)
		}
	}
	return &c
}

// point is a point of a live line; what is not finite is a gap.
func point(x, y float64) opts.LineData {
	if math.IsNaN(y) {
		return opts.LineData{Value: []any{x, nil}}
	}
	return opts.LineData{Value: []any{x, digits(y)}}
}

// hasLone reports whether a line has a point without neighbours, of which only a mark shows.
func hasLone(values record.Floats) bool {
	for i, v := range values {
		if !math.IsNaN(v) && (i == 0 || math.IsNaN(values[i-1])) && (i == len(values)-1 || math.IsNaN(values[i+1])) {
			return true
		}
	}
	return false
}

// curve draws a line with gaps where values are not finite; a point without neighbours is
// a dot.
func (p *plot) curve(values record.Floats, bottom float64, at func(int) float64, k key, marks bool) {
	var path, dots strings.Builder
	for from, to := range numbers(values) {
		var line polyline
		for i := from; i < to; i++ {
			line.to(p.x(at(i)), p.y(values[i]-bottom))
			if marks || to-from == 1 {
				fmt.Fprintf(&dots, "M%.0f %.0fh.1", p.x(at(i)), p.y(values[i]-bottom)) // a round end on both sides
			}
		}
		path.WriteString(line.done())
	}
	dash := ""
	if k.line != "" {
		dash = fmt.Sprintf(` stroke-dasharray="%s"`, k.line)
	}
	p.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="1.8"%s/>`, path.String(), k.color, dash)
	width := 3.2
	if marks {
		width = 5
	}
	p.printf(`<path d="%s" stroke="%s" stroke-width="%g" stroke-linecap="round"/>`, dots.String(), k.color, width)
}

// numbers are the stretches of values that are numbers, each from an index up to another.
func numbers(values record.Floats) iter.Seq2[int, int] {
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

// envelope fills the space between the least and the greatest of each block.
func (p *plot) envelope(c *record.Curve, bottom float64, at func(int) float64, color string) {
	var path strings.Builder
	for from, to := range numbers(c.Low) {
		var line polyline
		for i := from; i < to; i++ {
			line.to(p.x(at(i)), p.y(c.High[i]-bottom))
		}
		for i := to - 1; i >= from; i-- {
			line.to(p.x(at(i)), p.y(c.Low[i]-bottom))
		}
		path.WriteString(line.done() + "z")
	}
	p.printf(`<path d="%s" fill="%s" fill-opacity=".3" stroke="%s" stroke-opacity=".3"/>`, path.String(), color, color)
}
