package checkpoint

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// traced are the traces that a journal has, by task.
func traced(t testing.TB, from []byte) map[int]Trace {
	t.Helper()
	all := map[int]Trace{}
	check(t, EachTrace(bytes.NewReader(from), func(one Trace) bool {
		all[one.Task] = one
		return true
	}))
	return all
}

// following is a checkpoint that follows an array of 10 × 10 in chunks of 4 × 3.
func following(t testing.TB) *Checkpoint {
	t.Helper()
	j, err := createJournal(filepath.Join(t.TempDir(), "journal"), map[string]string{})
	check(t, err)
	t.Cleanup(func() { check(t, j.close()) })
	c := &Checkpoint{journal: j, state: newState()}
	check(t, c.Follow(map[int]grid.Grid{5: {Shape: []int{10, 10}, Chunks: []int{4, 3}}}, [][][]int{{{4, 10}, {1, 10}}}, true))
	return c
}

func TestTracesAreWhatTasksReadAndWrote(t *testing.T) {
	c := following(t)
	o := c.Observer()
	o.Read(0, 7, 5, grid.Region{Start: []int{3, 5}, Count: []int{2, 3}, Step: []int{1, 1}}) // rows 3 and 4, columns 5 to 7
	o.Read(0, 7, 5, grid.Region{Start: []int{9, 9}, Count: []int{2, 1}, Step: []int{-9, 1}})
	o.Read(0, 7, 6, grid.Region{Start: []int{0}, Count: []int{1}, Step: []int{1}}) // which has no units
	o.Wrote(0, 7, 1<<63+5)
	o.Folded(0, 8, [][]byte{{1, 2}, {3}})
	check(t, c.note(0, Tasks{{7, 8}}, nil))
	var b bytes.Buffer
	check(t, c.Traces(&b))
	form := [][]int{{4, 10}, {1, 10}}
	want := map[int]Trace{
		// Chunks (0, 1), (0, 2), (1, 1) and (1, 2) of 3 × 4, and from the last row to the first those of column 9.
		7: {Task: 7, Digest: 1<<63 + 5, Form: form, Reads: []Read{{5, Tasks{{1, 4}, {5, 8}, {11, 12}}}}},
		8: {Task: 8, Form: form, Folded: []byte{1, 2, 3}},
	}
	if got := traced(t, b.Bytes()); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	next := following(t) // of a run whose tasks write in another form
	check(t, next.Follow(nil, [][][]int{{{2, 2}}}, false))
	check(t, next.Adopt(0, Tasks{{7, 8}}, func(each func(Trace) bool) error {
		each(want[7])
		return nil
	}))
	next.Observer().Wrote(0, 9, 4)
	var after bytes.Buffer
	check(t, next.Traces(&after))
	want = map[int]Trace{7: want[7], 9: {Task: 9, Digest: 4, Form: [][]int{{2, 2}}}}
	if got := traced(t, after.Bytes()); !reflect.DeepEqual(got, want) || !next.Resumes() || !slices.Equal(next.Done(0), Tasks{{7, 8}}) {
		t.Errorf("%+v, want %+v; done: %v", got, want, next.Done(0))
	}
}

// However many tasks a plan has, few are followed in memory at once, and none is lost.
func TestTracesOfManyTasksAreFewInMemory(t *testing.T) {
	c := following(t)
	const tasks = 3*mostGathered + 7
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for task := worker; task < tasks; task += 4 {
				_ = c.Observer().Read(0, task, 5, grid.Region{Start: []int{0, 0}, Count: []int{1, 1}, Step: []int{1, 1}})
				c.Observer().Wrote(0, task, uint64(task))
			}
		})
	}
	all.Wait()
	if n := len(c.traces.of); n >= mostGathered {
		t.Errorf("%d tasks of %d are in memory", n, tasks)
	}
	var b bytes.Buffer
	check(t, c.Traces(&b))
	got := traced(t, b.Bytes())
	for task := range tasks {
		if one := got[task]; one.Digest != uint64(task) || len(one.Reads) != 1 {
			t.Fatalf("task %d: %+v", task, one)
		}
	}
}

// What is left out is not read in silence.
func TestLeftOutPartsAreNotRead(t *testing.T) {
	c := following(t)
	c.plan = &plan.Plan{Stages: []plan.Stage{{Outputs: []int{5}}}}
	c.LeaveOut(0, Tasks{{2, 4}}, Tasks{{1, 2}})
	o := c.Observer()
	if err := o.Read(1, 0, 5, grid.Region{Start: []int{0, 0}, Count: []int{1, 3}, Step: []int{1, 1}}); err != nil {
		t.Error(err)
	}
	if err := o.Read(1, 0, 5, grid.Region{Start: []int{0, 3}, Count: []int{1, 2}, Step: []int{1, 1}}); !errors.Is(err, ErrLeftOut) {
		t.Errorf("%v, want %v", err, ErrLeftOut)
	}
	if got := c.LeftOut(0); got.Len() != 2 || c.LeftOut(1) != nil {
		t.Errorf("%v, %v", got, c.LeftOut(1))
	}
}

// Whatever is read as traces gives whole ones, or none.
func FuzzTraces(f *testing.F) {
	c := following(f)
	c.Observer().Read(0, 7, 5, grid.Region{Start: []int{3, 5}, Count: []int{2, 3}, Step: []int{1, 1}})
	c.Observer().Folded(0, 8, [][]byte{{1}})
	var b bytes.Buffer
	check(f, c.Traces(&b))
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, from []byte) {
		var again bytes.Buffer
		j, err := createJournal(filepath.Join(t.TempDir(), "journal"), map[string]string{})
		check(t, err)
		c := &Checkpoint{journal: j, state: newState()}
		check(t, c.Follow(nil, nil, true))
		all := traced(t, from)
		for _, one := range all {
			check(t, j.form(one.Stage, one.Form))
			check(t, j.trace(&one))
		}
		check(t, c.Traces(&again))
		check(t, j.close())
		if got := traced(t, again.Bytes()); len(got) != len(all) {
			t.Errorf("%d traces of %d", len(got), len(all))
		}
	})
}
