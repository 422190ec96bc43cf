package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// run is a run on a batch system, as the file beside its plan has it: from there any machine that
// sees the file attaches to it, cancels it, or takes it on.
type run struct {
	ID      string          `json:"id"` // random: it is in the user's list of runs, and in the names of jobs
	On      string          `json:"on"` // the batch system
	Output  string          `json:"output"`
	In      string          `json:"in"` // what has the staging folder: the output, or the collection that it is in
	Begun   time.Time       `json:"begun"`
	Plan    string          `json:"plan"`    // its file
	Command string          `json:"command"` // gonbext
	Dir     string          `json:"dir"`     // the working directory, which relative paths start from
	Options Options         `json:"options"`
	Memory  int64           `json:"memory"` // of a worker
	Cores   int             `json:"cores"`
	AtOnce  int             `json:"atOnce"`  // workers
	Merging int64           `json:"merging"` // memory of a job that merges
	Whole   bool            `json:"whole"`   // all jobs are submitted
	Ready   int             `json:"ready"`   // the stage whose tasks can run: those before are complete
	Probe   string          `json:"probe,omitempty"`
	Stages  []stage         `json:"stages"`
	Saved   json.RawMessage `json:"saved"`
	Before  storage.Version `json:"before"` // of the output, when the run was begun
}

// stage is a stage's jobs.
type stage struct {
	Name   string  `json:"name"`
	Tasks  int     `json:"tasks"`
	Token  string  `json:"token"` // of its reports: a process that was given another one reports to nobody
	Each   int     `json:"each"`  // tasks of an element
	Step   int     `json:"step"`  // and of each of its reports
	Rounds []round `json:"rounds,omitempty"`
}

// round is the elements of a stage that are submitted at a time, and the job that merges when they have ended.
type round struct {
	Elements exec.Tasks `json:"elements"`
	Jobs     []string   `json:"jobs"`
	Merge    string     `json:"merge"`
}

// maxRounds is how often a stage's elements are submitted.
const maxRounds = 3

// endedFile is what a run's file is renamed to when it is cancelled, or has failed.
const endedFile = "ended.json"

// failedFile is in the folder of a run that has failed.
const failedFile = "failed.json"

// runFile is the path of a run's file, for the folder of its plan.
func runFile(staging string) string { return filepath.Join(staging, storage.ElsewhereFile) }

// folder has the run's file, its reports and logs.
func (r *run) folder() string { return filepath.Dir(runFile(filepath.Dir(r.Plan))) }

// load reads the run of a staging folder. The error is fs.ErrNotExist where there is none.
func load(staging string) (*run, error) {
	return loadFile(runFile(staging))
}

func loadFile(name string) (*run, error) {
	text, err := readRegular(name)
	if err != nil {
		return nil, err
	}
	r := &run{}
	if json.Unmarshal(text, r) != nil || !runID.MatchString(r.ID) || slices.ContainsFunc(r.Stages, func(s stage) bool { return s.Each < 1 || s.Step < 1 || !runID.MatchString(s.Token) }) {
		return nil, fmt.Errorf("%s: this is not a run of this version of gonbext", name)
	}
	if err := r.inside(filepath.Dir(filepath.Dir(name))); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	_, err = find(r.On)
	return r, err
}

// inside rejects a run that names another staging folder than the one that it was found in: handling it would
// handle the run that is there.
func (r *run) inside(staging string) error {
	if rest, ok := strings.CutPrefix(r.Output, r.In); !ok || rest != "" && !strings.ContainsRune("/#", rune(rest[0])) {
		return errors.New("its output is not in what it computes")
	}
	own, err := storage.StagingPath(storage.StagingIn(filepath.Dir(staging), r.In))
	is, err1 := os.Stat(staging)
	for _, dir := range []string{own, filepath.Dir(r.Plan)} {
		if named, err2 := os.Stat(dir); errors.Join(err, err1, err2) != nil || !os.SameFile(is, named) {
			if _, gone := os.Stat(staging); errors.Is(gone, fs.ErrNotExist) { // the run has ended meanwhile
				return gone
			}
			return errors.New("it is of a run whose files are elsewhere: remove the folder, where it was copied here")
		}
	}
	return nil
}

// name is what the names of the run's jobs begin with: as much of them as each batch system lists.
func (r *run) name() string { return "g" + r.ID[:9] }

// active returns those of some jobs of the run that have not ended, with their states.
func (r *run) active(ctx context.Context, jobs ...string) (map[string]string, error) {
	return r.batch().active(ctx, r.of(), jobs)
}

// of is what tells the run's jobs from those of others.
func (r *run) of() string {
	if r.batch().Named {
		return r.ID
	}
	return r.name()
}

// save writes the run's file.
func (r *run) save() error {
	text, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(r.folder(), 0o700)
	}
	if err != nil {
		return err
	}
	name := runFile(filepath.Dir(r.Plan))
	if err := disk.WriteFile(name+".new", text); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func (r *run) batch() *batch {
	b, err := find(r.On)
	if err != nil {
		panic("cluster: " + err.Error()) // load and On have found it
	}
	return b
}

// jobPrefix begins the numbers that jobs are given.
const jobPrefix = "gonbext-"

// number makes one for a job: those of a run begin alike.
func (r *run) number() string { return jobPrefix + r.ID + "-" + rand.Text() }

// jobs returns the numbers of all jobs.
func (r *run) jobs() (all []string) {
	if r.Probe != "" {
		all = append(all, r.Probe)
	}
	return append(all, r.jobsFrom(0)...)
}

// jobsFrom returns the jobs of stages.
func (r *run) jobsFrom(stage int) (all []string) {
	for i := stage; i < len(r.Stages); i++ {
		for _, round := range r.Stages[i].Rounds {
			all = append(all, round.Jobs...)
			if round.Merge != "" {
				all = append(all, round.Merge)
			}
		}
	}
	return all
}

// without returns jobs but one.
func without(jobs []string, job string) []string {
	return slices.DeleteFunc(jobs, func(j string) bool { return j == job })
}

// steps splits the tasks of an element into those of its reports.
func (s *stage) steps(element int) (all []exec.Range) {
	end := min((element+1)*s.Each, s.Tasks)
	for first := element * s.Each; first < end; first += s.Step {
		all = append(all, exec.Range{First: first, End: min(first+s.Step, end)})
	}
	return all
}

// elements returns the elements that have some of a stage's tasks.
func (s *stage) elements(tasks exec.Tasks) (all exec.Tasks) {
	for _, t := range tasks {
		for e := t.First / s.Each; e*s.Each < t.End; e++ {
			if !all.Has(e) {
				all.Add(e, 1)
			}
		}
	}
	return all
}

// report is what a step of an element has done: an exec.Report, and when.
type report struct {
	span
	exec.Report
}

// span is when a step ran.
type span struct {
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended"`
}

// reports is the folder of a stage's reports.
func (r *run) reports(stage int) string {
	return filepath.Join(r.folder(), fmt.Sprintf("done-%d-%s", stage, r.Stages[stage].Token))
}

// reportFile is a step's.
func (r *run) reportFile(stage int, tasks exec.Range) string {
	return filepath.Join(r.reports(stage), fmt.Sprintf("%d-%d.json", tasks.First, tasks.End))
}

// putReport puts a report in its place, whole.
func (r *run) putReport(stage int, tasks exec.Range, rep report) error {
	text, err := json.Marshal(rep)
	if err != nil {
		return err
	}
	if err := os.Mkdir(r.reports(stage), 0o700); err != nil && !errors.Is(err, fs.ErrExist) { // the run may have ended, and its folder be gone
		return err
	}
	f, err := os.CreateTemp(r.reports(stage), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), r.reportFile(stage, tasks))
	}
	return err
}

// findReports returns the tasks of a stage's reports.
func (r *run) findReports(stage int) (all []exec.Range, err error) {
	entries, err := os.ReadDir(r.reports(stage))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		var t exec.Range
		if n, _ := fmt.Sscanf(e.Name(), "%d-%d.json", &t.First, &t.End); n == 2 {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b exec.Range) int { return a.First - b.First })
	return all, err
}

// readReport reads the report of tasks. One that is damaged is removed: its tasks run again.
func (r *run) readReport(stage int, tasks exec.Range) (rep report, ok bool, err error) {
	name := r.reportFile(stage, tasks)
	text, err := os.ReadFile(name)
	if err != nil {
		return rep, false, err
	}
	if json.Unmarshal(text, &rep) != nil || rep.Rows.Check() != nil {
		return rep, false, os.Remove(name)
	}
	return rep, true, nil
}

// spans are when steps ran.
func (r *run) spans(stage int, steps []exec.Range) []span {
	all := make([]span, len(steps))
	for i, t := range steps {
		if text, err := os.ReadFile(r.reportFile(stage, t)); err == nil {
			_ = json.Unmarshal(text, &all[i]) // one that is damaged is removed when it is read
		}
	}
	return all
}

// attempts notes that an element is begun, and returns how often it was.
func (r *run) attempts(stage, element int) int {
	f, err := os.OpenFile(filepath.Join(r.folder(), fmt.Sprintf("begun-%d-%d", stage, element)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 1 // the record says less
	}
	defer f.Close()
	_, _ = f.Write([]byte{'\n'})
	st, err := f.Stat()
	if err != nil {
		return 1
	}
	return int(st.Size())
}

// forgetFailure removes what is left of an attempt that failed.
func (r *run) forgetFailure() error {
	err := os.Remove(filepath.Join(r.folder(), failedFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for stage := range r.Stages {
		found, failed := r.findReports(stage)
		err = errors.Join(err, failed)
		for _, t := range found {
			if rep, ok, _ := r.readReport(stage, t); ok && rep.Err() != nil {
				err = errors.Join(err, os.Remove(r.reportFile(stage, t)))
			}
		}
	}
	return err
}

// fail says that the run cannot be completed, and ends its other jobs.
func (r *run) fail(ctx context.Context, cause error, self string) error {
	return errors.Join(r.noteFailure(cause), r.batch().cancel(ctx, r.of(), without(r.jobs(), self)), r.end())
}

// noteFailure says why the run cannot be completed.
func (r *run) noteFailure(cause error) error {
	text, err := json.Marshal(exec.Failure(cause))
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(r.folder(), failedFile), text)
}

// end lets other runs take the output's folder.
func (r *run) end() error {
	r.forgetNote()
	return os.Rename(runFile(filepath.Dir(r.Plan)), filepath.Join(r.folder(), endedFile))
}

// failure is why the run has failed; nil where it has not.
func (r *run) failure() error {
	text, err := os.ReadFile(filepath.Join(r.folder(), failedFile))
	if err != nil {
		return nil
	}
	var f exec.Report
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("the run has failed, and its error cannot be read: %w", err)
	}
	return f.Err()
}

// status is how far a run is.
type status struct {
	stage    int // the last with a task that is done
	done, of int // tasks, of all stages
}

// counts counts the reports.
func (r *run) counts() (s status, err error) {
	for i := range r.Stages {
		s.of += r.Stages[i].Tasks
		all, err := r.findReports(i)
		if err != nil {
			return s, err
		}
		n := 0
		for _, t := range all {
			n += t.Len()
		}
		if n > 0 {
			s.stage = i
		}
		s.done += min(n, r.Stages[i].Tasks)
	}
	return s, nil
}

// cancel ends the run's jobs. What is done stays: the same command again resumes there.
func (r *run) cancel(ctx context.Context) error {
	for range 2 { // a job that was merging may have submitted others
		if now, err := load(filepath.Dir(r.Plan)); err == nil && now.ID == r.ID && now.On == r.On {
			r = now
		}
		if err := r.batch().cancel(ctx, r.of(), r.jobs()); err != nil {
			return err
		}
	}
	if err := r.end(); err != nil { // which ends elements that go on
		return err
	}
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(200 * time.Millisecond) { // until none writes
		if states, err := r.active(ctx, r.jobs()...); err != nil || len(states) == 0 {
			return err
		}
	}
	return nil
}

// logs returns what the run's jobs have written, each under its file's name.
func (r *run) logs() (string, error) {
	names, err := filepath.Glob(filepath.Join(r.folder(), "*.log"))
	var b strings.Builder
	for _, name := range names {
		text, err := readRegular(name)
		if err == nil && len(text) > 0 {
			fmt.Fprintf(&b, "== %s\n%s\n", filepath.Base(name), strings.TrimRight(string(text), "\n"))
		}
	}
	return b.String(), err
}
