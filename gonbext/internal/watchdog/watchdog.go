// Package watchdog ends cells that outgrow their budget faster than they can see it themselves: the
// kernel watches their memory from outside, since a program whose collector waits for a long copy
// runs nothing else. A cell asks for it over a socket, which the system closes when the cell
// has ended.
package watchdog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// Ending is why gonbext has ended a cell, as an error of Jupyter's has it.
type Ending struct{ Name, Text string }

// OutOfMemory names the error of a cell that has outgrown its budget.
const OutOfMemory = "MemoryError"

// note is an Ending with the process that GoNB is, if a cell has left it.
type note struct {
	Ending
	Parent int
}

// Tell leaves with the kernel above, if there is one, why this process, a cell's, is about to end:
// the cell's error says it then.
func Tell(why Ending) {
	session := os.Getenv(Session)
	if session == "" || os.Getenv("GONB_PIPE") == "" { // GoNB gives a cell's program one, and a command of its own none
		return
	}
	text, err := json.Marshal(note{why, os.Getppid()})
	if err == nil {
		err = os.WriteFile(told(session), text, 0o600)
	}
	if err != nil { // the error has the exit status, and the reason stands above it
		Forget(session)
	}
}

// Told is what the cell that GoNB, a process, has started last has told; the zero Ending of none.
func Told(session string, gonb int) Ending {
	var n note
	text, err := os.ReadFile(told(session))
	if err != nil || json.Unmarshal(text, &n) != nil || n.Parent != gonb {
		return Ending{}
	}
	return n.Ending
}

// Forget takes back what was told.
func Forget(session string) { _ = os.Remove(told(session)) }

// told is a file with a name that only this user's processes know.
func told(session string) string { return filepath.Join(os.TempDir(), "gonbext-"+session+".json") }

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
