package chart

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// layer is one band of a stack, or one line.
type layer struct {
	key
	values []float64 // bytes at each point
}

// caption says what a point stands for.
func caption(perPoint int) string {
	if perPoint <= 1 {
		return ""
	}
	return fmt.Sprintf("Of every %s samples the least and the greatest are drawn.", units.Count(int64(perPoint)))
}

// stack makes a layer of each class that took any memory.
func stack(samples []record.Sample, from, to record.Class) []layer {
	var all []layer
	for c := from; c < to; c++ {
		l := layer{key: key{name: c.String(), color: classColors[c]}}
		var most int64
		for i := range samples {
			n := samples[i].Arena[c]
			most = max(most, n)
			l.values = append(l.values, float64(n))
		}
		if most > 0 {
			all = append(all, l)
		}
	}
	return all
}

// limit is a level to compare with.
type limit struct {
	name  string
	bytes int64
	color string
	line  stroke
	spans []span // where it holds, each at a level of its own; none: everywhere
}

// levels are the stretches of time, in seconds, in which a limit holds.
func (l *limit) levels(end float64) []span {
	if len(l.spans) > 0 {
		return l.spans
	}
	return []span{{To: end, predicted: l.bytes}}
}

// scale chooses the top of a value axis: above all that is drawn, and above
// the limits too unless they would squeeze the rest into its lower quarter.
// Names of limits that are out of sight say so.
func scale(most float64, limits []limit) (top float64, keys []key) {
	top = most
	for _, l := range limits {
		if v := float64(l.bytes); v > top && v <= 4*most {
			top = v
		}
	}
	if top <= 0 {
		for _, l := range limits {
			top = max(top, float64(l.bytes))
		}
	}
	top = max(top*1.04, 1)
	for _, l := range limits {
		if l.bytes <= 0 {
			continue
		}
		name := l.name + " " + units.Bytes(l.bytes)
		if float64(l.bytes) > top {
			name += " (off scale)"
		}
		keys = append(keys, key{name, l.color, l.line})
	}
	return top, keys
}

// memoryOverTime fills f with the live chart of samples and returns the picture. Spans are named
// above it.
func memoryOverTime(f *figure, samples []record.Sample, last time.Duration, layers, lines []layer, limits []limit, spans []span) string {
	n := len(samples)
	at := make([]float64, n)
	var most float64
	for i := range samples {
		at[i] = samples[i].At.Seconds()
		var sum float64
		for _, l := range layers {
			sum += l.values[i]
		}
		for _, l := range lines {
			sum = max(sum, l.values[i])
		}
		most = max(most, sum)
	}
	end := max(at[n-1], last.Seconds())
	limits = slices.DeleteFunc(limits, func(l limit) bool { return l.bytes <= 0 })
	top, limitKeys := scale(most, limits)
	c := overTime(f, end, top)
	f.Points = &points{}
	for _, x := range at {
		f.Points.At = append(f.Points.At, round(x/f.Unit, 1e5))
	}
	for _, l := range layers {
		f.Points.Values = append(f.Points.Values, significants(l.values))
		c.AddSeries(l.name, nil,
			charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), Stack: "classes"}), charts.WithItemStyleOpts(opts.ItemStyle{Color: l.color}),
			charts.WithAreaStyleOpts(opts.AreaStyle{Opacity: opts.Float(0.9), Color: l.color}),
			charts.WithLineStyleOpts(opts.LineStyle{Width: 0.7, Color: edgeColor}))
	}
	for _, l := range lines {
		f.Points.Values = append(f.Points.Values, significants(l.values))
		addLine(c, l.key, nil, 1.5)
	}
	addLevels(c, limits, limitKeys, end, f.Unit)
	var keys []key
	for _, l := range append(append([]layer{}, layers...), lines...) {
		keys = append(keys, l.key)
	}
	keys = append(keys, limitKeys...)
	f.Option = c.JSON()

	d := newDrawing(760, float64(f.Height)-20)
	height, marks := d.legend(keys)
	if len(spans) > 0 {
		height += spanHeight
	}
	p := d.frame(height, end, top)
	p.spans(spans)
	p.timeTicks()
	p.bands(at, layers, marks)
	marks = marks[len(layers):]
	for k, l := range lines {
		var path polyline
		for i, x := range at {
			path.to(p.x(x), p.y(l.values[i]))
		}
		d.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="1.5" stroke-dasharray="%s"/>`, marks[k]+path.done(), l.color, l.line)
	}
	marks = marks[len(lines):]
	for i, k := range limitKeys {
		p.level(limits[i].levels(end), k, marks[i])
	}
	return d.done()
}

// overTime is the live chart of bytes, up to a top, over time, up to an end.
func overTime(f *figure, end, top float64) *charts.Line {
	f.Unit = timeUnit(end)
	c := charts.NewLine()
	base(&c.BaseConfiguration, wide())
	c.SetGlobalOptions(
		// A time axis: on one of plain values ECharts stacks sideways.
		charts.WithXAxisOpts(opts.XAxis{Type: "time", Min: 0, Max: end / f.Unit, AxisLabel: &opts.AxisLabel{Formatter: "gonbext:time", HideOverlap: opts.Bool(true)}, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(byteAxis(top)),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", Formatter: "gonbext:overTime"}),
	)
	withLegend(&c.BaseConfiguration)
	return c
}

// byteAxis is a live axis of bytes up to a top.
func byteAxis(top float64) opts.YAxis {
	return opts.YAxis{Type: "value", Min: 0, Max: top, MinInterval: byteStep(top), MaxInterval: byteStep(top), AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Formatter: "gonbext:bytes"}}
}

func addLine(c *charts.Line, k key, data []opts.LineData, width float32) {
	c.AddSeries(k.name, data, charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: k.color}), charts.WithLineStyleOpts(opts.LineStyle{Width: width, Type: lineType(k.line), Color: k.color}))
}

// addLevels adds the limits, which keys name, as lines.
func addLevels(c *charts.Line, limits []limit, keys []key, end, unit float64) {
	for i, k := range keys {
		var ends []opts.LineData
		for n, sp := range limits[i].levels(end) {
			if n > 0 { // a gap
				ends = append(ends, opts.LineData{Value: []any{sp.From / unit, "-"}})
			}
			v := float64(sp.predicted)
			ends = append(ends, opts.LineData{Value: []float64{sp.From / unit, v}}, opts.LineData{Value: []float64{sp.To / unit, v}})
		}
		addLine(c, k, ends, 1.5)
	}
}

// spanHeight is the room above a timeline for its spans.
const spanHeight = 20

// spans draws what ran when above the plot.
func (p *plot) spans(spans []span) {
	for i, sp := range spans {
		x, width := p.x(sp.From), max(p.x(sp.To)-p.x(sp.From), 2)
		p.printf(`<rect x="%s" y="%s" width="%s" height="15" fill="%s" opacity=".35"/>`, num(x), num(p.top-spanHeight), num(width), spanColors[i%2])
		if name := clip(sp.Name, int(width/6.6)-1); name != "" {
			p.text(x+4, p.top-spanHeight+12, "start", "", name)
		}
	}
}

// spanColors tell a span from the next.
var spanColors = [2]string{"#47a", "#888"}

// timeUnit is what the live time axis counts in, in seconds. ECharts takes its
// steps for milliseconds, and cuts only those into tens: seconds it shows whole.
func timeUnit(end float64) float64 {
	if end < 0.8 || end > 80 {
		return 1e-3
	}
	return 0.1
}

// bands draws layers on top of each other, the highest first: each hides what is below it
// of the one before, and has an edge that tells it from its neighbour without colour. Each
// begins with its mark.
func (p *plot) bands(x []float64, layers []layer, marks []string) {
	tops := make([][]float64, len(layers))
	sum := make([]float64, len(x))
	for k, l := range layers {
		for i := range x {
			sum[i] += l.values[i]
		}
		tops[k] = slices.Clone(sum)
	}
	p.printf(`<g stroke="%s" stroke-width=".7">`, edgeColor)
	for k := len(layers) - 1; k >= 0; k-- {
		var path polyline
		path.to(p.x(x[0]), p.bottom)
		for i := range x {
			path.to(p.x(x[i]), p.y(tops[k][i]))
		}
		path.to(p.x(x[len(x)-1]), p.bottom)
		p.printf(`<path d="%sz" fill="%s"/>`, marks[k]+path.done(), layers[k].color)
	}
	p.printf(`</g>`)
}

// base sets what the charts have in common; colours of text and lines are the
// page's and come with the script.
func base(c *charts.BaseConfiguration, grid opts.Grid) {
	c.Colors = nil // each series has its own
	charts.WithAnimation(false)(c)
	charts.WithGridOpts(grid)(c)
	charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)})(c)
}

// wide is the place of a chart with axes.
func wide() opts.Grid {
	return opts.Grid{Left: "8", Right: "24", Top: "10", Bottom: "8", ContainLabel: opts.Bool(true)}
}

// withLegend shows a legend of the series with these names, or of all, which the script draws.
func withLegend(c *charts.BaseConfiguration, names ...string) {
	l := opts.Legend{Show: opts.Bool(true)}
	if len(names) > 0 {
		l.Data = names
	}
	charts.WithLegendOpts(l)(c)
}

// round cuts x to 1/unit, which keeps an option short.
func round(x, unit float64) float64 { return float64(int64(x*unit+0.5)) / unit }
