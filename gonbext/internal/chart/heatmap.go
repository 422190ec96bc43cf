package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// gridFigure draws a stage's chunk grid, coloured by time; live, by bytes too. Last is the
// run's end.
func gridFigure(st *stageSummary, last time.Duration) *figure {
	g := st.grid
	if g == nil || st.done == 0 {
		return nil
	}
	f := &figure{Title: "Chunks of " + clip(plain(st.Name), 60), Caption: g.caption("the slowest and the largest of them")}
	f.Folded = true
	n := len(g.cells)
	taken := func(i int) float64 { return g.cells[i].known(float64(g.cells[i].time) / float64(time.Millisecond)) }
	held := func(i int) float64 { return float64(g.cells[i].bytes) / (1 << 20) }
	fastest, slowest := extremes(n, taken)
	lightest, heaviest := extremes(n, func(i int) float64 { return g.cells[i].known(held(i)) })
	f.Alt = fmt.Sprintf("%s: %s of %s done, the fastest in %s, the slowest in %s.", f.Title, units.Count(st.done), units.Count(int64(st.Tasks)), milliseconds(fastest), milliseconds(slowest))
	if low := honest(fastest, slowest); low < fastest {
		f.Caption += fmt.Sprintf(" All times are within 5 %% of each other, and are drawn alike: %s to %s.", milliseconds(fastest), milliseconds(slowest))
		fastest = low
	}
	lightest = honest(lightest, heaviest)
	begins := func(i int) float64 { return perMille(g.cells[i].from, last, math.Floor) }
	f.Cells = g.columns(
		column(n, func(i int) float64 { return digits(taken(i), 4) }),
		column(n, func(i int) float64 { return digits(held(i), 4) }),
		column(n, func(i int) float64 { return mark(g.cells[i].trouble) }),
		column(n, func(i int) float64 {
			if i == 0 {
				return begins(0)
			}
			return begins(i) - begins(i-1)
		}),
		column(n, func(i int) float64 { return perMille(g.cells[i].to, last, math.Ceil) - begins(i) }))
	workers := 0
	for i := range g.cells {
		workers = max(workers, g.cells[i].worker+1)
	}
	f.Cells.Last = last.Seconds()
	f.Switch = []choice{
		{"time", 2, fastest, above(fastest, slowest)},
		{"bytes", 3, lightest, above(lightest, heaviest)},
	}
	if workers > 1 {
		f.Cells.Columns = append(f.Cells.Columns, column(n, func(i int) float64 { return float64(max(g.cells[i].worker, 0)) }))
		f.Switch = append(f.Switch, choice{"worker", 7, 0, float64(workers - 1)})
	}
	return g.layOut(heatMap{tooltip: "gonbext:cell", name: milliseconds, unknown: "not done", marked: "retried or halved", shades: chunkShades}).draw(f)
}

// layOut gives a heat map the grid's shape, and axes with the names and the indices of its elements.
func (f *downsampledGrid) layOut(m heatMap) heatMap {
	w, h := f.sides()
	m.left, m.width, m.height = 12, w*float64(f.cols), h*float64(f.rows)
	along := func(name string, n, block int, pixels, room float64) axis {
		a := axis{name: name, high: float64(n * block)}
		if block > 0 {
			a.ticks = roundTicks(0, a.high, max(min(6, int(pixels/room)), 1), 1, countLabel)
		}
		return a
	}
	m.across = along(f.names[1], f.cols, f.block[1], m.width, 60)
	if m.down = along(f.names[0], f.rows, f.block[0], m.height, 24); m.down.name != "" {
		m.left = 32 + 6.8*float64(len(units.Count(int64(m.down.high))))
	}
	return m
}

// sides are the lengths of a cell in pixels, across and down: few cells are larger, and
// those of one row or column longer.
func (f *downsampledGrid) sides() (w, h float64) {
	w = min(max(18, 256/float64(f.rows), 160/float64(f.cols)), 630/float64(f.cols), 32)
	h = min(w, 32)
	if f.rows == 1 {
		h = 28
	} else if f.cols < 6 {
		w, h = min(160/float64(f.cols), 64), min(max(256/float64(f.rows), 6), 24)
	}
	return w, h
}

// columns are the figures of a heat map's cells as the script takes them: column by
// column, which packs to a fraction of a value for each cell. The script makes the names of
// the cells itself.
type columns struct {
	Cols    int      `json:"cols"`
	Per     [2]int64 `json:"per"`             // chunks behind a cell, down and across
	Block   [2]int   `json:"block,omitempty"` // elements of it along the axes; 0 where these are several
	Names   []string `json:"names,omitempty"` // of the axes down and across
	Width   int64    `json:"width,omitempty"`
	Chunks  int64    `json:"chunks,omitempty"`
	Last    float64  `json:"last,omitempty"` // seconds of the run: its per mille are the unit of the last two columns, where a cell begins after the one before it, and how long it takes
	Columns [][]any  `json:"columns"`
}

func (f *downsampledGrid) columns(all ...[]any) *columns {
	c := &columns{Cols: f.cols, Per: [2]int64{f.perRow, f.perCol}, Block: f.block, Width: f.width, Chunks: f.n, Columns: all}
	if f.names != [2]string{} {
		c.Names = f.names[:]
	}
	return c
}

// column is a figure of n cells: nil, which is drawn in grey, where it is NaN.
func column(n int, value func(i int) float64) []any {
	all := make([]any, n)
	for i := range all {
		if v := value(i); !math.IsNaN(v) {
			all[i] = v
		}
	}
	return all
}

// extremes are the least and the greatest figure of n cells, of those that have one.
func extremes(n int, value func(i int) float64) (least, most float64) {
	all := make(record.Floats, n)
	for i := range all {
		all[i] = value(i)
	}
	if least, most, ok := finite(all); ok {
		return least, most
	}
	return 0, 0
}

func mark(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// perMille is a moment of a run as a part of its length.
func perMille(at, last time.Duration, round func(float64) float64) float64 {
	return min(max(round(1000*float64(at)/float64(max(last, 1))), 0), 1000)
}

// above is the upper end of a colour scale: a scale needs some length.
func above(least, most float64) float64 {
	if most > least {
		return most
	}
	return min(least+cmp.Or(math.Abs(least), 1), math.MaxFloat64)
}

// heatMap is how the cells of a figure are drawn, coloured by the first of its choices. What they are, the figure says:
// its Cells have the values in the first column, nil where there is none, and borders in the third.
type heatMap struct {
	left, width, height float64 // of all cells, in pixels
	tooltip             types.FuncStr
	name                func(float64) string // the ends of the scale
	unknown, marked     string               // what grey cells and borders mean
	shades              int                  // how many colours the picture has: with that of unknown cells, 16 are a PNG of four bits a pixel
	across, down        axis                 // along the sides of a matrix
}

// draw sets the live chart of a figure and its picture: one pixel, made large, for each cell. The
// script makes the live cells, their axes and the scale of the colours.
func (m heatMap) draw(f *figure) *figure {
	c := charts.NewHeatMap()
	base(&c.BaseConfiguration, opts.Grid{Left: fmt.Sprintf("%.0f", m.left-4), Top: "8", Width: fmt.Sprintf("%.0f", m.width), Height: fmt.Sprintf("%.0f", m.height)})
	c.SetGlobalOptions(
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item", Formatter: m.tooltip}),
		charts.WithVisualMapOpts(opts.VisualMap{InRange: &opts.VisualMapInRange{Color: heat}}),
	)
	c.AddSeries("chunks", []opts.HeatMapData{})
	f.Height, f.Option = int(m.height)+20, c.JSON()
	if m.across.name != "" {
		f.Height += 30
	}

	const top = 40
	d := newDrawing(760, top+m.height+12)
	if m.across.ticks != nil {
		d.height += 20
	}
	if m.across.name != "" {
		d.height += 18
		d.text(m.left+m.width/2, d.height-8, "k", m.across.name)
	}
	if m.down.name != "" {
		d.printf(`<text transform="translate(12 %s)rotate(-90)" class="k">%s</text>`, num(top+m.height/2), escape(clip(m.down.name, max(int(m.height/6), 6))))
	}
	colours, cols, values := f.Switch[0], f.Cells.Cols, f.Cells.Columns[0]
	rows := (len(values) + cols - 1) / cols
	w, h := m.width/float64(cols), m.height/float64(rows)
	cells := newPixels(rows, cols)
	var marked strings.Builder
	unknown := false
	for i, v := range values {
		color := color.NRGBA{128, 128, 128, 64}
		if v, known := v.(float64); known {
			color = shade((v-colours.Min)/(colours.Max-colours.Min), m.shades)
		} else {
			unknown = true
		}
		cells.put(i, color)
		if m.marked != "" && f.Cells.Columns[2][i] == 1.0 {
			fmt.Fprintf(&marked, "M%s %sh%sv%sh-%[3]sz", num(m.left+float64(i%cols)*w+1), num(top+float64(i/cols)*h+1), num(w-3), num(h-3))
		}
	}
	d.raster(m.left, top, m.width, m.height, pngURL(cells.Paletted))
	if min(w, h) >= leastRuled && len(values) > 1 { // a thick line of short dashes is many thin lines
		d.printf(`<g stroke="#0004"><path stroke-width="%s" stroke-dasharray="1 %s" d="M%s %sh%s"/>`, num(m.height), num(w-1), num(m.left), num(top+m.height/2), num(m.width))
		d.printf(`<path stroke-width="%s" stroke-dasharray="1 %s" d="M%s %dv%s"/></g>`, num(m.width), num(h-1), num(m.left+m.width/2), top, num(m.height))
	}
	for _, t := range m.across.ticks {
		d.text(m.left+m.width*m.across.share(t.at), top+m.height+16, "m k", t.label)
	}
	for _, t := range m.down.ticks {
		d.text(m.left-6, top+4+m.height*m.down.share(t.at), "m r", t.label)
	}
	x := d.scale(m.name(colours.Min), m.name(colours.Max))
	if unknown {
		d.printf(`<rect fill="#8883" x="%s" y="13" width="12" height="11"/>`, num(x))
		d.text(x+18, 23, "", m.unknown)
		x += 90
	}
	if marked.Len() > 0 {
		fmt.Fprintf(&marked, "M%s 14h10v9h-10z", num(x+1))
		d.printf(`<path fill="none" stroke="%s" stroke-width="2" d="%s"/>`, troubleColor, marked.String())
		d.text(x+18, 23, "", m.marked)
	}
	f.Picture = d.done()
	return f
}

// chunkShades is how many colours the picture of a chunk grid has.
const chunkShades = 15

// leastRuled is the width of a cell from which on lines tell it from its neighbours.
const leastRuled = 12

func milliseconds(v float64) string {
	return units.Duration(time.Duration(v * float64(time.Millisecond)))
}

// caption says how the grid was folded, and what cells of several chunks show.
func (f *downsampledGrid) caption(shows string) string {
	per := f.perRow * f.perCol
	switch {
	case f.width == 0 && per == 1:
		return "A cell is a chunk, in their order, row by row."
	case f.width == 0:
		return fmt.Sprintf("A cell is %s chunks in their order, row by row, and shows %s.", units.Count(per), shows)
	case per == 1:
		return "A cell is a chunk."
	}
	return fmt.Sprintf("A cell is %s × %s chunks, and shows %s.", units.Count(f.perRow), units.Count(f.perCol), shows)
}

// axisNames are the axes from one up to another, by their names or else their numbers; "" where there are none.
func axisNames(names []string, from, to int) string {
	var all []string
	for i := from; i < to; i++ {
		if i < len(names) && names[i] != "" {
			all = append(all, plain(names[i]))
		} else {
			all = append(all, fmt.Sprint("axis ", i))
		}
	}
	return strings.Join(all, ", ")
}

// palette is the scale of heat maps in 256 steps.
var palette = sync.OnceValue(func() (all [256]color.NRGBA) {
	for i := range all {
		x := float64(i) / 255 * float64(len(heat)-1)
		at := min(int(x), len(heat)-2)
		mix := func(k int) uint8 {
			a, b := channel(heat[at], k), channel(heat[at+1], k)
			return uint8(math.Round(17 * (a + (x-float64(at))*(b-a))))
		}
		all[i] = color.NRGBA{mix(0), mix(1), mix(2), 255}
	}
	return all
})

// shade returns the colour of x, from 0 to 1, on the scale of heat maps with so many colours.
func shade(x float64, of int) color.NRGBA {
	last := float64(of - 1)
	return palette()[int(255*math.Round(min(max(x, 0), 1)*last)/last)]
}
