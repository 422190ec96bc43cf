package chart

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// chunksFigure draws the memory that each chunk's task held, stacked by class,
// the stages one after another.
func chunksFigure(s *summary) *figure {
	var bars []record.Bytes
	var stages []tick
	var perBar int64 = 1
	named := &points{}
	for _, st := range s.stages {
		if st.done == 0 || st.product() { // what a product holds, its tasks share
			continue
		}
		stages = append(stages, tick{float64(len(bars)), plain(st.Name)})
		perBar = max(perBar, st.perBar)
		bars = append(bars, st.bars...)
		named.Bars = append(named.Bars, barSpan{clip(plain(st.Name), 30), int64(st.Tasks), st.perBar})
	}
	if len(bars) == 0 {
		return nil
	}
	g := graph{base: axis{kind: "category", high: float64(len(bars)), ticks: stages, stretches: true, format: "gonbext:chunk"}, legend: true, tooltip: "gonbext:byChunk"}
	g.series = stackedSeries(asBars, barEdges(len(bars)), classKeys(), func(class, i int) int64 { return bars[i][class] })
	most := highest(g.series)
	if most == 0 {
		return nil
	}
	g.value = byteAxis(most * 1.04)
	if len(bars) <= 16 { // many bars make an area, few stand apart
		g.gap = 0.12
	}
	for i := range g.series {
		b := &g.series[i]
		b.packed = true
		if b.name == record.Device.String() && !s.modelled() {
			b.name += " (not in the budget)"
		}
	}
	f := &figure{Title: "Memory by chunk", Folded: true, live: live{Height: 240, Points: named}}
	f.Alt = fmt.Sprintf("Memory by chunk: the largest task held %s.", units.Bytes(int64(most)))
	if perBar > 1 {
		f.Caption = fmt.Sprintf("A bar shows the largest of up to %s neighbouring chunks.", units.Count(perBar))
	}
	if len(stages) > 1 {
		order := make([]string, 0, 4)
		for _, st := range stages[:min(len(stages), 4)] {
			order = append(order, clip(st.label, 40))
		}
		f.Caption = strings.TrimSpace("From left to right: " + strings.Join(order, ", then ") + ". " + f.Caption)
	}
	return g.draw(f)
}

// clip shortens s to n characters, by an ellipsis.
func clip(s string, n int) string {
	r := []rune(s)
	switch {
	case len(r) <= n:
		return s
	case n < 2:
		return ""
	}
	return string(r[:n-1]) + "…"
}
