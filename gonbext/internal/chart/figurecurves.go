package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// curveColors and curveStrokes tell the lines of a plot apart, by colour and without. The colours are those of Okabe and Ito,
// the first lighter: they are seen on white and on black.
var (
	curveColors  = []string{"#1b87c9", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8a63d2", "#7f7f7f"}
	curveStrokes = []stroke{"", dashed, dotted, dashDot, "9 3", "1 4", "8 2 2 2 2 2", "3 5"}
)

// maxMarked is how many points a line has at most for each to get a mark of its own.
const maxMarked = 60

// curvesLine says what a plot shows.
func curvesLine(f *record.Figure) string {
	var lists []record.Floats
	longest, step := 0, 1
	for _, c := range f.Curves {
		lists = append(lists, c.Mean, c.Low, c.High)
		longest, step = max(longest, c.Length), max(step, c.Step)
	}
	line := counted(longest, "element", "elements")
	if n := len(f.Curves); n > 1 {
		line = fmt.Sprintf("%d series of up to %s", n, line)
	}
	if low, high, ok := finite(lists...); ok {
		line += fmt.Sprintf(" from %.6g to %.6g", low, high)
	} else if longest > 0 {
		line += ", none of them finite"
	}
	if step > 1 {
		line += ", " + units.Count(int64(step)) + " behind a point"
	}
	return line
}

// plotDrawing draws curves; nil where there is nothing to draw.
func plotDrawing(f *record.Figure, alt string) *figure {
	g, said := plotGraph(f)
	if g == nil {
		return nil
	}
	out := &figure{Caption: said, Alt: "Line chart: " + alt, live: live{Height: 360}}
	if g.scale != nil {
		out.Alt, out.Picture = "Scatter plot: "+alt, g.svg(float64(out.Height)-20)
		return out
	}
	return g.draw(out)
}

// plotAxis returns the axis of values; those of a logarithmic one are greater than 0.
func plotAxis(low, high float64, kind, name string) axis {
	a := axis{kind: kind, name: plain(name), low: low, high: high}
	if high <= low {
		a.low, a.high, _ = numberAxis(low, high)
		if kind == "log" {
			a.low, a.high = low/2, high*2
		}
	}
	a.ticks = a.rounded(8)
	return a
}

// plotGraph describes curves, and says how their lines come about; it is nil where there is nothing to draw.
func plotGraph(f *record.Figure) (g *graph, said string) {
	curves := slices.Clone(f.Curves)
	logX, logY := strings.Contains(f.Log, "x"), strings.Contains(f.Log, "y")
	var lists []record.Floats
	var places record.Floats
	lost, colours, sizes := 0, record.Floats{}, record.Floats{}
	for i := range curves {
		c := &curves[i]
		n := max(len(c.Mean), len(c.Low))
		if len(c.X) != n {
			c.X = make([]float64, n)
			for j := range c.X { // the middle of a block
				c.X[j] = float64(j*c.Step+min((j+1)*c.Step, c.Length)-1) / 2
			}
		}
		for _, list := range []*record.Floats{&c.Mean, &c.Low, &c.High} {
			*list = slices.Clone(*list)
			for j, v := range *list {
				if math.IsInf(v, 0) {
					(*list)[j] = math.NaN()
				} else if logY && v <= 0 || logX && c.X[j] <= 0 {
					(*list)[j] = math.NaN()
					lost++
				}
			}
			for j, v := range *list {
				if !math.IsNaN(v) {
					places = append(places, c.X[j])
				}
			}
		}
		lists = append(lists, c.Mean, c.Low, c.High)
		colours, sizes = append(colours, c.Color...), append(sizes, c.Size...)
	}
	low, high, ok := finite(lists...)
	left, right, _ := finite(places)
	ranged := f.Low < f.High
	if ranged {
		low, high = f.Low, f.High
	}
	bottom, top, step := numberAxis(low, high)
	if ranged {
		bottom, top = low, high
	}
	if !ok || !(top-bottom <= math.MaxFloat64) { // longer than a float64 counts
		return nil, ""
	}
	g = &graph{fine: true, legend: len(curves) > 1, base: axis{kind: "value", name: plain(f.X), low: left, high: right}}
	g.value = axis{kind: "value", name: plain(f.Y), low: bottom, high: top, ticks: ticksAt(bottom, top, step, numberLabel), format: "gonbext:number"}
	if logY && (!ranged || low > 0) {
		g.value = plotAxis(low/1.1, high*1.1, "log", f.Y)
		g.value.ticks = g.value.rounded(6)
	}
	switch a := f.Across; {
	case a != nil && len(a.Texts) > 0:
		g.base.names = a.Texts
		g.base.low, g.base.high = -0.5, float64(len(a.Texts))-0.5
		for i, every := 0, 1+(len(a.Texts)-1)/12; i < len(a.Texts); i += every {
			g.base.ticks = append(g.base.ticks, tick{float64(i), clip(plain(a.Texts[i]), 60*every/len(a.Texts)+6)})
		}
	case a != nil && a.Time:
		g.base = plotAxis(left, right, "date", f.X)
	case logX:
		g.base = plotAxis(left, right, "log", f.X)
	case len(f.Curves[0].X) == 0: // indices
		g.base.low, g.base.high, g.base.step = 0, max(right, 1), 1
		for _, c := range curves {
			g.base.high = max(g.base.high, float64(c.Length-1))
		}
		g.base.ticks = roundTicks(0, g.base.high, 8, 1, countLabel)
	default:
		g.base = plotAxis(left, right, "value", f.X)
	}
	if slices.ContainsFunc(curves, func(c record.Curve) bool { return c.Points }) && f.Across != nil && len(f.Across.Texts) == 0 { // no mark is cut
		pad(&g.base, 0.02)
	}
	if low, high, ok := finite(colours); ok {
		g.scale = newColourScale(low, high, false, plain(f.Label))
	}
	least, most, _ := finite(sizes)
	lines := 0
	for i := range curves {
		c := within(curves[i], g.value.low, g.value.high)
		s := series{key: key{cmp.Or(clip(plain(c.Name), 40), "curve "+strconv.Itoa(i+1)), curveColors[lines%len(curveColors)], curveStrokes[lines%len(curveStrokes)]},
			width: 2, marks: c.Step == 1 && len(c.Mean) <= maxMarked && len(c.Low) == 0, x: c.X}
		short := func(list []float64) []float64 { // a picture shows no more, and bytes count
			for j, v := range list {
				list[j] = digits(v, 5)
			}
			return list
		}
		if len(c.Low) > 0 {
			band := series{key: s.key, kind: asBand, x: s.x, low: short(c.Low), y: short(c.High)}
			if len(c.Mean) == 0 {
				band.kind, band.line = asSpread, ""
			} else if !c.Band {
				said = "Lines are means of blocks; the bands around them reach from the least to the greatest element."
			}
			g.series = append(g.series, band)
		}
		if len(c.Mean) == 0 { // the line that follows has its colour
			continue
		}
		lines++
		if s.y = short(c.Mean); c.Points {
			s.kind, s.width, s.marks, s.line = asPoints, min(max(60/math.Sqrt(float64(len(s.y)+1)), 3), 7), false, ""
			for j := range c.Color {
				s.colors = append(s.colors, hexOf(g.scale.at(c.Color[j])))
			}
			for _, v := range c.Size { // by their areas
				size := 3.0
				if most > least && !math.IsNaN(v) {
					size = math.Round(2*(3+15*math.Sqrt((v-least)/(most-least)))) / 2
				}
				s.sizes = append(s.sizes, size)
			}
		}
		g.series = append(g.series, s)
	}
	if lost > 0 {
		said = strings.TrimSpace(said + " " + counted(lost, "value has", "values have") + " no place on a logarithmic axis.")
	}
	return g, said
}

// pad makes an axis longer at both ends.
func pad(a *axis, by float64) {
	if a.kind == "log" {
		k := math.Pow(a.high/a.low, by)
		a.low, a.high = a.low/k, a.high*k
		return
	}
	length := a.high - a.low
	a.low, a.high = a.low-by*length, a.high+by*length
}

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// panelsDrawing draws plots below each other along one axis.
func panelsDrawing(f *record.Figure, alt string) *figure {
	var all []*graph
	var base axis
	left := 70.0
	for i := range f.Panels {
		g, _ := plotGraph(&f.Panels[i])
		if g == nil {
			continue
		}
		if g.title = plain(f.Panels[i].Title); g.title == "" && len(f.Panels[i].Curves) == 1 { // which has no legend
			g.title = plain(f.Panels[i].Curves[0].Name)
		}
		if len(all) == 0 {
			base = g.base
		}
		if g.base.kind == base.kind {
			base.low, base.high = min(base.low, g.base.low), max(base.high, g.base.high)
			base.name = cmp.Or(g.base.name, base.name)
		}
		for _, t := range g.value.ticks {
			left = max(left, 22+6.8*float64(utf8.RuneCountInString(t.label)))
		}
		all = append(all, g)
	}
	if len(all) == 0 {
		return nil
	}
	if base.names == nil {
		base.ticks = base.rounded(8)
	}
	height := max(130, 260-30*float64(len(all)))
	d := newDrawing(760, 40)
	for i, g := range all {
		y, legend := d.height-40, 0.0
		if g.legend {
			legend = 24
		}
		if g.base.kind == base.kind { // else it has its own
			g.base = base
			if i < len(all)-1 {
				g.base = base.silent()
				g.base.name = ""
			}
		}
		g.inset = &[4]float64{left, 26, 16, 8}
		if i == len(all)-1 || g.base.name != "" || g.base.kind != base.kind {
			g.inset[3] = 44
		}
		h := height + legend + g.inset[3]
		g.into(d, y, d.width, h)
		d.height += h
	}
	d.height -= 40
	return &figure{Alt: "Line charts below each other: " + alt, Picture: d.done()}
}

// within returns a curve whose values are clamped to a range.
func within(c record.Curve, low, high float64) *record.Curve {
	for _, list := range []*record.Floats{&c.Mean, &c.Low, &c.High} {
		*list = slices.Clone(*list)
		for i, v := range *list {
			(*list)[i] = min(max(v, low), high)
		}
	}
	return &c
}

func histLine(c *record.Card) string {
	f := c.Figure
	if len(f.Counts) == 0 {
		return nothingFinite(c)
	}
	var all int64
	for _, n := range f.Counts {
		all += n
	}
	most := slices.Max(f.Counts)
	at := slices.Index(f.Counts, most)
	return fmt.Sprintf("%s elements in %s from %.6g to %.6g · the fullest, %.6g to %.6g, has %s", units.Count(all), counted(len(f.Counts), "bin", "bins"),
		f.Edges[0], f.Edges[len(f.Edges)-1], f.Edges[at], f.Edges[at+1], units.Count(most))
}

func histDrawing(f *record.Figure, alt string) *figure {
	n := len(f.Counts)
	if n == 0 || len(f.Edges) != n+1 {
		return nil
	}
	out := &figure{Alt: "Histogram: " + alt, live: live{Height: 320}}
	low, high := f.Edges[0], f.Edges[n]
	_, top, _ := numberAxis(0, float64(slices.Max(f.Counts)))
	g := graph{
		base:    axis{kind: "value", name: plain(f.X), low: low, high: high, ticks: roundTicks(low, high, 8, 0, numberLabel), format: "gonbext:number"},
		value:   axis{kind: "value", name: plain(f.Y), high: max(top, 1), step: 1, ticks: roundTicks(0, top, 5, 1, countLabel)},
		gap:     0.04,
		tooltip: "gonbext:bin",
	}
	elements := series{kind: asBars, key: key{name: "elements", color: curveColors[0]}, x: f.Edges}
	for i, k := range f.Counts {
		elements.y = append(elements.y, float64(k))
		elements.names = append(elements.names, fmt.Sprintf("%.4g to %.4g", f.Edges[i], f.Edges[i+1]))
	}
	g.series = []series{elements}
	return g.draw(out)
}
