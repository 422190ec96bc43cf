package gonbext_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/decomp"
	"github.com/gonbext/gonbext/oocore/record"
)

// cells are bodies of cells. Each runs in a process of its own, as in a
// notebook: this test binary, called again with the cell's name.
var cells = map[string]func(){
	"save": func() {
		defer gonbext.Memory(gonbext.Budget("64MiB"))()
		x := gonbext.Save(oocore.Random(oocore.Float32, 1, 1000, 20), "x.npy")
		gonbext.Save(x.Sqrt().Mean(0), "means.npy")
	},
	"several": func() {
		defer gonbext.Memory(gonbext.Budget("64MiB"), gonbext.Chunks("100x20"))()
		saveSeveral()
	},
	"several planned": func() {
		defer gonbext.Footprint(gonbext.Budget("64MiB"))()
		saveSeveral()
	},
	"several with one error": func() {
		defer gonbext.Memory()()
		x := oocore.Ones(oocore.Float32, 3, 4)
		gonbext.SaveAll([]oocore.Output{{Array: x, Path: "x.npy"}, {Array: x.Reshape(5), Path: "y.npy"}})
		println("not reached")
	},
	"kernel": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		gonbext.Save(oocore.Full(2.0, 10), "x.npy")
	},
	"collect": func() {
		defer gonbext.Memory()()
		for _, v := range gonbext.Collect[float64](oocore.Arange(0.0, 3.0, 1.0)) {
			println(int(v))
		}
	},
	"footprint": func() {
		defer gonbext.Footprint(gonbext.Budget("64MiB"))()
		x := gonbext.Save(oocore.Random(oocore.Float32, 1, 3_075_200, 512), "x.npy")
		gonbext.Show(x)
		y := gonbext.Save(x.Sqrt(), "y.npy")
		gonbext.Collect[float32](y.Mean(0))
		println("not reached")
	},
	"cluster planned": func() {
		defer gonbext.Footprint(gonbext.On("slurm"), gonbext.Budget("1GiB"), gonbext.Processes("4"))()
		gonbext.Save(oocore.Random(oocore.Float32, 1, 3_075_200, 512).Sqrt(), "x.npy")
		println("reached")
	},
	"cluster without a budget": func() {
		defer gonbext.Memory(gonbext.On("slurm"))()
		gonbext.Save(oocore.Random(oocore.Float32, 1, 100, 10), "x.npy")
	},
	"nominal": func() {
		defer gonbext.Footprint(gonbext.Cell("CELL", 1), gonbext.Budget("4000TiB"), gonbext.Nominal("3"))()
		gonbext.Save(oocore.Random(oocore.Float32, 1, 3_075_200, 512).Sqrt(), "x.npy")
	},
	"cards": func() {
		defer gonbext.Footprint(gonbext.Budget("1GiB"), gonbext.Device("model:64MiB"))()
		x := oocore.Random(oocore.Float32, 1, 100_000, 512)
		gonbext.Save(x.Sub(x.Mean(0)), "y.npy")
	},
	"methods": func() {
		defer gonbext.Footprint(gonbext.Budget("64MiB"))()
		ctx := gonbext.Context()
		x, err := oocore.Random(oocore.Float32, 1, 1000, 100).Save(ctx, "x.npy")
		fmt.Println(x, err)
		_, err = oocore.Collect[float32](ctx, x.Mean(0))
		fmt.Println(errors.Is(err, oocore.ErrPlanned))
		_, err = decomp.CP(ctx, oocore.Random(oocore.Float64, 1, 20, 20, 20), 2, decomp.CPOptions{})
		fmt.Println(errors.Is(err, oocore.ErrPlanned))
	},
	"card": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1))()
		gonbext.Last = oocore.Arange(0, 80, 1).Reshape(8, 10)
	},
	"time": func() {
		defer gonbext.Time(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		gonbext.Last = oocore.Full(2.5)
		time.Sleep(20 * time.Millisecond)
	},
	"figures": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		x := oocore.Arange(0, 1_000_000, 1)
		gonbext.Plot(x, x.Neg())
		gonbext.Hist(x)
		gonbext.HeatMap(x.Reshape(1000, 1000))
		gonbext.Image(x.Reshape(1000, 1000))
		gonbext.Plot(oocore.FromSlice([]complex64{1}, 1))
		println("not reached")
	},
	"figures as text": func() {
		defer gonbext.Memory(gonbext.Budget("64MiB"))()
		gonbext.Plot(oocore.Arange(0, 8, 1))
		gonbext.Plot(oocore.FromSlice([]float64{-math.MaxFloat64, math.MaxFloat64}, 2)) // whose range is no float
	},
	"figures planned": func() {
		defer gonbext.Footprint(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		gonbext.Plot(oocore.Arange(0, 8, 1))
	},
	"plain": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("1GiB"))()
		for range 16 {
			kept = append(kept, touched(4<<20))
		}
	},
	"greedy": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		var parts [][]byte
		for range 10000 {
			parts = append(parts, touched(1<<20))
		}
		println("not reached", len(parts))
	},
	"doubling": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		var values []float64
		for i := range 1 << 30 {
			values = append(values, float64(i))
		}
		println("not reached", len(values))
	},
	"at once": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		println("not reached", len(touched(1<<30)))
	},
	"goroutines": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				var parts [][]byte
				for len(parts) < 1<<20 {
					parts = append(parts, touched(1<<20))
				}
				println(len(parts))
			})
		}
		group.Wait()
	},
	"small values": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		names := map[int]string{}
		for i := range 1 << 30 {
			names[i] = strings.Repeat("x", i%64)
		}
		println("not reached", len(names))
	},
	"exit": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		os.Exit(3)
	},
	"panic": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		panic("of the cell's own")
	},
	"recursion": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		println("not reached", deep(0))
	},
	"garbage": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("96MiB"))()
		for range 200 {
			touched(16 << 20)
		}
		fmt.Println("reached")
	},
	"small": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 7), gonbext.Budget("1KiB"))() // line 7 of its cell
		gonbext.Save(oocore.Full(2.0, 10), "x.npy")
	},
	"mismatch": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 7))()
		x := oocore.Full(1.0, 3, 4).Add(oocore.Full(1.0, 5))
		println("on")
		gonbext.Save(x, "x.npy")
	},
	"budget": func() { defer gonbext.Memory(gonbext.Budget("lots"))(); println("not reached") },
	"device": func() { defer gonbext.Memory(gonbext.Device("cuda:0"))(); println("not reached") },
	"chunks": func() { defer gonbext.Memory(gonbext.Chunks("3y4"))(); println("not reached") },
	"endless": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1))()
		gonbext.Collect[float64](oocore.Random(oocore.Float64, 1, 1<<30, 1<<20).Sum())
		println("not reached")
	},
	"missing": func() { gonbext.Show(oocore.Open("missing.npy")) },
	"show": func() {
		gonbext.Show(oocore.Arange(0, 80, 1).Reshape(8, 10))
		gonbext.Show(oocore.Full(2.5))
		gonbext.Show(oocore.Full(true, 2))
		gonbext.Show(oocore.FromSlice([]float64{1, -22.5, 0.125, math.NaN()}, 2, 2))
		gonbext.Show(oocore.FromSlice([]float32{1e-9, 3}, 2))
		gonbext.Show(oocore.Arange(0, 4000, 1).Reshape(2, 2, 1000))
		gonbext.Show(oocore.FromSlice([]float32{0.1}, 1).Sum())
	},
	"values": func() {
		gonbext.Show(nil)
		gonbext.Show([]int{8, 10})
		gonbext.Show(make([]int8, 1000))
		gonbext.Show(make([]float64, 1001))
		gonbext.Show("text")
		gonbext.Show(strings.ToUpper)
	},
}

// kept is reachable to the end of a cell.
var kept [][]byte

// touched is memory that a process really takes.
func touched(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	return b
}

// deep recurses without end, as the cell that it is the body of is meant to.
func deep(n int) int {
	if n < 0 {
		return n
	}
	var frame [1024]int
	frame[n%1024] = n
	return deep(n+1) + frame[(n+1)%1024]
}

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

func TestLastValueBecomesACard(t *testing.T) {
	r := run(t, "card")
	r.expect(t, 0)
	if r.stdout != "" {
		t.Errorf("said %q", r.stdout)
	}
	cards := r.cards(t)
	if len(cards) != 1 {
		t.Fatalf("cards %+v", cards)
	}
	c := cards[0] // arange(80) as 8 × 10: rows begin with 0, 10, 20, …
	if !slices.Equal(c.Shape, []int{8, 10}) || c.DType != "int64" || c.Bytes != 640 || !slices.EqualFunc(c.Sample, [][]string{
		{"0", "1", "2", "…", "7", "8", "9"}, {"10", "11", "12", "…", "17", "18", "19"}, {"20", "21", "22", "…", "27", "28", "29"},
		{"⋮", "⋮", "⋮", "⋮", "⋮", "⋮", "⋮"},
		{"50", "51", "52", "…", "57", "58", "59"}, {"60", "61", "62", "…", "67", "68", "69"}, {"70", "71", "72", "…", "77", "78", "79"},
	}, slices.Equal) || !slices.Equal(c.Stats, []string{"0", "39.5", "79"}) {
		t.Errorf("card %+v", c)
	}
}

func TestTimeIsSaidAfterTheValue(t *testing.T) {
	r := run(t, "time")
	r.expect(t, 0)
	var wall float64
	var unit string
	cards := r.cards(t)
	if len(cards) != 1 || cards[0].Title != "" || r.stdout != "2.5\n" {
		t.Fatalf("said %q, cards %+v", r.stdout, cards)
	}
	if _, err := fmt.Sscanf(cards[0].Text, "Wall time %f %s · CPU time ", &wall, &unit); err != nil || unit == "ms" && wall < 20 {
		t.Errorf("said %q: %v", cards[0].Text, err)
	}
}

func TestFiguresAreLeftForTheKernel(t *testing.T) {
	r := run(t, "figures")
	r.expect(t, 1)
	if r.stdout != "" || !strings.Contains(r.stderr, "Plot: ") || !strings.Contains(r.stderr, "x.Abs()") || !strings.Contains(r.stderr, "(cell:7)") {
		t.Errorf("said %q and %q", r.stdout, r.stderr)
	}
	var kinds []string
	for _, s := range r.runs(t) {
		if !s.Header.Process && s.Header.Cell != record.Unreported {
			t.Errorf("a run %q is reported", s.Header.Title)
		}
	}
	for _, c := range r.cards(t) {
		kinds = append(kinds, c.Figure.Kind)
	}
	if want := []string{record.PlotFigure, record.HistFigure, record.HeatMapFigure, record.ImageFigure}; !slices.Equal(kinds, want) {
		t.Errorf("figures %q", kinds)
	}
}

func TestFigureIsTextWithoutANotebook(t *testing.T) {
	r := run(t, "figures as text")
	r.expect(t, 0)
	if !strings.Contains(r.stdout, "▁▂▃▄▅▆▇█") || !strings.Contains(r.stdout, "8 elements from 0 to 7") {
		t.Errorf("said %q", r.stdout)
	}
	r = run(t, "figures planned")
	r.expect(t, 0)
	if !strings.Contains(r.stdout, "nothing to draw") {
		t.Errorf("under a footprint: %q", r.stdout)
	}
}

// What ends a cell is the verdict of its process, for cells that began no run.
func TestRefusalIsTheVerdict(t *testing.T) {
	r := run(t, "small")
	r.expect(t, 1)
	if e := r.process(t).End; e == nil || e.Status != record.Failed || e.Error != strings.TrimSpace(r.stderr) {
		t.Errorf("%+v, not %q", e, r.stderr)
	}
}

func TestPlainCellIsRecordedByLine(t *testing.T) {
	r := run(t, "plain")
	r.expect(t, 0)
	p := r.process(t)
	if p.End == nil || p.End.Status != record.Done || p.End.ProcessPeak < 64<<20 || p.Header.Budget != 1<<30 {
		t.Fatalf("%+v", p.End)
	}
	// Allocations of megabytes are in every sample: 64 MiB by one line, live at once.
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

// A run log that cannot be written, as on a disk that is full, costs a cell its report and
// nothing else.
func TestCellWithoutRunLogSaysSo(t *testing.T) {
	for cell, saved := range map[string]int{"kernel": 1, "several planned": 0} {
		dir := t.TempDir()
		log := filepath.Join(dir, "file")
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			t.Fatal(err)
		}
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

func TestGarbageDoesNotEndACell(t *testing.T) {
	r := run(t, "garbage") // 3 GiB in all, 16 MiB at once
	r.expect(t, 0)
}

func (r result) expect(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Fatalf("exit status %d, not %d\n%s%s", r.status, status, r.stdout, r.stderr)
	}
}

// saveSeveral saves a mean of columns, and what is left without it.
func saveSeveral() {
	x := oocore.Random(oocore.Float32, 1, 1000, 20)
	mean := x.Mean(0)
	for _, a := range gonbext.SaveAll([]oocore.Output{{Array: mean, Path: "mean.npy"}, {Array: x.Sub(mean), Path: "centred.zarr"}}) {
		fmt.Println("saved", a.Shape(), a.Chunks())
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

func TestSaveAllUnderFootprintRunsNothing(t *testing.T) {
	r := run(t, "several planned")
	r.expect(t, 0)
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*.[nz]*")); len(files) > 0 {
		t.Errorf("left %v", files)
	}
	runs := r.runs(t)
	if len(runs) != 1 || runs[0].Status != record.Planned || !runs[0].Header.PlanOnly {
		t.Fatalf("records: %+v", runs)
	}
	checkAlternatives(t, runs[0].Header)
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

func TestNominalFootprintIsThatOfAnyMachine(t *testing.T) {
	r := run(t, "nominal")
	r.expect(t, 0)
	runs := r.runs(t)
	if len(runs) != 1 || !runs[0].Header.PlanOnly || runs[0].Header.Workers != 3 || runs[0].Header.Budget != 4000<<40 || runs[0].Header.Overhead != 16<<20 {
		t.Errorf("records: %+v", runs)
	}
}

func TestFootprintOfMethodsWritesNothing(t *testing.T) {
	r := run(t, "methods")
	r.expect(t, 0)
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*")); len(files) != 1 { // the run log
		t.Errorf("a footprint left %v", files)
	}
	lines := strings.Split(r.stdout, "\n")
	if len(lines) < 3 || !strings.HasSuffix(lines[0], "<nil>") || lines[1] != "true" || lines[2] != "true" {
		t.Errorf("said\n%s%s", r.stdout, r.stderr)
	}
	for _, s := range r.runs(t) {
		if !s.Header.PlanOnly && s.Header.Within == "" && s.Header.Title == "" {
			t.Errorf("a run that is no plan: %+v", s.Header)
		}
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

func TestFootprintRunsNothing(t *testing.T) {
	r := run(t, "footprint")
	r.expect(t, 0)
	if !strings.Contains(r.stdout, "Collect (cell_test.go:") || !strings.Contains(r.stdout, "computes none") || strings.Contains(r.stderr, "reached") {
		t.Errorf("said %q and %q", r.stdout, r.stderr)
	}
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*.npy")); len(files) > 0 {
		t.Errorf("left %v", files)
	}
	runs := r.runs(t)
	if len(runs) != 3 {
		t.Fatalf("%d plans", len(runs))
	}
	for _, run := range runs {
		if run.Status != record.Planned || !run.Header.PlanOnly {
			t.Errorf("%s is no plan: %s", run.Header.Title, run.Status)
		}
		checkAlternatives(t, run.Header)
	}
}

// A footprint of a cell that names a device says what other cards would mean.
func TestFootprintComparesCardsWithDevice(t *testing.T) {
	r := run(t, "cards")
	r.expect(t, 0)
	runs := r.runs(t)
	if len(runs) != 1 {
		t.Fatalf("%d plans", len(runs))
	}
	rows, chunks := map[string]record.WhatIf{}, 0
	for _, w := range runs[0].Header.WhatIf {
		if w.Device == "" {
			chunks++
			continue
		}
		rows[w.Device] = w
		if !w.Fits || w.OnDevice == 0 || w.OnDevice > w.Passes || w.Link == 0 || w.Seconds <= 0 || w.Limit == "" || w.Memory <= 0 {
			t.Errorf("%+v", w)
		}
	}
	if own := rows["model:64MiB"]; own.Memory != 64<<20 || len(rows) != 1+len(cuda.Cards()) || chunks < 3 {
		t.Errorf("%d rows of chunks and budgets, %d of cards, the cell's own %+v", chunks, len(rows), own)
	}
}

// checkAlternatives holds the rows to their meaning: what fits needs no more than
// its budget, and what does not needs more.
func checkAlternatives(t *testing.T, h record.Header) {
	t.Helper()
	devices := 0
	for _, w := range h.WhatIf {
		if w.Device != "" {
			devices++
		}
		if w.Need <= 0 || w.Fits != (w.Need <= w.Budget) {
			t.Errorf("%s: chunks %v in %d of %d: fits %v", h.Title, w.Chunks, w.Need, w.Budget, w.Fits)
		}
		if w.Fits && (w.Passes == 0 || w.Tasks == 0 || w.Peak > w.Budget || w.Moved == 0 && h.Output != "") {
			t.Errorf("%s: %+v", h.Title, w)
		}
	}
	if devices > 0 || len(h.WhatIf) == 1 {
		t.Errorf("%s: %d rows, %d of them of devices that nobody asked for", h.Title, len(h.WhatIf), devices)
	}
}

func TestErrorsEndTheCellInOneLine(t *testing.T) {
	for cell, parts := range map[string][]string{
		"small":    {"needs a budget of", "(1,024 bytes)", "cell:8"},
		"mismatch": {"on\n", "(3, 4)", "(5,)", "cell:8"},
		"budget":   {`"lots" is not a size`, "cell_test.go:"},
		"device":   {"no NVIDIA driver", "cell_test.go:"},
		"chunks":   {`"3y4" is not a shape`, "cell_test.go:"},
		"missing":  {"missing.npy", "cell_test.go:"},
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

func TestShow(t *testing.T) {
	r := run(t, "show")
	r.expect(t, 0)
	for _, part := range []string{
		"8 × 10 int64",
		"   0   1   2  …   7   8   9\n", "   ⋮   ⋮   ⋮  ⋮   ⋮   ⋮   ⋮\n", "  70  71  72  …  77  78  79\nminimum 0, mean 39.5, maximum 79\n",
		"\n2.5\n", // no dimensions
		"true  true\narray",
		"  1      -22.5  \n  0.125      NaN\nminimum NaN, mean NaN, maximum NaN\n", // points below each other
		"  1.00000e-09  3.00000e+00\nminimum 1e-09, mean 1.5, maximum 3\n",
		"[0]:\n     0     1     2  …   997   998   999\n  1000  1001  1002  …  1997  1998  1999\n",
		"\n0.1\n", // as float32 tells it apart
	} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("no %q in\n%s", part, r.stdout)
		}
	}
}

func TestShowPrintsWhatIsNoArray(t *testing.T) {
	r := run(t, "values")
	r.expect(t, 0)
	want := "[8 10]\n[0" + strings.Repeat(" 0", 999) + "]\n[0 0 0 0 0 0] … [0 0 0 0 0 0]: 1,001 values\ntext\nfunc(string) string\n"
	if r.stdout != want {
		t.Errorf("%s", r.stdout)
	}
}

// A footprint on a cluster has a row for each number of workers, and asks no cluster.
func TestFootprintOnACluster(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := run(t, "cluster planned")
	if !strings.Contains(r.stdout, "worker-hours") || !strings.Contains(r.stderr, "reached") {
		t.Errorf("it prints %q, %q", r.stdout, r.stderr)
	}
	for _, row := range []string{"1 ", "8 ", "1,000 "} {
		if !strings.Contains(r.stdout, "\n"+row) {
			t.Errorf("there is no row %q in %s", row, r.stdout)
		}
	}
	if !strings.Contains(r.stdout, " MiB  ") {
		t.Errorf("the memory of each worker is missing: %s", r.stdout)
	}
	if r := run(t, "cluster without a budget"); !strings.Contains(r.stderr, "Memory is the budget of a worker") {
		t.Errorf("without a budget it says %q", r.stderr)
	}
}
