package chart

import (
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// planFigure draws the prediction of each stage by class, against the budget.
func planFigure(s *summary) *figure {
	n := min(len(s.stages), 40)
	if n == 0 {
		return nil
	}
	stages := s.stages[:n]
	g := graph{base: axis{kind: "category", high: float64(n)}, horizontal: true, gap: 0.4, legend: true, tooltip: "gonbext:byChunk"}
	g.series = stackedSeries(asBars, barEdges(n), classKeys()[:record.Device], func(class, i int) int64 { return stages[i].Predicted[class] })
	most := highest(g.series)
	if most == 0 {
		return nil
	}
	top := topOf(most, []limit{{bytes: s.h.Budget}})
	g.value = byteAxis(top)
	f := &figure{Title: "Predicted memory by stage", live: live{Height: 90 + 30*n}}
	f.Alt = "Predicted memory by stage:"
	for i, st := range stages[:min(n, 8)] {
		if i > 0 {
			f.Alt += ","
		}
		f.Alt += " " + clip(plain(st.Name), 30) + " " + units.Bytes(st.Predicted.Host())
	}
	if b := s.h.Budget; b > 0 && float64(b) <= top {
		f.Caption = "The dashed line is the budget, " + units.Bytes(b) + "."
	} else if b > 0 {
		f.Caption = "The budget, " + units.Bytes(b) + ", lies beyond the end of the scale."
	}
	for i, st := range stages {
		g.base.ticks = append(g.base.ticks, tick{float64(i) + 0.5, clip(plain(st.Name), 30)})
	}
	if b := float64(s.h.Budget); b > 0 && b <= top {
		g.series = append(g.series, series{key: key{"budget", budgetColor, dashed}, x: []float64{0, float64(n)}, y: []float64{b, b}, width: 1.5})
	}
	return g.draw(f)
}
