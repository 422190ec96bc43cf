package cluster

import (
	"context"
	"errors"
	"fmt"
	osexec "os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// batch is a batch system as a table: the commands that submit, list and cancel jobs, and the
// patterns that read what they print. In a command {name} stands for a value.
type batch struct {
	Name string
	// Begin, HandOver and Start are seconds: until the first job has answered, of a job that merges between two stages
	// with the queue's own time, and until an element computes.
	Begin, HandOver, Start float64
	Least                  time.Duration // predicted work of an element, where no option says it: much more than its start
	Short                  time.Duration // the same where workers would have fewer than elementsEach otherwise; 0 is Least
	// Session is a command that takes the others as requests, while it runs; nil where each is a command of its own.
	Session []string
	// Submit submits the script on its standard input: {name}, {log}, {dir}, {memory} in MiB. The options that
	// follow are added where they are asked for; a space in one separates words.
	Submit []string
	Cores  string // {value}, where a job takes more than one
	Array  string // {first} to {last} of an array's elements, both among them, which are {count}
	AtOnce string // {n} elements of an array run at once
	// Repeats says that a script is run again by whoever runs it, where it is killed.
	Repeats bool
	// Named says that who submits gives a job its number, {job}: many are submitted in one request then.
	Named bool
	Index string // the variable of the environment that has an element's number
	First int    // the number of the first element
	// AfterOK holds a job until others, {jobs}, have ended well, where the system can tell; AfterAny until they have ended.
	AfterOK, AfterAny string
	Between           string // job numbers
	Partition         string // {value}, and so the next two
	Account, Time     string
	ElementLog        string         // what the name of a log ends with in an array
	Self              string         // the variable that has a job's number
	Job               *regexp.Regexp // finds it in what Submit prints
	// State lists the jobs {jobs} that have not ended, a line each; Listed finds a job's number and state in a line.
	State  []string
	Listed *regexp.Regexp
	Stuck  *regexp.Regexp // a state that only a person ends; nil where there is none
	Cancel []string       // nil where Forget does it
	// Forget removes what the system keeps of jobs that have ended; nil where there is nothing.
	Forget []string
	// Limit prints the settings in which Most finds how many elements an array has at most.
	Limit []string
	Most  *regexp.Regexp
}

// find returns the batch system that --on names.
func find(on string) (*batch, error) {
	if address, ok := strings.CutPrefix(on, "dask://"); ok && address != "" {
		return dask(address), nil
	}
	if b := batches[on]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("there is no batch system %q: take slurm, gridengine or dask://HOST:PORT", on)
}

// batches are the batch systems by the name that --on takes.
var batches = map[string]*batch{
	"slurm": {
		Name:  "Slurm",
		Begin: 3, HandOver: 3, Start: 1.6,
		Least: 30 * time.Second,
		Submit: []string{"sbatch", "--parsable", "--job-name={name}", "--output={log}", "--open-mode=append", "--chdir={dir}", "--ntasks=1",
			"--mem={memory}M", "--requeue", "--kill-on-invalid-dep=yes"},
		Cores: "--cpus-per-task={value}",
		Array: "--array={first}-{last}", AtOnce: "%{n}", Index: "SLURM_ARRAY_TASK_ID",
		AfterOK: "--dependency=afterok:{jobs}", AfterAny: "--dependency=afterany:{jobs}", Between: ":",
		Partition: "--partition={value}", Account: "--account={value}", Time: "--time={value}", ElementLog: "-%a",
		Self:   "SLURM_JOB_ID",
		Job:    regexp.MustCompile(`^(\d+)(?:;.*)?$`),
		State:  []string{"squeue", "--noheader", "--format=%F %T", "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING,REQUEUED,REQUEUE_HOLD,STAGE_OUT,RESIZING,SIGNALING,STOPPED"},
		Listed: regexp.MustCompile(`^(\d+) (\S+)`),
		Cancel: []string{"scancel", "{jobs}"},
		Limit:  []string{"scontrol", "show", "config"},
		Most:   regexp.MustCompile(`MaxArraySize\s*=\s*(\d+)`),
	},
	"gridengine": {
		Name:  "Grid Engine",
		Begin: 3, HandOver: 3, Start: 2,
		Least:  30 * time.Second,
		Submit: []string{"qsub", "-terse", "-V", "-r", "y", "-j", "y", "-S", "/bin/sh", "-N", "{name}", "-o", "{log}", "-wd", "{dir}", "-l", "mem_free={memory}M"},
		Cores:  "-pe smp {value}",
		Array:  "-t {first}-{last}", AtOnce: " -tc {n}", Index: "SGE_TASK_ID", First: 1,
		AfterOK: "-hold_jid {jobs}", AfterAny: "-hold_jid {jobs}", Between: ",",
		Partition: "-q {value}", Account: "-P {value}", Time: "-l h_rt={value}", ElementLog: "-$TASK_ID",
		Self:   "JOB_ID",
		Job:    regexp.MustCompile(`^(\d+)(?:\..*)?$`),
		State:  []string{"qstat", "-u", "*"},
		Listed: regexp.MustCompile(`^(\d+)\s+\S+\s+\S+\s+\S+\s+(\S+)`),
		Stuck:  regexp.MustCompile(`^E`),
		Cancel: []string{"qdel", "{jobs}"},
		Limit:  []string{"qconf", "-sconf"},
		Most:   regexp.MustCompile(`max_aj_tasks\s+(\d+)`),
	},
}

// fill puts values into a command.
func fill(command []string, values ...string) []string {
	r := strings.NewReplacer(values...)
	var all []string
	for _, word := range command {
		all = append(all, r.Replace(word))
	}
	return all
}

// patience is a context that ends where a command does not answer.
func (b *batch) patience(ctx context.Context, command string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("%s does not answer: %s has run for %v: see whether its daemons run", b.Name, command, answerTime))
}

// submitAll submits jobs that have numbers.
func (b *batch) submitAll(ctx context.Context, all []request) error {
	if len(all) == 0 {
		return nil
	}
	ctx, cancel := b.patience(ctx, all[0].Words[0])
	defer cancel()
	_, err := b.session().ask(ctx, all...)
	return err
}

// call runs a command of the batch system, and returns what it prints.
func (b *batch) call(ctx context.Context, command []string, in string) (string, error) {
	ctx, cancel := b.patience(ctx, command[0])
	defer cancel()
	if b.Session != nil {
		said, err := b.session().ask(ctx, request{command, in})
		return strings.TrimSpace(strings.Join(said, "\n")), err
	}
	c := osexec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin, c.WaitDelay = strings.NewReader(in), time.Second
	var words strings.Builder
	c.Stderr = &words
	out, err := c.Output()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, osexec.ErrNotFound):
		return "", fmt.Errorf("%s cannot be reached: PATH does not find %s", b.Name, command[0])
	case err != nil:
		return "", fmt.Errorf("%s rejects the request: %s: %w: %s", b.Name, command[0], err, strings.Join(strings.Fields(words.String()), " "))
	}
	return strings.TrimSpace(string(out)), nil
}

// answerTime is how long a command of a batch system may take. Slurm's own end when a daemon was silent for a while.
var answerTime = 2 * time.Minute

// job is what is submitted.
type job struct {
	number         string // of a batch system that is given it
	name, log, dir string
	cores          int
	memory         int64 // bytes
	options        *Options
	script         string
	elements       int      // of an array; 0 for a single job
	atOnce         int      // elements that run at once
	after          []string // jobs that it waits for
	ok             bool     // and that must have ended well
}

// request is the command that submits the job, with its script.
func (b *batch) request(j job) (q request, err error) {
	const mebi = 1 << 20
	command := fill(b.Submit, "{job}", j.number, "{name}", j.name, "{log}", j.log, "{dir}", j.dir, "{memory}", strconv.FormatInt((j.memory+mebi-1)/mebi, 10))
	cores := ""
	if j.cores > 1 && b.Cores != "" {
		cores = strconv.Itoa(j.cores)
	}
	for _, o := range []struct{ name, pattern, value string }{{"cores", b.Cores, cores}, {"partitions", b.Partition, j.options.Partition}, {"accounts", b.Account, j.options.Account}, {"time limits", b.Time, j.options.Time}} {
		if o.value != "" {
			if o.pattern == "" {
				return q, fmt.Errorf("%s has no %s: leave the option out", b.Name, o.name)
			}
			command = append(command, fill(strings.Fields(o.pattern), "{value}", o.value)...)
		}
	}
	if j.elements > 0 {
		array := b.Array
		if j.atOnce > 0 {
			array += b.AtOnce
		}
		command = append(command, fill(strings.Fields(array), "{first}", strconv.Itoa(b.First), "{last}", strconv.Itoa(b.First+j.elements-1), "{count}", strconv.Itoa(j.elements), "{n}", strconv.Itoa(j.atOnce))...)
	}
	if len(j.after) > 0 {
		pattern := b.AfterAny
		if j.ok {
			pattern = b.AfterOK
		}
		command = append(command, fill(strings.Fields(pattern), "{jobs}", strings.Join(j.after, b.Between))...)
	}
	return request{append(command, j.options.Engine...), j.script}, nil
}

// submit returns the job's number.
func (b *batch) submit(ctx context.Context, q request) (string, error) {
	out, err := b.call(ctx, q.Words, q.In)
	if err != nil {
		return "", err
	}
	m := b.Job.FindStringSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s answers %q where it should name a job: this version of it is not known", b.Name, out)
	}
	return m[1], nil
}

// active returns those of some jobs that have not ended, with their states.
func (b *batch) active(ctx context.Context, jobs []string) (map[string]string, error) {
	out, err := b.call(ctx, fill(b.State, "{jobs}", strings.Join(jobs, b.Between)), "")
	if err != nil {
		return nil, err
	}
	mine := map[string]bool{}
	for _, j := range jobs {
		mine[j] = true
	}
	states := map[string]string{}
	for line := range strings.Lines(out) {
		if m := b.Listed.FindStringSubmatch(strings.TrimSpace(line)); m != nil && mine[m[1]] && states[m[1]] != "RUNNING" {
			states[m[1]] = m[2]
		}
	}
	return states, nil
}

// cancel ends jobs. Those that have ended are none of its business.
func (b *batch) cancel(ctx context.Context, jobs []string) error {
	if len(jobs) == 0 {
		return nil
	}
	if b.Cancel == nil {
		return b.forget(ctx, jobs)
	}
	states, err := b.active(ctx, jobs)
	if err != nil || len(states) == 0 {
		return err
	}
	var command []string
	for _, word := range b.Cancel {
		if word != "{jobs}" {
			command = append(command, word)
			continue
		}
		for j := range states {
			command = append(command, j)
		}
	}
	_, err = b.call(ctx, command, "")
	return err
}

// forget removes what the system keeps of jobs.
func (b *batch) forget(ctx context.Context, jobs []string) error {
	if b.Forget == nil || len(jobs) == 0 {
		return nil
	}
	_, err := b.call(ctx, fill(b.Forget, "{jobs}", strings.Join(jobs, b.Between)), "")
	return err
}

// mostElements is how many elements an array has at most.
func (b *batch) mostElements(ctx context.Context) (int, error) {
	if b.Limit == nil {
		return mostOfStage, nil
	}
	out, err := b.call(ctx, b.Limit, "")
	if err != nil {
		return 0, err
	}
	m := b.Most.FindStringSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("%s does not say how many elements an array has at most: this version of it is not known", b.Name)
	}
	n, err := strconv.Atoi(m[1])
	if n == 0 && err == nil { // no limit
		n = mostOfStage
	}
	return max(n, 1), err
}
