package relay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func runOf(t *testing.T, dir, cell, title string) *record.Writer {
	t.Helper()
	w, err := record.Create(dir, record.Header{
		Cell: cell, Title: title, Budget: 1 << 20, Workers: 1,
		Stages: []record.Stage{{Name: title, Kind: "map", Shape: []int{40}, Chunks: []int{4}, DType: "float32", Tasks: 10, Slots: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func text(b Bundle) string { return b.Data["text/plain"].(string) }

func TestRunsOfOneCell(t *testing.T) {
	dir := t.TempDir()
	end := func(w *record.Writer) {
		t.Helper()
		if err := w.End(record.End{Status: record.Done, Duration: time.Second, Computed: 10}); err != nil {
			t.Fatal(err)
		}
	}
	end(runOf(t, dir, "A", "before the cell ran"))
	w := NewRuns(dir, "kernel-0a.json", &Library{}).Watch(Cell{ID: "A"}, "")
	defer w.Close()
	if _, ok := w.Progress(); ok {
		t.Error("progress without a run")
	}

	testcases.WriteFile(t, filepath.Join(dir, "stray"), []byte("no record"), 0o600)
	other, first := runOf(t, dir, "B", "of another cell"), runOf(t, dir, "A", "the first")
	defer end(other)
	if b, ok := w.Progress(); !ok || !strings.Contains(text(b), "0 of 10") {
		t.Errorf("at the start: %v, %v", b, ok)
	}
	if _, ok := w.Progress(); ok {
		t.Error("the same progress twice")
	}
	for i := range 10 {
		first.Task(&record.Task{Chunk: int64(i), Read: 16, Written: 16})
	}
	end(first)
	if b, ok := w.Progress(); !ok || !strings.Contains(text(b), "10 of 10") {
		t.Errorf("at the end: %v, %v", b, ok)
	}
	part, err := record.Create(dir, record.Header{
		Cell: record.Unreported, Within: "A", Title: "a step of an algorithm", Budget: 1 << 20, Workers: 1,
		Stages: []record.Stage{{Name: "a step", Kind: "map", Shape: []int{40}, Chunks: []int{4}, DType: "float32", Tasks: 7, Slots: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := w.Progress(); !ok || !strings.Contains(text(b), "0 of 7") {
		t.Errorf("within an algorithm: %v, %v", b, ok)
	}
	end(part)
	end(runOf(t, dir, "A", "the second"))
	b, ok := w.Report("exit status 0")
	if !ok {
		t.Fatal("no report")
	}
	got := text(b)
	if one, two := strings.Index(got, "the first"), strings.Index(got, "the second"); one < 0 || two < one {
		t.Errorf("the report has not both runs in their order:\n%s", got)
	}
	for _, not := range []string{"before the cell ran", "of another cell", "a step"} {
		if strings.Contains(got, not) {
			t.Errorf("the report has the run %q", not)
		}
	}
}

// A process that ended by itself has left a record without an end: the report says what
// ended it and what it took, and so does the run log from then on.
func TestReportOfProcessThatExited(t *testing.T) {
	dir := t.TempDir()
	w := NewRuns(dir, "kernel-0a.json", &Library{}).Watch(Cell{ID: "A"}, "")
	defer w.Close()
	r, err := record.Create(dir, record.Header{Cell: "A", Title: "the cell's process", Budget: 1 << 30, Process: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Sample(record.Sample{At: time.Second, Anonymous: 40 << 20})
	if err := r.End(record.End{}); err != nil {
		t.Fatal(err)
	}
	whole := testcases.ReadFile(t, r.Path())
	if err := os.WriteFile(r.Path(), whole[:len(whole)-1], 0o600); err != nil { // an End is whole or there is none
		t.Fatal(err)
	}
	b, ok := w.Report("exit status 3")
	if want := "Peak of the process 40 MiB of 1 GiB · the program ended itself, with exit status 3"; !ok || !strings.Contains(text(b), want) {
		t.Errorf("want %q in\n%s", want, text(b))
	}
	all, err := record.List(dir)
	if err != nil || len(all) != 1 || all[0].Status != record.Exited {
		t.Errorf("the run log has %+v, %v", all, err)
	}
}

func TestCellWithoutRuns(t *testing.T) {
	w := NewRuns(filepath.Join(t.TempDir(), "not made yet"), "kernel-0a.json", &Library{}).Watch(Cell{ID: "A"}, "")
	defer w.Close()
	if _, ok := w.Progress(); ok {
		t.Error("progress")
	}
	if _, ok := w.Report("exit status 0"); ok {
		t.Error("report")
	}
}

func TestLibraryIsCarriedOnce(t *testing.T) {
	dir := t.TempDir()
	runs := NewRuns(dir, "kernel-0a.json", &Library{})
	report := func(origin, mode string) int {
		t.Helper()
		w := runs.Watch(Cell{ID: "A", Chart: mode}, origin)
		defer w.Close()
		r := runOf(t, dir, "A", "x")
		for i := range 10 {
			r.Task(&record.Task{Chunk: int64(i), Read: 16, Written: 16, Start: time.Duration(i) * time.Millisecond, Duration: time.Millisecond})
			r.Sample(record.Sample{At: time.Duration(i) * time.Millisecond, Arena: record.Bytes{1 << 10}})
		}
		if err := r.End(record.End{Status: record.Done, Duration: 10 * time.Millisecond, Computed: 10}); err != nil {
			t.Fatal(err)
		}
		b, ok := w.Report("exit status 0")
		if !ok {
			t.Fatal("no report")
		}
		return len(b.Data["text/html"].(string))
	}
	const library = 100_000 // bytes, at least
	if n := report("one", "svg"); n > library {
		t.Errorf("pictures need no library, the report has %d bytes", n)
	}
	if n := report("one", ""); n < library {
		t.Errorf("the first live report has %d bytes: no library", n)
	}
	if n := report("two", ""); n > library {
		t.Errorf("the second has %d bytes: a second library", n)
	}
	if n := report("one", ""); n < library {
		t.Errorf("the first cell run again has %d bytes: the notebook has lost its library", n)
	}
	if n := report("", ""); n > library {
		t.Errorf("a cell without a name has %d bytes: a second library", n)
	}
}

// The memory chart grows beside the bar, and a bar that stands still is shown again, so
// that a page can tell it from one that it lost.
func TestProgressDrawsMemoryAndRepeats(t *testing.T) {
	dir := t.TempDir()
	w := NewRuns(dir, "kernel-0a.json", &Library{}).Watch(Cell{ID: "A"}, "").(*cellRuns)
	defer w.Close()
	r, err := record.Create(dir, record.Header{
		Cell: "A", Title: "x", Budget: 1 << 20, Workers: 1, Start: time.Now().Add(-10 * time.Second),
		Stages: []record.Stage{{Name: "x", Kind: "map", Shape: []int{40}, Chunks: []int{4}, DType: "float32", Tasks: 10, Slots: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		r.Sample(record.Sample{At: time.Duration(i) * 100 * time.Millisecond, Arena: record.Bytes{int64(i) << 12}})
	}
	for i := range 10 {
		r.Task(&record.Task{Chunk: int64(i), Duration: time.Second})
	}
	var b Bundle
	for range 1500 { // the record is written behind
		if next, ok := w.Progress(); ok {
			b = next
		}
		if html, _ := b.Data["text/html"].(string); strings.Contains(html, `src="data:image/svg`) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if html, _ := b.Data["text/html"].(string); !strings.Contains(html, `alt="Memory so far"`) {
		t.Errorf("no chart in %q", html)
	}
	for range 3 {
		w.Progress()
	}
	if _, ok := w.Progress(); ok {
		t.Error("nothing has changed, and it is shown at once")
	}
	w.said = time.Now().Add(-stillThere)
	if _, ok := w.Progress(); !ok {
		t.Error("a bar that stands still is not shown again")
	}
	if err := r.End(record.End{Status: record.Done}); err != nil {
		t.Fatal(err)
	}
}

// Jupyter's servers name connection files after the kernel; other clients do not.
func TestKernelIDIsJupyters(t *testing.T) {
	for file, want := range map[string]string{
		"/run/user/kernel-0a1b2c3d-0000-4000-8000-0123456789ab.json": "0a1b2c3d-0000-4000-8000-0123456789ab",
		"/tmp/tmpabc123.json":       "",
		"/tmp/kernel-../../x.json":  "",
		"/tmp/kernel-<script>.json": "",
	} {
		if got := kernelID(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// A page that is loaded anew follows the kernel by what the bar says of it.
func TestProgressSaysWhereItIsShown(t *testing.T) {
	dir := t.TempDir()
	cell := Cell{ID: "A"}
	w := NewRuns(dir, "kernel-0a.json", &Library{}).Watch(cell, "")
	defer w.Close()
	r := runOf(t, dir, "A", "x")
	b, ok := w.Progress()
	if html, _ := b.Data["text/html"].(string); !ok || !strings.Contains(html, `data-kernel="0a" data-display="`+cell.display()+`"`) {
		t.Errorf("%v, %.300v", ok, b)
	}
	if err := r.End(record.End{Status: record.Done}); err != nil {
		t.Fatal(err)
	}
}

// A plain cell says what each of its runs has saved, and nothing of what it has only computed,
// unless progress was shown of that.
func TestPlainCellSaysWhatItSaved(t *testing.T) {
	dir := t.TempDir()
	run := func(output string, start time.Time, status record.Status) {
		t.Helper()
		w, err := record.Create(dir, record.Header{
			Cell: "A", Title: "sqrt(x)", Output: output, Start: start, Budget: 1 << 20, Workers: 1,
			Result: &record.Result{Shape: []int{40, 2}, DType: "float32", Arrays: 1, Bytes: 320},
			Stages: []record.Stage{{Name: "sqrt(x)", Kind: "map", Shape: []int{40, 2}, Chunks: []int{4, 2}, DType: "float32", Tasks: 10, Slots: 1}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.End(record.End{Status: status, Duration: 1500 * time.Millisecond, Computed: 10, Error: "disk full"}); err != nil {
			t.Fatal(err)
		}
	}
	watch := func(start time.Time) (progress bool, report string) {
		t.Helper()
		w := NewRuns(dir, "", &Library{}).Watch(Cell{ID: "A", Plain: true}, "")
		defer w.Close()
		run("", start, record.Done)
		_, progress = w.Progress()
		if _, err := record.WriteCard(dir, &record.Card{Cell: "A", Text: "Wall time 2 s\n"}); err != nil {
			t.Fatal(err)
		}
		run("x.npy", start, record.Done)
		run("y.npy", start, record.Skipped)
		run("z.npy", start, record.Failed)
		b, ok := w.Report("exit status 0")
		if cards := w.Cards(); !ok || len(cards) > 0 || !strings.HasSuffix(text(b), "\nWall time 2 s") {
			t.Fatalf("%d cards above %v", len(cards), b)
		}
		return progress, text(b)
	}
	const saved = "x.npy: (40, 2) float32, 320 bytes in 1.5 s\ny.npy holds this result already\n"
	if progress, got := watch(time.Now()); progress || !strings.HasPrefix(got, saved) || !strings.Contains(got, "Failed") || !strings.Contains(got, "disk full") {
		t.Errorf("progress %v\n%s", progress, got)
	}
	if progress, got := watch(time.Now().Add(-2 * quiet)); !progress || !strings.HasPrefix(got, "sqrt(x): 1.5 s\n"+saved) {
		t.Errorf("after a while: progress %v\n%s", progress, got)
	}
	w := NewRuns(dir, "", &Library{}).Watch(Cell{ID: "A", Plain: true}, "")
	defer w.Close()
	run("", time.Now(), record.Done)
	if b, ok := w.Report(""); ok {
		t.Errorf("a run without an output says %v", b)
	}
}
