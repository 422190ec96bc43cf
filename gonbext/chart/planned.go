package chart

import (
	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// planFigure draws the prediction of each stage by class, against the budget.
func planFigure(s *summary) (*figure, string) {
	n := min(len(s.stages), 40)
	if n == 0 {
		return nil, ""
	}
	stages := s.stages[:n]
	var most int64
	var used []record.Class
	for c := range record.Classes {
		any := false
		for _, st := range stages {
			most = max(most, st.Predicted.Host(), st.Predicted[record.Device])
			any = any || st.Predicted[c] > 0
		}
		if any && c != record.Device {
			used = append(used, c)
		}
	}
	if most == 0 {
		return nil, ""
	}
	top, _ := scale(float64(most), []limit{{name: "budget", bytes: s.h.Budget, color: budgetColor, line: dashed}})
	f := &figure{Title: "Predicted memory by stage", Height: 90 + 30*n}
	f.Alt = "Predicted memory by stage:"
	for i, st := range stages[:min(n, 8)] {
		if i > 0 {
			f.Alt += ","
		}
		f.Alt += " " + clip(plain(st.Name), 30) + " " + units.Bytes(st.Predicted.Host())
	}
	if b := s.h.Budget; b > 0 && float64(b) <= top {
		f.Caption = "The dashed line is the budget, " + units.Bytes(b) + "."
	} else if b > 0 {
		f.Caption = "The budget, " + units.Bytes(b) + ", lies beyond the end of the scale."
	}
	names := make([]string, n)
	for i, st := range stages {
		names[i] = clip(plain(st.Name), 30)
	}

	c := charts.NewBar()
	base(&c.BaseConfiguration, wide())
	c.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Min: 0, Max: top, MinInterval: byteStep(top), MaxInterval: byteStep(top), AxisLine: &opts.AxisLine{Show: opts.Bool(false)}, AxisTick: &opts.AxisTick{Show: opts.Bool(false)}, AxisLabel: &opts.AxisLabel{Formatter: "gonbext:bytes", HideOverlap: opts.Bool(true)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: names, Inverse: opts.Bool(true), AxisLabel: &opts.AxisLabel{Show: opts.Bool(true)}}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", Formatter: "gonbext:byChunk"}),
	)
	for _, class := range used {
		data := make([]opts.BarData, n)
		for k, st := range stages {
			data[k].Value = st.Predicted[class]
		}
		c.AddSeries(class.String(), data,
			charts.WithBarChartOpts(opts.BarChart{Stack: "classes", BarCategoryGap: "40%"}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: classColors[class]}))
	}
	if b := s.h.Budget; b > 0 && float64(b) <= top { // a line from end to end of an axis of its own
		c.ExtendYAxis(opts.YAxis{Type: "value", Min: 0, Max: 1, Show: opts.Bool(false), AxisLabel: &opts.AxisLabel{Show: opts.Bool(false)}})
		line := charts.NewLine()
		line.AddSeries("budget", []opts.LineData{{Value: []int64{b, 0}}, {Value: []int64{b, 1}}},
			charts.WithLineChartOpts(opts.LineChart{YAxisIndex: 1, ShowSymbol: opts.Bool(false)}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: budgetColor}),
			charts.WithLineStyleOpts(opts.LineStyle{Width: 1.5, Type: "dashed", Color: budgetColor}))
		c.Overlap(line)
	}
	var keys []key
	for _, class := range used {
		keys = append(keys, key{name: class.String(), color: classColors[class]})
	}
	withLegend(&c.BaseConfiguration)
	f.Option = c.JSON()

	d := newDrawing(760, float64(f.Height)-10)
	height, marks := d.legend(keys)
	d.draw(keys, marks)
	y := height + 4
	left, right := 230.0, d.width-28
	x := func(v int64) float64 { return left + (right-left)*float64(v)/top }
	bottom := y + 30*float64(n)
	for v := 0.0; v <= top; v += byteStep(top) {
		d.printf(`<path class="g" d="M%s %sV%s"/>`, num(x(int64(v))), num(y), num(bottom))
		d.text(x(int64(v)), bottom+16, "middle", "m", units.Bytes(int64(v)))
	}
	for i, st := range stages {
		at := y + 30*float64(i)
		d.text(left-8, at+19, "end", "", names[i])
		var sum int64
		for _, class := range used {
			if v := st.Predicted[class]; v > 0 {
				d.printf(`<rect x="%s" y="%s" width="%s" height="18" fill="%s"/>`, num(x(sum)), num(at+6), num(x(sum+v)-x(sum)), classColors[class])
				sum += v
			}
		}
	}
	if b := s.h.Budget; b > 0 && float64(b) <= top {
		d.printf(`<path d="M%s %sV%s" stroke="%s" stroke-width="1.6" stroke-dasharray="%s"/>`, num(x(b)), num(y), num(bottom), budgetColor, dashed)
	}
	return f, d.done()
}
