package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	// Submit submits the script on its standard input: {run}, {name}, {log}, {dir}, {memory} in MiB. The options that
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
	// State lists the jobs {jobs} that have not ended, a line each; Listed finds a job's number, its state and, where it is told, the
	// beginning of its name in a line.
	State  []string
	Listed *regexp.Regexp
	Stuck  *regexp.Regexp // a state that only a person ends; nil where there is none
	Help   string         // what may be wrong then
	Held   *regexp.Regexp // finds in a state why a job waits, where that is not for others to end; nil where there is none
	Cancel []string       // nil where Forget does it
	// Forget removes what the system keeps of jobs that have ended; nil where there is nothing.
	Forget []string
	// Limit prints the settings in which Most finds how many elements an array has at most.
	Limit []string
	Most  *regexp.Regexp
}

// find returns the batch system that --on names.
func find(on string) (*batch, error) {
	if address, ok := strings.CutPrefix(on, "dask://"); ok {
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("%s: give the host and the port of a Dask scheduler, such as dask://127.0.0.1:8786", on)
		}
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
		Submit: []string{"sbatch", "--parsable", "--job-name={run}-{name}", "--output={log}", "--open-mode=append", "--chdir={dir}", "--ntasks=1",
			"--mem={memory}M", "--requeue", "--kill-on-invalid-dep=yes"},
		Cores: "--cpus-per-task={value}",
		Array: "--array={first}-{last}", AtOnce: "%{n}", Index: "SLURM_ARRAY_TASK_ID",
		AfterOK: "--dependency=afterok:{jobs}", AfterAny: "--dependency=afterany:{jobs}", Between: ":",
		Partition: "--partition={value}", Account: "--account={value}", Time: "--time={value}", ElementLog: "-%a",
		Self:   "SLURM_JOB_ID",
		Job:    regexp.MustCompile(`^(\d+)(?:;.*)?$`),
		State:  []string{"squeue", "--noheader", "--format=%F %j %T %r", "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING,REQUEUED,REQUEUE_HOLD,STAGE_OUT,RESIZING,SIGNALING,STOPPED"},
		Listed: regexp.MustCompile(`^(?P<job>\d+) (?P<name>\S+) (?P<state>\S+ ?\S*)`),
		Stuck:  regexp.MustCompile(`^PENDING (MaxMemPerLimit|PartitionConfig|PartitionTimeLimit|BadConstraints|InvalidAccount|InvalidQOS)$`),
		Help:   "what is asked for is not what its partition or account ever has",
		Held:   regexp.MustCompile(`^PENDING (Partition(?:Down|Inactive)|NodeDown|ReqNodeNotAvail|Reservation|JobHeld\w+|(?:Assoc|QOS)\w+)`),
		Cancel: []string{"scancel", "{jobs}"},
		Limit:  []string{"scontrol", "show", "config"},
		Most:   regexp.MustCompile(`MaxArraySize\s*=\s*(\d+)`),
	},
	"gridengine": {
		Name:  "Grid Engine",
		Begin: 3, HandOver: 3, Start: 2,
		Least:  30 * time.Second,
		Submit: []string{"qsub", "-terse", "-V", "-r", "y", "-j", "y", "-S", "/bin/sh", "-N", "{run}-{name}", "-o", "{log}", "-wd", "{dir}", "-l", "mem_free={memory}M"},
		Cores:  "-pe smp {value}",
		Array:  "-t {first}-{last}", AtOnce: " -tc {n}", Index: "SGE_TASK_ID", First: 1,
		AfterOK: "-hold_jid {jobs}", AfterAny: "-hold_jid {jobs}", Between: ",",
		Partition: "-q {value}", Account: "-P {value}", Time: "-l h_rt={value}", ElementLog: "-$TASK_ID",
		Self:   "JOB_ID",
		Job:    regexp.MustCompile(`^(\d+)(?:\..*)?$`),
		State:  []string{"qstat", "-u", "*"},
		Listed: regexp.MustCompile(`^(?P<job>\d+)\s+\S+\s+(?P<name>\S+)\s+\S+\s+(?P<state>\S+)`),
		Stuck:  regexp.MustCompile(`^E`),
		Help:   "its machine may not see the output's folder",
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
	return context.WithTimeoutCause(ctx, answerTime, &unreachableError{fmt.Errorf("%s does not answer: %s has run for %v: see whether its daemons run", b.Name, command, answerTime)})
}

// unreachableError is of a batch system that cannot be asked to end jobs either.
type unreachableError struct{ error }

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
	c.Dir = filepath.VolumeName(os.TempDir()) + string(filepath.Separator) // Grid Engine takes options from files of the present folder
	endWhole(c)
	var words strings.Builder
	c.Stderr = &words
	out, err := c.Output()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, osexec.ErrNotFound):
		return "", &unreachableError{fmt.Errorf("%s cannot be reached: PATH does not find %s: run this where %s is, such as on a login node", b.Name, command[0], b.Submit[0])}
	case err != nil && in == "" && (b.Cancel == nil || command[0] != b.Cancel[0]): // which asks for nothing that can be rejected
		said := complaints(words.String(), command[0], err)
		return "", &unreachableError{fmt.Errorf("%s cannot be reached: %s: %s: run this where %s works, such as on a login node, and see whether the daemons of %s run", b.Name, command[0], said[len(said)-1], b.Submit[0], b.Name)}
	case err != nil:
		return "", fmt.Errorf("%s rejects the request: %s: %s", b.Name, command[0], strings.Join(complaints(words.String(), command[0], err), ", "))
	}
	return strings.TrimSpace(string(out)), nil
}

// complaints are the lines in which a command says why it failed, without what they begin with; how it ended where it says nothing.
func complaints(words, command string, err error) (said []string) {
	for line := range strings.Lines(words) {
		line = strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), command+": ")), " ")
		for _, kind := range []string{"error: ", "fatal: ", "ERROR: "} {
			line = strings.TrimPrefix(line, kind)
		}
		if line != "" && line != "Exiting." { // as Grid Engine ends
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		said = []string{err.Error()}
	}
	return said
}

// answerTime is how long a command of a batch system may take. Slurm's own end when a daemon was silent for a while.
var answerTime = 2 * time.Minute

// job is what is submitted.
type job struct {
	number         string // of a batch system that is given it
	run            string // what the names of the run's jobs begin with
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

// check rejects options that the batch system does not have.
func (b *batch) check(o *Options) error {
	for _, has := range []struct{ name, pattern, value string }{{"partitions", b.Partition, o.Partition}, {"accounts", b.Account, o.Account}, {"time limits", b.Time, o.Time}} {
		if has.value != "" && has.pattern == "" {
			return fmt.Errorf("%s has no %s: leave the option out", b.Name, has.name)
		}
	}
	if len(o.Engine) > 0 && b.Session != nil {
		return fmt.Errorf("%s has no command that takes %s: leave the option out", b.Name, o.Engine[0])
	}
	if o.ElementTime < 0 {
		return fmt.Errorf("an element of %v of work: give more than nothing, or leave the option out", o.ElementTime)
	}
	return nil
}

// request is the command that submits the job, with its script.
func (b *batch) request(j job) request {
	const mebi = 1 << 20
	command := fill(b.Submit, "{job}", j.number, "{run}", j.run, "{name}", j.name, "{log}", j.log, "{dir}", j.dir, "{memory}", strconv.FormatInt((j.memory+mebi-1)/mebi, 10))
	cores := ""
	if j.cores > 1 && b.Cores != "" {
		cores = strconv.Itoa(j.cores)
	}
	for _, o := range []struct{ pattern, value string }{{b.Cores, cores}, {b.Partition, j.options.Partition}, {b.Account, j.options.Account}, {b.Time, j.options.Time}} {
		if o.value != "" {
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
	return request{append(command, j.options.Engine...), j.script}
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

// own returns those of some jobs that can be of a run: a file may name any, and a batch system gives numbers again.
func (b *batch) own(run string, jobs []string) []string {
	return slices.DeleteFunc(slices.Clone(jobs), func(j string) bool {
		return !b.Job.MatchString(j) || b.Named && !strings.HasPrefix(j, jobPrefix+run+"-")
	})
}

// active returns those of some jobs of a run that have not ended, with their states.
func (b *batch) active(ctx context.Context, run string, jobs []string) (map[string]string, error) {
	jobs = b.own(run, jobs)
	out, err := b.call(ctx, fill(b.State, "{jobs}", strings.Join(jobs, b.Between)), "")
	if err != nil {
		return nil, err
	}
	states := map[string]string{}
	for line := range strings.Lines(out) {
		m := b.Listed.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		job, state := m[b.Listed.SubexpIndex("job")], m[b.Listed.SubexpIndex("state")]
		if name := b.Listed.SubexpIndex("name"); name > 0 && !strings.HasPrefix(m[name], run) {
			continue
		}
		if slices.Contains(jobs, job) && !strings.HasPrefix(states[job], "RUNNING") {
			states[job] = state
		}
	}
	return states, nil
}

// stuck is an error where one of some jobs will not start, by their states.
func (b *batch) stuck(states map[string]string) error {
	for _, id := range slices.Sorted(maps.Keys(states)) {
		if b.Stuck != nil && b.Stuck.MatchString(states[id]) {
			return fmt.Errorf("%s does not start job %s, whose state is %s: %s", b.Name, id, states[id], b.Help)
		}
	}
	return nil
}

// held says why one of some jobs waits, by their states; "" where it waits for others to end.
func (b *batch) held(states map[string]string) string {
	if b.Held == nil {
		return ""
	}
	for _, id := range slices.Sorted(maps.Keys(states)) {
		if m := b.Held.FindStringSubmatch(states[id]); m != nil {
			return fmt.Sprintf(": job %s waits, and the reason that %s gives is %s", id, b.Name, m[1])
		}
	}
	return ""
}

// cancel ends jobs of a run. Those that have ended are none of its business.
func (b *batch) cancel(ctx context.Context, run string, jobs []string) error {
	if jobs = b.own(run, jobs); len(jobs) == 0 {
		return nil
	}
	if b.Cancel == nil {
		return b.forget(ctx, jobs)
	}
	states, err := b.active(ctx, run, jobs)
	if err != nil || len(states) == 0 {
		return err
	}
	var command []string
	for _, word := range b.Cancel {
		if word != "{jobs}" {
			command = append(command, word)
			continue
		}
		command = slices.AppendSeq(command, maps.Keys(states))
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

// mostElements is how many elements an array has at most. It asks the batch system first, and fails where that cannot be reached.
func (b *batch) mostElements(ctx context.Context) (int, error) {
	if b.Session != nil {
		ctx, cancel := b.patience(ctx, b.Session[0])
		defer cancel()
		_, err := b.session().ask(ctx)
		return mostOfStage, err
	}
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
