package chart

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"sync"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

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

func heatMapDrawing(c *record.Card, alt string) *figure {
	f := c.Figure
	low, high, ok := finite(f.Means)
	if !ok || f.Rows < 1 || f.Cols < 1 || f.Rows*f.Cols != len(f.Means) || math.IsInf(high-low, 0) {
		return nil
	}
	if f.Low < f.High {
		low, high = f.Low, f.High
	}
	out := &figure{Title: cmp.Or(plain(f.Title), "Heat map"), Caption: "Down: " + cmp.Or(plain(f.Y), "axis 0") + "; across: " + cmp.Or(plain(f.X), "axis 1") + ".", Alt: "Heat map: " + alt, live: live{Block: f.Block, Shape: c.Shape}}
	layout := downsampledGrid{rows: f.Rows, cols: f.Cols, cells: len(f.Means)}
	out.Cells = layout.columns(column(len(f.Means), func(i int) float64 { return near(f.Means[i], low, high, 1000) }))
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
	m := heatMap{left: left, width: w, height: h, tooltip: "gonbext:block", name: func(v float64) string { return fmt.Sprintf("%.5g", v) }, unknown: "nothing finite", shades: heatShades}
	m.across = axis{high: shape[1], ticks: roundTicks(0, shape[1], max(min(6, int(w/60)), 1), 1, countLabel)}
	m.down = axis{high: shape[0], ticks: roundTicks(0, shape[0], max(min(6, int(h/24)), 1), 1, countLabel)}
	out.Switch = []choice{{"value", 2, low, above(low, high)}}
	m.draw(out).Height += 26
	return out
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

// pixels is a picture of at most 256 colours. Its palette has them in the order of their first use.
type pixels struct {
	*image.Paletted
	index map[color.NRGBA]uint8
}

func newPixels(rows, cols int) pixels {
	return pixels{image.NewPaletted(image.Rect(0, 0, cols, rows), nil), map[color.NRGBA]uint8{}}
}

// put sets the colour of pixel i, counted row by row.
func (p pixels) put(i int, c color.NRGBA) {
	at, seen := p.index[c]
	if !seen {
		at = uint8(len(p.index))
		p.index[c], p.Palette = at, append(p.Palette, c)
	}
	p.Pix[i] = at
}

// raster draws a picture whose pixels are seen as rectangles.
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

// encoded returns a picture as a data URL of at most maxImage characters: a PNG, else a JPEG, else
// either of fewer pixels. said tells the reader of the figure which of these it is; it is empty for
// the whole picture.
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

// shrunk returns a picture of the means of each × each pixels, and whether it is opaque.
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

// imageDrawing draws an image, without a script; nil where the record does not hold its pixels.
func imageDrawing(f *record.Figure, alt string) *figure {
	if f.Rows < 1 || f.Cols < 1 || len(f.Pixels) != 4*f.Rows*f.Cols {
		return nil
	}
	address, said := encoded(f)
	scale := max(1, 480/max(f.Rows, f.Cols)) // pixels of a small picture are large
	return &figure{Title: cmp.Or(plain(f.Title), "Image"), Alt: "Image: " + alt, Caption: said, Picture: source(address), Width: f.Cols * scale}
}
