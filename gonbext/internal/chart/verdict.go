package chart

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// verdict is the run in one line, the first thing that a person reads.
func (s *summary) verdict() string {
	if s.h.Process {
		return s.processVerdict()
	}
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	say("%s", s.opening())
	if s.status == record.Skipped {
		return parts[0]
	}
	if p := s.h.Predicted.Host(); p > 0 && s.status != record.Planned {
		say("predicted %s", units.Bytes(p))
	}
	if d := s.deviceLine(); d != "" {
		say("%s", d)
	}
	if m := s.movement(); m != "" {
		say("%s", m)
	}
	if c := s.h.Cluster; c != nil && s.status == record.Planned && s.h.Seconds != nil {
		say("%s on %s of %s", secondsRange(s.h.Seconds), counted(c.Workers, "worker", "workers"), plain(c.Name))
	}
	if s.status == record.Planned {
		say("nothing was run")
		return strings.Join(parts, " · ")
	}
	say("%s", units.Duration(s.last))
	if p := s.processPeak(); s.h.Budget > 0 && p > s.h.Budget {
		say("the process took %s, %s over the budget", units.Bytes(p), units.Bytes(p-s.h.Budget))
	}
	if r := s.resumed(); r != "" {
		say("%s", r)
	}
	if e := s.run.End; e != nil && e.Lost > 0 {
		say("%s rows of the record could not be written", units.Count(e.Lost))
	}
	return strings.Join(parts, " · ")
}

// processVerdict is a cell's whole process in one line.
func (s *summary) processVerdict() string {
	took := fmt.Sprintf("Peak of the process %s of %s", units.Bytes(s.peak), units.Bytes(s.h.Budget))
	if s.peak > s.h.Budget {
		took += fmt.Sprintf(" · %s over the budget", units.Bytes(s.peak-s.h.Budget))
	}
	switch s.status {
	case record.Failed:
		if s.peak > s.h.Budget && strings.HasPrefix(s.run.End.Error, "Out of memory") { // why stands below the cell
			return took + " · the cell was ended"
		}
		return plain(s.run.End.Error)
	case record.Killed:
		return took + " · the process was killed"
	case record.Exited:
		return took + " · " + ending(s.run.End.Error)
	case record.Running:
		return took + " · still running"
	}
	return took + " · " + units.Duration(s.last)
}

// ending says in words how a process ended before its cell did.
func ending(how string) string {
	how = plain(how)
	switch {
	case how == "panic":
		return "the program panicked"
	case how == "exit status 2":
		return "the program ended with exit status 2, as a panic or a fatal error of Go does"
	case strings.HasPrefix(how, "exit status "):
		return "the program ended itself, with " + how
	case how == "signal: killed":
		return "the process was killed: by the system for want of memory, or by somebody"
	case how == "signal: interrupt":
		return "the program was interrupted"
	}
	return "the process ended: " + how
}

// skipped is how many chunks an earlier run had done.
func (s *summary) skipped() int64 {
	if s.run.End != nil {
		return s.run.End.Skipped
	}
	var n int64
	for _, st := range s.stages {
		n += int64(st.Skipped)
	}
	return n
}

// resumed says what the run made of what an earlier one had left, "" where there
// was nothing.
func (s *summary) resumed() string {
	if s.h.Changed != "" {
		return "updated: " + s.h.Changed
	}
	if n := s.skipped(); n > 0 {
		var all int64
		for _, st := range s.stages {
			all += int64(st.Tasks)
		}
		return fmt.Sprintf("resumed: %s of %s chunks were there", units.Count(n), units.Count(all))
	}
	if s.h.Resume != "" {
		return "started over: " + plain(s.h.Resume)
	}
	return ""
}

// opening says how the run ended and what it took at most.
func (s *summary) opening() string {
	peak := fmt.Sprintf("Peak %s of %s", units.Bytes(s.peak), units.Bytes(s.h.Budget))
	if s.h.Budget <= 0 {
		peak = "Peak " + units.Bytes(s.peak)
	}
	if c := s.h.Cluster; c != nil {
		peak += fmt.Sprintf(", %s together", counted(c.Workers, "worker", "workers"))
	}
	low := "p" + peak[1:]
	switch s.status {
	case record.Done:
		return peak
	case record.Skipped:
		if s.h.Output == "" { // an algorithm's, which is kept in the run log
			return "Nothing to do: this result was computed before"
		}
		return "Nothing to do: " + s.target() + " holds this result already"
	case record.Planned:
		return s.planned()
	case record.Failed:
		why := ""
		if s.run.End.Error != "" {
			why = ": " + plain(s.run.End.Error)
		}
		return "Failed " + s.reached() + why + " · " + low
	case record.Cancelled:
		return "Cancelled " + s.reached() + " · " + low
	case record.Running:
		return "Still running, " + s.reached() + " · " + low
	case record.Killed:
		return "Killed: the process ended " + s.reached() + ", without an error of its own · " + low
	}
	return "Ended as " + plain(string(s.status)) + " " + s.reached() + " · " + low
}

// planned is the opening of a footprint.
func (s *summary) planned() string {
	p := s.h.Predicted.Host()
	if s.h.Need > s.h.Budget && s.h.Budget > 0 {
		return fmt.Sprintf("Does not fit in %s: it needs %s at least", units.Bytes(s.h.Budget), units.Bytes(s.h.Need))
	}
	if c := s.h.Cluster; c != nil {
		return fmt.Sprintf("Would take %s of %s in each worker", units.Bytes(c.Memory), units.Bytes(s.h.Budget))
	}
	would := fmt.Sprintf("Would peak at %s of %s", units.Bytes(p), units.Bytes(s.h.Budget))
	if s.h.Changed != "" {
		would += ": " + s.h.Changed
	}
	return would
}

// reached is how far the run came.
func (s *summary) reached() string {
	if s.done == 0 {
		return "before its first chunk was done"
	}
	at := int(s.lastTask.Stage)
	if at >= len(s.stages) {
		return fmt.Sprintf("after %s chunks", units.Count(s.done))
	}
	st := s.stages[at]
	return fmt.Sprintf("after %s of %s chunks of %s", units.Count(st.done), units.Count(int64(st.Tasks)), clip(plain(st.Name), 40))
}

// movement is what was read and written; of a plan, what would be.
func (s *summary) movement() string {
	read, written := s.read, s.written
	if e := s.run.End; e != nil {
		read, written = max(read, e.Read), max(written, e.Written)
	}
	if s.status == record.Planned {
		read, written = 0, 0
		for _, st := range s.stages {
			read += st.Read
			written += st.Written
		}
	}
	var parts []string
	if read > 0 {
		passes := ""
		if s.status == record.Planned || s.status == record.Done { // not of a run that was cut off
			passes = " in " + counted(s.h.Passes(), "pass", "passes")
		}
		if slices.ContainsFunc(s.stages, func(st *stageSummary) bool { return st.product() && st.Read > 0 }) {
			passes += ", operands of products as often as they do not fit"
		}
		parts = append(parts, units.Traffic(read)+" read"+passes)
	}
	if written > 0 {
		parts = append(parts, units.Traffic(written)+" written")
	}
	return strings.Join(parts, ", ")
}

// deviceLine is the device's share, "" where the CPU computed.
func (s *summary) deviceLine() string {
	d := s.h.Device
	if d.Memory <= 0 {
		return ""
	}
	if s.status == record.Planned {
		return fmt.Sprintf("%s: %s of %s", plain(d.Name), units.Bytes(d.Predicted), units.Bytes(d.Memory))
	}
	line := fmt.Sprintf("%s: peak %s of %s", plain(d.Name), units.Bytes(s.device), units.Bytes(d.Memory))
	if e := s.run.End; e != nil && e.OOMEvents > 0 {
		times := "once"
		if e.OOMEvents > 1 {
			times = fmt.Sprintf("%d times", e.OOMEvents)
		}
		line += ", out of memory " + times
	}
	return line
}

// shrunk says how tasks were done that the device had no room for.
func (s *summary) shrunk() string {
	var parts []string
	if s.halved > 0 {
		parts = append(parts, units.Count(s.halved)+" of "+units.Count(s.done)+" tasks were done in smaller tiles")
	}
	if s.onCPU > 0 {
		parts = append(parts, units.Count(s.onCPU)+" of "+units.Count(s.done)+" tasks on the CPU")
	}
	return strings.Join(parts, ", ")
}

// target is the name of the output, for a sentence.
func (s *summary) target() string {
	if s.h.Output == "" {
		return "the result"
	}
	return plain(filepath.Base(s.h.Output))
}

// tone is how serious a verdict is, in colour and without.
type tone struct{ Mark, Color string }

var (
	good = tone{"✓", "#5a4"}
	warn = tone{"⚠", "#ec3"}
	bad  = tone{"✗", "#e55"}
)

func (s *summary) tone() tone {
	switch s.status {
	case record.Exited:
		if s.peak <= s.h.Budget && s.run.End.Error != "signal: killed" {
			return warn
		}
		return bad
	case record.Failed, record.Killed:
		return bad
	case record.Cancelled:
		return warn
	case record.Planned:
		if s.h.Need > s.h.Budget {
			return bad
		}
		return good
	}
	if s.h.Budget > 0 && (s.processPeak() > s.h.Budget || s.peak > s.h.Budget) {
		return bad
	}
	return good
}

// shellWord quotes a path for a shell where it needs that.
func shellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// encoded reports that chunks were decoded or encoded, which is part of the time of
// reading and writing.
func (s *summary) encoded() bool {
	return slices.ContainsFunc(s.stages, func(st *stageSummary) bool { return st.Predicted[record.Codec] > 0 })
}

// mebibytes writes a budget as a flag takes it, rounded up.
func mebibytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%dKiB", ceilDiv(n, 1<<10))
	}
	return fmt.Sprintf("%dMiB", ceilDiv(n, 1<<20))
}

// strided is the stage whose reads are so scattered that it costs time.
func (s *summary) strided() *stageSummary {
	for _, st := range s.stages {
		if st.ReadRun > 0 && st.ReadRun < 32<<10 && st.read > 32<<20 {
			return st
		}
	}
	return nil
}

// rest is where the process's memory was when it was largest.
type rest struct {
	arena, heap, runtime, unknown int64 // private
	untouched                     int64 // reserved by the arena or Go and not yet used: no memory behind it
	device                        int64 // of a modelled device
	mapped, cached                int64 // reclaimable; cached is -1 where it is not known
}

func restOf(m *record.Sample, modelled bool) rest {
	r := rest{arena: m.Arena.Host(), heap: m.GoHeap, runtime: m.GoRuntime, mapped: m.Mapped, cached: m.Cached}
	if modelled {
		r.device = m.Device
	}
	r.unknown = m.Anonymous - r.arena - r.heap - r.runtime - r.device
	if r.unknown < 0 {
		// Pages that are reserved and were never written take no memory.
		r.untouched, r.unknown = -r.unknown, 0
	}
	return r
}

// plain is a text of a user or a file in one line.
func plain(s string) string { return units.Line(s) }
