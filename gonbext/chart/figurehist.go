package chart

import (
	"cmp"
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

func histLine(c *record.Card) string {
	f := c.Figure
	if len(f.Counts) == 0 {
		return nothingFinite(c)
	}
	var all, most int64
	at := 0
	for i, n := range f.Counts {
		all += n
		if n > most {
			most, at = n, i
		}
	}
	return fmt.Sprintf("%s elements in %s from %.6g to %.6g · the fullest, %.6g to %.6g, has %s", units.Count(all), counted(len(f.Counts), "bin", "bins"),
		f.Edges[0], f.Edges[len(f.Edges)-1], f.Edges[at], f.Edges[at+1], units.Count(most))
}

func histDrawing(f *record.Figure, alt string) (*figure, string) {
	n := len(f.Counts)
	if n == 0 || len(f.Edges) != n+1 {
		return nil, ""
	}
	var most int64
	for _, k := range f.Counts {
		most = max(most, k)
	}
	out := &figure{Title: cmp.Or(plain(f.Title), "Histogram"), Alt: "Histogram: " + alt, Height: 280}
	low, high := f.Edges[0], f.Edges[n]
	data := make([]opts.BarData, n)
	for i, k := range f.Counts {
		data[i] = opts.BarData{Name: fmt.Sprintf("%.4g to %.4g", f.Edges[i], f.Edges[i+1]), Value: []any{f.Edges[i]/2 + f.Edges[i+1]/2, k}}
	}
	live := charts.NewBar()
	base(&live.BaseConfiguration, labelled(f))
	live.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Name: plain(f.X), NameLocation: "middle", NameGap: nameGap, Type: "value", Min: low, Max: high, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}, AxisLabel: &opts.AxisLabel{Formatter: "gonbext:number", HideOverlap: opts.Bool(true)}}),
		charts.WithYAxisOpts(opts.YAxis{Name: plain(f.Y), Type: "value", Min: 0, MinInterval: 1}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", Formatter: "gonbext:bin"}),
	)
	live.AddSeries("elements", data, charts.WithBarChartOpts(opts.BarChart{BarCategoryGap: "4%"}), charts.WithItemStyleOpts(opts.ItemStyle{Color: curveColors[0]}))
	out.Option = live.JSON()

	_, top, step := numberAxis(0, float64(most))
	step = max(step, 1)
	d := newDrawing(760, 260)
	p := &plot{drawing: d, left: 90, right: d.width - 20, top: 24, bottom: d.height - 30, xMax: float64(n), yMax: max(top, 1)}
	p.names(f)
	p.values(0, top, step, func(v float64) string { return units.Count(int64(v)) })
	for i, k := range f.Counts {
		x, y := p.x(float64(i)), p.y(float64(k))
		if k > 0 {
			d.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, num(x+0.5), num(y), num(max(p.x(float64(i+1))-x-1, 1)), num(p.bottom-y), curveColors[0])
		}
	}
	for _, v := range roundTicks(low, high, 8, 0) {
		p.tick(float64(n)*((v-low)/(high-low)), fmt.Sprintf("%.6g", v))
	}
	return out, d.done()
}
