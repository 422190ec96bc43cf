package chart

import (
	_ "embed"
	"encoding/hex"
	"image"
	"image/color"
	"math"
	"strings"
	"sync"
)

// The scales of data, each 256 colours: viridis, which is in the public domain (CC0, Smith and van der Walt), from
// little to much; and one from blue over white to red with even steps of lightness in OKLab, for values of both signs.
// Both are even for the eye, also that of most people who see colours differently.
//
//go:embed scales.txt
var scalesText string

var scales = sync.OnceValue(func() *[2][256]color.NRGBA {
	all := new([2][256]color.NRGBA)
	for i, line := range strings.Fields(scalesText)[:2] {
		rgb, _ := hex.DecodeString(line) // which is our own
		for k := range all[i] {
			all[i][k] = color.NRGBA{rgb[3*k], rgb[3*k+1], rgb[3*k+2], 255}
		}
	}
	return all
})

// colourScale is the axis of a picture's colours.
type colourScale struct {
	axis
	grey    bool
	unknown color.NRGBA // of NaN
}

// leastSign is how large the lesser sign of values is beside the other one for both to have colours of their own.
const leastSign = 0.1

// newColourScale returns the scale of values from low to high, or of their logarithms.
func newColourScale(low, high float64, log bool, name string) *colourScale {
	if high = above(low, high); high <= low { // the largest of all numbers
		low /= 2
	}
	s := &colourScale{axis: axis{kind: "value", name: name, low: low, high: high}, unknown: color.NRGBA{136, 136, 136, 110}}
	if log {
		s.kind, s.low, s.high = "log", math.Pow(10, low), math.Pow(10, high)
	}
	s.ticks = s.axis.rounded(5)
	return s
}

// at returns the colour of a value; of a logarithmic scale, of its logarithm.
func (s *colourScale) at(v float64) color.NRGBA {
	if math.IsNaN(v) {
		return s.unknown
	}
	low, high, all := s.low, s.high, &scales()[0]
	if s.kind == "log" {
		low, high = math.Log10(low), math.Log10(high)
	}
	if largest := max(-low, high); s.kind != "log" && !s.grey && min(-low, high) >= leastSign*largest { // the middle is 0
		low, high, all = -largest, largest, &scales()[1]
	}
	share := min(max((v/2-low/2)/(high/2-low/2), 0), 1)
	if s.grey {
		level := uint8(math.Round(255 * share))
		return color.NRGBA{level, level, level, 255}
	}
	const last = 254 // with the unknown, that is as many as a palette has
	return all[int(math.Round(share*last)*255/last)]
}

// colourBar draws a scale from the bottom to the top, with its name above, which ends at right.
func (d *drawing) colourBar(s *colourScale, x, top, bottom, right float64) {
	const steps = 128
	bar := newPixels(steps, 1)
	low, high := s.low, s.high
	if s.kind == "log" {
		low, high = math.Log10(low), math.Log10(high)
	}
	for i := range steps {
		bar.put(i, s.at(high-(high-low)*((float64(i)+0.5)/steps)))
	}
	d.raster(x, top, 12, bottom-top, pngURL(bar.Paletted))
	for _, t := range s.ticks {
		d.text(x+18, bottom-(bottom-top)*s.share(t.at)+4, "m", t.label)
	}
	d.text(right-8, top-6, "r", clip(s.name, 50))
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
func (d *drawing) raster(x, y, w, h float64, address string) {
	d.printf(`<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="%s"/>`, num(x), num(y), num(w), num(h), address)
}
