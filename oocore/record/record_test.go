package record

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fill sets every number within v to a value of its own, so that a field that
// is not encoded, or swapped with another, shows.
func fill(v reflect.Value, next *uint64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "_" {
				fill(v.Field(i), next)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Int64:
		*next++
		v.SetInt(int64(*next) - 1<<40)
	default:
		*next++
		v.SetUint(*next)
	}
}

func TestEveryFieldIsKept(t *testing.T) {
	var n uint64 = 7
	var task, gotTask Task
	fill(reflect.ValueOf(&task).Elem(), &n)
	row := make([]byte, taskSize)
	new(cursor).encode(row, kindTask, &task)
	new(cursor).decode(row, &gotTask)
	if gotTask != task {
		t.Errorf("task: got %+v, want %+v", gotTask, task)
	}
	var s, gotSample Sample
	fill(reflect.ValueOf(&s).Elem(), &n)
	row = make([]byte, sampleSize)
	new(cursor).encode(row, kindSample, &s)
	new(cursor).decode(row, &gotSample)
	if gotSample != s {
		t.Errorf("sample: got %+v, want %+v", gotSample, s)
	}
	var e, gotEvent Event
	fill(reflect.ValueOf(&e).Elem(), &n)
	row = make([]byte, eventSize)
	new(cursor).encode(row, kindEvent, &e)
	new(cursor).decode(row, &gotEvent)
	if gotEvent != e {
		t.Errorf("event: got %+v, want %+v", gotEvent, e)
	}
}

// header is a small plan of two stages.
func header() Header {
	return Header{
		Title: "sqrt(x) </script>", Budget: 1 << 28, Predicted: Bytes{1, 2, 3},
		Stages: []Stage{{Name: "sqrt(x)", Kind: "map", Tasks: 5}, {Name: "mean", Kind: "reduce", Tasks: 2}},
	}
}

// write makes a record of tasks and samples, ended or not.
func write(t testing.TB, dir string, tasks, samples int, end *End) string {
	t.Helper()
	w, err := Create(dir, header())
	if err != nil {
		t.Fatal(err)
	}
	for i := range max(tasks, samples) {
		if i < tasks {
			w.Task(&Task{Stage: uint16(i % 2), Chunk: int64(i), Read: 10, Written: 3, Reserved: Bytes{64, 64}})
		}
		if i < samples {
			w.Sample(Sample{At: time.Duration(i), Anonymous: int64(i) << 20})
		}
	}
	if end == nil {
		w.abandon()
	} else if err := w.End(*end); err != nil {
		t.Fatal(err)
	}
	return w.Path()
}

// abandon leaves the record as a killed process does, but flushed.
func (w *Writer) abandon() {
	w.flush(0)
	w.mu.Lock()
	w.closed = true
	w.ticks.Stop()
	w.mu.Unlock()
	w.f.Close()
}

func count(r *Run) (tasks, samples int) {
	for range r.Tasks() {
		tasks++
	}
	for range r.Samples() {
		samples++
	}
	return
}

func TestRoundTrip(t *testing.T) {
	path := write(t, t.TempDir(), 1000, 100, &End{Status: Done, Peak: 99, PeakBy: Bytes{1, 2}})
	r, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Header.Title != header().Title || !reflect.DeepEqual(r.Header.Stages, header().Stages) || r.Header.PID != os.Getpid() {
		t.Errorf("header is %+v", r.Header)
	}
	if r.Status() != Done || r.End.Peak != 99 || r.End.PeakBy != (Bytes{1, 2}) {
		t.Errorf("end is %+v", r.End)
	}
	i := int64(0)
	for task := range r.Tasks() {
		if task.Chunk != i || task.Stage != uint16(i%2) || task.Read != 10 {
			t.Fatalf("task %d is %+v", i, task)
		}
		i++
	}
	if tasks, samples := count(r); tasks != 1000 || samples != 100 {
		t.Errorf("read %d tasks and %d samples", tasks, samples)
	}
	for range r.Tasks() { // a walk may stop early, and leaks nothing
		break
	}
}

func TestCutAnywhere(t *testing.T) {
	whole := testcases.ReadFile(t, write(t, t.TempDir(), 7, 3, &End{Status: Failed, Error: "no space"}))
	h := header()
	headLen := 12 + int(whole[8]) + int(whole[9])<<8
	endLen := len(whole) - headLen - 7*taskSize - 3*sampleSize
	if h.Stages == nil || endLen < 20 {
		t.Fatalf("the file's layout is not what this test takes it for: %d bytes of end", endLen)
	}
	path := filepath.Join(t.TempDir(), "cut"+suffix)
	for n := range len(whole) + 1 {
		testcases.WriteFile(t, path, whole[:n], 0o600)
		r, err := Read(path)
		if n < headLen {
			if !IsTorn(err) {
				t.Fatalf("cut at %d, in the header: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if (r.End != nil) != (n == len(whole)) {
			t.Fatalf("cut at %d of %d: end is %v", n, len(whole), r.End)
		}
		// Rows alternate: task, sample, three times; then tasks.
		wantTasks, wantSamples, left := 0, 0, n-headLen
		for i := range 10 {
			size, c := taskSize, &wantTasks
			if i < 6 && i%2 == 1 {
				size, c = sampleSize, &wantSamples
			}
			if left -= size; left < 0 {
				break
			}
			*c++
		}
		if tasks, samples := count(r); tasks != wantTasks || samples != wantSamples {
			t.Fatalf("cut at %d: %d tasks and %d samples, want %d and %d", n, tasks, samples, wantTasks, wantSamples)
		}
		tail, err := Follow(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tail.Poll()
		if err != nil || p.Done() != int64(wantTasks) || (p.End != nil) != (n == len(whole)) {
			t.Fatalf("followed, cut at %d: %+v, %v", n, p, err)
		}
		tail.Close()
	}
}

// A tail that sees a file grow by one byte at a time counts each row once.
func TestFollowByteByByte(t *testing.T) {
	whole := testcases.ReadFile(t, write(t, t.TempDir(), 6, 6, &End{Status: Done}))
	head := 12 + int(whole[8]) + int(whole[9])<<8
	f, err := os.Create(filepath.Join(t.TempDir(), "growing"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Write(whole[:head])
	tail, err := Follow(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	for i := head; i < len(whole); i++ {
		f.Write(whole[i : i+1])
		p, err := tail.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p.End != nil && i < len(whole)-1 {
			t.Fatalf("an end at byte %d of %d", i, len(whole))
		}
	}
	p, _ := tail.Poll()
	if !slices.Equal(p.Tasks, []int64{3, 3}) || p.Read != 60 || p.Written != 18 || p.Sample.Anonymous != 5<<20 || p.End == nil {
		t.Errorf("followed to %+v", p)
	}
}

func TestFlushesWithoutAnEnd(t *testing.T) {
	w, err := Create(t.TempDir(), header())
	if err != nil {
		t.Fatal(err)
	}
	defer w.End(End{Status: Done})
	tail, err := Follow(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	var samples []time.Duration
	tail.Each = func(s *Sample) { samples = append(samples, s.At) }
	w.Sample(Sample{At: 1})
	w.Sample(Sample{At: 2})
	w.Task(&Task{})
	for { // the test's own time limit ends a flush that never comes
		p, err := tail.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p.Done() == 1 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if !slices.Equal(samples, []time.Duration{1, 2}) {
		t.Errorf("samples at %v", samples)
	}
	if r, err := Read(w.Path()); err != nil || r.Status() != Running || !tail.Alive() {
		t.Errorf("while it runs: %v, %v", r.Status(), err)
	}
}

func TestConcurrent(t *testing.T) {
	w, err := Create(t.TempDir(), header())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 5000 {
				w.Task(&Task{Slot: uint16(g), Chunk: int64(i)})
			}
			w.Sample(Sample{})
		})
	}
	all.Wait()
	if err := w.End(End{Status: Done}); err != nil {
		t.Fatal(err)
	}
	w.Task(&Task{}) // dropped
	if err := w.End(End{}); err != nil {
		t.Errorf("a second End: %v", err)
	}
	r, err := Read(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	var next [8]int64 // the rows of one goroutine keep their order
	for task := range r.Tasks() {
		if task.Chunk != next[task.Slot] {
			t.Fatalf("slot %d: chunk %d, want %d", task.Slot, task.Chunk, next[task.Slot])
		}
		next[task.Slot]++
	}
	if next != [8]int64{5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000} {
		t.Errorf("rows by slot: %v", next)
	}
}

func TestNilWriter(t *testing.T) {
	var w *Writer
	w.Task(&Task{})
	w.Sample(Sample{})
	if err := w.End(End{}); err != nil || w.Path() != "" || w.Run() != "" {
		t.Error("a nil writer does something")
	}
}

// fullDisk writes into blocks that exist and up to limit.
type fullDisk struct {
	*os.File
	limit int64
}

func (d fullDisk) WriteAt(b []byte, at int64) (int, error) {
	if room := d.limit - at; int64(len(b)) > room {
		n, err := d.File.WriteAt(b[:max(room, 0)], at)
		if err == nil {
			err = syscall.ENOSPC
		}
		return n, err
	}
	return d.File.WriteAt(b, at)
}

func TestFullDisk(t *testing.T) {
	for _, limit := range []int64{100_000, 100_001, 131_072, 200_000} {
		w, err := Create(t.TempDir(), header())
		if err != nil {
			t.Fatal(err)
		}
		w.f = fullDisk{w.f.(*os.File), limit}
		const rows = 2000
		for i := range rows {
			w.Task(&Task{Chunk: int64(i)})
		}
		err = w.End(End{Status: Done, Peak: 5})
		if err == nil || !strings.Contains(err.Error(), "could not be written: no space left") {
			t.Errorf("limit %d: error %v", limit, err)
		}
		r, err := Read(w.Path())
		if err != nil {
			t.Fatal(err)
		}
		tasks, _ := count(r)
		if r.End == nil || r.End.Lost != int64(rows-tasks) || tasks < int(limit)/taskSize-60 {
			t.Errorf("limit %d: %d of %d rows, end %+v", limit, tasks, rows, r.End)
		}
		i := int64(0)
		for task := range r.Tasks() {
			if task.Chunk != i {
				t.Fatalf("limit %d: row %d is of chunk %d", limit, i, task.Chunk)
			}
			i++
		}
	}
}

func TestOfCell(t *testing.T) {
	dir := t.TempDir()
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, cell := range []string{"a", "b", "a", "a"} {
		h := header()
		h.Cell, h.Title, h.Start = cell, fmt.Sprint(i), begun.Add(time.Duration(i)*time.Second)
		w, err := Create(dir, h)
		if err == nil {
			err = w.End(End{Status: Done})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for since, want := range map[time.Time]string{{}: "0 2 3", begun.Add(time.Second): "2 3", begun.Add(3 * time.Second): "3", begun.Add(time.Minute): ""} {
		all, err := OfCell(dir, "a", since)
		var got []string
		for _, r := range all {
			got = append(got, r.Header.Title)
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("since %v: %v, %v, want %s", since, got, err, want)
		}
	}
}

func TestListAndPrune(t *testing.T) {
	dir := t.TempDir()
	if all, err := List(filepath.Join(dir, "none")); err != nil || len(all) != 0 {
		t.Errorf("a log that does not exist: %v, %v", all, err)
	}
	running, err := Create(dir, header())
	if err != nil {
		t.Fatal(err)
	}
	defer running.End(End{Status: Done})
	killed := write(t, dir, 1, 0, nil)
	done := write(t, dir, 1, 0, &End{Status: Done})
	os.WriteFile(filepath.Join(dir, "99999999"+suffix), []byte("not a record"), 0o600)
	os.WriteFile(filepath.Join(dir, "other.txt"), nil, 0o600)
	all, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, s.Path+" "+string(s.Status))
	}
	if want := []string{done + " done", killed + " killed", running.Path() + " running"}; !slices.Equal(got, want) {
		t.Errorf("list is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	prune(dir, 2, 1<<30) // the stray file and the newest
	if all, _ = List(dir); len(all) != 2 || all[0].Path != done || all[1].Path != running.Path() {
		t.Errorf("pruned by count to %+v", all)
	}
	old := write(t, dir, 1, 0, &End{Status: Done})
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-keepFor-time.Hour)); err != nil {
		t.Fatal(err)
	}
	prune(dir, 100, 1<<30)
	if all, _ = List(dir); len(all) != 2 || all[0].Path != done || all[1].Path != running.Path() {
		t.Errorf("pruned by age to %+v", all)
	}
	Clear(dir)
	if all, _ = List(dir); len(all) != 1 || all[0].Path != running.Path() {
		t.Errorf("pruned by size to %+v", all)
	}
}

func TestRunsSortByTime(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	var runs []string
	for i := range 20 {
		h := header()
		h.Start = at.Add(time.Duration(i/2) * time.Microsecond)
		w, err := Create(dir, h)
		if err != nil {
			t.Fatal(err)
		}
		w.End(End{Status: Done})
		runs = append(runs, w.Run())
	}
	if !slices.IsSorted(runs) || len(slices.Compact(slices.Clone(runs))) != len(runs) {
		t.Errorf("runs: %v", runs)
	}
}

func TestTaskDoesNotAllocate(t *testing.T) {
	w, err := Create(t.TempDir(), header())
	if err != nil {
		t.Fatal(err)
	}
	defer w.End(End{})
	var task Task
	if n := testing.AllocsPerRun(10_000, func() { w.Task(&task) }); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}

func FuzzRead(f *testing.F) {
	whole, err := os.ReadFile(write(f, f.TempDir(), 3, 2, &End{Status: Done}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte(magic + "\x02\xff\xff\xff\x00{}"))
	f.Add([]byte(magic + "\x02\x02\x00\x00\x00{}\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "fuzz"+suffix)
		testcases.WriteFile(t, path, b, 0o600)
		r, err := Read(path)
		if err != nil {
			return
		}
		tasks, samples := count(r)
		if got := tasks*firstTaskSize + samples*firstSampleSize; got > len(b) {
			t.Errorf("%d bytes of rows from a file of %d", got, len(b))
		}
		tail, err := Follow(path)
		if err != nil {
			t.Fatal(err)
		}
		defer tail.Close()
		if _, err := tail.Poll(); err != nil {
			t.Fatal(err)
		}
	})
}

// What the log costs a run, where it is full: less than a millisecond.
func BenchmarkLog(b *testing.B) {
	dir := b.TempDir()
	for range keepRuns {
		write(b, dir, 1, 0, &End{Status: Done})
	}
	for b.Loop() {
		w, err := Create(dir, header())
		if err != nil {
			b.Fatal(err)
		}
		if err := w.End(End{Status: Done}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTask(b *testing.B) {
	w, err := Create(b.TempDir(), header())
	if err != nil {
		b.Fatal(err)
	}
	defer w.End(End{})
	var task Task
	b.ReportAllocs()
	for b.Loop() {
		w.Task(&task)
	}
}
