package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// curveColors and curveStrokes tell the lines of a plot apart, by colour and without.
var (
	curveColors  = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8a63d2", "#7f7f7f"}
	curveStrokes = []stroke{"", dashed, dotted, dashDot, "9 3", "1 4", "8 2 2 2 2 2", "3 5"}
)

// maxMarked is how many points a line has at most for each to get a mark of its own.
const maxMarked = 60

// curvesLine says what a plot shows.
func curvesLine(f *record.Figure) string {
	var parts []string
	for _, c := range f.Curves {
		part := counted(c.Length, "element", "elements")
		if low, high, ok := finite(c.Mean, c.Low, c.High); ok {
			part += fmt.Sprintf(" from %.6g to %.6g", low, high)
		} else if c.Length > 0 {
			part += ", none of them finite"
		}
		if len(f.Curves) > 1 {
			part = clip(plain(c.Name), 30) + ": " + part
		}
		if c.Step > 1 {
			part += ", " + units.Count(int64(c.Step)) + " behind a point"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " · ")
}

// merged joins neighbouring blocks of curves that have more values together than maxPlotted.
func merged(curves []record.Curve) []record.Curve {
	values := 0
	for _, c := range curves {
		values += len(c.Mean) + len(c.Low) + len(c.High)
	}
	if values <= maxPlotted {
		return curves
	}
	most := maxPlotted / 3 / len(curves)
	all := slices.Clone(curves)
	for i := range all {
		c := &all[i]
		if len(c.Mean) <= most {
			continue
		}
		if len(c.Low) == 0 {
			c.Low, c.High = c.Mean, c.Mean
		}
		each := int(ceilDiv(int64(len(c.Mean)), int64(most)))
		m := record.Curve{Name: c.Name, Length: c.Length, Step: c.Step * each}
		for from := 0; from < len(c.Mean); from += each {
			to := min(from+each, len(c.Mean))
			low, high, ok := finite(c.Low[from:to], c.High[from:to])
			mean, elements := math.NaN(), 0.0
			if !ok {
				low, high = mean, mean
			}
			for k, v := range c.Mean[from:to] {
				n := float64(min(c.Step, c.Length-(from+k)*c.Step))
				switch {
				case math.IsNaN(v):
				case elements == 0:
					mean, elements = v, n
				default:
					elements += n
					mean += (v - mean) * (n / elements)
				}
			}
			m.Mean, m.Low, m.High = append(m.Mean, mean), append(m.Low, low), append(m.High, high)
		}
		*c = m
	}
	return all
}

// plotDrawing draws curves; nil where there is nothing to draw.
func plotDrawing(f *record.Figure, alt string) *figure {
	curves := merged(f.Curves)
	var lists []record.Floats
	length := 0
	for _, c := range curves {
		lists = append(lists, c.Mean, c.Low, c.High)
		length = max(length, c.Length)
	}
	low, high, ok := finite(lists...)
	if f.Low < f.High {
		low, high = f.Low, f.High
	}
	bottom, top, step := numberAxis(low, high)
	if f.Low < f.High {
		bottom, top = low, high
	}
	if !ok || !(top-bottom <= math.MaxFloat64) { // longer than a float64 counts
		return nil
	}
	out := &figure{Title: cmp.Or(plain(f.Title), "Plot"), Alt: "Line chart: " + alt, live: live{Height: 300}}
	for _, c := range curves {
		if c.Step > 1 {
			out.Caption = "Lines are means of blocks; the bands around them reach from the least to the greatest element."
		}
	}
	g := graph{
		base:   axis{kind: "value", name: plain(f.X), high: float64(max(length-1, 1)), step: 1, ticks: roundTicks(0, float64(max(length-1, 1)), 8, 1, countLabel)},
		value:  axis{kind: "value", name: plain(f.Y), low: bottom, high: top, ticks: ticksAt(bottom, top, step, numberLabel), format: "gonbext:number"},
		legend: len(curves) > 1,
	}
	for i := range curves {
		c := within(curves[i], bottom, top)
		s := series{key: key{cmp.Or(clip(plain(c.Name), 40), "curve "+strconv.Itoa(i+1)), curveColors[i%len(curveColors)], curveStrokes[i%len(curveStrokes)]},
			width: 2, marks: c.Step == 1 && len(c.Mean) <= maxMarked}
		short := func(list []float64) []float64 {
			for j, v := range list {
				if list[j] = digits(v, 6); !s.marks {
					list[j] = near(v, bottom, top, 1000)
				}
			}
			return list
		}
		for j := range max(len(c.Mean), len(c.Low)) { // the middle of a block
			first := j * c.Step
			s.x = append(s.x, float64(first+min(first+c.Step, c.Length)-1)/2)
		}
		if len(c.Low) > 0 {
			g.series = append(g.series, series{key: s.key, kind: asBand, x: s.x, low: short(c.Low), y: short(c.High)})
		}
		s.y = short(c.Mean)
		g.series = append(g.series, s)
	}
	return g.draw(out)
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
