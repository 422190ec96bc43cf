package machine

import (
	"time"

	"golang.org/x/sys/windows"
)

// CPUTime returns the time that cores have spent on this process, the kernel's part of
// it included; 0 where that is not known.
func CPUTime() time.Duration {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0
	}
	// Filetime.Nanoseconds is for points in time; these are spans, in units of 100 ns.
	span := func(t windows.Filetime) time.Duration {
		return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
	}
	return span(kernel) + span(user)
}
