package chart

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// hint is the most useful thing to do next: why, and as a line to run or to
// write, which may be "".
type hint struct{ Text, Line string }

// inNotebook reports whether the run was of a cell, not of a command.
func (s *summary) inNotebook() bool { return !strings.HasPrefix(s.h.Cell, record.CommandCell) }

// budgetLine sets a budget.
func (s *summary) budgetLine(n int64) string {
	if s.inNotebook() {
		return "%%memory --budget " + mebibytes(n)
	}
	return "--memory " + mebibytes(n)
}

// shapeLine gives chunks or shards a shape.
func (s *summary) shapeLine(option, flag string, shape []int) string {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	if s.inNotebook() {
		return "oocore." + option + "(" + text + ")"
	}
	return flag + " " + strings.ReplaceAll(text, ", ", "x")
}

// hint follows how the run ended.
func (s *summary) hint() hint {
	h, e := s.h, s.run.End
	switch {
	case h.Process && s.peak > h.Budget && largest(s.lines) >= notable:
		return hint{Text: "Values of Go stay in memory whole. An oocore array of any size is computed within the budget: oocore.FromSlice for what is there, oocore.Open for a file."}
	case h.Process:
		return hint{}
	case s.status == record.Planned:
		return s.planHint()
	case s.status == record.Killed && s.largest.Anonymous > h.Budget*9/10 && h.Budget > 0:
		lower := hint{Text: fmt.Sprintf("The process held %s shortly before it was killed, most likely by the kernel for want of memory: lower the budget below what the machine or container allows.", units.Bytes(s.largest.Anonymous))}
		if n := h.Budget / 2; n >= h.Need {
			lower.Line = s.budgetLine(n)
		}
		return lower
	case s.status == record.Failed && h.Need > h.Budget && h.Budget > 0:
		return hint{"The budget is too small.", s.budgetLine(h.Need)}
	case s.status == record.Killed || s.status == record.Cancelled || s.status == record.Failed && s.done > 0:
		return s.unfinished()
	case s.status == record.Failed:
		return hint{}
	case s.halved+s.onCPU > 0:
		return hint{Text: fmt.Sprintf("%s. With more of the device's memory free, or a larger one, it computes all of them as planned.", s.shrunk())}
	case h.Budget > 0 && s.processPeak() > h.Budget:
		return hint{Text: "The arena kept to its plan. Values that the cell itself holds are the first place to look: the table of where the process's memory was has them as Go heap."}
	}
	if st := s.strided(); st != nil {
		return hint{Text: fmt.Sprintf("%s takes pieces of %s from all over the file. Chunks of whole rows of the file would be faster.", plain(st.Name), units.Bytes(st.ReadRun)),
			Line: s.shapeLine("Chunks", "--chunks", wholeRows(st))}
	}
	if st := s.crumbs(); st != nil {
		return hint{Text: fmt.Sprintf("%s chunks of %s each were stored, a file for each. Larger chunks would be faster to write and to read; so would shards, which put many chunks into one file.", units.Count(int64(st.Tasks)), units.Bytes(st.written/int64(st.Tasks))),
			Line: s.shapeLine("Shards", "--shards", shardShape(st))}
	}
	if e == nil || h.Budget <= 0 {
		return hint{}
	}
	if h.Need > 0 && h.Need <= h.Budget/2 && s.peak < h.Budget/2 {
		return hint{Text: "A larger budget would not help: the peak is far below it. " + s.least() + "."}
	}
	return s.slowHint()
}

// least is the smallest budget that would do, and what it is for: the peak, which is of arrays, may be a fortieth of it.
func (s *summary) least() string {
	text := "The smallest budget that would do is " + units.Bytes(s.h.Need)
	if o := s.h.Overhead; o > 0 && o < s.h.Need {
		text += ": " + units.Bytes(o) + " for the program itself, and " + units.Bytes(s.h.Need-o) + " for its arrays"
	}
	return text
}

// slowHint says what most of the time went into, where that is not computing.
func (s *summary) slowHint() hint {
	var io, busy time.Duration
	for _, st := range s.stages {
		io += st.reading + st.writing
		busy += st.busy
	}
	if busy <= 5*time.Second || io <= busy*4/5 {
		return hint{}
	}
	into := "reading and writing: a faster disk would help, more memory or workers would not"
	if s.encoded() {
		into = "reading and decoding, encoding and writing: a faster codec or disk would help, more memory would not"
	}
	return hint{Text: fmt.Sprintf("%d %% of the tasks' time went into %s.", io*100/busy, into)}
}

// planHint is what to change about a plan.
func (s *summary) planHint() hint {
	h := s.h
	if h.Need > h.Budget && h.Need > 0 {
		return hint{"Set a budget that will do, or choose smaller chunks from the table.", s.budgetLine(h.Need)}
	}
	if best := s.bestRow(); best.Text != "" {
		return best
	}
	if h.Need > 0 && h.Need <= h.Budget/2 {
		return hint{Text: s.least() + "; what is above it lets more chunks be in flight."}
	}
	return hint{}
}

// bestRow is the row of the table of alternatives that takes the least time, or that moves
// the least where times are not known; of equals the one of the smallest budget. It is empty
// where that gains nothing over what was asked for.
func (s *summary) bestRow() hint {
	var rows []record.WhatIf
	for _, w := range s.h.WhatIf {
		if w.Fits && w.Device == "" {
			rows = append(rows, w)
		}
	}
	if len(rows) == 0 || !s.inNotebook() {
		return hint{}
	}
	why := "The row of the table that moves the least:"
	if !slices.ContainsFunc(rows, func(w record.WhatIf) bool { return !w.Time.Known() }) {
		quickest := slices.MinFunc(rows, func(a, b record.WhatIf) int { return cmp.Compare(a.Time.Likely, b.Time.Likely) }).Time
		// Predictions that are nearly equal are no reason for more memory.
		rows = slices.DeleteFunc(rows, func(w record.WhatIf) bool { return w.Time.Likely > 1.05*quickest.Likely })
		slices.SortStableFunc(rows, func(a, b record.WhatIf) int { return cmp.Compare(a.Budget, b.Budget) })
		why = fmt.Sprintf("A row of the table that is about as fast as the fastest, %v:", rows[0].Time)
	} else {
		slices.SortStableFunc(rows, func(a, b record.WhatIf) int {
			return cmp.Or(cmp.Compare(a.Moved, b.Moved), cmp.Compare(a.Budget, b.Budget), cmp.Compare(a.Tasks, b.Tasks))
		})
	}
	best := rows[0]
	if own := slices.IndexFunc(s.h.WhatIf, func(w record.WhatIf) bool {
		return w.Device == "" && w.Fits && w.Budget == s.h.Budget && slices.Equal(w.Chunks, s.h.WhatIf[0].Chunks)
	}); own >= 0 {
		asked := &s.h.WhatIf[own]
		gains := float64(best.Moved) < 0.95*float64(asked.Moved)
		if best.Time.Known() && asked.Time.Known() {
			gains = best.Time.Likely < 0.95*asked.Time.Likely
		}
		if !gains {
			return hint{}
		}
	}
	line := s.budgetLine(best.Budget)
	if !slices.Equal(best.Chunks, s.h.WhatIf[0].Chunks) { // which are the plan's own
		line += " --chunks " + strings.Trim(strings.ReplaceAll(fmt.Sprint(best.Chunks), " ", "x"), "[]")
	}
	return hint{why, line}
}

// unfinished says where what was computed lies, and how to have its space back.
func (s *summary) unfinished() hint {
	out := plain(s.h.Output)
	if out == "" {
		return hint{}
	}
	text := "An output appears whole or not at all: nothing of " + s.target() + " was put in place. Run it again: chunks that are whole on the disk are not computed again."
	if strings.Contains(out, "://") || s.written == 0 {
		return hint{Text: text}
	}
	out, _, _ = strings.Cut(out, "?")
	if file, _, member := strings.Cut(out, "#"); member {
		out = file
	}
	staging := filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".gonbext")
	text += fmt.Sprintf(" They lie in %s, %s by this run. To start over and have the space back, remove them:", staging, units.Bytes(s.written))
	line := "gonbext clean " + shellWord(out)
	if s.inNotebook() {
		line = "!" + line
	}
	return hint{text, line}
}

// crumbs returns the first stage whose stored chunks are so small and so many that files cost more than their bytes.
func (s *summary) crumbs() *stageSummary {
	for _, st := range s.stages {
		if strings.Contains(st.Output, ".zarr") && st.Tasks >= 10_000 && st.written > 0 && st.written/int64(st.Tasks) < 64<<10 {
			return st
		}
	}
	return nil
}

// goodShard is how many bytes of elements a shard has at least, where the array has them.
const goodShard = 16 << 20

// shardShape is a multiple of a stage's chunks with enough bytes to be a file: as many
// chunks as there are along the last axes first, which lie next to each other.
func shardShape(st *stageSummary) []int {
	shape := slices.Clone(st.Chunks)
	if len(st.Shape) != len(shape) || st.Tasks < 1 {
		return shape
	}
	bytes := max(st.written/int64(st.Tasks), 1)
	for axis := len(shape) - 1; axis >= 0 && bytes < goodShard; axis-- {
		n := max(min(ceilDiv(int64(st.Shape[axis]), int64(max(shape[axis], 1))), ceilDiv(goodShard, bytes)), 1)
		shape[axis] *= int(n)
		bytes *= n
	}
	return shape
}

// wholeRows is a chunk of about as many elements as a stage's, of whole rows.
func wholeRows(st *stageSummary) []int {
	shape := slices.Clone(st.Shape)
	if len(shape) == 0 || len(st.Chunks) != len(shape) {
		return shape
	}
	left := max(product(st.Chunks), 1)
	for axis := len(shape) - 1; axis >= 0; axis-- {
		shape[axis] = int(max(min(int64(shape[axis]), left), 1))
		left /= int64(shape[axis])
	}
	shape[len(shape)-1] = st.Shape[len(shape)-1]
	return shape
}
