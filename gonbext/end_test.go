package gonbext_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// What ends a cell is the verdict of its process, for cells that began no run.
func TestRefusalIsTheVerdict(t *testing.T) {
	r := run(t, "small")
	r.expect(t, 1)
	if e := r.process(t).End; e == nil || e.Status != record.Failed || e.Error != strings.TrimSpace(r.stderr) {
		t.Errorf("%+v, not %q", e, r.stderr)
	}
}

func TestCellThatTakesTooMuchIsEnded(t *testing.T) {
	r := run(t, "greedy")
	r.expect(t, 1)
	if strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "Out of memory: the cell took ") ||
		!strings.Contains(r.stderr, "more than its budget of 64 MiB") || !strings.Contains(r.stderr, "b := make([]byte, n)") {
		t.Errorf("it said %q", r.stderr)
	}
	p := r.process(t)
	if p.End == nil || p.End.Status != record.Failed || p.End.Error != strings.TrimSpace(r.stderr) {
		t.Errorf("%+v", p.End)
	}
	// Go has a limit of its own for a stack: either may come first.
	if r := run(t, "recursion"); r.status == 0 || !strings.Contains(r.stderr, "Out of memory: the cell took") && !strings.Contains(r.stderr, "stack overflow") {
		t.Errorf("endless recursion ends with %d: %.300s", r.status, r.stderr)
	}
}

func TestGarbageDoesNotEndACell(t *testing.T) {
	r := run(t, "garbage") // 3 GiB in all, 16 MiB at once
	r.expect(t, 0)
}

func TestSaveAllEndsTheCellWhereOneOutputFails(t *testing.T) {
	r := run(t, "several with one error")
	r.expect(t, 1)
	if strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "reshape") {
		t.Errorf("said %q", r.stderr)
	}
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*.npy")); len(files) > 0 {
		t.Errorf("left %v", files)
	}
}

func TestErrorsEndTheCellInOneLine(t *testing.T) {
	for cell, parts := range map[string][]string{
		"small":    {"needs a budget of", "(1,024 bytes)", "cell:8"},
		"mismatch": {"on\n", "(3, 4)", "(5,)", "cell:8"},
		"budget":   {`"lots" is not a size`, "programs_test.go:"},
		"device":   {"no NVIDIA driver", "programs_test.go:"},
		"chunks":   {`"3y4" is not a shape`, "programs_test.go:"},
		"missing":  {"missing.npy", "programs_test.go:"},
	} {
		t.Run(cell, func(t *testing.T) {
			r := run(t, cell)
			r.expect(t, 1)
			for _, part := range parts {
				if !strings.Contains(r.stderr, part) {
					t.Errorf("no %q in %q", part, r.stderr)
				}
			}
			said := strings.TrimPrefix(r.stderr, "on\n")
			if strings.Count(said, "\n") != 1 || strings.Contains(said, "goroutine") || strings.Contains(said, "not reached") {
				t.Errorf("not one line: %q", said)
			}
			if r.stdout != "" {
				t.Errorf("also said %q", r.stdout)
			}
			if files, _ := filepath.Glob(filepath.Join(r.dir, "x*")); len(files) > 0 {
				t.Errorf("left %v", files)
			}
		})
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	r := runWhile(t, "endless", func(p *os.Process, runs string) {
		// The run's record begins when the run does; that of the cell's process is there before.
		begun := func(s record.Summary) bool { return !s.Header.Process }
		for all, _ := record.List(runs); !slices.ContainsFunc(all, begun); all, _ = record.List(runs) {
			time.Sleep(time.Millisecond)
		}
		if err := p.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
	})
	r.expect(t, 1)
	if !strings.Contains(r.stderr, "Collect: interrupted (cell:2)") || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("said %q", r.stderr)
	}
	if runs := r.runs(t); len(runs) != 1 || runs[0].Status != record.Cancelled {
		t.Errorf("records: %+v", runs)
	}
}

// os.Exit asks nobody: what the process took has to be in the file by then.
func TestCellThatExitsLeavesItsMemory(t *testing.T) {
	r := run(t, "exit")
	r.expect(t, 3)
	left := r.process(t)
	if left.Status() != record.Killed {
		t.Fatalf("the record says %s", left.Status())
	}
	if err := record.Conclude(left.Path, record.End{Status: record.Exited, Error: "exit status 3"}); err != nil {
		t.Fatal(err)
	}
	whole, err := record.Read(left.Path)
	if err != nil {
		t.Fatal(err)
	}
	if e := whole.End; e == nil || e.ProcessPeak < 1<<20 || e.ProcessPeak > 64<<20 {
		t.Errorf("the peak of a process that does nothing: %+v", e)
	}
}

// A panic runs the deferred report, and is no end like any other.
func TestCellThatPanicsSaysSo(t *testing.T) {
	r := run(t, "panic")
	r.expect(t, 2)
	p := r.process(t)
	if p.Status() != record.Exited || p.End.Error != "panic" || p.End.ProcessPeak < 1<<20 {
		t.Errorf("the record says %s, %+v", p.Status(), p.End)
	}
}
