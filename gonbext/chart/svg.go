package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// classColors tell the classes of memory apart on light and dark grounds, also
// for most people who see colours differently.
var classColors = [record.Classes]string{"#47a", "#f81", "#5a4", "#b7a", "#975", "#da1", "#499"}

const (
	budgetColor  = "#e55"
	plannedColor = "#86d"
	processColor = "#888"
	troubleColor = "#e07"
	edgeColor    = "#0008" // between two stacked colours
)

// heat is the scale of the heat maps, from little to much: even steps of
// lightness, readable without colour. Dark is less, on light grounds and on dark ones.
var heat = []string{"#417", "#728", "#b47", "#e66", "#f95", "#fc8", "#fec"}

// heatAt is the colour at x of the scale, 0 to 1.
func heatAt(x float64) string {
	x = min(max(x, 0), 1) * float64(len(heat)-1)
	i := min(int(x), len(heat)-2)
	var a, b [3]int
	fmt.Sscanf(heat[i], "#%1x%1x%1x", &a[0], &a[1], &a[2])
	fmt.Sscanf(heat[i+1], "#%1x%1x%1x", &b[0], &b[1], &b[2])
	for k := range a {
		a[k] = int(math.Round(17 * (float64(a[k]) + (x-float64(i))*float64(b[k]-a[k]))))
	}
	return fmt.Sprintf("#%02x%02x%02x", a[0], a[1], a[2])
}

// drawing is a picture in the making. It brings a ground of its own: as an img
// it cannot know the page's, only whether the reader prefers dark. What it says to those
// who do not see it is the img's to say.
type drawing struct {
	strings.Builder
	width, height float64
}

const groundStyle = `svg{font:12px system-ui;fill:#333}.c{fill:#fff}@media(prefers-color-scheme:dark){svg{fill:#ddd}.c{fill:#1b1b1b}}`

// markStyles are the styles by class, of which a drawing has those that it uses.
var markStyles = []struct{ class, style string }{
	{"r", "text-anchor:end"}, {"k", "text-anchor:middle"}, {"m", "opacity:.8"}, {"g", "stroke:#8884"}, {"a", "stroke:gray"},
}

func newDrawing(width, height float64) *drawing { return &drawing{width: width, height: height} }

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// escape makes a text safe between tags and in attributes of the picture, and
// well-formed: XML has no control characters.
func escape(s string) string { return html.EscapeString(plain(s)) }

func (d *drawing) done() string {
	style := groundStyle
	for _, m := range markStyles {
		for _, use := range []string{`class="` + m.class + `"`, `class="` + m.class + ` `, ` ` + m.class + `">`} {
			if strings.Contains(d.String(), use) {
				style += "." + m.class + "{" + m.style + "}"
				break
			}
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %v %v" width="%[1]v" height="%[2]v"><style>%[3]s</style><rect class="c" width="%[1]v" height="%[2]v"/>%[4]s</svg>`,
		d.width, d.height, style, d.String())
}

// text writes s at x, y; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, class, s string) {
	switch anchor {
	case "middle":
		class = strings.TrimSpace(class + " k")
	case "end":
		class = strings.TrimSpace(class + " r")
	}
	if class != "" {
		class = ` class="` + class + `"`
	}
	d.printf(`<text x="%.0f" y="%.0f"%s>%s</text>`, x, y, class, escape(s))
}

// num writes a coordinate to a tenth of a pixel.
func num(x float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
}

// key is one entry of a legend.
type key struct {
	name, color string
	line        stroke
}

// stroke is how a line is drawn; an area has none.
type stroke string

const (
	dashed stroke = "5 3"
	dotted stroke = "2 2"
	// dashDot tells a second limit from the first one without colour.
	dashDot stroke = "8 3 2 3"
)

// scale draws the colours of a heat map with its ends, and returns where it ends.
func (d *drawing) scale(least, most string) float64 {
	d.text(12, 23, "start", "", least)
	x := math.Round(20 + 6.6*float64(len(least)))
	d.printf(`<g stroke-width="11">`)
	for i := 0; i < len(heat); i += 2 { // a step of two is seen as well
		d.printf(`<path stroke="%s" d="M%s 18.5h32"/>`, heat[i], num(x))
		x += 32
	}
	d.printf(`</g>`)
	x += 8
	d.text(x, 23, "start", "", most)
	return x + 30 + 6.6*float64(len(most))
}

// lineType is a stroke as ECharts names it; the script knows the others.
func lineType(s stroke) string {
	switch s {
	case "":
		return "solid"
	case dotted:
		return "dotted"
	case dashed:
		return "dashed"
	}
	return "gonbext:" + string(s)
}

// legend writes the names of keys in rows from the top. It returns the height that they
// took and the path of each one's mark, a box or a dash, which what it names begins with.
func (d *drawing) legend(keys []key) (height float64, marks []string) {
	x, y := 12.0, 18.0
	for _, k := range keys {
		w := 30 + 6.6*float64(len([]rune(k.name)))
		if x+w > d.width && x > 12 {
			x, y = 12, y+18
		}
		if k.line != "" {
			marks = append(marks, fmt.Sprintf("M%.0f %.0fh14", x, y-4))
		} else {
			marks = append(marks, fmt.Sprintf("M%.0f %.0fh12v10h-12z", x+1, y-9))
		}
		d.text(x+19, y, "start", "", k.name)
		x += w
	}
	return y + 10, marks
}

// draw draws the marks of keys by themselves.
func (d *drawing) draw(keys []key, marks []string) {
	for i, k := range keys {
		if k.line == "" {
			d.printf(`<path d="%s" fill="%s"/>`, marks[i], k.color)
		} else {
			d.printf(`<path d="%s" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`, marks[i], k.color, k.line)
		}
	}
}

// plot is a frame with axes inside a drawing.
type plot struct {
	*drawing
	left, top, right, bottom float64
	xMax, yMax               float64
}

// frame draws a plot below top, with lines at values up to yMax bytes; the axis along the
// bottom is the caller's to draw.
func (d *drawing) frame(top, xMax, yMax float64) *plot {
	p := &plot{drawing: d, left: 70, right: d.width - 16, top: top, bottom: d.height - 38, xMax: max(xMax, 1e-9), yMax: max(yMax, 1)}
	step := byteStep(p.yMax)
	var lines strings.Builder
	d.printf(`<g class="m r">`)
	for v := 0.0; v <= p.yMax*1.0001; v += step {
		y := p.y(v)
		fmt.Fprintf(&lines, "M%s %.0fH%s", num(p.left), y, num(p.right))
		d.text(p.left-6, y+4, "start", "", units.Bytes(int64(v)))
	}
	d.printf(`</g><path class="g" d="%s"/>`, lines.String())
	return p
}

func (p *plot) x(v float64) float64 { return p.left + (p.right-p.left)*v/p.xMax }
func (p *plot) y(v float64) float64 { return p.bottom - (p.bottom-p.top)*v/p.yMax }

// axis is the path of the line along the bottom.
func (p *plot) axis() string {
	return fmt.Sprintf("M%s %sH%s", num(p.left), num(p.bottom), num(p.right))
}

// tick writes a label below the axis.
func (p *plot) tick(v float64, label string) {
	x := p.x(v)
	p.printf(`<path class="a" d="M%s %sv4"/>`, num(x), num(p.bottom))
	anchor := "middle"
	if x > p.right-20 {
		anchor = "end"
	}
	p.text(x, p.bottom+17, anchor, "m", label)
}

// level draws a key's mark and lines at the levels across the plot that are inside.
func (p *plot) level(levels []span, k key, mark string) {
	for _, l := range levels {
		if v := float64(l.predicted); v > 0 && v <= p.yMax {
			mark += fmt.Sprintf("M%s %sH%s", num(p.x(l.From)), num(p.y(v)), num(p.x(l.To)))
		}
	}
	p.printf(`<path d="%s" stroke="%s" stroke-width="1.6" stroke-dasharray="%s"/>`, mark, k.color, k.line)
}

// byteStep is a round step in binary units that gives four to eight lines.
func byteStep(most float64) float64 {
	step := 1.0
	for step*8 < most {
		step *= 2
	}
	return step
}

// roundStep is 1, 2 or 5 times a power of ten that gives at most n ticks.
func roundStep(most float64, n int) float64 {
	if most <= 0 {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most/float64(n))))
	for _, k := range []float64{1, 2, 5, 10} {
		if most/(k*step) <= float64(n) {
			return k * step
		}
	}
	return 10 * step
}

// timeTicks draws the axis of times along the bottom.
func (p *plot) timeTicks() {
	step := roundStep(p.xMax, 6)
	if p.xMax > 120 {
		// Whole minutes read better than their hundreds of seconds.
		step = 60 * math.Max(1, roundStep(p.xMax/60, 6))
	}
	p.printf(`<path class="a" d="%s"/><g class="m k">`, p.axis())
	for v := 0.0; v <= p.xMax*1.0001; v += step {
		x, class := p.x(v), ""
		if x > p.right-20 {
			class = "r"
		}
		p.text(x, p.bottom+17, "start", class, seconds(v))
	}
	p.printf(`</g>`)
}

func seconds(v float64) string {
	if v == 0 {
		return "0"
	}
	return strings.TrimSuffix(units.Duration(time.Duration(math.Round(v*float64(time.Second)))), " 00 s")
}
