package chart

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// svg returns the picture.
func (g *graph) svg(height float64) markup {
	d := newDrawing(760, height)
	g.into(d, 0, d.width, height)
	return d.done()
}

// into draws the graph into a drawing, from a height on.
func (g *graph) into(d *drawing, y, width, height float64) {
	p := &plot{drawing: d, graph: g, left: 70, right: width - 16, top: y + 16, bottom: y + height - 38}
	for _, t := range g.value.ticks {
		p.left = max(p.left, 22+6.8*float64(utf8.RuneCountInString(t.label)))
	}
	if g.inset != nil {
		p.left, p.top, p.right, p.bottom = g.inset[0], y+g.inset[1], width-g.inset[2], y+height-g.inset[3]
	}
	marks := make([]string, len(g.series))
	row := 0.0 // room for texts right above the plot, which is that of the inset
	if (g.inset == nil || g.legend) && (g.value.name != "" || g.title != "" || g.scale != nil && g.scale.name != "") {
		row = 12
		if g.legend {
			row = 16
		}
	}
	if g.legend {
		top := d.legend(12, p.top-16, width-12, g.series, marks)
		p.top += top - 16
	}
	if len(g.spans) > 0 {
		p.top += spanHeight
		p.drawSpans()
	}
	p.top += row
	d.text(p.left, p.top-6, "", clip(g.value.name, int((p.right-p.left)/7)))
	d.text((p.left+p.right)/2, p.top-6, "k", clip(g.title, int((p.right-p.left)/6)))
	if g.base.name != "" {
		d.text((p.left+p.right)/2, y+height-6, "k", clip(g.base.name, 80))
		if g.inset == nil {
			p.bottom -= 8
		}
	}
	if g.scale != nil && g.inset == nil {
		p.right = width - barWidth
	}
	if g.raster != "" {
		d.raster(p.left, p.top, p.right-p.left, p.bottom-p.top, g.raster)
	}
	if g.scale != nil {
		d.colourBar(g.scale, p.right+14, p.top, p.bottom, width)
	}
	p.lines()
	p.baseline()
	p.stack(marks)
	for i := range g.series {
		switch s := &g.series[i]; s.kind {
		case asBand, asSpread:
			p.band(s, marks[i])
		case asLine:
			p.line(s, marks[i])
		case asPoints:
			p.points(s, marks[i])
		}
	}
	for _, n := range g.notes {
		w := 6.4*float64(utf8.RuneCountInString(n.text)) + 4
		d.printf(`<rect class="c" x="%s" y="%s" width="%s" height="14" fill-opacity=".75"/>`, num(p.along(n.x)-w/2), num(p.up(n.y)-7), num(w))
		d.text(p.along(n.x), p.up(n.y)+4, "k", n.text)
	}
}

// barWidth is the room for a bar of colours.
const barWidth = 90

// plot is the place of a graph in a drawing.
type plot struct {
	*drawing
	*graph
	left, top, right, bottom float64
}

// along returns the pixel of a place on the base axis.
func (p *plot) along(v float64) float64 {
	return p.left + (p.right-p.left)*p.base.share(v)
}

// up returns the pixel of a value.
func (p *plot) up(v float64) float64 {
	return p.bottom - (p.bottom-p.top)*p.value.share(v)
}

// path returns one that is not begun.
func (p *plot) path() polyline { return polyline{fine: p.fine} }

// lines draws a line across the plot at each tick of the value axis, with its label.
func (p *plot) lines() {
	var lines strings.Builder
	p.printf(`<g class="m r">`)
	for _, t := range p.value.ticks {
		at := p.up(t.at)
		fmt.Fprintf(&lines, "M%s %.0fH%s", num(p.left), at, num(p.right))
		p.text(p.left-6, at+4, "", t.label)
	}
	p.printf(`</g>`)
	if p.graph.raster != "" { // which is not to be crossed
		return
	}
	p.printf(`<path class="g" d="%s"/>`, lines.String())
}

// baseline draws the base axis with its labels.
func (p *plot) baseline() {
	marks := fmt.Sprintf("M%s %sH%s", num(p.left), num(p.bottom), num(p.right))
	p.printf(`<g class="m k">`)
	for _, t := range p.base.ticks {
		at := p.along(t.at)
		switch {
		case at > p.right-20:
			p.text(at, p.bottom+17, "r", t.label)
		default:
			p.text(at, p.bottom+17, "", t.label)
		}
		if p.base.kind != "time" { // a report has several: its bytes count
			marks += fmt.Sprintf("M%s %sv4", num(at), num(p.bottom))
		}
	}
	p.printf(`</g>`)
	p.printf(`<path class="a" d="%s"/>`, marks)
}

// spanHeight is the room above a plot for its spans.
const spanHeight = 20

// spanColors tell a span from the next.
var spanColors = [2]string{"#47a", "#888"}

func (p *plot) drawSpans() {
	for i, sp := range p.spans {
		x, width := p.along(sp.From), max(p.along(sp.To)-p.along(sp.From), 2)
		p.printf(`<rect x="%s" y="%s" width="%s" height="15" fill="%s" opacity=".35"/>`, num(x), num(p.top-spanHeight), num(width), spanColors[i%2])
		if name := clip(sp.Name, int(width/6.6)-1); name != "" {
			p.text(x+4, p.top-spanHeight+12, "", name)
		}
	}
}

// stack draws areas and bars on top of each other, the highest first: each hides what is below it
// of the one before. Each begins with its mark, and several have edges that tell them from their neighbours
// without colour.
func (p *plot) stack(marks []string) {
	var paths []string
	var sum []float64
	for i := range p.series {
		s := &p.series[i]
		if !s.stacked() {
			continue
		}
		if sum == nil {
			sum = make([]float64, len(s.y))
		}
		for k, v := range s.y {
			sum[k] += v
		}
		paths = append(paths, fmt.Sprintf(`<path d="%sz" fill="%s"/>`, marks[i]+p.outline(s, sum), s.color))
	}
	if len(paths) == 0 {
		return
	}
	if len(paths) > 1 {
		p.printf(`<g stroke="%s" stroke-width=".7">`, edgeColor)
		defer p.printf(`</g>`)
	}
	for i := range paths {
		p.WriteString(paths[len(paths)-1-i])
	}
}

// outline returns the path around the area below the tops of a series.
func (p *plot) outline(s *series, tops []float64) string {
	var path polyline // of whole pixels: bars have sharp edges
	floor := p.up(p.value.low)
	path.to(p.along(s.x[0]), floor)
	for i, top := range tops {
		from, to, gap := p.along(s.x[i]), p.along(s.x[i]), 0.0
		if s.kind == asBars {
			from, to = math.Round(from), math.Round(p.along(s.x[i+1]))
			if gap = math.Round(p.gap * (to - from)); p.gap > 0 && to-from > 2 {
				gap = max(gap, 1)
			}
			from, to = from+math.Ceil(gap/2), to-math.Floor(gap/2)
		}
		if gap > 0 {
			path.to(from, floor)
		}
		path.to(from, p.up(top))
		path.to(to, p.up(top))
		if gap > 0 {
			path.to(to, floor)
		}
	}
	path.to(p.along(s.x[len(s.x)-1]), floor)
	return path.done()
}

// line draws a line with gaps where values are NaN. A point without neighbours is a dot.
func (p *plot) line(s *series, mark string) {
	var path, dots strings.Builder
	for from, to := range numbers(s.y) {
		line := p.path()
		for i := from; i < to; i++ {
			along, up := p.along(s.x[i]), p.up(s.y[i])
			line.to(along, up)
			if s.marks || to-from == 1 {
				fmt.Fprintf(&dots, "M%.0f %.0fh.1", along, up) // a round end on both sides
			}
		}
		path.WriteString(line.done())
	}
	dash := ""
	if s.line != "" {
		dash = fmt.Sprintf(` stroke-dasharray="%s"`, s.line)
	} else if mark != "" { // a box, which is filled
		p.printf(`<path d="%s" fill="%s"/>`, mark, s.color)
		mark = ""
	}
	p.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="%g"%s/>`, mark+path.String(), s.color, s.width, dash)
	if dots.Len() > 0 {
		p.printf(`<path d="%s" stroke="%s" stroke-width="%d" stroke-linecap="round"/>`, dots.String(), s.color, map[bool]int{true: 5, false: 3}[s.marks])
	}
}

// band fills the space between low and y.
func (p *plot) band(s *series, mark string) {
	var path strings.Builder
	path.WriteString(mark)
	for from, to := range numbers(s.low) {
		line := p.path()
		for i := from; i < to; i++ {
			line.to(p.along(s.x[i]), p.up(s.y[i]))
		}
		for i := to - 1; i >= from; i-- {
			line.to(p.along(s.x[i]), p.up(s.low[i]))
		}
		path.WriteString(line.done() + "z")
	}
	p.printf(`<path d="%s" fill="%s" fill-opacity=".3" stroke="%[2]s" stroke-opacity=".3"/>`, path.String(), s.color)
}

// points draws marks that no line joins, those of one colour and size together. The largest are below.
func (p *plot) points(s *series, mark string) {
	type look struct {
		size  float64
		color string
	}
	all := map[look]*strings.Builder{{s.width, s.color}: {}}
	all[look{s.width, s.color}].WriteString(mark)
	for i, y := range s.y {
		l := look{s.width, s.color}
		if math.IsNaN(y) {
			continue
		}
		if s.colors != nil {
			l.color = s.colors[i]
		}
		if s.sizes != nil {
			l.size = s.sizes[i]
		}
		if all[l] == nil {
			all[l] = new(strings.Builder)
		}
		fmt.Fprintf(all[l], "M%s %sh0", num(p.along(s.x[i])), num(p.up(y)))
	}
	for _, l := range slices.SortedFunc(maps.Keys(all), func(a, b look) int {
		return cmp.Or(cmp.Compare(b.size, a.size), strings.Compare(a.color, b.color))
	}) {
		if path := all[l]; path.Len() > 0 {
			p.printf(`<path d="%s" stroke="%s" stroke-width="%s" stroke-linecap="round" stroke-opacity=".8"/>`, path, l.color, num(l.size))
		}
	}
}
