package chart

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"math"
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

// plotDrawing draws curves; nil where there is nothing to draw.
func plotDrawing(f *record.Figure, alt string) (*figure, string) {
	var lists []record.Floats
	length := 0
	for _, c := range f.Curves {
		lists = append(lists, c.Mean, c.Low, c.High)
		length = max(length, c.Length)
	}
	low, high, ok := finite(lists...)
	if !ok || math.IsInf(high-low, 0) {
		return nil, ""
	}
	bottom, top, step := numberAxis(low, high)
	out := &figure{Title: "Plot", Alt: "Line chart: " + alt, Height: 300}
	for _, c := range f.Curves {
		if c.Step > 1 {
			out.Caption = "Lines are means of blocks; the bands around them reach from the least to the greatest element."
		}
	}
	last := float64(max(length-1, 1))
	live := charts.NewLine()
	base(&live.BaseConfiguration, wide())
	live.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Min: 0, Max: last, MinInterval: 1, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Min: bottom, Max: top, AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Formatter: "gonbext:number"}}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
	)
	var keys []key
	for i := range f.Curves {
		keys = append(keys, key{cmp.Or(clip(plain(f.Curves[i].Name), 40), "curve "+strconv.Itoa(i+1)), curveColors[i%len(curveColors)], curveStrokes[i%len(curveStrokes)]})
	}
	d := newDrawing(760, 280)
	from := 16.0
	if len(keys) > 1 {
		height, marks := d.legend(keys)
		d.draw(keys, marks)
		from = height + 8
	}
	left := 0
	for i := 0; bottom+float64(i)*step <= top+step/2; i++ {
		left = max(left, len(fmt.Sprintf("%.6g", round9(bottom+float64(i)*step))))
	}
	p := &plot{drawing: d, left: 22 + 6.8*float64(left), right: d.width - 20, top: from, bottom: d.height - 30, xMax: last, yMax: top - bottom}
	for i := 0; bottom+float64(i)*step <= top+step/2; i++ {
		y := p.y(float64(i) * step)
		d.printf(`<path class="g" d="M%s %sH%s"/>`, num(p.left), num(y), num(p.right))
		d.text(p.left-6, y+4, "end", "m", fmt.Sprintf("%.6g", round9(bottom+float64(i)*step)))
	}
	d.printf(`<path class="a" d="M%s %sH%s"/>`, num(p.left), num(p.bottom), num(p.right))
	for v, each := 0.0, max(roundStep(last, 8), 1); v <= last*1.0001; v += each {
		p.tick(v, units.Count(int64(v)))
	}
	for i := range f.Curves {
		c, k := &f.Curves[i], keys[i]
		at := func(j int) float64 { // the middle of a block
			first := j * c.Step
			return float64(first+min(first+c.Step, c.Length)-1) / 2
		}
		if len(c.Low) > 0 {
			var band []opts.LineData
			for j := range c.Low {
				band = append(band, point(at(j), c.Low[j]), point(at(j), c.High[j]))
			}
			live.AddSeries(k.name+", least to greatest", band,
				charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}), charts.WithItemStyleOpts(opts.ItemStyle{Color: k.color, Opacity: opts.Float(0.4)}),
				charts.WithLineStyleOpts(opts.LineStyle{Width: 1, Color: k.color, Opacity: opts.Float(0.4)}))
			p.envelope(c, bottom, at, k.color)
		}
		var data []opts.LineData
		for j, v := range c.Mean {
			data = append(data, point(at(j), v))
		}
		marks := len(c.Mean) <= maxMarked
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

// digits is v in the six digits that a figure shows.
func digits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return v
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
	run := 0
	for i := 0; i <= len(values); i++ {
		if i == len(values) || math.IsNaN(values[i]) {
			if run == 1 && !marks {
				fmt.Fprintf(&dots, `<circle cx="%s" cy="%s" r="1.6"/>`, num(p.x(at(i-1))), num(p.y(values[i-1]-bottom)))
			}
			run = 0
			continue
		}
		fmt.Fprintf(&path, "%s%s %s", pen(run), num(p.x(at(i))), num(p.y(values[i]-bottom)))
		if marks {
			fmt.Fprintf(&dots, `<circle cx="%s" cy="%s" r="2.5"/>`, num(p.x(at(i))), num(p.y(values[i]-bottom)))
		}
		run++
	}
	dash := ""
	if k.line != "" {
		dash = fmt.Sprintf(` stroke-dasharray="%s"`, k.line)
	}
	p.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="1.8"%s/>`, path.String(), k.color, dash)
	p.printf(`<g fill="%s">%s</g>`, k.color, dots.String())
}

// envelope fills the space between the least and the greatest of each block.
func (p *plot) envelope(c *record.Curve, bottom float64, at func(int) float64, color string) {
	var path strings.Builder
	for i := 0; i < len(c.Low); {
		if math.IsNaN(c.Low[i]) {
			i++
			continue
		}
		end := i
		for ; end < len(c.Low) && !math.IsNaN(c.Low[end]); end++ {
			fmt.Fprintf(&path, "%s%s %s", pen(end-i), num(p.x(at(end))), num(p.y(c.High[end]-bottom)))
		}
		for j := end - 1; j >= i; j-- {
			fmt.Fprintf(&path, "L%s %s", num(p.x(at(j))), num(p.y(c.Low[j]-bottom)))
		}
		path.WriteByte('Z')
		i = end
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
	out := &figure{Title: "Histogram", Alt: "Histogram: " + alt, Height: 280}
	low, high := f.Edges[0], f.Edges[n]
	data := make([]opts.BarData, n)
	for i, k := range f.Counts {
		data[i] = opts.BarData{Name: fmt.Sprintf("%.4g to %.4g", f.Edges[i], f.Edges[i+1]), Value: []any{f.Edges[i]/2 + f.Edges[i+1]/2, k}}
	}
	live := charts.NewBar()
	base(&live.BaseConfiguration, wide())
	live.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Min: low, Max: high, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}, AxisLabel: &opts.AxisLabel{Formatter: "gonbext:number", HideOverlap: opts.Bool(true)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Min: 0, MinInterval: 1}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", Formatter: "gonbext:bin"}),
	)
	live.AddSeries("elements", data, charts.WithBarChartOpts(opts.BarChart{BarCategoryGap: "4%"}), charts.WithItemStyleOpts(opts.ItemStyle{Color: curveColors[0]}))
	out.Option = live.JSON()

	_, top, step := numberAxis(0, float64(most))
	step = max(step, 1)
	d := newDrawing(760, 260)
	p := &plot{drawing: d, left: 90, right: d.width - 20, top: 16, bottom: d.height - 30, xMax: float64(n), yMax: max(top, 1)}
	for v := 0.0; v <= top; v += step {
		d.printf(`<path class="g" d="M%s %sH%s"/>`, num(p.left), num(p.y(v)), num(p.right))
		d.text(p.left-6, p.y(v)+4, "end", "m", units.Count(int64(v)))
	}
	for i, k := range f.Counts {
		x, y := p.x(float64(i)), p.y(float64(k))
		if k > 0 {
			d.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, num(x+0.5), num(y), num(max(p.x(float64(i+1))-x-1, 1)), num(p.bottom-y), curveColors[0])
		}
	}
	d.printf(`<path class="a" d="M%s %sH%s"/>`, num(p.left), num(p.bottom), num(p.right))
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
	out := &figure{Title: "Heat map", Caption: "Down: axis 0; across: axis 1.", Alt: "Heat map: " + alt, Block: f.Block, Shape: c.Shape}
	layout := downsampledGrid{rows: f.Rows, cols: f.Cols, cells: len(f.Means)}
	out.Cells = layout.columns(newColumn(len(f.Means), func(i int) any {
		if math.IsNaN(f.Means[i]) {
			return nil
		}
		return digits(f.Means[i])
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
	pixels := image.NewNRGBA(image.Rect(0, 0, f.Cols, f.Rows))
	gaps := false
	for i, v := range f.Means {
		if math.IsNaN(v) {
			gaps = true
			continue
		}
		pixels.SetNRGBA(i%f.Cols, i/f.Cols, shade((v-low)/above(0, high-low)))
	}
	if gaps {
		d.printf(`<rect fill="#8883" x="%s" y="40" width="%s" height="%s"/><rect fill="#8883" x="%s" y="13" width="12" height="11"/>`, num(left), num(w), num(h), num(x))
		d.text(x+18, 23, "start", "", "nothing finite")
	}
	d.raster(left, 40, w, h, pixels)
	for _, v := range roundTicks(0, shape[1], max(min(6, int(w/60)), 1), 1) {
		d.text(left+w*v/shape[1], h+56, "middle", "m", units.Count(int64(v)))
	}
	for _, v := range roundTicks(0, shape[0], max(min(6, int(h/24)), 1), 1) {
		d.text(left-6, 44+h*v/shape[0], "end", "m", units.Count(int64(v)))
	}
	return out, d.done()
}

// shade is the colour at x of the scale of heat maps, 0 to 1.
func shade(x float64) color.NRGBA { return palette()[int(255*min(max(x, 0), 1))] }

var palette = sync.OnceValue(func() (all [256]color.NRGBA) {
	for i := range all {
		all[i].A = 255
		fmt.Sscanf(heatAt(float64(i)/255), "#%02x%02x%02x", &all[i].R, &all[i].G, &all[i].B)
	}
	return all
})

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

// imageDrawing is a picture as a PNG, which needs no script.
func imageDrawing(f *record.Figure, alt string) *figure {
	if f.Rows < 1 || f.Cols < 1 || len(f.Pixels) != 4*f.Rows*f.Cols {
		return nil
	}
	m := &image.NRGBA{Pix: f.Pixels, Stride: 4 * f.Cols, Rect: image.Rect(0, 0, f.Cols, f.Rows)}
	scale := max(1, 480/max(f.Rows, f.Cols)) // pixels of a small picture are large
	return &figure{Title: "Image", Alt: "Image: " + alt, Picture: source(pngURL(m)), Width: f.Cols * scale}
}
