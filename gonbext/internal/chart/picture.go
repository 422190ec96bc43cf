package chart

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
)

// Picture returns the picture of a figure as a file of its own, on white, with its title: an SVG, a PNG of three pixels to one of
// the page, or a PDF, by the ending of a file's name. PNG and PDF are drawn from the SVG.
func Picture(c *record.Card, ending string) ([]byte, error) {
	if c.Figure == nil {
		return nil, fmt.Errorf("%s is no figure", plain(c.Title))
	}
	s, drawn := figureSheet(c)
	if drawn == nil {
		return nil, fmt.Errorf("%s", s.Verdict)
	}
	text, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(string(drawn.Picture), `src="data:image/svg+xml,`), `"`))
	if err != nil {
		return nil, err
	}
	text = standalone(text, plain(c.Figure.Title), drawn.Alt)
	switch ending {
	case ".svg":
		return []byte(text), nil
	case ".png":
		return paint(text, newPNG)
	case ".pdf":
		return paint(text, func(width, height float64) (canvas, error) {
			return newPDF(width, height, plain(c.Figure.Title), drawn.Alt)
		})
	}
	return nil, fmt.Errorf("%q: figures are saved as .svg, .png or .pdf", ending)
}

// standalone returns a figure's SVG as a file: on white whatever the reader prefers, with the title above it, and what it
// says to those who do not see it.
func standalone(svg, title, alt string) string {
	_, body, _ := strings.Cut(svg, ">")
	var w, h float64
	_, _ = fmt.Sscanf(svg[strings.Index(svg, "viewBox="):], "viewBox='0 0 %f %f'", &w, &h) // our own
	before, after, _ := strings.Cut(body, "@media")
	_, after, _ = strings.Cut(after, "}}")
	body = strings.Replace(before+after, "font:12px system-ui", "font:12px Helvetica,Arial,sans-serif", 1)
	top, head := 0.0, ""
	if title != "" {
		top = 30
		head = fmt.Sprintf(`<rect class="c" y="-30" width="%v" height="30.5"/><text x="%.0f" y="-8" style="font-size:16px;text-anchor:middle">%s</text>`, w, w/2, escape(clip(title, 90)))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 %v %v %v" width="%[2]v" height="%[3]v"><title>%s</title><desc>%s</desc>%s</svg>`,
		-top, w, h+top, escape(title), escape(alt), strings.TrimSuffix(body, "</svg>")+head) + "\n"
}

// canvas takes the shapes of a picture, in pixels of the page.
type canvas interface {
	fill(subpaths [][][2]float64, c color.NRGBA)
	stroke(subpaths [][][2]float64, s look)
	text(x, y, size, anchor float64, text string, c color.NRGBA) // anchor is the share of the text that is to the left of x
	image(x, y, width, height float64, m image.Image)
	bytes() ([]byte, error)
}

// look is how a shape is drawn.
type look struct {
	fill, line              color.NRGBA // of opacity 0: none
	width, opacity          float64
	fillOpacity, lineOpaque float64
	dash                    []float64
	round                   bool
	anchor, size            float64
}

// paint draws the SVG of one of this package's drawings, which use a small part of that language.
func paint(svg string, on func(width, height float64) (canvas, error)) ([]byte, error) {
	var c canvas
	var top float64
	looks := []look{{fill: color.NRGBA{51, 51, 51, 255}, width: 1, opacity: 1, fillOpacity: 1, lineOpaque: 1, size: 12}}
	var words *strings.Builder // of the text element that is open
	var at [2]float64
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return c.bytes()
		}
		if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.CharData:
			if words != nil {
				words.Write(e)
			}
		case xml.EndElement:
			l := looks[len(looks)-1]
			looks = looks[:len(looks)-1]
			if e.Name.Local == "text" {
				c.text(at[0], at[1]-top, l.size, l.anchor, words.String(), faded(l.fill, l.opacity))
				words = nil
			}
		case xml.StartElement:
			a := map[string]string{}
			for _, one := range e.Attr {
				a[one.Name.Local] = one.Value
			}
			number := func(name string) float64 { v, _ := strconv.ParseFloat(a[name], 64); return v }
			l := looks[len(looks)-1].with(a)
			looks = append(looks, l)
			switch e.Name.Local {
			case "svg":
				var w, h, left float64
				if _, err := fmt.Sscan(a["viewBox"], &left, &top, &w, &h); err != nil {
					return nil, fmt.Errorf("viewBox: %w", err)
				}
				if c, err = on(w, h); err != nil {
					return nil, err
				}
			case "rect":
				x, y, w, h := number("x"), number("y")-top, number("width"), number("height")
				l.draw(c, [][][2]float64{{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}, {x, y}}})
			case "path":
				l.draw(c, subpaths(a["d"], top))
			case "text":
				words, at = new(strings.Builder), [2]float64{number("x"), number("y")}
			case "image":
				_, data, _ := strings.Cut(a["href"], "base64,")
				b, err := base64.StdEncoding.DecodeString(data)
				if err != nil {
					return nil, err
				}
				m, _, err := image.Decode(bytes.NewReader(b))
				if err != nil {
					return nil, err
				}
				c.image(number("x"), number("y")-top, number("width"), number("height"), m)
			}
		}
	}
}

// with returns a look with the attributes of an element in it.
func (l look) with(a map[string]string) look {
	for _, class := range strings.Fields(a["class"]) {
		switch class {
		case "c":
			l.fill = color.NRGBA{255, 255, 255, 255}
		case "m":
			l.opacity = 0.8
		case "g":
			l.line = parsed("#8884")
		case "a":
			l.line = parsed("gray")
		case "r":
			l.anchor = 1
		case "k":
			l.anchor = 0.5
		}
	}
	if strings.Contains(a["style"], "anchor:middle") { // a title
		l.anchor, l.size = 0.5, 16
	}
	for name, value := range a {
		v, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "fill":
			l.fill = parsed(value)
		case "stroke":
			l.line = parsed(value)
		case "stroke-width":
			l.width = v
		case "opacity":
			l.opacity = v
		case "fill-opacity":
			l.fillOpacity = v
		case "stroke-opacity":
			l.lineOpaque = v
		case "stroke-linecap":
			l.round = value == "round"
		case "stroke-dasharray":
			l.dash = nil
			for _, length := range strings.Fields(value) {
				v, _ := strconv.ParseFloat(length, 64)
				l.dash = append(l.dash, v)
			}
		}
	}
	return l
}

func (l look) draw(c canvas, path [][][2]float64) {
	if f := faded(l.fill, l.opacity*l.fillOpacity); f.A > 0 {
		c.fill(path, f)
	}
	if l.line = faded(l.line, l.opacity*l.lineOpaque); l.line.A > 0 {
		c.stroke(path, l)
	}
}

func faded(c color.NRGBA, by float64) color.NRGBA {
	c.A = uint8(math.Round(float64(c.A) * by))
	return c
}

// parsed reads a colour of one of our drawings: #rgb, #rgba, #rrggbb or a name.
func parsed(s string) (c color.NRGBA) {
	switch digits := strings.TrimPrefix(s, "#"); {
	case s == "gray":
		return color.NRGBA{128, 128, 128, 255}
	case len(digits) == 3, len(digits) == 4:
		long := ""
		for _, d := range digits {
			long += string(d) + string(d)
		}
		return parsed(long)
	case len(digits) == 6:
		return parsed(digits + "ff")
	case len(digits) == 8:
		v, _ := strconv.ParseUint(digits, 16, 32)
		return color.NRGBA{uint8(v >> 24), uint8(v >> 16), uint8(v >> 8), uint8(v)}
	}
	return c // none
}

// subpaths reads the data of a path of straight lines; a closed one ends where it begins.
func subpaths(d string, top float64) (all [][][2]float64) {
	var at, begin [2]float64
	command := byte(0)
	number := func() float64 {
		d = strings.TrimLeft(d, " ,")
		end := 0
		for end < len(d) && (d[end] >= '0' && d[end] <= '9' || d[end] == '.' || d[end] == '-' && end == 0) {
			end++
		}
		v, _ := strconv.ParseFloat(d[:end], 64)
		d = d[end:]
		return v
	}
	for d = strings.TrimLeft(d, " ,"); d != ""; d = strings.TrimLeft(d, " ,") {
		before := len(d)
		if letter := d[0]; letter >= 'A' {
			command, d = letter, d[1:]
		}
		from := at
		switch command {
		case 'M':
			at = [2]float64{number(), number() - top}
			begin = at
			all = append(all, nil)
		case 'h':
			at[0] += number()
		case 'H':
			at[0] = number()
		case 'v':
			at[1] += number()
		case 'V':
			at[1] = number() - top
		case 'l':
			at = [2]float64{at[0] + number(), at[1] + number()}
		case 'L':
			at = [2]float64{number(), number() - top}
		case 'z':
			at = begin
		}
		if len(d) == before || len(all) == 0 { // nothing that we write
			return all
		}
		last := &all[len(all)-1]
		if *last == nil && command != 'M' {
			*last = [][2]float64{from}
		}
		*last = append(*last, at)
	}
	return all
}
