package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/gonbext/gonbext/oocore/record"
)

const seriesColor = "#0072b2"

// seriesFigure draws figures that an algorithm noted, one after the other; nil where there
// are none that a line could show.
func seriesFigure(s record.Series) (*figure, string) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range s.Values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if len(s.Values) < 2 || low > high {
		return nil, ""
	}
	if low == high {
		low, high = low-1, high+1
	}
	step := roundStep(high-low, 5)
	bottom, top := math.Floor(low/step)*step, math.Ceil(high/step)*step
	name := plain(s.Name)
	f := &figure{Title: strings.ToUpper(name[:1]) + name[1:], Height: 220,
		Caption: fmt.Sprintf("First %.6g, last %.6g, of %d.", s.Values[0], s.Values[len(s.Values)-1], len(s.Values))}

	c := charts.NewLine()
	base(&c.BaseConfiguration, wide())
	c.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Min: 1, Max: len(s.Values), MinInterval: 1, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Min: bottom, Max: top}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
	)
	var data []opts.LineData
	d := newDrawing(760, float64(f.Height)-20)
	p := &plot{drawing: d, left: 70, right: d.width - 16, top: 16, bottom: d.height - 38, xMax: float64(len(s.Values) - 1), yMax: top - bottom}
	for i := 0; bottom+float64(i)*step <= top+step/2; i++ {
		y := p.y(float64(i) * step)
		d.printf(`<path class="g" d="M%s %sH%s"/>`, num(p.left), num(y), num(p.right))
		d.text(p.left-6, y+4, "end", "m", strconv.FormatFloat(round9(bottom+float64(i)*step), 'g', 6, 64))
	}
	d.printf(`<path class="a" d="M%s %sH%s"/>`, num(p.left), num(p.bottom), num(p.right))
	each := max(int(roundStep(p.xMax, 10)), 1)
	var path strings.Builder
	drawn := 0
	for i, v := range s.Values {
		if i%each == 0 {
			p.tick(float64(i), strconv.Itoa(i+1))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		data = append(data, opts.LineData{Value: []float64{float64(i + 1), v}})
		fmt.Fprintf(&path, "%s%s %s", pen(drawn), num(p.x(float64(i))), num(p.y(v-bottom)))
		drawn++
	}
	d.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`, path.String(), seriesColor)
	c.AddSeries(name, data, charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(len(data) <= 100)}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: seriesColor}), charts.WithLineStyleOpts(opts.LineStyle{Width: 2, Color: seriesColor}))
	f.Option = c.JSON()
	return f, d.done()
}

// round9 drops what rounding left of a sum of steps.
func round9(v float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	if math.Abs(out) < 1e-300 {
		return 0
	}
	return out
}

// seriesText is the same for a terminal.
func seriesText(s record.Series) string {
	if len(s.Values) == 0 {
		return ""
	}
	parts := []string{}
	for i, v := range s.Values {
		if len(s.Values) > 12 && i >= 6 && i < len(s.Values)-5 {
			if i == 6 {
				parts = append(parts, "…")
			}
			continue
		}
		parts = append(parts, strconv.FormatFloat(v, 'g', 5, 64))
	}
	return fmt.Sprintf("%s: %s\n", plain(s.Name), strings.Join(parts, " "))
}
