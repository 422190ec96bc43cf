package gonbext_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/gonbext/internal/watchdog"
	"github.com/gonbext/gonbext/oocore/record"
)

func init() {
	cells["by the system"] = func() { // as what C allocates: Go knows nothing of it
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		bySystem(1<<30, 0)
		println("not reached")
	}
}

// bySystem takes n bytes with the system's advice on their pages: with huge ones it is 10 GB a second.
func bySystem(n, advice int) {
	pages, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	_ = syscall.Madvise(pages, advice) // without it, it is slower
	for i := 0; i < n; i += 4096 {
		pages[i] = 1
	}
}

// Below the kernel, values of Go that outgrow a budget are stopped within a tenth of it, whatever
// makes them: by the cell itself, or by the kernel's watchdog. The system's own count says so:
// the largest resident set, less the pages of files.
func TestCellIsEndedWithinATenthOfItsBudget(t *testing.T) {
	session := fmt.Sprint("test-", os.Getpid())
	w, err := watchdog.New(session)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	t.Setenv(watchdog.Session, session)
	tries := map[string]int{} // of a machine that does other things too
	cells := []string{"greedy", "doubling", "at once", "goroutines", "small values", "by the system"}
	for len(cells) > 0 {
		cell := cells[0]
		cells = cells[1:]
		// The largest resident set of a process begins with that of the one that starts it, whatever its tests have held.
		debug.FreeOSMemory()
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			t.Fatal(err)
		}
		r := run(t, cell)
		if r.state.Success() {
			t.Fatalf("%s was not ended", cell)
		}
		for begun := time.Now(); r.process(t).End == nil && time.Since(begun) < time.Minute; { // the watchdog concludes it
			time.Sleep(time.Millisecond)
		}
		p := r.process(t)
		if p.End == nil {
			t.Errorf("%s: no end\n%.300s", cell, r.stderr)
			continue
		}
		taken := r.state.SysUsage().(*syscall.Rusage).Maxrss << 10
		var mapped int64
		for m := range p.Samples() {
			mapped = m.Mapped
		}
		taken -= mapped
		t.Logf("%s: said %.1f MiB, the system %.1f of 64, exit status %d", cell, float64(p.End.ProcessPeak)/(1<<20), float64(taken)/(1<<20), r.status)
		most := int64(64<<20) * 11 / 10
		if tries[cell]++; max(taken, p.End.ProcessPeak) > most && tries[cell] < 4 {
			cells = append(cells, cell)
			continue
		}
		if p.End.ProcessPeak > most || taken > most || p.End.Status != record.Failed {
			t.Errorf("%s: %s, it took %d bytes, by the system %d, of 64 MiB", cell, p.End.Status, p.End.ProcessPeak, taken)
		}
	}
	r := run(t, "garbage")
	r.expect(t, 0)
}
