package record

import (
	"fmt"
	"time"

	"github.com/gonbext/gonbext/oocore/units"
)

// Event says that the device could not do a stage as planned, and what the run did then.
type Event struct {
	At     time.Duration // since the run's start
	Stage  uint16
	Action Action
	// Bytes counts what Action is about: the device's memory that was freed, or that the stage
	// takes from then on; the host's memory that is not locked; or the values that the CPU
	// computed, 0 for the rest of the stage.
	Bytes int64
	Free  int64 // of the device's memory, then
}

// Action is what a run does where its device cannot go on as planned.
type Action uint16

// The actions: those after an out-of-memory error, in the order in which a run tries them,
// and then the others.
const (
	GaveUpKept Action = iota + 1 // it freed the inputs that stayed on the device
	Retried                      // it opened the stage again as it was
	Halved                       // it opened the stage again with smaller tiles
	LeftToCPU                    // the CPU computes the rest of the stage
	RareToCPU                    // the CPU computed the tiles of operands that the device does not compute
	NotLocked                    // copies go from pages of the host that could not be locked
)

// Say returns a sentence about an event.
func (h *Header) Say(e *Event) string {
	if h == nil || e == nil {
		return ""
	}
	name := fmt.Sprintf("stage %d", e.Stage)
	if int(e.Stage) < len(h.Stages) {
		name = h.Stages[e.Stage].Name
	}
	did := ""
	switch e.Action {
	case RareToCPU:
		tiles := "the rest"
		if e.Bytes > 0 {
			tiles = "their tiles, " + units.Bytes(e.Bytes)
		}
		return fmt.Sprintf("%s met operands in %s that it does not compute: the CPU computed %s", h.Device.Name, name, tiles)
	case NotLocked:
		return fmt.Sprintf("After %s the host's memory for %s, %s, could not be locked: copies from pageable memory are slower", units.Duration(e.At), name, units.Bytes(e.Bytes))
	case GaveUpKept:
		did = fmt.Sprintf("the inputs that stayed on it, %s, were given up", units.Bytes(e.Bytes))
	case Retried:
		did = "the stage was opened again"
	case Halved:
		did = fmt.Sprintf("it continued with smaller tiles, in %s of its memory", units.Bytes(e.Bytes))
	case LeftToCPU:
		did = "the CPU computed the rest"
	default:
		did = "a newer gonbext knows what was done"
	}
	return fmt.Sprintf("After %s %s was out of memory in %s, with %s free: %s", units.Duration(e.At), h.Device.Name, name, units.Bytes(e.Free), did)
}
