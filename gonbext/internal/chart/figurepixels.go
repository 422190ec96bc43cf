package chart

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// cellsLine says what a figure of cells shows.
func cellsLine(c *record.Card) string {
	f, what := c.Figure, "cell"
	low, high := f.Least, f.Most
	if f.Kind == record.ImageFigure || f.Kind == record.HeatMapFigure && f.Means == nil {
		what = "pixel"
	}
	if f.Kind == record.FacetsFigure && len(f.Panels) > 0 {
		f = &f.Panels[0]
	}
	values := f.Values()
	known := func(v float64) bool { return !math.IsNaN(v) }
	if f.Kind == record.ImageFigure && len(f.Pixels)+len(f.Levels) == 0 || len(f.Pixels) == 0 && c.Figure.Least >= c.Figure.Most && !slices.ContainsFunc(values, known) {
		return nothingFinite(c)
	}
	if len(f.Means) > 0 {
		low, high, _ = finite(f.Means)
	}
	line := units.Shape(c.Shape) + " " + plain(c.DType)
	switch {
	case f.Kind == record.ImageFigure && (f.Low != 0 || f.High != 255):
		line += fmt.Sprintf(" · black is %.6g, white %.6g", f.Low, f.High)
	case f.Kind == record.ImageFigure:
	case strings.Contains(f.Log, "c"):
		line += fmt.Sprintf(" · up to %s points at a place", units.Count(int64(math.Round(math.Pow(10, high)))))
	default:
		line += fmt.Sprintf(" · from %.6g to %.6g", low, high)
	}
	if len(f.Block) == 2 && max(f.Block[0], f.Block[1]) > 1 {
		line += fmt.Sprintf(" · a %s is the mean of %s elements", what, units.Shape(f.Block))
	}
	return line
}

// cellEdges returns the edges of n cells along an axis: in the middle between their places, or between their indices,
// of which a cell has block and all of them so many; and the axis, from the left to the right or, down, from the bottom to
// the top. Places rise there, and indices fall.
func cellEdges(at *record.Axis, n, block, all int, name string, log, down bool) (edges []float64, a axis) {
	a = axis{kind: "value", name: plain(name)}
	if at == nil || len(at.At) != n {
		for i := range n + 1 {
			edges = append(edges, float64(min(i*max(block, 1), max(all, n)))-0.5)
		}
		a.low, a.high, a.step = edges[0], edges[n], 1
		if at != nil && len(at.Texts) == n {
			a.names, a.low, a.high = at.Texts, -0.5, float64(n)-0.5
			for i := range edges {
				edges[i] = float64(i) - 0.5
			}
			for i, every := 0, 1+(n-1)/12; i < n; i += every {
				a.ticks = append(a.ticks, tick{float64(i), clip(plain(at.Texts[i]), 16)})
			}
		} else {
			a.ticks = a.rounded(6)
		}
		if down {
			a.low, a.high = a.high, a.low
		}
		return edges, a
	}
	warp, back := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if log {
		a.kind, warp, back = "log", math.Log10, func(v float64) float64 { return math.Pow(10, v) }
	} else if at.Time {
		a.kind = "date"
	}
	place := func(i int) float64 { return warp(at.At[i]) }
	for i := 1; i < n; i++ {
		edges = append(edges, back((place(i-1)+place(i))/2))
	}
	if n == 1 {
		edges = []float64{at.At[0] - 0.5, at.At[0] + 0.5}
	} else {
		edges = slices.Concat([]float64{back(2*place(0) - warp(edges[0]))}, edges, []float64{back(2*place(n-1) - warp(edges[n-2]))})
	}
	a.low, a.high = min(edges[0], edges[n]), max(edges[0], edges[n])
	a.ticks = a.rounded(6)
	return edges, a
}

// sampled returns which cell is at each of the pixels along an axis: as many as there are cells, where these are equal.
func sampled(edges []float64, a *axis) []int {
	n := len(edges) - 1
	equal := true
	for i := range n {
		equal = equal && math.Abs(math.Abs(a.share(edges[i+1])-a.share(edges[i]))*float64(n)-1) < 0.02
	}
	count := n
	if !equal {
		count = min(max(4*n, 500), 1000)
	}
	at := make([]int, count)
	rising := a.share(edges[n]) > a.share(edges[0])
	for i := range at {
		share := (float64(i) + 0.5) / float64(count)
		at[i] = min(max(sort.Search(n, func(k int) bool {
			if s := a.share(edges[k+1]); rising {
				return s > share
			} else {
				return s < share
			}
		}), 0), n-1)
	}
	return at
}

// grid is the cells of a figure in a plot.
type grid struct {
	values     []float64 // in C order; nil of a picture in colours
	rows, cols int
	x, y       []float64 // edges
	across     axis
	up         axis
}

// newGrid lays the cells of a figure of an array of a shape out; nil where the record does not hold them.
func newGrid(f *record.Figure, shape []int) *grid {
	g := &grid{values: f.Values(), rows: f.Rows, cols: f.Cols}
	if g.values == nil && len(f.Pixels) != 4*f.Rows*f.Cols || f.Rows < 1 || f.Cols < 1 || math.IsInf(f.Most-f.Least, 0) {
		return nil
	}
	block, all := []int{1, 1}, []int{f.Rows, f.Cols}
	if len(f.Block) == 2 && len(shape) >= 2 {
		block, all = f.Block, shape[:2]
	}
	for i, a := range []*record.Axis{f.Down, f.Across} { // coordinates that are not finite or do not rise have no edges
		if a != nil && slices.ContainsFunc(a.At, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			*[]**record.Axis{&f.Down, &f.Across}[i] = nil
		}
	}
	g.y, g.up = cellEdges(f.Down, f.Rows, block[0], all[0], f.Y, strings.Contains(f.Log, "y"), true)
	g.x, g.across = cellEdges(f.Across, f.Cols, block[1], all[1], f.X, strings.Contains(f.Log, "x"), false)
	return g
}

// picture returns the cells as pixels, of the colours that a function gives.
func (g *grid) picture(of func(i int) color.NRGBA, paletted bool) image.Image {
	cols, rows := sampled(g.x, &g.across), sampled(g.y, &g.up)
	if len(cols) == 1 { // some viewers soften what is one pixel wide
		cols = slices.Repeat(cols, 2)
	}
	if paletted {
		p := newPixels(len(rows), len(cols))
		for i := range rows {
			for k := range cols {
				p.put(i*len(cols)+k, of(rows[len(rows)-1-i]*g.cols+cols[k]))
			}
		}
		return p.Paletted
	}
	m := image.NewNRGBA(image.Rect(0, 0, len(cols), len(rows)))
	for i := range rows {
		for k := range cols {
			m.SetNRGBA(k, i, of(rows[len(rows)-1-i]*g.cols+cols[k]))
		}
	}
	return m
}

// graph returns the plot of the cells, with a picture and the bar of its scale, if it has one.
func (g *grid) graph(f *record.Figure, scale *colourScale) (_ *graph, said string) {
	out := &graph{fine: true, base: g.across, value: g.up, scale: scale}
	if g.values != nil {
		out.raster, said = encoded(g.picture(func(i int) color.NRGBA { return scale.at(g.values[i]) }, true))
		return out, said
	}
	out.raster, said = encoded(g.picture(func(i int) color.NRGBA {
		p := f.Pixels[4*i:]
		return color.NRGBA{p[0], p[1], p[2], p[3]}
	}, false))
	return out, said
}

// size returns how large a plot of cells is in so much room: to scale, where a unit is as long on both axes and neither side
// is many times the other.
func (g *grid) size(equal bool, width, height float64) (w, h float64) {
	const most = 12
	ratio := math.Abs(g.up.high-g.up.low) / math.Abs(g.across.high-g.across.low)
	if !equal || ratio > most || ratio < 1.0/most {
		return width, min(height, max(0.5*width, 40))
	}
	const largest = 56 // side of a cell
	if w = min(width, largest*float64(max(g.cols, 4))); equal && w*ratio > largest*float64(max(g.rows, 4)) {
		w = largest * float64(max(g.rows, 4)) / ratio
	}
	if h = w * ratio; h > height {
		w, h = height/ratio, height
	}
	return w, h
}

// scaleOf returns the colours of a figure.
func scaleOf(f *record.Figure, values ...[]float64) *colourScale {
	low, high := f.Least, f.Most
	for _, v := range values { // of earlier versions, whose records do not say
		low, high, _ = finite(v)
	}
	if f.Low < f.High {
		low, high = f.Low, f.High
	}
	s := newColourScale(low, high, strings.Contains(f.Log, "c"), plain(f.Label))
	if s.grey = f.Kind == record.ImageFigure; s.grey || f.Kind == record.ScatterFigure {
		s.unknown = color.NRGBA{}
	}
	return s
}

// cellsDrawing draws a heat map, contours, the density of points or an image; nil where there is nothing to draw.
func cellsDrawing(c *record.Card, alt string) *figure {
	f := c.Figure
	g := newGrid(f, c.Shape)
	if g == nil {
		return nil
	}
	if _, _, ok := finite(g.values); !ok && g.values != nil {
		return nil
	}
	scale := scaleOf(f)
	if f.Means != nil {
		scale = scaleOf(f, f.Means)
	}
	if math.IsInf(scale.high-scale.low, 0) {
		return nil
	}
	of, said := g.graph(f, scale)
	if f.Kind == record.ImageFigure {
		of.scale = nil
	}
	if f.Kind == record.ContourFigure {
		of.contours(g, scale)
	}
	if f.Kind == record.ScatterFigure {
		of.lone(g)
	}
	out := of.toScale(g, f.Equal || f.Across == nil && f.Down == nil)
	out.Alt, out.Caption = strings.ToUpper(f.Kind[:1])+f.Kind[1:]+": "+alt, said
	return out
}

// toScale draws a graph of cells.
func (of *graph) toScale(g *grid, equal bool) *figure {
	left, right := 54.0, 16.0
	for _, t := range g.up.ticks {
		left = max(left, 22+6.8*float64(utf8.RuneCountInString(t.label)))
	}
	if of.scale != nil {
		right = barWidth
	}
	w, h := g.size(equal, 760-left-right, 500)
	w, h = math.Round(max(w, 24)), math.Round(max(h, 24))
	d := newDrawing(760, h+26+44)
	of.inset = &[4]float64{left, 26, 760 - left - w, 44}
	if of.base.name == "" {
		d.height, of.inset[3] = d.height-16, 28
	}
	of.into(d, 0, 760, d.height)
	return &figure{Picture: d.done()}
}

// facetsDrawing draws small heat maps beside and below each other.
func facetsDrawing(c *record.Card, alt string) *figure {
	f := c.Figure
	var all []*grid
	for i := range f.Panels {
		one := f.Panels[i]
		one.Across, one.Down, one.X, one.Y = f.Across, f.Down, "", ""
		if g := newGrid(&one, c.Shape[min(1, len(c.Shape)):]); g != nil && g.values != nil {
			all = append(all, g)
		}
	}
	if len(all) == 0 || len(all) != len(f.Panels) {
		return nil
	}
	scale := scaleOf(f)
	const left, top, bottom, gap = 54.0, 26.0, 44.0, 12.0
	// As many beside each other as make them largest.
	equal := f.Equal || f.Across == nil && f.Down == nil
	cols, w, h := 1, 0.0, 0.0
	for n := 1; n <= len(all); n++ {
		rows := float64((len(all) + n - 1) / n)
		each := (760-left-barWidth)/float64(n) - gap
		if a, b := all[0].size(equal, each, min(500, 700/rows-top)); a*b > w*h {
			cols, w, h = n, a, b
		}
	}
	w, h = math.Round(w), math.Round(h)
	rows := (len(all) + cols - 1) / cols
	d := newDrawing(760, float64(rows)*(h+top)+bottom)
	for i, g := range all {
		of, _ := g.graph(&f.Panels[i], scale)
		of.scale, of.title = nil, plain(f.Panels[i].Title)
		of.base.ticks, of.value.ticks = of.base.rounded2(w), of.value.rounded2(2*h)
		if i%cols > 0 {
			of.value = of.value.silent()
		}
		if i+cols < len(all) {
			of.base = of.base.silent()
		}
		x, y := left+float64(i%cols)*(w+gap), float64(i/cols)*(h+top)
		of.inset = &[4]float64{x, top, 760 - x - w, 0}
		of.into(d, y, 760, top+h)
	}
	d.text(left+float64(cols)*(w+gap)/2, d.height-6, "k", clip(plain(f.X), 60))
	d.text(8, 12, "", clip(plain(f.Y), 30))
	d.colourBar(scale, left+float64(cols)*(w+gap)+6, top, top+min(h*float64(rows)+top*float64(rows-1), 400), 760)
	return &figure{Alt: "Small heat maps: " + alt, Picture: d.done()}
}

// rounded2 returns the ticks of a short axis.
func (a *axis) rounded2(length float64) []tick {
	if a.names != nil {
		return a.ticks
	}
	return a.rounded(max(2, int(length/70)))
}

// silent returns an axis whose ticks have no labels.
func (a axis) silent() axis {
	a.ticks = slices.Clone(a.ticks)
	for i := range a.ticks {
		a.ticks[i].label = ""
	}
	return a
}

func pngURL(m image.Image) string {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m); err != nil {
		return "" // a picture in memory has no such error
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// encoded returns a picture as a data URL of at most maxImage characters: a PNG, else a JPEG, else
// either of fewer pixels. said tells the reader of the figure which of these it is; it is empty for
// the whole picture.
func encoded(whole image.Image) (address, said string) {
	for each := 1; ; each *= 2 {
		m, opaque := shrunk(whole, each)
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
			if _, few := whole.(*image.Paletted); few || !opaque || jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}) != nil {
				break
			}
			if address = "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes()); len(address) <= maxImage {
				return address, fmt.Sprintf("Drawn as a JPEG of quality %d%s.", quality, fewer)
			}
		}
	}
}

// shrunk returns a picture of the means of each × each pixels, and whether it is opaque.
func shrunk(whole image.Image, each int) (m image.Image, opaque bool) {
	if each == 1 {
		o, is := whole.(interface{ Opaque() bool })
		return whole, is && o.Opaque()
	}
	size := whole.Bounds().Size()
	all := image.NewNRGBA(image.Rect(0, 0, (size.X+each-1)/each, (size.Y+each-1)/each))
	for i := range all.Rect.Max.Y {
		for j := range all.Rect.Max.X {
			var sum [4]int
			n := 0
			for y := i * each; y < min((i+1)*each, size.Y); y++ {
				for x := j * each; x < min((j+1)*each, size.X); x++ {
					c := color.NRGBAModel.Convert(whole.At(x, y)).(color.NRGBA)
					for k, v := range [4]uint8{c.R, c.G, c.B, c.A} {
						sum[k] += int(v)
					}
					n++
				}
			}
			for k := range sum {
				all.Pix[4*(i*all.Rect.Max.X+j)+k] = uint8((sum[k] + n/2) / n)
			}
		}
	}
	if p, few := whole.(*image.Paletted); few { // the same colours
		fewer := newPixels(all.Rect.Max.Y, all.Rect.Max.X)
		for i := range fewer.Pix {
			c := p.Palette.Convert(color.NRGBA{all.Pix[4*i], all.Pix[4*i+1], all.Pix[4*i+2], all.Pix[4*i+3]}).(color.NRGBA)
			fewer.put(i, c)
		}
		return fewer.Paletted, false
	}
	return all, all.Opaque()
}
