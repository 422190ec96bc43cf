package chart

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// graph describes a figure with two axes. Both of its forms are drawn from it alone: svg is the
// picture, option the live chart.
type graph struct {
	base, value axis
	lying       bool // the base axis goes down, and bars from left to right
	series      []series
	legend      bool
	spans       []span        // that are named above the plot
	gap         float64       // between bars, as a part of the room that each has
	tooltip     types.FuncStr // of report.js; that of ECharts if empty
}

// axis is one of the two axes of a graph.
type axis struct {
	kind      string // of ECharts: value, time or category
	name      string
	low, high float64
	step      float64 // between the ticks of the live chart; 0 where ECharts chooses it
	ticks     []tick  // of the picture
	stretches bool    // a label stands for all up to the next tick
	format    types.FuncStr
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
	x, y   []float64 // of bars, x has the edges: one more; a y that is no number is a gap
	low    []float64 // of a band
	width  float64   // of a line
	marks  bool      // each point of a line has one
	packed bool      // its values are in the figure's Points: it is one of the first series, and those have the same x
	names  []string  // of bars, for their tooltips
}

type seriesKind int

const (
	asLine seriesKind = iota
	asArea            // stacked
	asBars            // stacked
	asBand            // between low and y, of the line after it: the legend does not list it
)

// stack makes stacked series with the same x, of the keys of which any value is above 0.
func stack(kind seriesKind, x []float64, keys []key, value func(of, i int) int64) []series {
	var all []series
	for of, k := range keys {
		s := series{key: k, kind: kind, x: x}
		for i := range x {
			if i < len(x)-1 || kind != asBars {
				s.y = append(s.y, float64(value(of, i)))
			}
		}
		if len(s.y) > 0 && slices.Max(s.y) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// classKeys are the classes of memory.
func classKeys() []key {
	var keys []key
	for c := range record.Classes {
		keys = append(keys, key{name: c.String(), color: classColors[c]})
	}
	return keys
}

// upTo are the edges of n bars.
func upTo(n int) []float64 {
	all := make([]float64, n+1)
	for i := range all {
		all[i] = float64(i)
	}
	return all
}

// highest is the most that series reach together.
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

// bytesTo is an axis of bytes up to a top.
func bytesTo(top float64) axis {
	a := axis{kind: "value", high: max(top, 1), step: byteStep(top), format: "gonbext:bytes"}
	a.ticks = ticksAt(0, a.high, a.step, func(v float64) string { return units.Bytes(int64(v)) })
	return a
}

// secondsTo is an axis of times up to an end.
func secondsTo(end float64) axis {
	a := axis{kind: "time", high: max(end, 1e-9), format: "gonbext:time"} // ECharts stacks sideways on an axis of plain values
	step := roundStep(a.high, 6)
	if a.high > 120 {
		// Whole minutes read better than their hundreds of seconds.
		step = 60 * math.Max(1, roundStep(a.high/60, 6))
	}
	a.ticks = ticksAt(0, a.high, step, seconds)
	return a
}

// share is the place of v on the axis, from 0 to 1.
func (a *axis) share(v float64) float64 { // of halves: the whole may be more than a float64 counts
	return (v/2 - a.low/2) / (a.high/2 - a.low/2)
}

// byteStep is a round step in binary units that gives four to eight lines.
func byteStep(most float64) float64 {
	step := 1.0
	for step*8 < most {
		step *= 2
	}
	return step
}

// draw sets the live chart of a figure and its picture.
func (g *graph) draw(f *figure) *figure {
	f.Option, f.Picture = g.option(f), g.svg(float64(f.Height)-20)
	return f
}

// option is the live chart. The figure's Points get the values that are packed.
func (g *graph) option(f *figure) any {
	unit := 1.0
	if g.base.kind == "time" {
		f.Unit = timeUnit(g.base.high)
		unit = f.Unit
	}
	c := charts.NewLine()
	base(&c.BaseConfiguration, opts.Grid{Left: "8", Right: "24", Top: "10", Bottom: "8", ContainLabel: opts.Bool(true)})
	if g.base.name != "" {
		c.GridList[0].Bottom = "26"
	}
	if g.value.name != "" {
		c.GridList[0].Top = "28"
	}
	c.Tooltip = opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", Formatter: g.tooltip}
	c.Legend.Show = opts.Bool(g.legend)
	g.liveAxes(c, unit)
	unlisted := false
	var listed []string
	for i := range g.series {
		s := &g.series[i]
		one := charts.SingleSeries{Name: s.name, Type: "line", ShowSymbol: opts.Bool(s.marks || s.kind == asLine && hasLone(s.y)), ItemStyle: &opts.ItemStyle{Color: s.color}}
		switch s.kind {
		case asArea:
			one.Stack, one.AreaStyle, one.LineStyle = "classes", &opts.AreaStyle{Opacity: opts.Float(0.9), Color: s.color}, &opts.LineStyle{Width: 0.7, Color: edgeColor}
		case asBars:
			one.Type, one.Stack, one.BarCategoryGap, one.ShowSymbol = "bar", "classes", fmt.Sprintf("%.0f%%", 100*g.gap), nil
		case asBand:
			one.Name += ", least to greatest"
			one.ItemStyle.Opacity, one.LineStyle = opts.Float(0.4), &opts.LineStyle{Width: 1, Color: s.color, Opacity: opts.Float(0.4)}
		case asLine:
			one.LineStyle = &opts.LineStyle{Width: float32(s.width), Type: lineType(s.line), Color: s.color}
			if g.lying {
				one.YAxisIndex = 1
			}
		}
		if s.kind == asBand {
			unlisted = true
		} else {
			listed = append(listed, s.name)
		}
		if s.packed {
			f.Points.Values = append(f.Points.Values, significants(s.y))
			for k := 0; i == 0 && s.kind != asBars && k < len(s.x); k++ {
				f.Points.At = append(f.Points.At, round(s.x[k]/unit, 1e5))
			}
		} else {
			one.Data = g.liveData(s, unit)
		}
		c.MultiSeries = append(c.MultiSeries, one)
	}
	if unlisted {
		c.Legend.Data = listed
	}
	return c.JSON()
}

// live is the axis in the live chart. Its labels of categories are the script's, unless it has ticks.
func (a *axis) live(unit float64) opts.XAxis {
	x := opts.XAxis{Type: a.kind, Name: a.name, MinInterval: a.step, AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Formatter: a.format, HideOverlap: opts.Bool(true)}}
	if a.kind != "category" {
		x.Min, x.Max = a.low/unit, a.high/unit
	}
	if a.format == "gonbext:bytes" { // whose steps are powers of two
		x.MaxInterval = a.step
	}
	return x
}

// liveAxes sets the axes of the live chart.
func (g *graph) liveAxes(c *charts.Line, unit float64) {
	hide := opts.Bool(false)
	x, up := g.base.live(unit), g.value.live(1)
	if g.lying {
		x, up = up, x
		x.AxisLine = &opts.AxisLine{Show: hide}
	} else if g.base.kind != "category" {
		x.SplitLine = &opts.SplitLine{Show: hide}
	}
	if x.Name != "" {
		x.NameLocation, x.NameGap = "middle", 24
	}
	if g.base.kind == "category" {
		x.AxisTick = &opts.AxisTick{Show: hide}
	}
	y := opts.YAxis{Type: up.Type, Name: up.Name, Min: up.Min, Max: up.Max, MinInterval: up.MinInterval, MaxInterval: up.MaxInterval, AxisLabel: up.AxisLabel}
	c.XAxisList, c.YAxisList = []opts.XAxis{x}, []opts.YAxis{y}
	if g.lying {
		var names []string
		for _, t := range g.base.ticks {
			names = append(names, t.label)
		}
		c.YAxisList[0].Data, c.YAxisList[0].Inverse = names, opts.Bool(true)
		// Lines across the bars have an axis of their own, from end to end.
		c.ExtendYAxis(opts.YAxis{Type: "value", Min: 0, Max: 1, Show: hide, AxisLabel: &opts.AxisLabel{Show: hide}})
	}
}

// liveData are the points of a series in the live chart.
func (g *graph) liveData(s *series, unit float64) (all []any) {
	point := func(x, y float64) {
		switch {
		case math.IsNaN(y):
			all = append(all, [2]any{x, nil})
		case g.lying:
			all = append(all, [2]any{y, g.base.share(x)})
		default:
			all = append(all, [2]any{x, y})
		}
	}
	for i, y := range s.y {
		switch {
		case s.kind != asBars:
			x := s.x[i]
			if unit != 1 {
				x = round(x/unit, 1e5)
			}
			if s.kind == asBand {
				point(x, s.low[i])
			}
			point(x, y)
		case g.base.kind == "category":
			all = append(all, y)
		default:
			all = append(all, opts.BarData{Name: s.names[i], Value: [2]float64{s.x[i]/2 + s.x[i+1]/2, y}})
		}
	}
	return all
}

// svg is the picture.
func (g *graph) svg(height float64) markup {
	d := newDrawing(760, height)
	p := &plot{drawing: d, graph: g, left: 70, right: d.width - 16, top: 16, bottom: d.height - 38}
	down := &g.value
	if g.lying {
		down = &g.base
	}
	for _, t := range down.ticks {
		p.left = max(p.left, 22+6.8*float64(utf8.RuneCountInString(t.label)))
	}
	marks := make([]string, len(g.series))
	if g.legend {
		p.top = d.legend(g.series, marks)
	}
	if len(g.spans) > 0 {
		p.top += spanHeight
		p.drawSpans()
	}
	if g.value.name != "" {
		p.top += 12
		d.text(p.left, p.top-6, "start", "", clip(g.value.name, 80))
	}
	if g.base.name != "" {
		d.text((p.left+p.right)/2, d.height-6, "middle", "", clip(g.base.name, 80))
		p.bottom -= 8
	}
	p.lines()
	p.baseline()
	p.stack(marks)
	for i := range g.series {
		if s := &g.series[i]; s.kind == asBand {
			p.band(s)
		} else if s.kind == asLine {
			p.line(s, marks[i])
		}
	}
	return d.done()
}

// plot is the place of a graph in a drawing.
type plot struct {
	*drawing
	*graph
	left, top, right, bottom float64
}

// along is the pixel of a place on the base axis.
func (p *plot) along(v float64) float64 {
	if p.lying {
		return p.top + (p.bottom-p.top)*p.base.share(v)
	}
	return p.left + (p.right-p.left)*p.base.share(v)
}

// up is the pixel of a value.
func (p *plot) up(v float64) float64 {
	if p.lying {
		return p.left + (p.right-p.left)*p.value.share(v)
	}
	return p.bottom - (p.bottom-p.top)*p.value.share(v)
}

// to continues a line.
func (p *plot) to(line *polyline, along, up float64) {
	if p.lying {
		along, up = up, along
	}
	line.to(along, up)
}

// lines draws one across the plot at each tick of the value axis, and its label.
func (p *plot) lines() {
	var lines strings.Builder
	p.printf(`<g class="m %s">`, map[bool]string{true: "k", false: "r"}[p.lying])
	for _, t := range p.value.ticks {
		if at := p.up(t.at); p.lying {
			fmt.Fprintf(&lines, "M%.0f %sV%s", at, num(p.top), num(p.bottom))
			p.text(at, p.bottom+17, "start", "", t.label)
		} else {
			fmt.Fprintf(&lines, "M%s %.0fH%s", num(p.left), at, num(p.right))
			p.text(p.left-6, at+4, "start", "", t.label)
		}
	}
	p.printf(`</g><path class="g" d="%s"/>`, lines.String())
}

// baseline draws the base axis with its labels.
func (p *plot) baseline() {
	class, marks := "m k", fmt.Sprintf("M%s %sH%s", num(p.left), num(p.bottom), num(p.right))
	if p.lying || p.base.stretches {
		class = "m"
	}
	p.printf(`<g class="%s">`, class)
	for i, t := range p.base.ticks {
		at := p.along(t.at)
		switch {
		case p.lying:
			p.text(p.left-8, at+4, "end", "", t.label)
			continue
		case p.base.stretches:
			end := p.base.high
			if i+1 < len(p.base.ticks) {
				end = p.base.ticks[i+1].at
			}
			p.text(at+4, p.bottom+17, "start", "", clip(t.label, int((p.along(end)-at)/6.6)-1))
		case at > p.right-20:
			p.text(at, p.bottom+17, "start", "r", t.label)
		default:
			p.text(at, p.bottom+17, "start", "", t.label)
		}
		if p.base.kind != "time" { // a report has several: its bytes count
			marks += fmt.Sprintf("M%s %sv4", num(at), num(p.bottom))
		}
	}
	p.printf(`</g>`)
	if !p.lying {
		p.printf(`<path class="a" d="%s"/>`, marks)
	}
}

// spanHeight is the room above a plot for its spans.
const spanHeight = 20

// spanColors tell a span from the next.
var spanColors = [2]string{"#47a", "#888"}

func (p *plot) drawSpans() {
	for i, sp := range p.spans {
		x, width := p.along(sp.From), max(p.along(sp.To)-p.along(sp.From), 2)
		p.printf(`<rect x="%s" y="%s" width="%s" height="15" fill="%s" opacity=".35"/>`, num(x), num(p.top-spanHeight), num(width), spanColors[i%2])
		if name := clip(sp.Name, int(width/6.6)-1); name != "" {
			p.text(x+4, p.top-spanHeight+12, "start", "", name)
		}
	}
}

// stack draws areas and bars on top of each other, the highest first: each hides what is below it
// of the one before. Each begins with its mark, and several have edges that tell them from their neighbours
// without colour.
func (p *plot) stack(marks []string) {
	var paths []string
	var sum []float64
	for i := range p.series {
		s := &p.series[i]
		if !s.stacked() {
			continue
		}
		if sum == nil {
			sum = make([]float64, len(s.y))
		}
		for k, v := range s.y {
			sum[k] += v
		}
		paths = append(paths, fmt.Sprintf(`<path d="%sz" fill="%s"/>`, marks[i]+p.outline(s, sum), s.color))
	}
	if len(paths) == 0 {
		return
	}
	if len(paths) > 1 {
		p.printf(`<g stroke="%s" stroke-width=".7">`, edgeColor)
		defer p.printf(`</g>`)
	}
	for i := range paths {
		p.WriteString(paths[len(paths)-1-i])
	}
}

// outline is the path around what is below the tops of a series.
func (p *plot) outline(s *series, tops []float64) string {
	var path polyline
	floor := p.up(p.value.low)
	p.to(&path, p.along(s.x[0]), floor)
	for i, top := range tops {
		from, to, gap := p.along(s.x[i]), p.along(s.x[i]), 0.0
		if s.kind == asBars {
			from, to = math.Round(from), math.Round(p.along(s.x[i+1]))
			if gap = math.Round(p.gap * (to - from)); p.gap > 0 && to-from > 2 {
				gap = max(gap, 1)
			}
			from, to = from+math.Ceil(gap/2), to-math.Floor(gap/2)
		}
		if gap > 0 {
			p.to(&path, from, floor)
		}
		p.to(&path, from, p.up(top))
		p.to(&path, to, p.up(top))
		if gap > 0 {
			p.to(&path, to, floor)
		}
	}
	p.to(&path, p.along(s.x[len(s.x)-1]), floor)
	return path.done()
}

// line draws a line with gaps where values are no numbers; a point without neighbours is a dot.
func (p *plot) line(s *series, mark string) {
	var path, dots strings.Builder
	for from, to := range numbers(s.y) {
		var line polyline
		for i := from; i < to; i++ {
			along, up := p.along(s.x[i]), p.up(s.y[i])
			p.to(&line, along, up)
			if s.marks || to-from == 1 {
				fmt.Fprintf(&dots, "M%.0f %.0fh.1", along, up) // a round end on both sides
			}
		}
		path.WriteString(line.done())
	}
	dash := ""
	if s.line != "" {
		dash = fmt.Sprintf(` stroke-dasharray="%s"`, s.line)
	} else if mark != "" { // a box, which is filled
		p.printf(`<path d="%s" fill="%s"/>`, mark, s.color)
		mark = ""
	}
	p.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="%g"%s/>`, mark+path.String(), s.color, s.width, dash)
	if dots.Len() > 0 {
		p.printf(`<path d="%s" stroke="%s" stroke-width="%d" stroke-linecap="round"/>`, dots.String(), s.color, map[bool]int{true: 5, false: 3}[s.marks])
	}
}

// band fills the space between low and y.
func (p *plot) band(s *series) {
	var path strings.Builder
	for from, to := range numbers(s.low) {
		var line polyline
		for i := from; i < to; i++ {
			p.to(&line, p.along(s.x[i]), p.up(s.y[i]))
		}
		for i := to - 1; i >= from; i-- {
			p.to(&line, p.along(s.x[i]), p.up(s.low[i]))
		}
		path.WriteString(line.done() + "z")
	}
	p.printf(`<path d="%s" fill="%s" fill-opacity=".3" stroke="%[2]s" stroke-opacity=".3"/>`, path.String(), s.color)
}

// numbers are the stretches of values that are numbers, each from an index up to another.
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
