package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/units"
)

// StageReport is a stage of a plan, with what the run measured beside what was
// predicted. Sizes are bytes.
type StageReport struct {
	Stage     int              `json:"stage"`
	Name      string           `json:"name"`
	Kind      string           `json:"kind"`
	Site      string           `json:"site,omitempty"`
	Shape     []int            `json:"shape"`
	Chunks    []int            `json:"chunks"`
	DType     string           `json:"dtype"`
	Tasks     int              `json:"tasks"`
	Slots     int              `json:"slots"`
	Reads     []string         `json:"reads"`
	From      []int            `json:"from,omitempty"` // stages whose results it reads
	Writes    string           `json:"writes"`
	Device    string           `json:"device"`
	Note      string           `json:"note,omitempty"`
	Repeats   []string         `json:"repeats,omitempty"`
	Predicted map[string]int64 `json:"predicted"` // of its own buffers, by class
	Read      int64            `json:"read"`
	Written   int64            `json:"written"`
	Transfers *Transfers       `json:"transfers,omitempty"` // of a stage that a device computes
	Measured  *StageMeasured   `json:"measured,omitempty"`  // nil where nothing ran
}

// StageMeasured is what a run measured of a stage.
type StageMeasured struct {
	Tasks    int              `json:"tasks"`
	Skipped  int              `json:"skipped,omitempty"` // tasks that an earlier run had done
	Seconds  float64          `json:"seconds"`           // from the start of its first task to the end of its last
	Read     int64            `json:"read"`
	Written  int64            `json:"written"`
	Moved    int64            `json:"moved,omitempty"` // between host and device
	Reserved map[string]int64 `json:"reserved"`        // of its slots' buffers, by class
	Rate     float64          `json:"rate"`            // bytes read and written a second
}

// Explain reports a run's stages: as they were planned, and as they ran where rows say so.
func (r *Run) Explain() []StageReport {
	reports := r.Header.Explain()
	type span struct{ start, end time.Duration }
	spans := make([]span, len(reports))
	slots := map[[2]uint16]bool{}
	for t := range r.Tasks() {
		if int(t.Stage) >= len(reports) {
			continue
		}
		s, at := &reports[t.Stage], &spans[t.Stage]
		if s.Measured == nil {
			s.Measured = &StageMeasured{Skipped: r.Header.Stages[t.Stage].Skipped, Reserved: map[string]int64{}}
			at.start = t.Start
		}
		m := s.Measured
		m.Tasks++
		m.Read += t.Read
		m.Written += t.Written
		m.Moved += t.Moved
		at.start, at.end = min(at.start, t.Start), max(at.end, t.Start+t.Duration)
		if slot := [2]uint16{t.Stage, t.Slot}; !slots[slot] {
			slots[slot] = true
			addNamed(m.Reserved, t.Reserved)
		}
	}
	for i := range reports {
		if m := reports[i].Measured; m != nil {
			m.Seconds = (spans[i].end - spans[i].start).Seconds()
			if m.Seconds > 0 {
				m.Rate = float64(m.Read+m.Written) / m.Seconds
			}
		}
	}
	return reports
}

// Explain reports the stages of a plan.
func (h *Header) Explain() []StageReport {
	reports := make([]StageReport, len(h.Stages))
	for i := range h.Stages {
		s := &h.Stages[i]
		reports[i] = StageReport{Stage: i, Name: s.Name, Kind: s.Kind, Site: s.Site, Shape: s.Shape, Chunks: s.Chunks, DType: s.DType,
			Tasks: s.Tasks, Slots: s.Slots, Reads: s.Inputs, From: s.From, Writes: s.Output, Device: s.Device, Note: s.Note, Repeats: s.Repeats,
			Predicted: map[string]int64{}, Read: s.Read, Written: s.Written, Transfers: s.Transfers}
		addNamed(reports[i].Predicted, s.Predicted)
	}
	return reports
}

func addNamed(to map[string]int64, b Bytes) {
	for c, n := range b {
		if n != 0 {
			to[Class(c).String()] += n
		}
	}
}

// Tree writes stages as a tree: the last first, and below each those whose results it
// reads.
func Tree(stages []StageReport) string {
	if len(stages) == 0 {
		return ""
	}
	t := tree{stages: stages, done: make([]bool, len(stages))}
	for i := len(stages) - 1; i >= 0; i-- {
		if !t.done[i] {
			t.stage(i, "", "")
		}
	}
	return t.b.String()
}

type tree struct {
	b      strings.Builder
	stages []StageReport
	done   []bool
}

// mostIndented is how deep a tree is drawn; what lies deeper follows below it.
const mostIndented = 24

func (t *tree) stage(i int, first, rest string) {
	s := &t.stages[i]
	if t.done[i] {
		fmt.Fprintf(&t.b, "%sstage %d, as above\n", first, i)
		return
	}
	if len(rest) > 3*mostIndented {
		fmt.Fprintf(&t.b, "%sstage %d, below\n", first, i)
		return
	}
	t.done[i] = true
	fmt.Fprintf(&t.b, "%sstage %d: %s %s\n", first, i, s.Kind, s.Name)
	inner := rest + "   "
	if len(s.From) > 0 {
		inner = rest + "│  "
	}
	line := func(format string, args ...any) { fmt.Fprintf(&t.b, inner+format+"\n", args...) }
	line("%s %s by %s: %s tasks, %d at once → %s", units.Shape(s.Shape), s.DType, units.Shape(s.Chunks), units.Count(int64(s.Tasks)), s.Slots, s.Writes)
	line("predicted: %s, reads %s, writes %s", classes(s.Predicted), units.Traffic(s.Read), units.Traffic(s.Written))
	if x := s.Transfers; x != nil && x.Seconds > 0 {
		line("%s: %s over the link; at its rates %s, by %s", s.Device, units.Traffic(x.Up+x.Down), units.Duration(time.Duration(x.Seconds*float64(time.Second))), x.Limit)
	}
	if m := s.Measured; m != nil {
		moved := ""
		if m.Moved > 0 {
			moved = ", moved " + units.Traffic(m.Moved)
		}
		skipped := ""
		if m.Skipped > 0 {
			skipped = fmt.Sprintf(", %s done before", units.Count(int64(m.Skipped)))
		}
		d := time.Duration(m.Seconds * float64(time.Second))
		line("measured:  %s, read %s, wrote %s%s, %s%s in %s, %s", classes(m.Reserved), units.Traffic(m.Read), units.Traffic(m.Written), moved,
			units.Count(int64(m.Tasks))+" tasks", skipped, units.Duration(d), units.Rate(m.Read+m.Written, d))
	}
	if len(s.Reads) > 0 {
		line("reads %s", strings.Join(s.Reads, ", "))
	}
	for _, text := range s.Repeats {
		line("computes %s again: that is cheaper than keeping it", text)
	}
	if s.Note != "" {
		line("%s", s.Note)
	}
	for k, from := range s.From {
		if k < len(s.From)-1 {
			t.stage(from, rest+"├─ ", rest+"│  ")
		} else {
			t.stage(from, rest+"└─ ", rest+"   ")
		}
	}
}

// classes writes bytes by class: those of the host together, and a device's beside them.
func classes(b map[string]int64) string {
	var all int64
	var parts []string
	for _, c := range classNames[:Device] {
		if n := b[c]; n > 0 {
			all += n
			parts = append(parts, c+" "+units.Bytes(n))
		}
	}
	text := units.Bytes(all)
	if len(parts) > 1 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	if n := b[Device.String()]; n > 0 {
		text += " and " + units.Bytes(n) + " of the device"
	}
	return text
}
