package chart

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Live is the memory of a run that is active. Its size does not grow with the run's length.
type Live struct {
	line    thinner
	largest int64
}

// NewLive returns a Live without samples.
func NewLive() *Live { return &Live{line: thinner{limit: maxPoints / 2, per: 1}} }

// Add notes a sample.
func (l *Live) Add(m *record.Sample) {
	l.line.add(m)
	l.largest = max(l.largest, m.Arena.Host(), m.Anonymous)
}

// liveAfter is how long a run continues before its chart is drawn: a short one shows its
// report only.
const liveAfter = time.Second

// picture is the chart so far, "" where there is nothing to see yet.
func (l *Live) picture(h *record.Header, elapsed time.Duration) markup {
	if l == nil || elapsed < liveAfter {
		return ""
	}
	t := &timeline{last: elapsed, budget: h.Budget, spans: []span{{To: elapsed.Seconds(), predicted: h.Predicted.Host()}}}
	t.samples, t.perPoint = l.line.points()
	if f := t.figure(); f != nil {
		return f.Picture
	}
	return ""
}

// Place is where a bar is shown, for a page that is loaded anew while its run lasts: the
// page then follows the kernel's messages about the display by itself. Kernel is Jupyter's
// id, "" where it is not known.
type Place struct{ Kernel, Display string }

// Progress shows how far a run has come, elapsed after its start: chunks,
// bytes, rate and the time left, and its memory so far; live may be nil. It is to be
// replaced in place by the next one.
func Progress(h *record.Header, p *record.Progress, elapsed time.Duration, live *Live, at Place) Output {
	if h.Process {
		return processProgress(h, p, elapsed, live, at)
	}
	done, before := fractions(h, p)
	var chunks, all int64
	for i, st := range h.Stages {
		all += int64(st.Tasks)
		chunks += int64(st.Skipped)
		if i < len(p.Tasks) {
			chunks += p.Tasks[i]
		}
	}
	parts := []string{fmt.Sprintf("%.0f %%", 100*done), fmt.Sprintf("%s of %s chunks", units.Count(chunks), units.Count(all))}
	var moved []string
	if p.Read > 0 {
		moved = append(moved, units.Traffic(p.Read)+" read")
	}
	if p.Written > 0 {
		moved = append(moved, units.Traffic(p.Written)+" written")
	}
	if len(moved) > 0 {
		parts = append(parts, strings.Join(moved, ", "), units.Rate(p.Read+p.Written, elapsed))
	}
	if m := p.Sample.Arena.Host(); m > 0 {
		parts = append(parts, "holds "+units.Bytes(m))
	}
	if new := done - before; new > 0 && done < 1 {
		left := time.Duration(float64(elapsed) * (1 - done) / new)
		if left < time.Second {
			parts = append(parts, "less than 1 s left")
		} else {
			parts = append(parts, units.Duration(left.Round(time.Second))+" left")
		}
	}
	line := strings.Join(parts, " · ")
	return bar(plain(cmp.Or(h.Title, "run "+h.Run)), line, done, live.picture(h, elapsed), at)
}

// processProgress is the memory of a cell's process that has no runs yet.
func processProgress(h *record.Header, p *record.Progress, elapsed time.Duration, live *Live, at Place) Output {
	held := p.Sample.Anonymous
	line := fmt.Sprintf("holds %s of %s · %s", units.Bytes(held), units.Bytes(h.Budget), units.Duration(elapsed.Round(time.Second)))
	return bar("running", line, min(float64(held)/float64(max(h.Budget, 1)), 1), live.picture(h, elapsed), at)
}

func bar(title, line string, done float64, memory markup, at Place) Output {
	const width = 24
	full := int(done * width)
	return Output{HTML: progressPage(title, line, 100*done, memory, at), Text: "[" + strings.Repeat("█", full) + strings.Repeat("░", width-full) + "] " + line}
}

// fractions is the share of the run's work that is done, and the share that an
// earlier run had done, each between 0 and 1. A stage counts by the bytes that
// it moves, or where none does, by its chunks.
func fractions(h *record.Header, p *record.Progress) (done, before float64) {
	byBytes := true
	for _, st := range h.Stages {
		byBytes = byBytes && st.Read+st.Written > 0
	}
	var all float64
	for i, st := range h.Stages {
		weight := float64(st.Tasks)
		if byBytes {
			weight = float64(st.Read + st.Written)
		}
		all += weight
		n := float64(max(st.Tasks, 1))
		before += weight * float64(st.Skipped) / n
		if i < len(p.Tasks) {
			done += weight * float64(p.Tasks[i]) / n
		}
	}
	if all <= 0 {
		return 0, 0
	}
	before = min(max(before/all, 0), 1)
	return min(max(done/all+before, 0), 1), before
}
