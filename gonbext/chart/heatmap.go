package chart

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/gonbext/gonbext/oocore/units"
)

// gridFigure draws a stage's chunk grid, coloured by time; live, by bytes too.
func gridFigure(st *stageSummary) (*figure, string) {
	g := st.grid
	if g == nil || st.done == 0 {
		return nil, ""
	}
	f := &figure{Title: "Chunks of " + clip(plain(st.Name), 60), Caption: g.caption(st)}
	fastest, slowest := g.extremes(cellTime)
	lightest, heaviest := g.extremes(cellBytes)
	size := min(18, max(6, 690/float64(g.cols)))
	if g.rows == 1 {
		size = min(28, 690/float64(g.cols))
	}
	plotHeight := size * float64(g.rows)
	f.Height = int(plotHeight) + 46

	c := charts.NewHeatMap()
	hidden := &opts.AxisLabel{Show: opts.Bool(false)}
	bare := &opts.AxisLine{Show: opts.Bool(false)}
	width := float64(g.cols) * size
	base(&c.BaseConfiguration, opts.Grid{Left: "8", Top: "34", Width: fmt.Sprintf("%.0f", width), Height: fmt.Sprintf("%.0f", plotHeight)})
	c.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Type: "category", Data: indices(g.cols), AxisLabel: hidden, AxisLine: bare, AxisTick: &opts.AxisTick{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: indices(g.rows), AxisLabel: hidden, AxisLine: bare, Inverse: opts.Bool(true)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item", Formatter: "gonbext:cell"}),
		charts.WithVisualMapOpts(opts.VisualMap{
			Type: "continuous", Min: float32(fastest), Max: float32(above(fastest, slowest)), Dimension: "2",
			InRange: &opts.VisualMapInRange{Color: heat}, Orient: "horizontal", Left: "0", Top: "0",
		}),
	)
	var data []opts.HeatMapData
	for i := range g.cells {
		x := &g.cells[i]
		value := []any{i % g.cols, i / g.cols, round(cellTime(x), 1e3), round(cellBytes(x), 1e3), x.trouble, g.name(i)}
		if x.done == 0 {
			value[2], value[3] = -1, -1 // the script draws what is not done in grey
		}
		data = append(data, opts.HeatMapData{Value: value})
	}
	c.SetXAxis(indices(g.cols))
	c.AddSeries("chunks", data)
	f.Option = c.JSON()
	f.Switch = []choice{
		{"time", 2, fastest, above(fastest, slowest)},
		{"bytes", 3, lightest, above(lightest, heaviest)},
	}
	return f, g.draw(f, size, fastest, slowest)
}

// above is the upper end of a colour scale: a scale needs some length.
func above(least, most float64) float64 {
	if most > least {
		return most
	}
	return least + max(1, least)
}

func indices(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	return v
}

// draw is the picture: one path for each step of the scale.
func (g *gridMap) draw(f *figure, size, fastest, slowest float64) string {
	d := newDrawing(760, size*float64(g.rows)+52, f.Title)
	span := slowest - fastest
	const steps = 24
	var missing, trouble strings.Builder
	levels := make([]strings.Builder, steps)
	for i := range g.cells {
		x := &g.cells[i]
		to := &missing
		if x.done > 0 {
			at := 0
			if span > 0 {
				at = min(steps-1, int((cellTime(x)-fastest)/span*steps))
			}
			to = &levels[at]
		}
		left, top := 12+float64(i%g.cols)*size, 40+float64(i/g.cols)*size
		fmt.Fprintf(to, "M%s %sh%[3]sv%[3]sh-%[3]sz", num(left), num(top), num(size-1))
		if x.trouble {
			fmt.Fprintf(&trouble, "M%s %sh%[3]sv%[3]sh-%[3]sz", num(left+1), num(top+1), num(size-3))
		}
	}
	for i := range levels {
		if levels[i].Len() > 0 {
			d.printf(`<path fill="%s" d="%s"/>`, heatAt(float64(i)/(steps-1)), levels[i].String())
		}
	}
	d.text(12, 23, "start", "m", milliseconds(fastest))
	x := 20 + 6.6*float64(len(milliseconds(fastest)))
	for i, color := range heat {
		d.printf(`<rect x="%s" y="13" width="18" height="11" fill="%s"/>`, num(x+18*float64(i)), color)
	}
	x += float64(18*len(heat) + 8)
	d.text(x, 23, "start", "m", milliseconds(slowest))
	x += 30 + 6.6*float64(len(milliseconds(slowest)))
	if missing.Len() > 0 {
		d.printf(`<path class="e" d="%s"/>`, missing.String())
		d.printf(`<rect class="e" x="%s" y="13" width="12" height="11"/>`, num(x))
		d.text(x+18, 23, "start", "", "not done")
		x += 90
	}
	if trouble.Len() > 0 {
		d.printf(`<path fill="none" stroke="%s" stroke-width="2" d="%s"/>`, troubleColor, trouble.String())
		d.printf(`<rect x="%s" y="14" width="10" height="9" fill="none" stroke="%s" stroke-width="2"/>`, num(x+1), troubleColor)
		d.text(x+18, 23, "start", "", "retried or halved")
	}
	return d.done()
}

func milliseconds(v float64) string {
	return units.Duration(time.Duration(v * float64(time.Millisecond)))
}

// caption says what a cell is and how the grid was folded.
func (g *gridMap) caption(st *stageSummary) string {
	var s string
	per := g.perRow * g.perCol
	switch {
	case g.width == 0 && per == 1:
		s = "A cell is a chunk, in their order, row by row."
	case g.width == 0:
		s = fmt.Sprintf("A cell is %s chunks in their order, row by row, and shows the slowest and the largest of them.", units.Count(per))
	default:
		s = fmt.Sprintf("Down: %s; across: %s.", g.rowAxes, g.colAxes)
		if per > 1 {
			s += fmt.Sprintf(" A cell is %s × %s chunks, and shows the slowest and the largest of them.", units.Count(g.perRow), units.Count(g.perCol))
		}
	}
	if len(st.Chunks) > 0 {
		s += " Chunks are " + units.Shape(st.Chunks) + " of " + units.Shape(st.Shape) + "."
	}
	return s
}

// name says which chunks are behind a cell.
func (g *gridMap) name(i int) string {
	if g.width == 0 {
		first := int64(i) * g.perCol
		return span("chunk", first, min(first+g.perCol, g.n)-1)
	}
	row, col := int64(i/g.cols)*g.perRow, int64(i%g.cols)*g.perCol
	return span("row", row, min(row+g.perRow, g.n/g.width)-1) + ", " + span("column", col, min(col+g.perCol, g.width)-1)
}

func span(what string, first, last int64) string {
	if last <= first {
		return what + " " + units.Count(first)
	}
	return what + "s " + units.Count(first) + "–" + units.Count(last)
}

// axisNames lists axes for a caption.
func axisNames(axes []int) string {
	names := make([]string, len(axes))
	for i, a := range axes {
		names[i] = fmt.Sprint(a)
	}
	if len(axes) == 1 {
		return "axis " + names[0]
	}
	return "axes " + cmp.Or(strings.Join(names, ", "), "none")
}
