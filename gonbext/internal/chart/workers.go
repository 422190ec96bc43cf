package chart

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

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
