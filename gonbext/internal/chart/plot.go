package chart

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// svg returns the picture.
func (g *graph) svg(height float64) markup {
	d := newDrawing(760, height)
	p := &plot{drawing: d, graph: g, left: 70, right: d.width - 16, top: 16, bottom: d.height - 38}
	down := &g.value
	if g.horizontal {
		down = &g.base
	}
	for _, t := range down.ticks {
		p.left = max(p.left, 22+6.8*float64(utf8.RuneCountInString(t.label)))
	}
	marks := make([]string, len(g.series))
	if g.legend {
		p.top = d.legend(g.series, marks)
	}
	if len(g.spans) > 0 {
		p.top += spanHeight
		p.drawSpans()
	}
	if g.value.name != "" {
		p.top += 12
		d.text(p.left, p.top-6, "", clip(g.value.name, 80))
	}
	if g.base.name != "" {
		d.text((p.left+p.right)/2, d.height-6, "k", clip(g.base.name, 80))
		p.bottom -= 8
	}
	p.lines()
	p.baseline()
	p.stack(marks)
	for i := range g.series {
		if s := &g.series[i]; s.kind == asBand {
			p.band(s)
		} else if s.kind == asLine {
			p.line(s, marks[i])
		}
	}
	return d.done()
}

// plot is the place of a graph in a drawing.
type plot struct {
	*drawing
	*graph
	left, top, right, bottom float64
}

// along returns the pixel of a place on the base axis.
func (p *plot) along(v float64) float64 {
	if p.horizontal {
		return p.top + (p.bottom-p.top)*p.base.share(v)
	}
	return p.left + (p.right-p.left)*p.base.share(v)
}

// up returns the pixel of a value.
func (p *plot) up(v float64) float64 {
	if p.horizontal {
		return p.left + (p.right-p.left)*p.value.share(v)
	}
	return p.bottom - (p.bottom-p.top)*p.value.share(v)
}

// to continues a line.
func (p *plot) to(line *polyline, along, up float64) {
	if p.horizontal {
		along, up = up, along
	}
	line.to(along, up)
}

// lines draws a line across the plot at each tick of the value axis, with its label.
func (p *plot) lines() {
	var lines strings.Builder
	p.printf(`<g class="m %s">`, map[bool]string{true: "k", false: "r"}[p.horizontal])
	for _, t := range p.value.ticks {
		if at := p.up(t.at); p.horizontal {
			fmt.Fprintf(&lines, "M%.0f %sV%s", at, num(p.top), num(p.bottom))
			p.text(at, p.bottom+17, "", t.label)
		} else {
			fmt.Fprintf(&lines, "M%s %.0fH%s", num(p.left), at, num(p.right))
			p.text(p.left-6, at+4, "", t.label)
		}
	}
	p.printf(`</g><path class="g" d="%s"/>`, lines.String())
}

// baseline draws the base axis with its labels.
func (p *plot) baseline() {
	class, marks := "m k", fmt.Sprintf("M%s %sH%s", num(p.left), num(p.bottom), num(p.right))
	if p.horizontal || p.base.stretches {
		class = "m"
	}
	p.printf(`<g class="%s">`, class)
	for i, t := range p.base.ticks {
		at := p.along(t.at)
		switch {
		case p.horizontal:
			p.text(p.left-8, at+4, "r", t.label)
			continue
		case p.base.stretches:
			end := p.base.high
			if i+1 < len(p.base.ticks) {
				end = p.base.ticks[i+1].at
			}
			p.text(at+4, p.bottom+17, "", clip(t.label, int((p.along(end)-at)/6.6)-1))
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
	if !p.horizontal {
		p.printf(`<path class="a" d="%s"/>`, marks)
	}
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
	var path polyline
	floor := p.up(p.value.low)
	p.to(&path, p.along(s.x[0]), floor)
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
			p.to(&path, from, floor)
		}
		p.to(&path, from, p.up(top))
		p.to(&path, to, p.up(top))
		if gap > 0 {
			p.to(&path, to, floor)
		}
	}
	p.to(&path, p.along(s.x[len(s.x)-1]), floor)
	return path.done()
}

// line draws a line with gaps where values are NaN. A point without neighbours is a dot.
func (p *plot) line(s *series, mark string) {
	var path, dots strings.Builder
	for from, to := range numbers(s.y) {
		var line polyline
		for i := from; i < to; i++ {
			along, up := p.along(s.x[i]), p.up(s.y[i])
			p.to(&line, along, up)
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
func (p *plot) band(s *series) {
	var path strings.Builder
	for from, to := range numbers(s.low) {
		var line polyline
		for i := from; i < to; i++ {
			p.to(&line, p.along(s.x[i]), p.up(s.y[i]))
		}
		for i := to - 1; i >= from; i-- {
			p.to(&line, p.along(s.x[i]), p.up(s.low[i]))
		}
		path.WriteString(line.done() + "z")
	}
	p.printf(`<path d="%s" fill="%s" fill-opacity=".3" stroke="%[2]s" stroke-opacity=".3"/>`, path.String(), s.color)
}
