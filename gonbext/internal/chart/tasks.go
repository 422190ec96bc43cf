package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// maxBands is how many bands the tasks of a run are drawn as, over all the runs of a report.
const maxBands = 96

// band is some tasks of a stage that one slot did after each other, in the same buffers.
type band struct {
	stage, slot uint16
	first, last int64 // chunks
	n           int64
	from, to    time.Duration
	bytes       int64 // the most that one of them held
	trouble     bool  // retried or split
}

// addBand adds a task to the last band of its slot, or begins another one.
func (s *summary) addBand(t *record.Task) {
	key := [2]uint16{t.Stage, t.Slot}
	i, begun := s.inSlot[key]
	if !begun || s.bands[i].n >= s.perBand {
		if len(s.bands) == 2*maxBands {
			s.bandsLeft++
			return
		}
		i = len(s.bands)
		s.inSlot[key] = i
		s.bands = append(s.bands, band{stage: t.Stage, slot: t.Slot, first: t.Chunk, last: t.Chunk, from: t.Start})
	}
	b := &s.bands[i]
	b.n++
	b.first, b.last, b.to = min(b.first, t.Chunk), max(b.last, t.Chunk), max(b.to, t.Start+t.Duration)
	if !s.stages[t.Stage].product() { // what a product holds, its tasks share
		b.bytes = max(b.bytes, t.Reserved.Host())
	}
	b.trouble = b.trouble || t.Retries > 0 || t.Splits > 0
}

// liveTasks are bands as the script takes them: a column for each of their figures.
type liveTasks struct {
	End    float64   `json:"end"` // seconds
	Lanes  []string  `json:"lanes"`
	Top    int64     `json:"top"` // bytes
	Names  []string  `json:"names"`
	Colors []string  `json:"colors"`
	Stage  []uint16  `json:"stage"`
	Slot   []uint16  `json:"slot"`
	Chunk  []int64   `json:"chunk"`
	More   []int64   `json:"more"` // chunks behind the first
	From   []float64 `json:"from"`
	Long   []float64 `json:"long"`
	Base   []int64   `json:"base"` // where its bytes lie
	Bytes  []int64   `json:"bytes"`
}

// tasksFigure draws the tasks of a run on a time line: in the slot that each ran in, as Dask's dashboard does, and below
// that as what it held, a band for as long as it held it, as PyTorch's memory viewer does. It is nil where no task ran.
func tasksFigure(s *summary) *figure {
	if len(s.bands) == 0 || s.last <= 0 {
		return nil
	}
	slices.SortStableFunc(s.bands, func(a, b band) int { return int(a.from - b.from) })
	l := &liveTasks{End: s.last.Seconds()}
	slots := 0
	for _, b := range s.bands {
		slots = max(slots, int(b.slot)+1)
	}
	for i := range slots {
		l.Lanes = append(l.Lanes, strconv.Itoa(i))
		if n := s.h.Processes; n > 0 {
			l.Lanes[i] = ""
			if each := max(slots/n, 1); i%each == 0 {
				l.Lanes[i] = "worker " + strconv.Itoa(i/each)
			}
		}
	}
	var keys []series
	for i, st := range s.stages[:min(len(s.stages), len(curveColors))] {
		keys = append(keys, series{key: key{name: clip(plain(st.Name), 50), color: curveColors[i]}})
		l.Names, l.Colors = append(l.Names, keys[i].name), append(l.Colors, keys[i].color)
	}
	bases, top := addresses(s.bands)
	l.Top = top
	row := math.Round(min(max(110/float64(slots), 3), 16))
	marks := make([]string, len(keys))
	d := newDrawing(760, 0)
	lanesTop := d.legend(12, 0, d.width-12, keys, marks) + 4
	p := &plot{drawing: d, graph: &graph{base: timeAxis(l.End)}, left: 78, right: d.width - 16, top: lanesTop + row*float64(slots) + 10}
	p.bottom = p.top
	if top > 0 {
		p.bottom += 130
		p.value = byteAxis(float64(top) * 1.02)
	}
	d.height = p.bottom + 28
	if top > 0 {
		p.lines()
	}
	p.baseline()
	for i, name := range l.Lanes {
		if name != "" && (i*int(row)%12 < int(row) || s.h.Processes > 0) {
			d.text(p.left-6, lanesTop+row*float64(i)+row/2+4, "m r", name)
		}
	}
	paths, trouble := make([]rects, len(keys)), rects{}
	for i, b := range s.bands {
		color := int(b.stage) % len(keys)
		l.Stage, l.Slot, l.Chunk, l.More = append(l.Stage, b.stage), append(l.Slot, b.slot), append(l.Chunk, b.first), append(l.More, b.last-b.first)
		l.From, l.Long = append(l.From, digits(b.from.Seconds(), 4)), append(l.Long, digits((b.to-b.from).Seconds(), 3))
		l.Base, l.Bytes = append(l.Base, bases[i]), append(l.Bytes, b.bytes)
		from, to, lane := p.along(b.from.Seconds()), p.along(min(b.to, s.last).Seconds()), lanesTop+row*float64(b.slot)
		paths[color].add(from, lane, to, lane+row-1)
		if b.bytes > 0 {
			paths[color].add(from, p.up(float64(bases[i]+b.bytes)), to, p.up(float64(bases[i])))
		}
		if b.trouble {
			trouble.add(from, lane, to, lane+row-1)
		}
	}
	d.printf(`<g stroke="%s" stroke-width=".5">`, edgeColor)
	for i := range paths {
		d.printf(`<path fill="%s" d="%sM0 0%s"/>`, keys[i].color, marks[i], paths[i].String())
	}
	d.printf(`</g>`)
	f := &figure{Title: "Tasks and what they held", Folded: true, live: live{Height: int(d.height), Tasks: l}}
	if trouble.Len() > 0 {
		d.printf(`<path fill="none" stroke="%s" stroke-width="2" d="M0 0%s"/>`, troubleColor, trouble.String())
		f.Caption = "Framed tasks were retried or halved. "
	}
	what := "a task"
	if s.perBand > 1 {
		what = "up to " + units.Count(s.perBand) + " tasks after each other"
	}
	f.Caption = fmt.Sprintf("Above: each slot's time, a box is %s. ", what) + f.Caption
	if top > 0 {
		f.Caption += "Below: the bytes of each, for as long as it held them."
	}
	if s.bandsLeft > 0 {
		f.Caption += fmt.Sprintf(" Of %s tasks more nothing is drawn.", units.Count(s.bandsLeft))
	}
	if words := s.workerWords(); words != "" {
		f.Caption += " " + words + "."
	}
	f.Alt = fmt.Sprintf("Tasks of %s in %s over %s, which held at most %s together.", counted(len(s.stages), "stage", "stages"), counted(slots, "slot", "slots"), units.Duration(s.last), units.Bytes(top))
	f.Picture = d.done()
	return f
}

// addresses places bands, which are sorted by their begin, above each other: each at the lowest place that is free for
// as long as it lives. It returns where they lie and how high that reaches.
func addresses(bands []band) (at []int64, top int64) {
	at = make([]int64, len(bands))
	var living []int // sorted by where they lie
	for i, b := range bands {
		living = slices.DeleteFunc(living, func(k int) bool { return bands[k].to <= b.from })
		place, before := int64(0), 0
		for ; before < len(living) && at[living[before]]-place < b.bytes; before++ {
			place = at[living[before]] + bands[living[before]].bytes
		}
		at[i] = place
		top = max(top, place+b.bytes)
		if b.bytes > 0 {
			living = slices.Insert(living, before, i)
		}
	}
	return at, top
}

const maxWorkers = 64 // that are told apart

// worker is the worker process that a task ran in; -1 where there are none, or too many.
func (s *summary) worker(t *record.Task) int {
	if n := s.h.Processes; n > 0 && int(t.Stage) < len(s.h.Stages) {
		if w := int(t.Slot) / max(s.h.Stages[t.Stage].Slots/n, 1); w < maxWorkers {
			return w
		}
	}
	return -1
}

// work adds a task to the lane of its worker.
func (s *summary) work(t *record.Task) {
	if w := s.worker(t); w >= 0 {
		s.workers.add(t, w, t.Duration)
	}
}

// workerWords say how much of the run its workers were idle, and how often tasks were begun again; "" where there are none.
func (s *summary) workerWords() string {
	n := len(s.workers.sum)
	if n == 0 || s.last <= 0 {
		return ""
	}
	busy := 0.0
	for step := range s.workers.busy {
		for lane := range n {
			from, end, part := s.workers.at(step, lane, s.last.Seconds())
			busy += part * (end - from)
		}
	}
	who := "1 worker was"
	if n > 1 {
		who = units.Count(int64(n)) + " workers were"
	}
	words := fmt.Sprintf("%s idle %.0f %% of %s", who, 100*(1-busy/s.last.Seconds()/float64(n)), units.Duration(s.last))
	if s.retries > 0 {
		words += fmt.Sprintf(", and tasks were begun again %s: their worker had ended", counted(int(s.retries), "time", "times"))
	}
	return words
}
