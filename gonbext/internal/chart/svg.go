package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
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

// channel is the red, green or blue of a colour such as #47a, from 0 to 15.
func channel(color string, i int) float64 {
	v, _ := strconv.ParseUint(color[1+i:2+i], 16, 8) // the colours are our own
	return float64(v)
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

// done is the picture as the src of an img.
func (d *drawing) done() markup {
	style := groundStyle
	for _, m := range markStyles {
		for _, use := range []string{`class="` + m.class + `"`, `class="` + m.class + ` `, ` ` + m.class + `">`} {
			if strings.Contains(d.String(), use) {
				style += "." + m.class + "{" + m.style + "}"
				break
			}
		}
	}
	return picture(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %v %v" width="%[1]v" height="%[2]v"><style>%[3]s</style><rect class="c" width="%[1]v" height="%[2]v"/>%[4]s</svg>`,
		d.width, d.height, style, d.String()))
}

// text writes s at x, y, with styles by class: k is around x, r to the left of it.
func (d *drawing) text(x, y float64, class, s string) {
	if s == "" {
		return
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

// key is a name and how what it names is drawn.
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
	d.text(12, 23, "", least)
	x := math.Round(20 + 6.6*float64(len(least)))
	d.printf(`<g stroke-width="11">`)
	for i := 0; i < len(heat); i += 2 { // a step of two is seen as well
		d.printf(`<path stroke="%s" d="M%s 18.5h32"/>`, heat[i], num(x))
		x += 32
	}
	d.printf(`</g>`)
	x += 8
	d.text(x, 23, "", most)
	return x + 30 + 6.6*float64(len(most))
}

// legend writes the names of series in rows from a place near the top. It returns the height that they took, and
// sets the path of each one's mark, a box or a dash, which what it names begins with.
func (d *drawing) legend(left, top, width float64, all []series, marks []string) (height float64) {
	x, y := left, top+18
	for i, s := range all {
		if s.kind == asBand {
			continue
		}
		w := 30 + 6.6*float64(len([]rune(s.name)))
		if x+w > left+width && x > left {
			x, y = left, y+18
		}
		if s.kind == asPoints {
			marks[i] = fmt.Sprintf("M%.0f %.0fh0", x+7, y-4)
		} else if s.line != "" {
			marks[i] = fmt.Sprintf("M%.0f %.0fh14", x, y-4)
		} else {
			marks[i] = fmt.Sprintf("M%.0f %.0fh12v10h-12z", x+1, y-9)
		}
		d.text(x+19, y, "", s.name)
		x += w
	}
	return y + 10 - top
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

func seconds(v float64) string {
	if v == 0 {
		return "0"
	}
	return strings.TrimSuffix(units.Duration(time.Duration(math.Round(v*float64(time.Second)))), " 00 s")
}
