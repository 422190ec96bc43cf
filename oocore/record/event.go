package record

import (
	"fmt"
	"time"

	"github.com/gonbext/gonbext/oocore/units"
)

// Event says that the device had no room in a stage, and what the run did then.
type Event struct {
	At     time.Duration // since the run's start
	Stage  uint16
	Action Action
	Bytes  int64 // of the device's memory: what the stage takes from then on, or what was given up
	Free   int64 // of the device's memory, then
}

// Action is what a run does where its device has no room.
type Action uint16

// The actions, in the order in which a run tries them.
const (
	GaveUpKept Action = iota + 1 // it freed the inputs that stayed on the device
	Retried                      // it opened the stage again as it was
	Halved                       // it opened the stage again with smaller tiles
	LeftToCPU                    // the CPU computes the rest of the stage
)

// Say is an event in a sentence.
func (h *Header) Say(e *Event) string {
	name := fmt.Sprintf("stage %d", e.Stage)
	if int(e.Stage) < len(h.Stages) {
		name = h.Stages[e.Stage].Name
	}
	did := ""
	switch e.Action {
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
