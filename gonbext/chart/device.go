package chart

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// owners are those who take memory of a device, in the order in which they are stacked.
var owners = []struct {
	name, color string
	bytes       func(m *record.Sample) int64
}{
	{"context and cuBLAS", "#975", func(m *record.Sample) int64 { return m.Context }},
	{"other processes", "#888", func(m *record.Sample) int64 { return m.Others }},
	{"kept inputs", "#47a", func(m *record.Sample) int64 { return m.Kept }},
	{"operations", classColors[record.Device], func(m *record.Sample) int64 { return m.Device - m.Kept }},
}

// deviceFigure draws the memory of the device over time, by owner; nil where none was seen.
func deviceFigure(s *summary) (*figure, string) {
	if s.device <= 0 || len(s.timeline) < 2 {
		return nil, ""
	}
	var layers []layer
	var outside int64 // of what the run may take
	for _, o := range owners {
		l := layer{key: key{name: o.name, color: o.color}}
		var most int64
		for i := range s.timeline {
			n := o.bytes(&s.timeline[i])
			most = max(most, n)
			l.values = append(l.values, float64(n))
		}
		if most > 0 {
			layers = append(layers, l)
		}
	}
	for i := range s.timeline {
		outside = max(outside, s.timeline[i].Context+s.timeline[i].Others)
	}
	if len(layers) == 0 {
		return nil, ""
	}
	f := &figure{Title: "Memory of " + plain(s.h.Device.Name) + " over time", Height: 220, Caption: caption(s.perPoint)}
	f.Alt = fmt.Sprintf("Device memory over time: at most %s of %s, predicted %s.", units.Bytes(s.device), units.Bytes(s.h.Device.Memory), units.Bytes(s.h.Device.Predicted))
	limits := []limit{{"device memory", s.h.Device.Memory + outside, budgetColor, dashed}, {"predicted peak", s.h.Device.Predicted + outside, plannedColor, dashDot}}
	return f, memoryOverTime(f, s, layers, nil, limits)
}

// laneNames are the lanes of a device, and laneColors what they are drawn in.
var (
	laneNames  = [3]string{"upload", "compute", "download"}
	laneColors = [3]string{"#47a", "#499", "#f81"}
)

// maxSteps is how many steps of time lanes are drawn in.
const maxSteps = 60

// lanes are how long a device was busy in each lane, by steps of time. The times of a task
// are spread over its duration.
type lanes struct {
	step time.Duration
	busy [][3]float64 // seconds
	sum  [3]time.Duration
}

func (l *lanes) add(t *record.Task) {
	took := [3]time.Duration{t.Upload, t.Computing, t.Download}
	for i, d := range took {
		l.sum[i] += d
	}
	l.step = cmp.Or(l.step, time.Millisecond)
	first, end := max(t.Start, 0), max(t.Start, 0)+max(t.Duration, 1)
	for end > l.step*maxSteps {
		l.halve()
	}
	for at := first / l.step; at*l.step < end; at++ {
		for int(at) >= len(l.busy) {
			l.busy = append(l.busy, [3]float64{})
		}
		share := float64(min(end, (at+1)*l.step)-max(first, at*l.step)) / float64(end-first)
		for i, d := range took {
			l.busy[at][i] += share * d.Seconds()
		}
	}
}

// halve makes one step of two.
func (l *lanes) halve() {
	l.step *= 2
	half := l.busy[:0]
	for i := 0; i < len(l.busy); i += 2 {
		b := l.busy[i]
		if i+1 < len(l.busy) {
			for k := range b {
				b[k] += l.busy[i+1][k]
			}
		}
		half = append(half, b)
	}
	l.busy = half
}

// words are the lanes in a sentence; "" where a device computed nothing.
func (s *summary) laneWords() string {
	if s.lanes.sum == [3]time.Duration{} || s.last <= 0 {
		return ""
	}
	var parts []string
	for i, name := range laneNames {
		d := s.lanes.sum[i]
		parts = append(parts, fmt.Sprintf("%s %s (%.0f %%)", name, units.Duration(d), 100*min(d.Seconds()/s.last.Seconds(), 1)))
	}
	return fmt.Sprintf("%s was busy of %s: %s", plain(s.h.Device.Name), units.Duration(s.last), strings.Join(parts, ", "))
}

// lanesFigure draws how busy each lane of the device was over time; nil where it computed
// nothing.
func lanesFigure(s *summary) (*figure, string) {
	words := s.laneWords()
	if words == "" {
		return nil, ""
	}
	const row = 44.0
	f := &figure{Title: "Lanes of " + plain(s.h.Device.Name), Alt: words + ".", Caption: "How much of the time each was busy."}
	d := newDrawing(760, 3*row+56)
	p := &plot{drawing: d, left: 90, right: d.width - 16, top: 10, bottom: 10 + 3*row, xMax: max(s.last.Seconds(), 1e-9), yMax: 1}
	step := s.lanes.step.Seconds()
	for i, name := range laneNames {
		base := p.top + float64(i+1)*row
		d.text(p.left-8, base-row/2+8, "end", "", name)
		var path polyline
		path.to(p.left, base)
		for k, busy := range s.lanes.busy {
			from, end := min(float64(k)*step, p.xMax), min(float64(k+1)*step, p.xMax)
			if end <= from {
				break
			}
			y := base - (row-10)*min(busy[i]/(end-from), 1)
			path.to(p.x(from), y)
			path.to(p.x(end), y)
		}
		path.to(p.x(min(float64(len(s.lanes.busy))*step, p.xMax)), base)
		d.printf(`<path d="%sz" fill="%s" stroke="%s" stroke-width=".7"/>`, path.done(), laneColors[i], edgeColor)
	}
	p.timeTicks()
	return f, d.done()
}

// maxEvents is how many events of a device are said.
const maxEvents = 8

// events says what happened to the run's device.
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
