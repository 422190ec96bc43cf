package chart

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"time"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/draw"
	"golang.org/x/image/font/opentype"
)

// canvas takes the shapes of a picture, in units of its own.
type canvas interface {
	unit() float64 // how many of its units a pixel of the page is
	color(c color.NRGBA)
	line(width float64, dash []float64)
	MoveTo(x, y float64)
	LineTo(x, y float64)
	ClosePath()
	fill()
	stroke()
	disc(x, y, radius float64)
	text(x, y, size, anchor float64, text string) // anchor is the share of the text that is to the left of x
	image(x, y, width, height float64, m image.Image)
	bytes() ([]byte, error)
}

// pngCanvas draws three pixels for one of the page.
type pngCanvas struct{ *gg.Context }

func newPNG(width, height float64) canvas {
	c := pngCanvas{gg.NewContext(int(3*width), int(3*height))}
	c.SetColor(color.White)
	c.Clear()
	c.SetLineJoinRound()
	c.SetLineCapButt()
	return c
}

func (c pngCanvas) unit() float64 { return 3 }

func (c pngCanvas) color(v color.NRGBA) { c.SetColor(v) }

func (c pngCanvas) line(width float64, dash []float64) {
	c.SetDash(dash...)
	c.SetLineWidth(width)
}

func (c pngCanvas) fill() { c.Fill() }

func (c pngCanvas) stroke() { c.Stroke() }

func (c pngCanvas) disc(x, y, radius float64) {
	c.DrawCircle(x, y, radius)
	c.Fill()
}

func (c pngCanvas) text(x, y, size, anchor float64, text string) {
	f, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return // it is part of this program
	}
	face, _ := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72}) // whose error is always nil
	c.SetFontFace(face)
	c.DrawStringAnchored(text, x, y, anchor, 0)
}

func (c pngCanvas) image(x, y, width, height float64, m image.Image) {
	into := image.Rect(int(x+0.5), int(y+0.5), int(x+width+0.5), int(y+height+0.5))
	draw.NearestNeighbor.Scale(c.Image().(draw.Image), into, m, m.Bounds(), draw.Over, nil)
}

func (c pngCanvas) bytes() ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, c.Image())
	return b.Bytes(), err
}

// pdfCanvas draws on one page, whose font it embeds.
type pdfCanvas struct {
	*fpdf.Fpdf
	images int
}

func newPDF(width, height float64) canvas {
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: 0.75 * width, Ht: 0.75 * height}})
	f.SetCatalogSort(true) // the same figure is the same file
	f.SetCreationDate(time.Unix(0, 0))
	f.SetModificationDate(time.Unix(0, 0))
	f.SetAutoPageBreak(false, 0)
	f.AddUTF8FontFromBytes("sans", "", liberationsansregular.TTF)
	f.AddPage()
	f.SetLineJoinStyle("round")
	return &pdfCanvas{Fpdf: f}
}

func (c *pdfCanvas) unit() float64 { return 0.75 }

func (c *pdfCanvas) color(v color.NRGBA) {
	c.SetFillColor(int(v.R), int(v.G), int(v.B))
	c.SetDrawColor(int(v.R), int(v.G), int(v.B))
	c.SetTextColor(int(v.R), int(v.G), int(v.B))
	c.SetAlpha(float64(v.A)/255, "Normal")
}

func (c *pdfCanvas) line(width float64, dash []float64) {
	c.SetDashPattern(dash, 0)
	c.SetLineWidth(width)
}

func (c *pdfCanvas) fill() { c.DrawPath("F") }

func (c *pdfCanvas) stroke() { c.DrawPath("D") }

func (c *pdfCanvas) disc(x, y, radius float64) { c.Circle(x, y, radius, "F") }

func (c *pdfCanvas) text(x, y, size, anchor float64, text string) {
	c.SetFont("sans", "", size)
	c.Text(x-anchor*c.GetStringWidth(text), y, text)
}

// leastSharp is the least side of a picture in a PDF: viewers soften the pixels of smaller ones.
const leastSharp = 1500

func (c *pdfCanvas) image(x, y, width, height float64, m image.Image) {
	size := m.Bounds().Size()
	each := max(1, leastSharp/max(size.X, size.Y))
	all := image.NewNRGBA(image.Rect(0, 0, each*size.X, each*size.Y)) // the library knows no palette with opacities
	draw.NearestNeighbor.Scale(all, all.Rect, m, m.Bounds(), draw.Src, nil)
	var b bytes.Buffer
	if err := png.Encode(&b, all); err != nil {
		c.SetError(err)
	}
	c.images++
	name, o := strconv.Itoa(c.images), fpdf.ImageOptions{ImageType: "PNG"}
	c.RegisterImageOptionsReader(name, o, &b)
	c.SetAlpha(1, "Normal")
	c.ImageOptions(name, x, y, width, height, false, o, 0, "")
}

func (c *pdfCanvas) bytes() ([]byte, error) {
	var b bytes.Buffer
	err := c.Output(&b)
	return b.Bytes(), err
}
