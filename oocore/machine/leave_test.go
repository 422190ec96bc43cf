package machine

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
)

// LeaveRuntime holds for the rest of a process, so that the test has one of its own.
func TestLeaveRuntimeTouchesNeitherLimitNorProcessors(t *testing.T) {
	if os.Getenv("GONBEXT_TEST_LEAVE") == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "GONBEXT_TEST_LEAVE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	limit, processors := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0)
	first := LimitRuntime(100 * mib)
	raised := RaiseProcessors(runtime.NumCPU() + 2)
	LeaveRuntime()
	first() // a run that was active gives back what it has changed
	raised()
	done := LimitRuntime(50 * mib)
	more := RaiseProcessors(runtime.NumCPU() + 4)
	FollowHeap()
	UpdateRuntimeLimit()
	if l, p := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0); l != limit || p != processors {
		t.Errorf("a limit of %d and %d processors, and %d and %d before", l, p, limit, processors)
	}
	done()
	more()
}
