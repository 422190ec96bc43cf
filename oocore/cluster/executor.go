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

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/rates"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// executor takes the reports of a run's tasks, submits what is missing, and leaves.
type executor struct {
	batch     string
	options   Options
	saved     json.RawMessage
	run       *run   // nil in the process that submits, until it has begun one
	step      int    // the stage that the present job merges; -1 in the process that submits
	self      string // the present job
	submitted func(*run)
}

// Open takes plans that are sized for workers.
func (e *executor) Open(c *exec.Coordinator) (exec.Stages, error) {
	if c.Plan().Each.Workers == 0 {
		return nil, errors.New("the plan is sized for one process")
	}
	c.Detach()
	if e.run != nil {
		c.Began(e.run.Begun)
	}
	return &stages{executor: e, Coordinator: c, taken: map[int]exec.Tasks{}}, nil
}

type stages struct {
	*executor
	*exec.Coordinator
	found bool               // the run is the present one
	left  bool               // jobs that were submitted go on with it
	taken map[int]exec.Tasks // from reports, by stage
}

// Close gives the record of the last job's run the rows that earlier jobs have taken. From then on no element begins.
func (s *stages) Close() (err error) {
	if s.run != nil && s.step == len(s.run.Stages)-1 && !s.left {
		s.run.Ready = -1
		err = s.run.save()
	}
	for stage := 0; err == nil && s.run != nil && s.step == len(s.run.Stages)-1 && stage <= s.step; stage++ {
		err = s.each(stage, func(lane int, t exec.Range, rep report) error {
			if !s.taken[stage].Has(t.First) {
				s.Replay(stage, lane, rep.Begun, rep.Report)
			}
			return nil
		})
	}
	return err
}

// Stage finds the run, or begins one.
func (s *stages) Stage(ctx context.Context, stage int) (exec.Runner, error) {
	if !s.found {
		file, err := s.PlanFile()
		if err != nil {
			return nil, err
		}
		s.run, err = load(filepath.Dir(file))
		if s.step < 0 {
			err = s.begin(ctx, file, s.run, err)
		}
		if err != nil {
			return nil, err
		}
		s.found = true
		if s.submitted != nil {
			s.submitted(s.run)
		}
	}
	if s.Lost() { // a job was killed when it had ended the stage, and had not noted that
		if err := os.RemoveAll(s.run.reports(stage)); err != nil {
			return nil, err
		}
		s.run.Stages[stage].Token = rand.Text() // what is reported from now on by those who have written it is void too
		if err := s.run.save(); err != nil {
			return nil, err
		}
	}
	return &runner{s, stage}, nil
}

// each calls f for the reports of a stage, with the worker that each counts as in the record: one that
// was free when the step began, for what batch systems call a worker is seldom a machine.
func (s *stages) each(stage int, f func(lane int, t exec.Range, rep report) error) error {
	found, err := s.run.findReports(stage)
	if err != nil {
		return err
	}
	lanes := assign(s.run.spans(stage, found), s.run.AtOnce)
	for i, t := range found {
		rep, ok, err := s.run.readReport(stage, t)
		if ok && err == nil {
			err = f(lanes[i], t, rep)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// assign gives each step one of n workers that is free when it begins.
func assign(steps []span, n int) []int {
	order := grid.UpTo(len(steps))
	slices.SortStableFunc(order, func(a, b int) int { return steps[a].Begun.Compare(steps[b].Begun) })
	lanes, free := make([]int, len(steps)), make([]time.Time, max(n, 1))
	for _, i := range order {
		lane := slices.IndexFunc(free, func(at time.Time) bool { return !at.After(steps[i].Begun) })
		if lane < 0 { // clocks differ, or more run than were asked for
			lane = slices.Index(free, slices.MinFunc(free, time.Time.Compare))
		}
		lanes[i], free[lane] = lane, steps[i].Ended
	}
	return lanes
}

// begin makes a run of a plan. old is the one that is in its place, if there is one.
func (s *stages) begin(ctx context.Context, file string, old *run, err error) error {
	switch {
	case err == nil:
		on := ""
		if old.On == s.batch {
			on = old.On
		}
		if err := old.named(on); err != nil {
			return fmt.Errorf("%w; else remove %s", err, filepath.Dir(file))
		}
		states, err := old.active(ctx, old.jobs()...)
		if err != nil {
			return err
		}
		if len(states) > 0 {
			return fmt.Errorf("%w, on %s in %s: gonbext jobs attach %[4]s waits for it, and gonbext jobs cancel %[4]s ends it", exec.ErrBusy, old.batch().Name, plural(len(states), "job", "jobs"), old.Output)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		old, _ = loadFile(filepath.Join(filepath.Dir(runFile(filepath.Dir(file))), endedFile))
	}
	p := s.Plan()
	r := &run{ID: rand.Text(), On: s.batch, Begun: time.Now(), Options: s.options, Memory: p.Each.Budget, Cores: p.Each.Workers, Saved: s.saved}
	if r.Output, err = storage.Absolute(p.Arrays[p.Output].Path); err != nil {
		return err
	}
	if r.In, err = storage.Absolute(p.WholePath(p.Output)); err != nil {
		return err
	}
	r.Before, _ = storage.VersionOf(ctx, r.Output) // none where there is no output yet
	if r.Plan, err = filepath.Abs(file); err != nil {
		return err
	}
	if r.Command, err = internals.Command(); err != nil {
		return err
	}
	if r.Dir, err = os.Getwd(); err != nil {
		return err
	}
	r.AtOnce = p.Workers / max(p.Each.Workers, 1)
	r.Merging = p.Budget - int64(r.AtOnce)*p.Each.Budget + mergeOverhead
	for i, each := range taskSeconds(p) {
		seconds := each.Likely
		st := stage{Name: p.Stages[i].Name, Token: rand.Text(), Tasks: p.Stages[i].Tasks()}
		st.Each = r.batch().pack(&p.Stages[i], seconds, &s.options, r.AtOnce)
		if st.Step = max((st.Each+stepsEach-1)/stepsEach, min(int(stepTime/seconds), st.Each)); p.Stages[i].Kind == plan.MatMulStage { // whose tasks share what they read
			st.Step = st.Each
		}
		r.Stages = append(r.Stages, st)
	}
	s.run = r
	if err := r.note(); err != nil {
		return err
	}
	if old == nil || len(old.Stages) != len(r.Stages) {
		return nil
	}
	for i, was := range old.Stages { // reports and partial results have names by it
		if now := &r.Stages[i]; was.Tasks == now.Tasks && was.Each <= max(was.Tasks, 1) {
			now.Each, now.Step, now.Token = was.Each, was.Step, was.Token
		}
	}
	return r.forgetFailure()
}

const (
	// stepsEach is how many reports an element makes at most: what a killed one has reported is not computed again.
	stepsEach = 8
	// mostOfStage is how many elements a stage has at most.
	mostOfStage = 10_000
	// mergeOverhead is what a process that merges takes besides what its plan says: the program and its files.
	mergeOverhead = 64 << 20
)

// stepTime is how many seconds of predicted work have a report of their own at least.
var stepTime = 1.0

// taskSeconds are the predicted seconds of a task of each stage, for one worker. Where no run on this machine has told they may be
// off by a factor of two.
func taskSeconds(p *size.Plan) (all []record.Seconds) {
	h := p.Header()
	h.Workers = p.Each.Workers
	rates.Predict(&h, machine.Read())
	for i := range h.Stages {
		st := &h.Stages[i]
		seconds := float64(p.Stages[i].Read+p.Stages[i].Written) / storageRate
		for _, w := range st.Work {
			seconds += w.Nanos / 1e9 / float64(max(p.Each.Workers, 1))
		}
		told := record.Seconds{Low: seconds / 2, Likely: seconds, High: 2 * seconds}
		if st.Seconds != nil {
			told = *st.Seconds
		}
		each := func(stage float64) float64 { return max(stage/float64(max(st.Tasks, 1)), 1e-6) }
		all = append(all, record.Seconds{Low: each(told.Low), Likely: each(told.Likely), High: each(told.High)})
	}
	return all
}

// storageRate is what is assumed of storage, in bytes a second, where no run on this machine has told.
const storageRate = 200e6

type runner struct {
	*stages
	stage int
}

func (r *runner) Close() error { return nil }

// Run takes the reports that there are. Where tasks are missing, it leaves.
func (r *runner) Run(ctx context.Context, tasks exec.Tasks, done func(index int)) error {
	st := &r.run.Stages[r.stage]
	missing := tasks
	err := r.each(r.stage, func(lane int, t exec.Range, rep report) error {
		if tasks.Without(exec.Tasks{t}).Len() == tasks.Len() { // an earlier process has taken it
			return nil
		}
		missing = missing.Without(exec.Tasks{t})
		r.taken[r.stage] = append(r.taken[r.stage], t) // which come in order
		return r.Take(ctx, r.stage, lane, rep.Begun, t, rep.Report, done)
	})
	if err != nil {
		return err
	}
	switch {
	case missing.Len() == 0:
		return nil
	case r.stage > r.step && r.step >= 0 && len(st.Rounds) > 0: // its jobs wait for this one to end
		r.run.Ready = r.stage
		r.left = true
		if err := r.run.save(); err != nil {
			return err
		}
		return exec.ErrLeft
	case len(st.Rounds) >= maxRounds:
		return fmt.Errorf("%s: %d of %d tasks are not done after %d rounds: gonbext jobs logs %s says why", st.Name, missing.Len(), st.Tasks, maxRounds, r.run.Output)
	}
	r.left = true
	if err := r.submit(ctx, r.stage, st.elements(missing)); err != nil {
		return err
	}
	return exec.ErrLeft
}

// submit submits elements of a stage and, behind them, all later stages.
func (r *runner) submit(ctx context.Context, stage int, elements exec.Tasks) error {
	run, b := r.run, r.run.batch()
	most, err := b.mostElements(ctx)
	if err != nil {
		return err
	}
	var after []string
	if r.step < 0 {
		if line := r.costs(stage, elements); r.options.Tell != nil {
			r.options.Tell(line)
		}
	} else {
		after = []string{r.self}
		if err := b.cancel(ctx, run.of(), without(run.jobsFrom(stage+1), r.self)); err != nil {
			return err
		}
		for i := stage + 1; i < len(run.Stages); i++ {
			run.Stages[i].Rounds = nil
		}
	}
	run.Whole, run.Ready = false, stage
	for i := stage; i < len(run.Stages); i++ { // jobs look for it
		st := &run.Stages[i]
		if i > stage {
			elements = st.elements(exec.Tasks{{First: 0, End: st.Tasks}})
		}
		st.Rounds = append(st.Rounds, round{Elements: elements})
	}
	if err := run.save(); err != nil {
		return err
	}
	var together []request
	submit := func(j job) (string, error) {
		j.dir, j.options, j.run = run.Dir, &run.Options, run.name()
		if j.memory == 0 {
			j.cores, j.memory = 1, run.Merging
		}
		j.log = filepath.Join(run.folder(), j.name+".log")
		if j.elements > 0 {
			j.log = strings.TrimSuffix(j.log, ".log") + b.ElementLog + ".log"
		}
		j.number = run.number()
		q := b.request(j)
		if !b.Named {
			return b.submit(ctx, q)
		}
		together = append(together, q)
		return j.number, nil
	}
	abort := func(err error) error {
		if !errors.As(err, new(*unreachableError)) {
			err = errors.Join(err, b.cancel(context.WithoutCancel(ctx), run.of(), without(run.jobs(), r.self)))
		}
		if r.step < 0 { // else the job that merges says that the run has failed
			err = errors.Join(err, run.end())
		}
		return err
	}
	if r.step < 0 {
		if err := r.listFiles(); err != nil {
			return abort(err)
		}
		if run.Probe, err = submit(job{name: "probe", script: run.script("--probe")}); err != nil {
			return abort(err)
		}
		if err := b.submitAll(ctx, together); err != nil {
			return abort(err)
		}
		together = nil
		seen, err := run.awaitProbe(ctx)
		if err != nil {
			return abort(err)
		}
		if !seen || !b.Named { // else its answer is all that others wait for
			after = []string{run.Probe}
		}
	}
	for i := stage; i < len(run.Stages); i++ {
		number := len(run.Stages[i].Rounds) - 1
		round := &run.Stages[i].Rounds[number]
		elements := round.Elements
		for first := 0; first < elements.Len(); first += most {
			n := min(most, elements.Len()-first)
			id, err := submit(job{name: fmt.Sprintf("stage-%d-%d-%d", i, number, first), cores: run.Cores, memory: run.Memory, elements: n, atOnce: run.AtOnce, after: after, ok: true,
				script: run.script(fmt.Sprintf(`--memory %d --workers %d --stage %d --round %d --element $((%d+$%s))`, run.Memory, run.Cores, i, number, first-b.First, b.Index))})
			if err != nil {
				return abort(err)
			}
			round.Jobs = append(round.Jobs, id)
		}
		waits := round.Jobs
		if len(waits) == 0 { // of a stage without tasks
			waits = after
		}
		if round.Merge, err = submit(job{name: fmt.Sprintf("merge-%d-%d", i, number), after: waits, ok: len(round.Jobs) == 0, script: run.script(fmt.Sprintf("--merge %d", i))}); err != nil {
			return abort(err)
		}
		after = []string{round.Merge}
	}
	run.Whole = true
	if err := run.save(); err != nil { // whole before one of the jobs below can run
		return abort(err)
	}
	if err := b.submitAll(ctx, together); err != nil {
		return abort(err)
	}
	return nil
}

// script runs gonbext task, again where it is killed. 3 is the status of what would fail again, 126 and 127 are those of
// a program that this machine cannot run or does not find.
func (r *run) script(args string) string {
	task := fmt.Sprintf("%s task --plan %s %s </dev/null", quote(r.Command), quote(r.Plan), args)
	if r.batch().Repeats {
		return "exec " + task
	}
	return fmt.Sprintf(`#!/bin/sh
for attempt in 1 2 3; do
  %s
  status=$?
  case $status in 0|3|126|127) exit $status;; esac
  echo "attempt $attempt: exit status $status on $(hostname)" >&2
done
exit $status
`, task)
}

// quote makes a word of the shell of a text.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// filesFile lists the paths that the first job looks for, and seenFile says that it has found them.
const (
	filesFile = "files.json"
	seenFile  = "seen"
)

// awaitProbe waits for the answer of the first job, so that nothing else is submitted where a machine does not see what it
// must. Where the job waits in a queue for longer than probeTime, it is not seen to answer, and the others are submitted, which wait for it there.
func (r *run) awaitProbe(ctx context.Context) (seen bool, err error) {
	began, asked, ended := time.Now(), time.Now(), time.Time{}
	for ; time.Since(began) < probeTime || !ended.IsZero(); time.Sleep(pauseSince(began)) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if err := r.failure(); err != nil {
			return false, err
		}
		entries, err := os.ReadDir(r.folder()) // which, unlike a stat, asks a server anew
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == seenFile }) {
			return true, nil
		}
		if !ended.IsZero() && time.Since(ended) > seenTime {
			if text, err := os.ReadFile(filepath.Join(r.folder(), "probe.log")); err == nil && len(text) > 0 {
				line, _, _ := strings.Cut(string(text), "\n")
				return false, fmt.Errorf("a machine of the cluster cannot run %s: %s", r.Command, line)
			}
			return false, fmt.Errorf("the first job has ended, and has not written to %s: put the output on storage that all machines of the cluster see, then the same command again", r.folder())
		}
		if ended.IsZero() && time.Since(asked) > pause {
			active, err := r.active(ctx, r.Probe)
			if err != nil {
				return false, err
			}
			asked = time.Now()
			if err := r.batch().stuck(active); err != nil {
				return false, err
			}
			if len(active) == 0 {
				ended = asked
			}
		}
	}
	return false, nil
}

var (
	// probeTime is how long the first job may wait in a queue before the others are submitted.
	probeTime = 10 * time.Second
	// seenTime is how long what the first job has written may take to be seen, when it has ended.
	seenTime = 3 * time.Second
)

// listFiles writes what all machines must see.
func (r *runner) listFiles() error {
	var paths []string
	for i := range r.run.Stages {
		for _, path := range r.Files(i).Reads {
			local, err := storage.Absolute(path)
			if err == nil && filepath.Dir(local) != filepath.Dir(r.run.Plan) && !slices.Contains(paths, local) {
				paths = append(paths, local)
			}
		}
	}
	text, err := json.Marshal(paths)
	if err == nil {
		err = os.WriteFile(filepath.Join(r.run.folder(), filesFile), text, 0o600)
	}
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(r.run.folder(), seenFile)); !errors.Is(err, fs.ErrNotExist) {
		return err // nil, where an earlier attempt's first job has written it
	}
	return nil
}

// written is how many files hold an array that a run writes.
func written(a *plan.Array) int {
	if unit := a.Layout.Unit; unit != nil {
		return grid.Grid{Shape: a.Shape, Chunks: unit}.Len()
	}
	return 1
}

// costs says what is about to be submitted.
func (r *runner) costs(stage int, elements exec.Tasks) string {
	p := r.Plan()
	var tasks, jobs, files int
	var bytes int64
	b, seconds := r.run.batch(), taskSeconds(p)
	work, wall := 0.0, b.Begin
	for i := stage; i < len(r.run.Stages); i++ {
		st := &r.run.Stages[i]
		n, of := st.elements(exec.Tasks{{First: 0, End: st.Tasks}}).Len(), st.Tasks
		if i == stage && n > elements.Len() { // the others were done by an earlier run
			n, of = elements.Len(), min(elements.Len()*st.Each, st.Tasks)
		}
		jobs += n
		tasks += of
		for _, out := range p.Stages[i].Outputs {
			files += written(&p.Arrays[out])
		}
		files += (st.Tasks + st.Step - 1) / st.Step // reports
		if p.Stages[i].Merges() {
			files += (st.Tasks + st.Step - 1) / st.Step
		}
		bytes += p.Stages[i].Read + p.Stages[i].Written
		work += seconds[i].Likely * float64(of)
		storage := float64(p.Stages[i].Read+p.Stages[i].Written) / sharedRate * float64(of) / float64(max(st.Tasks, 1))
		wall += max(b.takes(of, n, max(r.run.AtOnce, 1), seconds[i].Likely, r.run.Memory), storage) + b.HandOver
	}
	return fmt.Sprintf("%s: %s, %s in %s, %s, %s through storage, at most %s of %s and %s: predicted %s and %.2g worker-hours, besides waiting in the queue",
		b.Name, plural(len(r.run.Stages)-stage, "stage", "stages"), plural(tasks, "task", "tasks"), plural(jobs, "element of arrays", "elements of arrays"), plural(files, "file", "files"),
		units.Traffic(bytes), plural(r.run.AtOnce, "worker", "workers"), units.Bytes(r.run.Memory), plural(r.run.Cores, "core", "cores"),
		units.Duration(time.Duration(wall*float64(time.Second))), work/3600)
}
