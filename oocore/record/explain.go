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
	Transfers *Transfers       `json:"transfers,omitempty"`         // of a stage that a device computes
	Seconds   *Seconds         `json:"predicted_seconds,omitempty"` // nil where no run on this machine has told
	Measured  *StageMeasured   `json:"measured,omitempty"`          // nil where nothing ran
}

// StageMeasured is what a run measured of a stage.
type StageMeasured struct {
	Tasks    int              `json:"tasks"`
	Slots    int              `json:"slots"`             // that tasks ran in: the run's peak counts those that none did, too
	Skipped  int              `json:"skipped,omitempty"` // tasks that an earlier run had done
	Seconds  float64          `json:"seconds"`           // from the start of its first task to the end of its last
	Read     int64            `json:"read"`
	Written  int64            `json:"written"`
	Moved    int64            `json:"moved,omitempty"` // between host and device
	Lanes    *Lanes           `json:"lanes,omitempty"` // of a stage that a device computed
	Reserved map[string]int64 `json:"reserved"`        // of its slots' buffers, by class
	Rate     float64          `json:"rate"`            // bytes read and written a second
}

// Lanes are the seconds that a device was busy in each direction and with kernels. They
// overlap.
type Lanes struct {
	Upload   float64 `json:"upload"`
	Compute  float64 `json:"compute"`
	Download float64 `json:"download"`
}

// Explain reports a run's stages: as they were planned, and as they ran where rows say so.
func (r *Run) Explain() []StageReport {
	if r == nil {
		return nil
	}
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
		if t.Device > 0 {
			if m.Lanes == nil {
				m.Lanes = new(Lanes)
			}
			m.Lanes.Upload += t.Upload.Seconds()
			m.Lanes.Compute += t.Computing.Seconds()
			m.Lanes.Download += t.Download.Seconds()
		}
		at.start, at.end = min(at.start, t.Start), max(at.end, t.Start+t.Duration)
		if slot := [2]uint16{t.Stage, t.Slot}; !slots[slot] {
			slots[slot] = true
			m.Slots++
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
	if h == nil {
		return nil
	}
	reports := make([]StageReport, len(h.Stages))
	for i := range h.Stages {
		s := &h.Stages[i]
		reports[i] = StageReport{Stage: i, Name: s.Name, Kind: s.Kind, Site: s.Site, Shape: s.Shape, Chunks: s.Chunks, DType: s.DType,
			Tasks: s.Tasks, Slots: s.Slots, Reads: s.Inputs, From: s.From, Writes: s.Output, Device: s.Device, Note: s.Note, Repeats: s.Repeats,
			Predicted: map[string]int64{}, Read: s.Read, Written: s.Written, Transfers: s.Transfers, Seconds: s.Seconds}
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

// mostIndented is how deep a tree is drawn; what lies deeper follows below it.
const mostIndented = 24

// Tree writes stages as a tree: the last stage first, and below each those whose results it reads.
func Tree(stages []StageReport) string {
	var b strings.Builder
	done := make([]bool, len(stages))
	var visit func(stage, depth int, first, rest string) // which the stage's first line and its others begin with
	visit = func(stage, depth int, first, rest string) {
		switch {
		case done[stage]:
			fmt.Fprintf(&b, "%sstage %d, as above\n", first, stage)
			return
		case depth > mostIndented: // it follows as a tree of its own
			fmt.Fprintf(&b, "%sstage %d, below\n", first, stage)
			return
		}
		done[stage] = true
		stages[stage].write(&b, first, rest)
		var from []int // of a damaged record, without what is no stage
		for _, child := range stages[stage].From {
			if child >= 0 && child < len(stages) {
				from = append(from, child)
			}
		}
		for k, child := range from {
			if k < len(from)-1 {
				visit(child, depth+1, rest+"├─ ", rest+"│  ")
			} else {
				visit(child, depth+1, rest+"└─ ", rest+"   ")
			}
		}
	}
	for i := len(stages) - 1; i >= 0; i-- {
		if !done[i] {
			visit(i, 0, "", "")
		}
	}
	return b.String()
}

// write adds the lines of a stage.
func (s *StageReport) write(b *strings.Builder, first, rest string) {
	oneLine := strings.NewReplacer("\n", " ", "\r", " ") // paths and names may have several
	fmt.Fprintf(b, "%sstage %d: %s %s\n", first, s.Stage, s.Kind, oneLine.Replace(s.Name))
	inner := rest + "   "
	if len(s.From) > 0 {
		inner = rest + "│  "
	}
	line := func(format string, args ...any) {
		b.WriteString(inner + oneLine.Replace(fmt.Sprintf(format, args...)) + "\n")
	}
	line("%s %s by %s: %s, %d at once → %s", units.Shape(s.Shape), s.DType, units.Shape(s.Chunks), taskCount(s.Tasks), s.Slots, s.Writes)
	takes := ""
	if s.Seconds.Known() {
		takes = fmt.Sprintf(", in %v", s.Seconds)
	}
	if s.Seconds != nil {
		takes += ", limited by " + s.Seconds.Limit
	}
	line("predicted: %s, reads %s, writes %s%s", classes(s.Predicted), units.Traffic(s.Read), units.Traffic(s.Written), takes)
	if x := s.Transfers; x != nil && x.Seconds > 0 {
		gain := x.Gain()
		if gain != "" {
			gain = "; " + gain
		}
		if x.Kept > 0 {
			gain += "; " + units.Bytes(x.Kept) + " of its inputs stay on the device"
		}
		line("%s: %s over the link; at its rates %s, by %s%s", s.Device, units.Traffic(x.Up+x.Down), units.Duration(time.Duration(x.Seconds*float64(time.Second))), x.Limit, gain)
	}
	if m := s.Measured; m != nil {
		moved := ""
		if m.Moved > 0 {
			moved = ", moved " + units.Traffic(m.Moved)
		}
		if l := m.Lanes; l != nil {
			took := func(s float64) string { return units.Duration(time.Duration(s * float64(time.Second))) }
			moved += fmt.Sprintf(" (upload %s, compute %s, download %s)", took(l.Upload), took(l.Compute), took(l.Download))
		}
		skipped := ""
		if m.Skipped > 0 {
			skipped = fmt.Sprintf(", %s done before", units.Count(int64(m.Skipped)))
		}
		of := ""
		if m.Slots < s.Slots {
			of = fmt.Sprintf(" in %d of %d slots", m.Slots, s.Slots)
		}
		d := m.Took()
		line("measured:  %s%s, read %s, wrote %s%s, %s%s in %s, %s", classes(m.Reserved), of, units.Traffic(m.Read), units.Traffic(m.Written), moved,
			taskCount(m.Tasks), skipped, units.Duration(d), units.Rate(m.Read+m.Written, d))
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
}

func taskCount(n int) string {
	if n == 1 {
		return "1 task"
	}
	return units.Count(int64(n)) + " tasks"
}

// Took is the time from the start of the first task to the end of the last.
func (m *StageMeasured) Took() time.Duration {
	if m == nil {
		return 0
	}
	return time.Duration(m.Seconds * float64(time.Second))
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
