package chart

import (
	"fmt"
	"slices"
	"strings"

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

// timelineFigure draws the memory of the budget's classes over time, stacked,
// with the budget and the prediction.
func timelineFigure(s *summary) (*figure, string) {
	if len(s.timeline) < 2 {
		return nil, ""
	}
	layers := stack(s.timeline, record.Input, record.Device)
	process := layer{key{"whole process, private", processColor, dotted}, nil}
	seen := false
	for i := range s.timeline {
		n := s.timeline[i].Anonymous
		seen = seen || n > 0
		process.values = append(process.values, float64(n))
	}
	var lines []layer
	if seen {
		lines = append(lines, process)
	}
	limits := []limit{{"budget", s.h.Budget, budgetColor, dashed}, {"predicted peak", s.h.Predicted.Host(), plannedColor, dashDot}}
	f := &figure{Title: "Memory over time", Height: 300, Caption: caption(s.perPoint), Alt: s.timelineWords(), Brush: s.last.Seconds()}
	return f, memoryOverTime(f, s, layers, lines, limits)
}

// timelineWords is the chart of memory over time in words.
func (s *summary) timelineWords() string {
	var highest record.Sample
	for i := range s.timeline {
		if m := &s.timeline[i]; m.Arena.Host() > highest.Arena.Host() {
			highest = *m
		}
	}
	words := fmt.Sprintf("Memory over %s: at most %s, after %s", units.Duration(s.last), units.Bytes(highest.Arena.Host()), units.Duration(highest.At))
	var parts []string
	for c := range record.Device {
		if n := highest.Arena[c]; n > 0 {
			parts = append(parts, c.String()+" "+units.Bytes(n))
		}
	}
	if len(parts) > 0 {
		words += " (" + strings.Join(parts, ", ") + ")"
	}
	if s.h.Budget > 0 {
		words += fmt.Sprintf("; the budget is %s, the prediction %s", units.Bytes(s.h.Budget), units.Bytes(s.h.Predicted.Host()))
	}
	return words + "."
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

// memoryOverTime fills f with the live chart and returns the picture.
func memoryOverTime(f *figure, s *summary, layers, lines []layer, limits []limit) string {
	n := len(s.timeline)
	at := make([]float64, n)
	var most float64
	for i := range s.timeline {
		at[i] = s.timeline[i].At.Seconds()
		var sum float64
		for _, l := range layers {
			sum += l.values[i]
		}
		for _, l := range lines {
			sum = max(sum, l.values[i])
		}
		most = max(most, sum)
	}
	end := max(at[n-1], s.last.Seconds())
	top, limitKeys := scale(most, limits)
	f.Unit = timeUnit(end)

	c := charts.NewLine()
	base(&c.BaseConfiguration, wide())
	c.SetGlobalOptions(
		// A time axis: on one of plain values ECharts stacks sideways.
		charts.WithXAxisOpts(opts.XAxis{Type: "time", Min: 0, Max: end / f.Unit, AxisLabel: &opts.AxisLabel{Formatter: "gonbext:time", HideOverlap: opts.Bool(true)}, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Min: 0, Max: top, MinInterval: byteStep(top), MaxInterval: byteStep(top), AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Formatter: "gonbext:bytes"}}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", Formatter: "gonbext:overTime"}),
	)
	f.Points = &points{}
	for _, x := range at {
		f.Points.At = append(f.Points.At, round(x/f.Unit, 1e5))
	}
	line := func(l layer, data []opts.LineData, stack string, options ...charts.SeriesOpts) {
		options = append(options,
			charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), Stack: stack}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: l.color}))
		c.AddSeries(l.name, data, options...)
	}
	for _, l := range layers {
		f.Points.Values = append(f.Points.Values, significants(l.values))
		line(l, nil, "classes",
			charts.WithAreaStyleOpts(opts.AreaStyle{Opacity: opts.Float(0.9), Color: l.color}),
			charts.WithLineStyleOpts(opts.LineStyle{Width: 0.7, Color: edgeColor}))
	}
	for _, l := range lines {
		f.Points.Values = append(f.Points.Values, significants(l.values))
		line(l, nil, "", charts.WithLineStyleOpts(opts.LineStyle{Width: 1.5, Type: "dotted", Color: l.color}))
	}
	for i, k := range limitKeys {
		v := levelOf(limits, i)
		ends := []opts.LineData{{Value: []float64{0, v}}, {Value: []float64{end / f.Unit, v}}}
		line(layer{key: k}, ends, "", charts.WithLineStyleOpts(opts.LineStyle{Width: 1.5, Type: lineType(k.line), Color: k.color}))
	}
	var keys []key
	for _, l := range append(append([]layer{}, layers...), lines...) {
		keys = append(keys, l.key)
	}
	keys = append(keys, limitKeys...)
	withLegend(&c.BaseConfiguration)
	f.Option = c.JSON()

	d := newDrawing(760, float64(f.Height)-20)
	height, marks := d.legend(keys)
	p := d.frame(height, end, top)
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
		p.level(levelOf(limits, i), k, marks[i])
	}
	return d.done()
}

// timeUnit is what the live time axis counts in, in seconds. ECharts takes its
// steps for milliseconds, and cuts only those into tens: seconds it shows whole.
func timeUnit(end float64) float64 {
	if end < 0.8 || end > 80 {
		return 1e-3
	}
	return 0.1
}

// levelOf is the i-th limit that is set.
func levelOf(limits []limit, i int) float64 {
	for _, l := range limits {
		if l.bytes <= 0 {
			continue
		}
		if i == 0 {
			return float64(l.bytes)
		}
		i--
	}
	return 0
}

func pen(i int) string {
	if i == 0 {
		return "M"
	}
	return "L"
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
