package gonbext

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// verdict describes a run in one line, for places where no report can be drawn.
func verdict(r *record.Run) string {
	h := r.Header
	budget := units.Bytes(h.Budget)
	if h.Process {
		if r.End == nil {
			return "The cell's process ended without a word"
		}
		return fmt.Sprintf("The cell took %s of %s · %s", units.Bytes(r.End.ProcessPeak), budget, units.Duration(r.End.Duration))
	}
	predicted := "predicted " + units.Bytes(h.Predicted.Host())
	switch r.Status() {
	case record.Planned:
		return fmt.Sprintf("Planned: %s of %s · nothing was run", predicted, budget)
	case record.Skipped:
		if h.Output == "" { // an algorithm's, which is kept in the run log
			return h.Title + " was done already: nothing was run"
		}
		return h.Output + " is there already: nothing was run"
	case record.Done:
	default:
		return fmt.Sprintf("%s: %s of %s", r.Status(), predicted, budget)
	}
	e := r.End
	parts := []string{fmt.Sprintf("Peak %s of %s", units.Bytes(e.Peak), budget), predicted, units.Traffic(e.Read) + " read"}
	if e.Written > 0 {
		parts = append(parts, units.Traffic(e.Written)+" written")
	}
	return strings.Join(append(parts, units.Duration(e.Duration)), " · ")
}
