package chart

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/draw"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// pngCanvas draws pixels, pngScale of them for one of the page.
type pngCanvas struct{ *gg.Context }

const pngScale = 3

func newPNG(width, height float64) (canvas, error) {
	c := pngCanvas{gg.NewContext(int(pngScale*width), int(pngScale*height))}
	c.SetColor(color.White)
	c.Clear()
	return c, nil
}

func (c pngCanvas) trace(subpaths [][][2]float64) {
	for _, path := range subpaths {
		c.NewSubPath()
		for i, p := range path {
			if i == 0 {
				c.MoveTo(pngScale*p[0], pngScale*p[1])
			} else {
				c.LineTo(pngScale*p[0], pngScale*p[1])
			}
		}
		if n := len(path); n > 2 && path[0] == path[n-1] {
			c.ClosePath()
		}
	}
}

func (c pngCanvas) fill(subpaths [][][2]float64, fill color.NRGBA) {
	c.SetColor(fill)
	c.trace(subpaths)
	c.Fill()
}

func (c pngCanvas) stroke(subpaths [][][2]float64, l look) {
	c.SetColor(l.line)
	lines := subpaths[:0:0]
	for _, path := range subpaths {
		if x, y, is := dot(path); is && l.round {
			c.DrawCircle(pngScale*x, pngScale*y, pngScale*l.width/2)
		} else {
			lines = append(lines, path)
		}
	}
	c.Fill()
	dash := make([]float64, len(l.dash))
	for i := range dash {
		dash[i] = pngScale * l.dash[i]
	}
	c.SetDash(dash...)
	c.SetLineWidth(pngScale * l.width)
	c.SetLineCapButt()
	c.SetLineJoinRound()
	c.trace(lines)
	c.Stroke()
}

// dot reports whether a path is one point, which round ends make a disc.
func dot(path [][2]float64) (x, y float64, is bool) {
	return path[0][0], path[0][1], len(path) == 2 && path[1][1] == path[0][1] && path[1][0]-path[0][0] < 0.2 && path[1][0] >= path[0][0]
}

func (c pngCanvas) text(x, y, size, anchor float64, text string, fill color.NRGBA) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return // it is part of this program
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: pngScale * size, DPI: 72})
	if err != nil {
		return
	}
	c.SetFontFace(face)
	c.SetColor(fill)
	c.DrawStringAnchored(text, pngScale*x, pngScale*y, anchor, 0)
}

func (c pngCanvas) image(x, y, width, height float64, m image.Image) {
	into := image.Rect(int(pngScale*x+0.5), int(pngScale*y+0.5), int(pngScale*(x+width)+0.5), int(pngScale*(y+height)+0.5))
	draw.NearestNeighbor.Scale(c.Image().(draw.Image), into, m, m.Bounds(), draw.Over, nil)
}

func (c pngCanvas) bytes() ([]byte, error) {
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, c.Image())
	return b.Bytes(), err
}

// pdfCanvas draws on one page, whose font it embeds.
type pdfCanvas struct {
	*fpdf.Fpdf
	images int
}

const pdfUnit = 0.75 // of a pixel of the page

func newPDF(width, height float64, title, alt string) (canvas, error) {
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: pdfUnit * width, Ht: pdfUnit * height}})
	f.SetTitle(title, true)
	f.SetSubject(alt, true)
	f.SetCatalogSort(true) // the same figure is the same file
	f.SetCreationDate(time.Unix(0, 0))
	f.SetModificationDate(time.Unix(0, 0))
	f.SetMargins(0, 0, 0)
	f.SetAutoPageBreak(false, 0)
	f.AddUTF8FontFromBytes("go", "", goregular.TTF)
	f.AddPage()
	f.SetLineJoinStyle("round")
	return &pdfCanvas{Fpdf: f}, f.Error()
}

func (c *pdfCanvas) trace(subpaths [][][2]float64) {
	for _, path := range subpaths {
		c.MoveTo(pdfUnit*path[0][0], pdfUnit*path[0][1])
		for _, p := range path[1:] {
			c.LineTo(pdfUnit*p[0], pdfUnit*p[1])
		}
		if n := len(path); n > 2 && path[0] == path[n-1] {
			c.ClosePath()
		}
	}
}

func (c *pdfCanvas) fill(subpaths [][][2]float64, fill color.NRGBA) {
	c.SetFillColor(int(fill.R), int(fill.G), int(fill.B))
	c.SetAlpha(float64(fill.A)/255, "Normal")
	c.trace(subpaths)
	c.DrawPath("F")
}

func (c *pdfCanvas) stroke(subpaths [][][2]float64, l look) {
	c.SetDrawColor(int(l.line.R), int(l.line.G), int(l.line.B))
	c.SetFillColor(int(l.line.R), int(l.line.G), int(l.line.B))
	c.SetAlpha(float64(l.line.A)/255, "Normal")
	lines := subpaths[:0:0]
	for _, path := range subpaths {
		if x, y, is := dot(path); is && l.round {
			c.Circle(pdfUnit*x, pdfUnit*y, pdfUnit*l.width/2, "F")
		} else {
			lines = append(lines, path)
		}
	}
	if len(lines) == 0 {
		return
	}
	dash := make([]float64, len(l.dash))
	for i := range dash {
		dash[i] = pdfUnit * l.dash[i]
	}
	c.SetDashPattern(dash, 0)
	c.SetLineWidth(pdfUnit * l.width)
	c.trace(lines)
	c.DrawPath("D")
}

func (c *pdfCanvas) text(x, y, size, anchor float64, text string, fill color.NRGBA) {
	c.SetFont("go", "", pdfUnit*size)
	c.SetTextColor(int(fill.R), int(fill.G), int(fill.B))
	c.SetAlpha(float64(fill.A)/255, "Normal")
	c.Text(pdfUnit*x-anchor*c.GetStringWidth(text), pdfUnit*y, text)
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
		return
	}
	c.images++
	name, o := string(rune('a'+c.images)), fpdf.ImageOptions{ImageType: "PNG"}
	c.RegisterImageOptionsReader(name, o, &b)
	c.SetAlpha(1, "Normal")
	c.ImageOptions(name, pdfUnit*x, pdfUnit*y, pdfUnit*width, pdfUnit*height, false, o, 0, "")
}

func (c *pdfCanvas) bytes() ([]byte, error) {
	var b bytes.Buffer
	err := c.Output(&b)
	return b.Bytes(), err
}
