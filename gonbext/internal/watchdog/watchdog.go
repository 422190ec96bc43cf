// Package watchdog ends cells that outgrow their budget faster than they can see it themselves: the
// kernel watches their memory from outside, since a program whose collector waits for a long copy
// runs nothing else. A cell asks for it over a socket, which the system closes when the cell
// has ended.
package watchdog

import (
	"fmt"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Session names the environment variable that has the kernel's name for its socket.
const Session = "GONBEXT_SESSION"

const (
	often   = 500 * time.Microsecond
	seldom  = 10 * time.Millisecond
	fastest = 8 << 30 // bytes a second, by which a process is taken to grow
)

// Wait is how long a process may go unwatched that has room for so many bytes: the less, the
// shorter.
func Wait(room int64) time.Duration {
	return min(max(time.Duration(float64(room)/fastest*float64(time.Second)), often), seldom)
}

// Complaint is what is said of a cell that was ended for its memory. Top is the line that held
// most when lines were last looked at.
func Complaint(took, budget int64, top record.Line) string {
	text := fmt.Sprintf("Out of memory: the cell took %s, more than its budget of %s, and was ended", units.Bytes(took), units.Bytes(budget))
	if top.Live <= took/4 {
		return text
	}
	text += fmt.Sprintf(": %s held most of it, %s when it was last looked at", units.Line(top.Site), units.Bytes(top.Live))
	if top.Code != "" {
		text += ": " + units.Line(top.Code)
	}
	return text
}
