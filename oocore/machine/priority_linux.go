package machine

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// lowNiceness is the niceness of what gives way: it has a tenth of the processor time of what has none.
const lowNiceness = 10

// GiveWay lowers the priority of the calling goroutine for the rest of its life, below the other
// goroutines of the program: the goroutine keeps a thread of its own, which ends with it. After LeaveRuntime
// it does nothing.
func GiveWay() {
	if left.Load() {
		return
	}
	runtime.LockOSThread()
	if niceness(0) < lowNiceness {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, lowNiceness) // of the thread alone; where it fails, the priority stays
	}
}

// niceness returns that of a thread, 0 for the calling one. The kernel's own call returns 20 less it.
func niceness(thread int) int {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, thread)
	if err != nil {
		return lowNiceness
	}
	return 20 - raw
}
