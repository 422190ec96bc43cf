package chart

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

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
