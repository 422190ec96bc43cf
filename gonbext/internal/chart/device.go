package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// deviceKeys are those who take memory of a device, in the order in which they are stacked.
var deviceKeys = []key{{"context and cuBLAS", "#975", ""}, {"other processes", "#888", ""}, {"kept inputs", "#47a", ""}, {"operations", classColors[record.Device], ""}}

// deviceFigure draws the memory of the device over time, by owner; nil where none was seen.
func deviceFigure(s *summary) *figure {
	if s.device <= 0 || len(s.timeline) < 2 {
		return nil
	}
	layers := areas(moments(s.timeline), deviceKeys, func(owner, i int) int64 {
		m := &s.timeline[i]
		return [...]int64{m.Context, m.Others, m.Kept, m.Device - m.Kept}[owner]
	})
	if len(layers) == 0 {
		return nil
	}
	for i := range layers {
		layers[i].packed = true
	}
	var outside int64 // of what the run may take
	for i := range s.timeline {
		outside = max(outside, s.timeline[i].Context+s.timeline[i].Others)
	}
	f := &figure{Title: "Memory of " + plain(s.h.Device.Name) + " over time", Caption: caption(s.perPoint), live: live{Height: 220, Points: &points{}}}
	f.Alt = fmt.Sprintf("Device memory over time: at most %s of %s, predicted %s.", units.Bytes(s.device), units.Bytes(s.h.Device.Memory), units.Bytes(s.h.Device.Predicted))
	limits := []limit{{name: "device memory", bytes: s.h.Device.Memory + outside, color: budgetColor, line: dashed}, {name: "predicted peak", bytes: s.h.Device.Predicted + outside, color: plannedColor, line: dashDot}}
	return memoryOverTime(f, s.last.Seconds(), layers, limits, nil)
}

// laneNames are the lanes of a device, and laneColors what they are drawn in.
var (
	laneNames  = [3]string{"upload", "compute", "download"}
	laneColors = [3]string{"#47a", "#499", "#f81"}
)

// maxSteps is how many steps of time lanes are drawn in.
const maxSteps = 60

// lanes are how long each of several lanes was busy, by steps of time.
type lanes struct {
	step time.Duration
	busy [][]float64 // seconds, by step and lane
	sum  []time.Duration
}

// add notes times that lanes were busy, from a lane on. They are spread over a task's duration.
func (l *lanes) add(t *record.Task, lane int, took ...time.Duration) {
	for len(l.sum) < lane+len(took) {
		l.sum = append(l.sum, 0)
	}
	for i, d := range took {
		l.sum[lane+i] += d
	}
	l.step = cmp.Or(l.step, time.Millisecond)
	first, end := max(t.Start, 0), max(t.Start, 0)+max(t.Duration, 1)
	for end > l.step*maxSteps {
		l.halve()
	}
	for at := first / l.step; at*l.step < end; at++ {
		for int(at) >= len(l.busy) {
			l.busy = append(l.busy, nil)
		}
		share := float64(min(end, (at+1)*l.step)-max(first, at*l.step)) / float64(end-first)
		for len(l.busy[at]) < lane+len(took) {
			l.busy[at] = append(l.busy[at], 0)
		}
		for i, d := range took {
			l.busy[at][lane+i] += share * d.Seconds()
		}
	}
}

// halve makes one step of two.
func (l *lanes) halve() {
	l.step *= 2
	l.busy = halved(l.busy, func(a, b []float64) []float64 {
		if len(a) < len(b) {
			a, b = b, a
		}
		for k := range b {
			a[k] += b[k]
		}
		return a
	})
}

// at is how much of a step, which ends with the run, a lane was busy: from 0 to 1.
func (l *lanes) at(step, lane int, last float64) (from, end, part float64) {
	from, end = min(float64(step)*l.step.Seconds(), last), min(float64(step+1)*l.step.Seconds(), last)
	if b := l.busy[step]; lane < len(b) && end > from {
		part = min(b[lane]/(end-from), 1)
	}
	return from, end, part
}

// laneWords says in a sentence how busy the lanes of a device were; it is empty where none computed.
func (s *summary) laneWords() string {
	if s.last <= 0 || !slices.ContainsFunc(s.lanes.sum, func(d time.Duration) bool { return d > 0 }) {
		return ""
	}
	var parts []string
	for i, name := range laneNames {
		d := s.lanes.sum[i]
		parts = append(parts, fmt.Sprintf("%s %s (%.0f %%)", name, units.Duration(d), 100*min(d.Seconds()/s.last.Seconds(), 1)))
	}
	return fmt.Sprintf("%s was busy of %s: %s", plain(s.h.Device.Name), units.Duration(s.last), strings.Join(parts, ", "))
}

// idleLanes reports lanes so little busy that a drawing has nothing to show.
func (s *summary) idleLanes() bool { return slices.Max(s.lanes.sum[:]) < s.last/100 }

// lanesFigure draws how busy each lane of the device was over time; nil where it computed
// nothing.
func lanesFigure(s *summary) *figure {
	words := s.laneWords()
	if words == "" || s.idleLanes() {
		return nil
	}
	f := &figure{Title: "Lanes of " + plain(s.h.Device.Name), Alt: words + ".", Caption: "How much of the time each was busy."}
	f.Picture = s.lanes.draw(max(s.last.Seconds(), 1e-9), 44, laneNames[:], laneColors[:])
	return f
}

// draw draws how busy each lane was, each as high as row.
func (l *lanes) draw(last, row float64, names, colors []string) markup {
	height := row * float64(len(names))
	d := newDrawing(760, height+56)
	p := &plot{drawing: d, graph: &graph{base: timeAxis(last)}, left: 90, right: d.width - 16, top: 10, bottom: 10 + height}
	for i, name := range names {
		base := p.top + float64(i+1)*row
		d.text(p.left-8, base-row/2+min(8, row/4), "r", name)
		var path polyline
		path.to(p.left, base)
		for k := range l.busy {
			from, end, part := l.at(k, i, last)
			if end <= from {
				break
			}
			y := base - (row-min(10, row/4))*part
			path.to(p.along(from), y)
			path.to(p.along(end), y)
		}
		path.to(p.along(min(float64(len(l.busy))*l.step.Seconds(), last)), base)
		d.printf(`<path d="%sz" fill="%s" stroke="%s" stroke-width=".7"/>`, path.done(), colors[i%len(colors)], edgeColor)
	}
	p.baseline()
	return d.done()
}

// maxEvents is how many events of a device are said.
const maxEvents = 8

// eventWords says what happened to the run's device.
func (s *summary) eventWords() (all []string) {
	if s.h.Device.Memory <= 0 {
		return nil
	}
	n := 0
	for e := range s.run.Events() {
		if n++; n <= maxEvents {
			all = append(all, plain(s.h.Say(e))+".")
		}
	}
	if n > maxEvents {
		all = append(all, fmt.Sprintf("The record has %s events more.", units.Count(int64(n-maxEvents))))
	}
	return all
}

// gpusTable has a row for what the plan means on each GPU.
func gpusTable(rows [][]string) Table {
	return Table{Caption: "On other GPUs", Head: []string{"device", "may take", "stages on it", "passes", "over the link", "time", "limit", ""}, Rows: joinEqual(rows), Texts: 1,
		note: "By the makers' data sheets, with a usual machine's disk and this one's cores. Where the disk or the link is the limit, a faster GPU gains nothing."}
}

func gpuRow(w *record.WhatIf, stages int) []string {
	name, memory, note := plain(w.Device), units.Bytes(w.Memory), plain(w.Note)
	if !w.Fits {
		return []string{name, memory, "–", "–", "–", "–", "–", note}
	}
	return []string{name, memory, fmt.Sprintf("%d of %d", w.OnDevice, stages), units.Count(int64(w.Passes)), dashIfNone(w.Link, units.Traffic(w.Link)),
		units.Duration(time.Duration(w.Seconds * float64(time.Second))), plain(w.Limit), note}
}

// joinEqual joins the rows of cards after the first, which is the plan's own, where they say the same: a
// faster card that changes nothing is no news.
func joinEqual(cards [][]string) (joined [][]string) {
	var first []string // of the cards of the last row
	count := 0
	for i, card := range cards {
		if i < 2 || !slices.Equal(card[2:], first[2:]) {
			joined, first, count = append(joined, slices.Clone(card)), card, 1
			continue
		}
		count++
		row := joined[len(joined)-1]
		row[0] = fmt.Sprintf("%s to %s: %d cards", first[0], card[0], count)
		row[1] = first[1] + " to " + card[1]
	}
	return joined
}
