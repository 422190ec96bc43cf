package chart

import (
	"fmt"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// chunksFigure draws the memory that each chunk's task held, stacked by class,
// the stages one after another.
func chunksFigure(s *summary) (*figure, string) {
	var bars []record.Bytes
	type span struct {
		name     string
		from, to int
	}
	var spans []span
	var perBar int64 = 1
	live := &points{}
	for _, st := range s.stages {
		if st.done == 0 || st.product() { // what a product holds, its tasks share
			continue
		}
		spans = append(spans, span{plain(st.Name), len(bars), len(bars) + len(st.bars)})
		perBar = max(perBar, st.perBar)
		bars = append(bars, st.bars...)
		live.Bars = append(live.Bars, barSpan{clip(plain(st.Name), 30), int64(st.Tasks), st.perBar})
	}
	if len(bars) == 0 {
		return nil, ""
	}
	var most int64
	var used []record.Class
	for c := range record.Classes {
		any := false
		for i := range bars {
			any = any || bars[i][c] > 0
			most = max(most, bars[i].Host()+bars[i][record.Device])
		}
		if any {
			used = append(used, c)
		}
	}
	if most == 0 {
		return nil, ""
	}
	f := &figure{Title: "Memory by chunk", Height: 240, Folded: true}
	f.Alt = fmt.Sprintf("Memory by chunk: the largest task held %s.", units.Bytes(most))
	if perBar > 1 {
		f.Caption = fmt.Sprintf("A bar shows the largest of up to %s neighbouring chunks.", units.Count(perBar))
	}
	if len(spans) > 1 {
		order := make([]string, 0, 4)
		for _, sp := range spans[:min(len(spans), 4)] {
			order = append(order, clip(sp.name, 40))
		}
		f.Caption = strings.TrimSpace("From left to right: " + strings.Join(order, ", then ") + ". " + f.Caption)
	}
	top := float64(most) * 1.04

	c := charts.NewBar()
	base(&c.BaseConfiguration, wide())
	c.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Type: "category", AxisLabel: &opts.AxisLabel{Formatter: "gonbext:chunk", HideOverlap: opts.Bool(true)}, AxisTick: &opts.AxisTick{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(byteAxis(top)),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", Formatter: "gonbext:byChunk"}),
	)
	gap := 0.0 // many bars make an area, few stand apart
	if len(bars) <= 16 {
		gap = 0.12
	}
	var keys []key
	for _, class := range used {
		values := make([]float64, len(bars))
		for i := range bars {
			values[i] = significant(float64(bars[i][class]))
		}
		live.Values = append(live.Values, values)
		name := class.String()
		if class == record.Device && !s.modelled() {
			name += " (not in the budget)"
		}
		c.AddSeries(name, nil,
			charts.WithBarChartOpts(opts.BarChart{Stack: "classes", BarCategoryGap: fmt.Sprintf("%.0f%%", 100*gap)}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: classColors[class]}))
		keys = append(keys, key{name: name, color: classColors[class]})
	}
	withLegend(&c.BaseConfiguration)
	c.Validate()
	f.Option, f.Points = c.JSON(), live

	d := newDrawing(760, float64(f.Height)-10)
	n := float64(len(bars))
	height, marks := d.legend(keys)
	p := d.frame(height, n, top)
	p.skyline(bars, gap, used, marks)
	axis := p.axis()
	for _, sp := range spans {
		x, room := p.x(float64(sp.from)), p.x(float64(sp.to))-p.x(float64(sp.from))
		axis += fmt.Sprintf("M%s %sv6", num(x), num(p.bottom))
		d.text(x+4, p.bottom+17, "start", "m", clip(sp.name, int(room/6.6)-1))
	}
	d.printf(`<path class="a" d="%s"/>`, axis)
	return f, d.done()
}

// skyline draws bars, with a gap behind each, as one area.
func (p *plot) skyline(bars []record.Bytes, gap float64, used []record.Class, marks []string) {
	var layers []layer
	var x []float64
	for i := range bars {
		end := float64(i+1) - gap
		if x = append(x, float64(i), end); gap > 0 {
			x = append(x, end, float64(i+1))
		}
	}
	for _, class := range used {
		l := layer{key: key{color: classColors[class]}}
		for i := range bars {
			v := float64(bars[i][class])
			if l.values = append(l.values, v, v); gap > 0 {
				l.values = append(l.values, 0, 0)
			}
		}
		layers = append(layers, l)
	}
	p.bands(x, layers, marks)
}

// clip shortens s to n characters, by an ellipsis.
func clip(s string, n int) string {
	r := []rune(s)
	switch {
	case len(r) <= n:
		return s
	case n < 2:
		return ""
	}
	return string(r[:n-1]) + "…"
}
