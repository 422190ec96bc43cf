package chart

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// curveColors and curveStrokes tell the lines of a plot apart, by colour and without.
var (
	curveColors  = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8a63d2", "#7f7f7f"}
	curveStrokes = []stroke{"", dashed, dotted, dashDot, "9 3", "1 4", "8 2 2 2 2 2", "3 5"}
)

// maxMarked is how many points a line has at most for each to get a mark of its own.
const maxMarked = 60

// dataFigure draws a figure of a cell's data.
func dataFigure(c *record.Card, o Options) (Output, error) {
	f := c.Figure
	s := sheet{Title: plain(c.Title), Quiet: true}
	var drawn *figure
	var svg string
	switch f.Kind {
	case record.PlotFigure:
		s.Verdict = curvesLine(f)
		drawn, svg = plotDrawing(f, s.Verdict)
	case record.HistFigure:
		s.Verdict = histLine(c)
		drawn, svg = histDrawing(f, s.Verdict)
	case record.HeatMapFigure:
		s.Verdict = blocksLine(c, "cell")
		drawn, svg = heatMapDrawing(c, s.Verdict)
	case record.ImageFigure:
		s.Verdict = blocksLine(c, "pixel")
		drawn = imageDrawing(f, s.Verdict)
	default:
		s.Verdict = fmt.Sprintf("A %s, which this version of gonbext does not draw", plain(f.Kind))
	}
	if f.Missing > 0 {
		s.Note = units.Count(f.Missing) + " elements are not finite and left out."
	}
	if drawn != nil {
		if svg != "" {
			drawn.Picture = picture(svg)
		}
		drawn.ID = "gonbext-" + digestName(svg)
		s.Figures = []figure{*drawn}
	}
	out, err := s.output(o)
	out.Text = plainLines(c.Text)
	return out, err
}

// digestName is a name that only the same picture has.
func digestName(svg string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(svg)) // a hash has no error
	return fmt.Sprintf("%x", h.Sum64())
}

// finite are the least and the greatest of several lists; ok is false where they have
// nothing finite.
func finite(lists ...record.Floats) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, list := range lists {
		for _, v := range list {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				low, high, ok = min(low, v), max(high, v), true
			}
		}
	}
	return low, high, ok
}

// curvesLine says what a plot shows.
func curvesLine(f *record.Figure) string {
	var parts []string
	for _, c := range f.Curves {
		part := counted(c.Length, "element", "elements")
		if low, high, ok := finite(c.Mean, c.Low, c.High); ok {
			part += fmt.Sprintf(" from %.6g to %.6g", low, high)
		} else if c.Length > 0 {
			part += ", none of them finite"
		}
		if len(f.Curves) > 1 {
			part = clip(plain(c.Name), 30) + ": " + part
		}
		if c.Step > 1 {
			part += ", " + units.Count(int64(c.Step)) + " behind a point"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " · ")
}

// numberAxis is an axis of values: round, a little wider than they are.
func numberAxis(low, high float64) (bottom, top, step float64) {
	if high-low < 1e-300 { // which no step divides
		widen := max(1, math.Abs(low)/1000)
		if low < 0 || low >= 1 {
			low -= widen
		}
		high += widen
	}
	step = roundStep(high-low, 5)
	return math.Floor(low/step) * step, math.Ceil(high/step) * step, step
}

// roundTicks are at most n round values from low to high, and one more, no nearer than least.
func roundTicks(low, high float64, n int, least float64) (all []float64) {
	if high <= low {
		return nil
	}
	step := max(roundStep(high-low, n), least)
	for i := math.Ceil(low / step); i*step <= high && len(all) <= n+1; i++ {
		all = append(all, round9(i*step))
	}
	return all
}

// maxPlotted is how many values the curves of a figure have together, so that it takes 20 kB at
// most: those of one curve of blocks.
const maxPlotted = 1200

// merged are curves of fewer blocks, each of several of theirs, where they have more values than
// maxPlotted.
func merged(curves []record.Curve) []record.Curve {
	values := 0
	for _, c := range curves {
		values += len(c.Mean) + len(c.Low) + len(c.High)
	}
	if values <= maxPlotted {
		return curves
	}
	most := maxPlotted / 3 / len(curves)
	all := slices.Clone(curves)
	for i := range all {
		c := &all[i]
		if len(c.Mean) <= most {
			continue
		}
		if len(c.Low) == 0 {
			c.Low, c.High = c.Mean, c.Mean
		}
		each := int(ceilDiv(int64(len(c.Mean)), int64(most)))
		m := record.Curve{Name: c.Name, Length: c.Length, Step: c.Step * each}
		for from := 0; from < len(c.Mean); from += each {
			to := min(from+each, len(c.Mean))
			low, high, ok := finite(c.Low[from:to], c.High[from:to])
			mean, elements := math.NaN(), 0.0
			if !ok {
				low, high = mean, mean
			}
			for k, v := range c.Mean[from:to] {
				n := float64(min(c.Step, c.Length-(from+k)*c.Step))
				switch {
				case math.IsNaN(v):
				case elements == 0:
					mean, elements = v, n
				default:
					elements += n
					mean += (v - mean) * (n / elements)
				}
			}
			m.Mean, m.Low, m.High = append(m.Mean, mean), append(m.Low, low), append(m.High, high)
		}
		*c = m
	}
	return all
}

// plotDrawing draws curves; nil where there is nothing to draw.
func plotDrawing(f *record.Figure, alt string) (*figure, string) {
	curves := merged(f.Curves)
	var lists []record.Floats
	length := 0
	for _, c := range curves {
		lists = append(lists, c.Mean, c.Low, c.High)
		length = max(length, c.Length)
	}
	low, high, ok := finite(lists...)
	if !ok || math.IsInf(high-low, 0) {
		return nil, ""
	}
	if f.Low < f.High {
		low, high = f.Low, f.High
	}
	bottom, top, step := numberAxis(low, high)
	if f.Low < f.High {
		bottom, top = low, high
	}
	out := &figure{Title: cmp.Or(plain(f.Title), "Plot"), Alt: "Line chart: " + alt, Height: 300}
	for _, c := range curves {
		if c.Step > 1 {
			out.Caption = "Lines are means of blocks; the bands around them reach from the least to the greatest element."
		}
	}
	last := float64(max(length-1, 1))
	live := charts.NewLine()
	base(&live.BaseConfiguration, labelled(f))
	live.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Name: plain(f.X), NameLocation: "middle", NameGap: nameGap, Type: "value", Min: 0, Max: last, MinInterval: 1, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Name: plain(f.Y), Type: "value", Min: bottom, Max: top, AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Formatter: "gonbext:number"}}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
	)
	var keys []key
	for i := range curves {
		keys = append(keys, key{cmp.Or(clip(plain(curves[i].Name), 40), "curve "+strconv.Itoa(i+1)), curveColors[i%len(curveColors)], curveStrokes[i%len(curveStrokes)]})
	}
	d := newDrawing(760, 280)
	from := 16.0
	if len(keys) > 1 {
		height, marks := d.legend(keys)
		d.draw(keys, marks)
		from = height + 8
	}
	if f.Y != "" {
		from += 12
	}
	left := 0
	for i := 0; bottom+float64(i)*step <= top+step/2; i++ {
		left = max(left, len(fmt.Sprintf("%.6g", round9(bottom+float64(i)*step))))
	}
	p := &plot{drawing: d, left: 22 + 6.8*float64(left), right: d.width - 20, top: from, bottom: d.height - 30, xMax: last, yMax: top - bottom}
	p.names(f)
	p.values(bottom, top, step, func(v float64) string { return fmt.Sprintf("%.6g", round9(v)) })
	for v, each := 0.0, max(roundStep(last, 8), 1); v <= last*1.0001; v += each {
		p.tick(v, units.Count(int64(v)))
	}
	for i := range curves {
		c, k := within(curves[i], bottom, top), keys[i]
		at := func(j int) float64 { // the middle of a block
			first := j * c.Step
			return float64(first+min(first+c.Step, c.Length)-1) / 2
		}
		marks := c.Step == 1 && len(c.Mean) <= maxMarked
		short := func(v float64) float64 {
			if marks {
				return v
			}
			return near(v, bottom, top, 1000)
		}
		if len(c.Low) > 0 {
			var band []opts.LineData
			for j := range c.Low {
				band = append(band, point(at(j), short(c.Low[j])), point(at(j), short(c.High[j])))
			}
			live.AddSeries(k.name+", least to greatest", band,
				charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}), charts.WithItemStyleOpts(opts.ItemStyle{Color: k.color, Opacity: opts.Float(0.4)}),
				charts.WithLineStyleOpts(opts.LineStyle{Width: 1, Color: k.color, Opacity: opts.Float(0.4)}))
			p.envelope(c, bottom, at, k.color)
		}
		var data []opts.LineData
		for j, v := range c.Mean {
			data = append(data, point(at(j), short(v)))
		}
		live.AddSeries(k.name, data, charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(marks || hasLone(c.Mean))}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: k.color}), charts.WithLineStyleOpts(opts.LineStyle{Width: 2, Color: k.color, Type: lineType(k.line)}))
		p.curve(c.Mean, bottom, at, k, marks)
	}
	if len(keys) > 1 {
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.name
		}
		withLegend(&live.BaseConfiguration, names...)
	}
	out.Option = live.JSON()
	return out, d.done()
}

// values draws the axis along the bottom, and lines at round values with their names.
func (p *plot) values(bottom, top, step float64, name func(float64) string) {
	for v := 0.0; bottom+v <= top+step/2; v += step {
		p.printf(`<path class="g" d="M%s %sH%s"/>`, num(p.left), num(p.y(v)), num(p.right))
		p.text(p.left-6, p.y(v)+4, "end", "m", name(bottom+v))
	}
	p.printf(`<path class="a" d="%s"/>`, p.axis())
}

// nameGap is the room between an axis and its name.
const nameGap = 24

// labelled is the place of a chart whose axes have the figure's names.
func labelled(f *record.Figure) opts.Grid {
	g := wide()
	if f.X != "" {
		g.Bottom = "26"
	}
	if f.Y != "" {
		g.Top = "28"
	}
	return g
}

// names writes those of the axes, for which it makes room below the plot.
func (p *plot) names(f *record.Figure) {
	if f.X != "" {
		p.bottom -= 16
		p.text((p.left+p.right)/2, p.height-6, "middle", "", clip(plain(f.X), 80))
	}
	if f.Y != "" {
		p.text(p.left, p.top-6, "start", "", clip(plain(f.Y), 80))
	}
}

// within is a curve with what is outside of a range at its ends.
func within(c record.Curve, low, high float64) *record.Curve {
	for _, list := range []*record.Floats{&c.Mean, &c.Low, &c.High} {
		*list = slices.Clone(*list)
		for i, v := range *list {
			(*list)[i] = min(max(v, low), high)
		}
	}
	return &c
}

// digits is v in the six digits that a figure shows.
func digits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return v
}

// near is v to such a part of the range, which may be more than is seen.
func near(v, low, high, parts float64) float64 {
	if math.IsNaN(v) {
		return v
	}
	step := (high - low) / parts
	if step <= 0 || math.IsInf(v/step, 0) {
		return digits(v)
	}
	each := math.Pow(10, math.Floor(math.Log10(step)))
	return digits(math.Round(v/each) * each)
}

// point is a point of a live line; what is not finite is a gap.
func point(x, y float64) opts.LineData {
	if math.IsNaN(y) {
		return opts.LineData{Value: []any{x, nil}}
	}
	return opts.LineData{Value: []any{x, digits(y)}}
}

// hasLone reports whether a line has a point without neighbours, of which only a mark shows.
func hasLone(values record.Floats) bool {
	for i, v := range values {
		if !math.IsNaN(v) && (i == 0 || math.IsNaN(values[i-1])) && (i == len(values)-1 || math.IsNaN(values[i+1])) {
			return true
		}
	}
	return false
}

// curve draws a line with gaps where values are not finite; a point without neighbours is
// a dot.
func (p *plot) curve(values record.Floats, bottom float64, at func(int) float64, k key, marks bool) {
	var path, dots strings.Builder
	for from, to := range numbers(values) {
		var line polyline
		for i := from; i < to; i++ {
			line.to(p.x(at(i)), p.y(values[i]-bottom))
			if marks || to-from == 1 {
				fmt.Fprintf(&dots, "M%.0f %.0fh.1", p.x(at(i)), p.y(values[i]-bottom)) // a round end on both sides
			}
		}
		path.WriteString(line.done())
	}
	dash := ""
	if k.line != "" {
		dash = fmt.Sprintf(` stroke-dasharray="%s"`, k.line)
	}
	p.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="1.8"%s/>`, path.String(), k.color, dash)
	width := 3.2
	if marks {
		width = 5
	}
	p.printf(`<path d="%s" stroke="%s" stroke-width="%g" stroke-linecap="round"/>`, dots.String(), k.color, width)
}

// numbers are the stretches of values that are numbers, each from an index up to another.
func numbers(values record.Floats) iter.Seq2[int, int] {
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

// envelope fills the space between the least and the greatest of each block.
func (p *plot) envelope(c *record.Curve, bottom float64, at func(int) float64, color string) {
	var path strings.Builder
	for from, to := range numbers(c.Low) {
		var line polyline
		for i := from; i < to; i++ {
			line.to(p.x(at(i)), p.y(c.High[i]-bottom))
		}
		for i := to - 1; i >= from; i-- {
			line.to(p.x(at(i)), p.y(c.Low[i]-bottom))
		}
		path.WriteString(line.done() + "z")
	}
	p.printf(`<path d="%s" fill="%s" fill-opacity=".3" stroke="%s" stroke-opacity=".3"/>`, path.String(), color, color)
}

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

// nothingFinite says why there is no picture.
func nothingFinite(c *record.Card) string {
	if elementsOf(c.Shape) == 0 {
		return units.Shape(c.Shape) + " " + plain(c.DType) + ": there is no element to draw"
	}
	return units.Shape(c.Shape) + " " + plain(c.DType) + ": no element is finite, so there is nothing to draw"
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

// blocksLine says what a heat map or an image shows.
func blocksLine(c *record.Card, what string) string {
	f := c.Figure
	if f.Kind == record.ImageFigure && len(f.Pixels) == 0 {
		return nothingFinite(c)
	}
	line := units.Shape(c.Shape) + " " + plain(c.DType)
	if f.Kind == record.HeatMapFigure {
		low, high, ok := finite(f.Means)
		if !ok {
			return nothingFinite(c)
		}
		line += fmt.Sprintf(" · from %.6g to %.6g", low, high)
	} else if f.Low != 0 || f.High != 255 {
		line += fmt.Sprintf(" · black is %.6g, white %.6g", f.Low, f.High)
	}
	if len(f.Block) == 2 && max(f.Block[0], f.Block[1]) > 1 {
		line += fmt.Sprintf(" · a %s is the mean of %s elements", what, units.Shape(f.Block))
	}
	return line
}

func heatMapDrawing(c *record.Card, alt string) (*figure, string) {
	f := c.Figure
	low, high, ok := finite(f.Means)
	if !ok || f.Rows < 1 || f.Cols < 1 || f.Rows*f.Cols != len(f.Means) || math.IsInf(high-low, 0) {
		return nil, ""
	}
	if f.Low < f.High {
		low, high = f.Low, f.High
	}
	out := &figure{Title: cmp.Or(plain(f.Title), "Heat map"), Caption: "Down: " + cmp.Or(plain(f.Y), "axis 0") + "; across: " + cmp.Or(plain(f.X), "axis 1") + ".", Alt: "Heat map: " + alt, Block: f.Block, Shape: c.Shape}
	layout := downsampledGrid{rows: f.Rows, cols: f.Cols, cells: len(f.Means)}
	out.Cells = layout.columns(newColumn(len(f.Means), func(i int) any {
		if math.IsNaN(f.Means[i]) {
			return nil
		}
		return near(f.Means[i], low, high, 1000)
	}))
	// To scale: a cell is so many elements down and across, and the longer side of all is
	// where the page has room.
	shape := [2]float64{float64(f.Rows), float64(f.Cols)}
	if len(f.Block) == 2 && len(c.Shape) == 2 {
		shape = [2]float64{float64(c.Shape[0]), float64(c.Shape[1])}
	}
	largest, _ := layout.sides()
	scale := min(max(largest*float64(f.Cols), 320), 660) / shape[1]
	w, h := scale*shape[1], min(max(scale*shape[0], 24), 480)
	if scale*shape[0] > 480 {
		w = max(480*shape[1]/shape[0], 24)
	}
	left := 20 + 6.8*float64(len(units.Count(int64(shape[0]))))
	out.Height, out.Option = heatMap("gonbext:block", left, w, h)
	out.Height += 26
	out.Switch = []choice{{"value", 2, low, above(low, high)}}

	d := newDrawing(760, h+72)
	x := d.scale(fmt.Sprintf("%.5g", low), fmt.Sprintf("%.5g", high))
	m := newPixels(f.Rows, f.Cols)
	gaps := false
	for i, v := range f.Means {
		if math.IsNaN(v) {
			gaps = true
			m.put(i, color.NRGBA{})
			continue
		}
		m.put(i, shade((v-low)/above(0, high-low), heatShades))
	}
	if gaps {
		d.printf(`<rect fill="#8883" x="%s" y="40" width="%s" height="%s"/><rect fill="#8883" x="%s" y="13" width="12" height="11"/>`, num(left), num(w), num(h), num(x))
		d.text(x+18, 23, "start", "", "nothing finite")
	}
	d.raster(left, 40, w, h, m.Paletted)
	for _, v := range roundTicks(0, shape[1], max(min(6, int(w/60)), 1), 1) {
		d.text(left+w*v/shape[1], h+56, "middle", "m", units.Count(int64(v)))
	}
	for _, v := range roundTicks(0, shape[0], max(min(6, int(h/24)), 1), 1) {
		d.text(left-6, 44+h*v/shape[0], "end", "m", units.Count(int64(v)))
	}
	return out, d.done()
}

// heatShades is how many colours a picture of a heat map has: noise takes two thirds of the bytes
// that it would take in all of them.
const heatShades = 63

// shade is the colour at x of the scale of heat maps, 0 to 1, of so many.
func shade(x float64, of int) color.NRGBA {
	last := float64(of - 1)
	return palette()[int(255*math.Round(min(max(x, 0), 1)*last)/last)]
}

var palette = sync.OnceValue(func() (all [256]color.NRGBA) {
	for i := range all {
		all[i].A = 255
		fmt.Sscanf(heatAt(float64(i)/255), "#%02x%02x%02x", &all[i].R, &all[i].G, &all[i].B)
	}
	return all
})

// pixels is a picture of few colours, which its palette has in the order in which they come.
type pixels struct {
	*image.Paletted
	index map[color.NRGBA]uint8
}

func newPixels(rows, cols int) pixels {
	return pixels{image.NewPaletted(image.Rect(0, 0, cols, rows), nil), map[color.NRGBA]uint8{}}
}

// put colours the pixel i, of the rows one after the other.
func (p pixels) put(i int, c color.NRGBA) {
	at, seen := p.index[c]
	if !seen {
		at = uint8(len(p.index))
		p.index[c], p.Palette = at, append(p.Palette, c)
	}
	p.Pix[i] = at
}

// raster puts a picture of few pixels into the drawing, each a rectangle.
func (d *drawing) raster(x, y, w, h float64, m image.Image) {
	d.printf(`<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="%s"/>`, num(x), num(y), num(w), num(h), pngURL(m))
}

func pngURL(m image.Image) string {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m); err != nil {
		return "" // a picture in memory has no such error
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// maxImage is how many bytes a picture has at most.
const maxImage = 13_000

// encoded is a picture as an address: as it is where that takes few bytes, else as a JPEG, and
// where that takes many, as noise does, of fewer pixels. Said is what is drawn then.
func encoded(f *record.Figure) (address, said string) {
	for each := 1; ; each *= 2 {
		m, opaque := shrunk(f, each)
		fewer := ""
		if each > 1 {
			fewer = fmt.Sprintf(", of every %s pixels one", units.Shape([]int{each, each}))
		}
		if address = pngURL(m); len(address) <= maxImage {
			if fewer != "" {
				said = "Drawn as a PNG" + fewer + "."
			}
			return address, said
		}
		for _, quality := range [4]int{90, 75, 60, 45} {
			var b bytes.Buffer
			if !opaque || jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}) != nil {
				break
			}
			if address = "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes()); len(address) <= maxImage {
				return address, fmt.Sprintf("Drawn as a JPEG of quality %d%s.", quality, fewer)
			}
		}
	}
}

// shrunk is a picture of the means of squares of so many pixels down and across, and whether it
// is opaque.
func shrunk(f *record.Figure, each int) (m image.Image, opaque bool) {
	rows, cols := (f.Rows+each-1)/each, (f.Cols+each-1)/each
	all := image.NewNRGBA(image.Rect(0, 0, cols, rows))
	opaque = true
	grey := true
	for i := range rows {
		for j := range cols {
			var sum [4]int
			n := 0
			for y := i * each; y < min((i+1)*each, f.Rows); y++ {
				for x := j * each; x < min((j+1)*each, f.Cols); x++ {
					for c := range sum {
						sum[c] += int(f.Pixels[4*(y*f.Cols+x)+c])
					}
					n++
				}
			}
			p := all.Pix[4*(i*cols+j):][:4]
			for c := range p {
				p[c] = uint8((sum[c] + n/2) / n)
			}
			opaque = opaque && p[3] == 255
			grey = grey && p[0] == p[1] && p[0] == p[2]
		}
	}
	if !opaque || !grey {
		return all, opaque
	}
	g := image.NewGray(all.Rect) // in a third of the bytes
	for i := range g.Pix {
		g.Pix[i] = all.Pix[4*i]
	}
	return g, true
}

// imageDrawing is a picture, which needs no script.
func imageDrawing(f *record.Figure, alt string) *figure {
	if f.Rows < 1 || f.Cols < 1 || len(f.Pixels) != 4*f.Rows*f.Cols {
		return nil
	}
	address, said := encoded(f)
	scale := max(1, 480/max(f.Rows, f.Cols)) // pixels of a small picture are large
	return &figure{Title: cmp.Or(plain(f.Title), "Image"), Alt: "Image: " + alt, Caption: said, Picture: source(address), Width: f.Cols * scale}
}
