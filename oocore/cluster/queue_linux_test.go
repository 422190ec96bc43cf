package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
)

// queue is a batch system that takes jobs and starts none but the first, which answers that it sees everything: the test runs the others in
// its process. Where there is a file silent, the first one does not answer either.
type queue struct {
	t   *testing.T
	dir string // of a file for each job, with the words of its request; those that have ended are noted in ended
	run *run
}

// newQueue makes "queue" the name of one.
func newQueue(t *testing.T) *queue {
	t.Helper()
	q := &queue{t: t, dir: t.TempDir()}
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	bin := t.TempDir()
	q.write(filepath.Join(bin, "gonbext"), "#!/bin/sh\nexit 1\n")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, folder := range []string{"jobs", "ended"} {
		if err := os.Mkdir(filepath.Join(q.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sh := func(script string, args ...string) []string {
		return append([]string{"sh", "-c", "cd '" + q.dir + "' && " + script, "sh"}, args...)
	}
	batches["queue"] = &batch{
		Name: "Queue", Least: time.Hour,
		Submit: sh(`cat >/dev/null; n=$(($(ls jobs | wc -l) + 1))
if [ -e full ] && [ $n -gt $(cat full) ]; then echo "the queue is full" >&2; exit 1; fi
echo "$*" >jobs/$n; if [ $1 = probe ] && ! [ -e silent ]; then : >"${2%/*}/seen"; fi; echo $n`, "{name}", "{log}"),
		Array: "array={first}-{last}", Index: "INDEX", AfterOK: "ok={jobs}", AfterAny: "any={jobs}", Between: ":", Self: "QUEUE_JOB",
		Job:    regexp.MustCompile(`^(\d+)$`),
		State:  sh(`for j in $(ls jobs); do [ -e ended/$j ] || echo $j PENDING; done`),
		Listed: regexp.MustCompile(`^(?P<job>\d+) (?P<state>\S+)$`),
		Cancel: sh(`for j in "$@"; do : >ended/$j; done`, "{jobs}"),
	}
	t.Cleanup(func() { delete(batches, "queue") })
	return q
}

// Commands of a batch system that do not end are ended, with what they have started: it would hold
// the pipe open.
func TestSilentBatchSystem(t *testing.T) {
	held, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	file := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), pipe.Fd())
	defer func(limit time.Duration) { answerTime = limit }(answerTime)
	answerTime = 100 * time.Millisecond
	for name, b := range map[string]*batch{
		"a command": {Name: "Queue", State: []string{"sh", "-c", fmt.Sprintf("sleep 600 9>%s; true", file)}},
		"a session": {Name: "Queue", Session: []string{"sh", "-c", "exec sleep 600"}, State: []string{"state"}},
	} {
		began := time.Now()
		if _, err := b.active(t.Context(), "", nil); err == nil || !strings.Contains(err.Error(), "Queue does not answer: ") || strings.Contains(err.Error(), "\n") || time.Since(began) > time.Minute {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(held)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("what a command has started goes on")
	}
}

func (q *queue) write(name, text string) {
	q.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		q.t.Fatal(err)
	}
}

// submit gives save the options of a run on the queue whose output is at a path, and takes that run.
func (q *queue) submit(output string, save func(...oocore.Option) error) {
	q.t.Helper()
	on, err := On("queue", Options{Detach: true, ElementTime: 1})
	if err == nil {
		err = save(on, oocore.Memory("64MiB"), oocore.Processes(2))
	}
	if !errors.Is(err, ErrDetached) {
		q.t.Fatalf("submitting: %v", err)
	}
	runs, err := Find(q.t.Context(), output)
	if err != nil || len(runs) != 1 {
		q.t.Fatalf("%d runs: %v", len(runs), err)
	}
	q.run = runs[0].of
}

// load reads the run's file.
func (q *queue) load() *run {
	q.t.Helper()
	r, err := load(filepath.Dir(q.run.Plan))
	if err != nil {
		q.t.Fatal(err)
	}
	return r
}

// elements runs those of a stage's last round.
func (q *queue) elements(stage int) {
	q.t.Helper()
	r := q.load()
	number := len(r.Stages[stage].Rounds) - 1
	round := r.Stages[stage].Rounds[number]
	for e := range round.Elements.Len() {
		if err := Element(q.t.Context(), r.Plan, r.Memory, r.Cores, stage, number, e); err != nil {
			q.t.Fatalf("element %d of stage %d: %v", e, stage, err)
		}
	}
	q.end(round.Jobs...)
}

// merge runs the job that merges a stage, in its last round.
func (q *queue) merge(stage int) error {
	q.t.Helper()
	rounds := q.load().Stages[stage].Rounds
	self := rounds[len(rounds)-1].Merge
	_ = os.Remove(filepath.Join(q.dir, "ended", self)) // of one that is started again
	q.t.Setenv("QUEUE_JOB", self)
	err := Merge(q.t.Context(), q.run.Plan, stage)
	if !slices.Contains(q.active(), self) {
		q.t.Errorf("the job that merges stage %d has ended itself: %v", stage, err)
	}
	q.end(self)
	return err
}

// finish runs all jobs from a stage on.
func (q *queue) finish(stage int) {
	q.t.Helper()
	for ; stage < len(q.run.Stages); stage++ {
		q.elements(stage)
		if err := q.merge(stage); err != nil {
			q.t.Fatalf("merging stage %d: %v", stage, err)
		}
	}
	if _, err := os.Stat(filepath.Dir(q.run.Plan)); !errors.Is(err, os.ErrNotExist) {
		q.t.Fatalf("after all jobs the run's folder is there: %v", err)
	}
}

// end notes that jobs have ended.
func (q *queue) end(jobs ...string) {
	for _, j := range jobs {
		q.write(filepath.Join(q.dir, "ended", j), "")
	}
}

// active are the jobs that have not ended.
func (q *queue) active() (all []string) {
	q.t.Helper()
	jobs, err := os.ReadDir(filepath.Join(q.dir, "jobs"))
	if err != nil {
		q.t.Fatal(err)
	}
	for _, j := range jobs {
		if _, err := os.Stat(filepath.Join(q.dir, "ended", j.Name())); err != nil {
			all = append(all, j.Name())
		}
	}
	return all
}

// request is the words with which a job was submitted: its name, and what it waits for.
func (q *queue) request(job string) []string {
	q.t.Helper()
	text, err := os.ReadFile(filepath.Join(q.dir, "jobs", job))
	if err != nil {
		q.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// killed runs f, and leaves the run's notes as if it was killed before it made any.
func (q *queue) killed(f func()) {
	q.t.Helper()
	journal := filepath.Join(filepath.Dir(q.run.Plan), "journal")
	text, err := os.ReadFile(journal)
	if err != nil {
		q.t.Fatal(err)
	}
	f()
	q.write(journal, string(text))
}

// counting is the array of n elements that count from 0 on, in a file.
func counting(t *testing.T, n, chunk int) *oocore.Array {
	t.Helper()
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	a, err := oocore.FromSlice(v, n).Save(t.Context(), filepath.Join(t.TempDir(), "x.zarr"), oocore.Chunks(chunk))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// holds compares a stored array.
func holds(t *testing.T, a *oocore.Array, want []float64) {
	t.Helper()
	v, err := oocore.Collect[float64](t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range min(len(v), len(want)) {
		if v[i] != want[i] {
			t.Fatalf("element %s is %v, want %v", strconv.Itoa(i), v[i], want[i])
		}
	}
	if !slices.Equal(v, want) {
		t.Fatalf("%d elements, want %d", len(v), len(want))
	}
}
