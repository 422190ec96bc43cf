package gonbext_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestMain(m *testing.M) {
	if cell := cells[os.Getenv("GONBEXT_TEST_CELL")]; cell != nil {
		cell()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// result is what a cell left.
type result struct {
	dir, stdout, stderr string
	status              int
	state               *os.ProcessState
}

func run(t *testing.T, cell string) result {
	t.Helper()
	return runWhile(t, cell, func(*os.Process, string) {})
}

// runWhile does something to the cell's process, given its run log, before it
// waits for its end.
func runWhile(t *testing.T, cell string, do func(p *os.Process, runs string)) result {
	t.Helper()
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	var stdout, stderr strings.Builder
	c := exec.Command(os.Args[0])
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	// A PATH without the gonbext command: verdicts come as text.
	c.Env = append(os.Environ(), "GONBEXT_TEST_CELL="+cell, "GONBEXT_RUNS="+runs, "PATH="+dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	do(c.Process, runs)
	err := c.Wait()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return result{dir, stdout.String(), stderr.String(), c.ProcessState.ExitCode(), c.ProcessState}
}

// runs are the records that a cell left, oldest first.
func (r result) runs(t *testing.T) []record.Summary {
	t.Helper()
	all, err := record.List(filepath.Join(r.dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(s record.Summary) bool { return s.Header.Process })
}

// cards are those that the cell left, in their order.
func (r result) cards(t *testing.T) (all []*record.Card) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(r.dir, "runs", "*.gonbcard"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		c, err := record.ReadCard(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// process is the record of the cell's whole process.
func (r result) process(t *testing.T) *record.Run {
	t.Helper()
	all, err := record.List(filepath.Join(r.dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Header.Process {
			p, err := record.Read(s.Path)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatal("no record of the process")
	return nil
}

func TestPlainCellIsRecordedByLine(t *testing.T) {
	r := run(t, "plain")
	r.expect(t, 0)
	p := r.process(t)
	if p.End == nil || p.End.Status != record.Done || p.End.ProcessPeak < 64<<20 || p.Header.Budget != 1<<30 {
		t.Fatalf("%+v", p.End)
	}
	// 64 MiB by one line, live at once.
	var top record.Line // at the end
	looks := 0
	for l := range p.Lines() {
		if l.Code == "b := make([]byte, n)" {
			looks++
			top = *l
		}
	}
	if looks < 2 || top.Live < 64<<20 || top.Live > 66<<20 || top.Allocated < top.Live || top.At == 0 {
		t.Errorf("the line that holds most, of %d looks: %+v", looks, top)
	}
}

// A run log that cannot be written, as on a disk that is full, costs a cell its report and
// nothing else.
func TestCellWithoutRunLogSaysSo(t *testing.T) {
	for cell, saved := range map[string]int{"kernel": 1, "several planned": 0} {
		dir := t.TempDir()
		log := filepath.Join(dir, "file")
		testcases.WriteFile(t, log, nil, 0o600)
		c := exec.Command(os.Args[0])
		c.Dir, c.Env = dir, append(os.Environ(), "GONBEXT_TEST_CELL="+cell, "GONBEXT_RUNS="+log, "PATH="+dir)
		var stderr strings.Builder
		c.Stderr = &stderr
		if err := c.Run(); err != nil {
			t.Errorf("%s: %v", cell, err)
		}
		if said := stderr.String(); !strings.HasPrefix(said, "gonbext: this cell has no report: run log: ") || strings.Count(said, "\n") != 1 {
			t.Errorf("%s said %q", cell, said)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "*.npy")); len(files) != saved {
			t.Errorf("%s left %v", cell, files)
		}
	}
}

func (r result) expect(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Fatalf("exit status %d, not %d\n%s%s", r.status, status, r.stdout, r.stderr)
	}
}

func TestSaveAllIsOneRunOfTheCell(t *testing.T) {
	r := run(t, "several")
	r.expect(t, 0)
	for _, want := range []string{"saved [20] []\n", "saved [1000 20] [100 20]\n", "Peak "} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("said\n%s, without %q", r.stdout, want)
		}
	}
	if runs := r.runs(t); len(runs) != 1 || runs[0].Status != record.Done || runs[0].Header.Budget != 64<<20 {
		t.Errorf("records: %+v", runs)
	}
}

func TestSaveSaysItsVerdict(t *testing.T) {
	r := run(t, "save")
	r.expect(t, 0)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "Peak ") || !strings.Contains(lines[0], "of 64 MiB") || !strings.Contains(lines[0], "80 kB written") {
		t.Errorf("verdicts:\n%s", r.stdout)
	}
	if r.stderr != "" {
		t.Errorf("stderr: %s", r.stderr)
	}
	runs := r.runs(t)
	if len(runs) != 2 || runs[0].Header.Cell == "" || runs[0].Header.Cell != runs[1].Header.Cell {
		t.Errorf("records: %+v", runs)
	}
}

func TestInTheKernelTheCellIsSilent(t *testing.T) {
	r := run(t, "kernel")
	r.expect(t, 0)
	if r.stdout != "" || r.stderr != "" {
		t.Errorf("said %q and %q", r.stdout, r.stderr)
	}
	if runs := r.runs(t); len(runs) != 1 || runs[0].Header.Cell != "CELL" || runs[0].Header.Budget != 64<<20 {
		t.Errorf("records: %+v", runs)
	}
}

func TestCollect(t *testing.T) {
	r := run(t, "collect")
	r.expect(t, 0)
	if r.stderr != "0\n1\n2\n" {
		t.Errorf("got %q", r.stderr)
	}
}
