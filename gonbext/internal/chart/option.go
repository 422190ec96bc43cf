package chart

import (
	"fmt"
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// option returns the live chart, and adds the values of packed series to the figure's Points.
func (g *graph) option(f *figure) any {
	unit := 1.0
	switch g.base.kind {
	case "time":
		f.Unit = timeUnit(g.base.high)
		unit = f.Unit
	case "date": // ECharts counts milliseconds
		unit = 1e-3
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
		case asPoints:
			one.ShowSymbol, one.Symbol, one.SymbolSize, one.LineStyle = opts.Bool(true), "circle", s.width, &opts.LineStyle{Opacity: opts.Float(0), Color: s.color}
		case asBand, asSpread:
			if s.kind == asBand {
				one.Name += ", band"
			}
			one.LineStyle, one.AreaStyle = &opts.LineStyle{Width: 0.5, Color: s.color, Opacity: opts.Float(0.4)}, &opts.AreaStyle{Opacity: opts.Float(0.3), Color: s.color}
		case asLine:
			one.LineStyle = &opts.LineStyle{Width: float32(s.width), Type: lineType(s.line), Color: s.color}
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

// live returns the axis of the live chart.
func (a *axis) live(unit float64) opts.XAxis {
	kind := a.kind
	if kind == "date" {
		kind = "time"
	}
	x := opts.XAxis{Type: kind, Name: a.name, MinInterval: a.step, AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Formatter: a.format, HideOverlap: opts.Bool(true)}}
	x.Min, x.Max = a.low/unit, a.high/unit
	if a.format == "gonbext:bytes" { // whose steps are powers of two
		x.MaxInterval = a.step
	}
	return x
}

// liveAxes sets the axes of the live chart.
func (g *graph) liveAxes(c *charts.Line, unit float64) {
	x, up := g.base.live(unit), g.value.live(1)
	x.SplitLine = &opts.SplitLine{Show: opts.Bool(false)}
	if x.Name != "" {
		x.NameLocation, x.NameGap = "middle", 24
	}
	y := opts.YAxis{Type: up.Type, Name: up.Name, Min: up.Min, Max: up.Max, MinInterval: up.MinInterval, MaxInterval: up.MaxInterval, AxisLabel: up.AxisLabel}
	c.XAxisList, c.YAxisList = []opts.XAxis{x}, []opts.YAxis{y}
}

// liveData returns the points of a series in the live chart.
func (g *graph) liveData(s *series, unit float64) (all []any) {
	point := func(x, y float64) {
		switch {
		case math.IsNaN(y):
			all = append(all, [2]any{x, nil})
		default:
			all = append(all, [2]any{x, y})
		}
	}
	if s.kind == asBand || s.kind == asSpread { // there and back again: what is filled below one is emptied below the other
		for from, to := range numbers(s.low) {
			for i := from; i < to; i++ {
				point(s.x[i]/unit, s.y[i])
			}
			for i := to - 1; i >= from; i-- {
				point(s.x[i]/unit, s.low[i])
			}
			point(s.x[from]/unit, s.y[from])
			point(s.x[from]/unit, math.NaN())
		}
		return all
	}
	for i, y := range s.y {
		switch {
		case s.kind != asBars:
			x := s.x[i]
			if unit != 1 {
				x = round(x/unit, 1e5)
			}
			point(x, y)
		default:
			all = append(all, opts.BarData{Name: s.names[i], Value: [2]float64{s.x[i]/2 + s.x[i+1]/2, y}})
		}
	}
	return all
}

// timeUnit is what the live time axis counts in, in seconds. ECharts takes its
// steps for milliseconds, and cuts only those into tens: seconds it shows whole.
func timeUnit(end float64) float64 {
	if end < 0.8 || end > 80 {
		return 1e-3
	}
	return 0.1
}

// base sets what the charts have in common; colours of text and lines are the
// page's and come with the script.
func base(c *charts.BaseConfiguration, grid opts.Grid) {
	c.Colors = nil // each series has its own
	charts.WithAnimation(false)(c)
	charts.WithGridOpts(grid)(c)
	charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)})(c)
}

// round cuts x to 1/unit, which keeps an option short.
func round(x, unit float64) float64 { return float64(int64(x*unit+0.5)) / unit }

// lineType is a stroke as ECharts names it; the script knows the others.
func lineType(s stroke) string {
	switch s {
	case "":
		return "solid"
	case dotted:
		return "dotted"
	case dashed:
		return "dashed"
	}
	return "gonbext:" + string(s)
}

// significants are values in four digits, of which a tooltip shows three.
func significants(values []float64) []float64 {
	short := make([]float64, len(values))
	for i, v := range values {
		short[i] = digits(v, 4)
	}
	return short
}
