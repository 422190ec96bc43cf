package chart

import (
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
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
		return paint(text, newPDF)
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
	body = strings.Replace(before+".t{font-size:16px;text-anchor:middle}"+after, "font:12px system-ui", "font:12px Helvetica,Arial,sans-serif", 1)
	top, head := 0.0, ""
	if title != "" {
		top = 30
		head = fmt.Sprintf(`<rect class="c" y="-30" width="%v" height="30.5"/><text x="%.0f" y="-8" class="t">%s</text>`, w, w/2, escape(clip(title, 90)))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 %v %v %v" width="%[2]v" height="%[3]v"><title>%s</title><desc>%s</desc>%s</svg>`,
		-top, w, h+top, escape(title), escape(alt), strings.TrimSuffix(body, "</svg>")+head) + "\n"
}

// look is how a shape is drawn: the attributes of an element and of those around it.
type look map[string]string

// classLooks are the styles by class, as groundStyle and markStyles have them.
var classLooks = map[string]look{
	"c": {"fill": "#fff"}, "m": {"opacity": ".8"}, "g": {"stroke": "#8884"}, "a": {"stroke": "gray"}, "r": {"anchor": "1"}, "k": {"anchor": ".5"},
	"t": {"anchor": ".5", "size": "16"},
}

// with returns a look with the attributes of an element in it.
func (l look) with(attributes []xml.Attr) look {
	l = maps.Clone(l)
	for _, a := range attributes {
		l[a.Name.Local] = a.Value
		if a.Name.Local == "class" {
			for _, class := range strings.Fields(a.Value) {
				maps.Copy(l, classLooks[class])
			}
		}
	}
	return l
}

func (l look) number(name string) float64 {
	v, _ := strconv.ParseFloat(l[name], 64)
	return v
}

// color returns the colour of what is filled or stroked, of opacity 0 where that is not drawn.
func (l look) color(name string) color.NRGBA {
	c := parsed(l[name])
	for _, of := range []string{"opacity", name + "-opacity"} {
		if l[of] != "" {
			c.A = uint8(math.Round(float64(c.A) * l.number(of)))
		}
	}
	return c
}

// paint draws the SVG of one of this package's drawings, which use a small part of that language.
func paint(svg string, on func(width, height float64) canvas) ([]byte, error) {
	var c canvas
	var top, unit float64
	looks := []look{{"fill": "#333", "stroke-width": "1", "size": "12"}}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF && c != nil {
			return c.bytes()
		}
		if err != nil {
			return nil, err
		}
		l := looks[len(looks)-1]
		switch e := token.(type) {
		case xml.CharData:
			if l["text"] != "" {
				c.color(l.color("fill"))
				c.text(unit*l.number("x"), unit*(l.number("y")-top), unit*l.number("size"), l.number("anchor"), string(e))
			}
		case xml.EndElement:
			looks = looks[:len(looks)-1]
		case xml.StartElement:
			l = l.with(e.Attr)
			looks = append(looks, l)
			x, y, w, h := unit*l.number("x"), unit*(l.number("y")-top), unit*l.number("width"), unit*l.number("height")
			switch e.Name.Local {
			case "svg":
				var left float64
				if _, err := fmt.Sscan(l["viewBox"], &left, &top, &w, &h); err != nil {
					return nil, fmt.Errorf("viewBox: %w", err)
				}
				c = on(w, h)
				unit = c.unit()
			case "text":
				l["text"] = "open"
			case "rect":
				l.draw(c, [][][2]float64{{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}, {x, y}}})
			case "path":
				l.draw(c, subpaths(l["d"], unit, top))
			case "image":
				_, data, _ := strings.Cut(l["href"], "base64,")
				m, _, err := image.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
				if err != nil {
					return nil, err
				}
				c.image(x, y, w, h, m)
			}
		}
	}
}

// draw fills and strokes a path. Round ends make a disc of a line of no length.
func (l look) draw(c canvas, path [][][2]float64) {
	trace := func() {
		for _, p := range path {
			c.MoveTo(p[0][0], p[0][1])
			for _, to := range p[1:] {
				c.LineTo(to[0], to[1])
			}
			if len(p) > 2 && p[0] == p[len(p)-1] {
				c.ClosePath()
			}
		}
	}
	if fill := l.color("fill"); fill.A > 0 {
		c.color(fill)
		trace()
		c.fill()
	}
	line, width := l.color("stroke"), c.unit()*l.number("stroke-width")
	if line.A == 0 {
		return
	}
	c.color(line)
	if l["stroke-linecap"] == "round" {
		path = slices.DeleteFunc(path, func(p [][2]float64) bool {
			isDot := len(p) == 2 && p[0][1] == p[1][1] && math.Abs(p[1][0]-p[0][0]) < 1
			if isDot {
				c.disc(p[0][0], p[0][1], width/2)
			}
			return isDot
		})
	}
	var dash []float64
	for _, length := range strings.Fields(l["stroke-dasharray"]) {
		v, _ := strconv.ParseFloat(length, 64)
		dash = append(dash, c.unit()*v)
	}
	if len(path) > 0 {
		c.line(width, dash)
		trace()
		c.stroke()
	}
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

// subpaths reads the data of a path of straight lines, below top; a closed one ends where it begins.
func subpaths(d string, unit, top float64) (all [][][2]float64) {
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
		return unit * v
	}
	for d != "" {
		before := len(d)
		if d[0] >= 'A' {
			command, d = d[0], d[1:]
		}
		switch command {
		case 'M', 'L':
			at = [2]float64{number(), number() - unit*top}
		case 'l':
			at = [2]float64{at[0] + number(), at[1] + number()}
		case 'h':
			at[0] += number()
		case 'H':
			at[0] = number()
		case 'v':
			at[1] += number()
		case 'V':
			at[1] = number() - unit*top
		case 'z':
			at = begin
		}
		if command == 'M' {
			begin, all = at, append(all, nil)
		}
		if len(d) == before || len(all) == 0 { // nothing that we write
			return all
		}
		if last := &all[len(all)-1]; *last == nil && command != 'M' { // after a z
			*last = [][2]float64{begin, at}
		} else {
			*last = append(*last, at)
		}
		d = strings.TrimLeft(d, " ,")
	}
	return all
}
