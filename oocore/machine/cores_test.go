package machine

import (
	"runtime"
	"testing"
)

func TestRunsRaiseProcessorsAndNotCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	before := runtime.NumCPU()
	runtime.GOMAXPROCS(before)
	is := func(what string, processors, cores int) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != processors || Cores() != cores {
			t.Errorf("%s: %d processors for %d cores, want %d for %d", what, got, Cores(), processors, cores)
		}
	}
	first := RaiseProcessors(before + 2)
	is("a run", before+2, before)
	none := RaiseProcessors(before + 1)
	second := RaiseProcessors(before + 4)
	is("a run beside it", before+4, before)
	first()
	first()
	none()
	is("the second alone", before+4, before)
	second()
	is("no run", before, before)

	runtime.GOMAXPROCS(before + 1) // a program's own choice
	done := RaiseProcessors(before + 3)
	done()
	is("after a run of that program", before+1, before+1)
	done = RaiseProcessors(before + 3)
	runtime.GOMAXPROCS(before + 7)
	is("chosen in a run", before+7, before+7)
	done()
	is("chosen in a run that has ended", before+7, before+7)
	if runtime.NumCPU() > 1 {
		runtime.GOMAXPROCS(runtime.NumCPU() - 1)
		done = RaiseProcessors(before + 3)
		is("where cores are for others", before-1, before-1)
		done()
	}
}
