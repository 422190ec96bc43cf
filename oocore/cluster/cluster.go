// Package cluster runs plans on a cluster's batch system.
//
// The engine is the batch system: gonbext has no scheduler, no queue and no daemon of its own.
// A run is a chain of jobs that depend on each other. Each stage is an array of jobs, whose elements run
// ranges of tasks by gonbext task, and a job that merges when they have ended: it reads the
// reports that the tasks have left in files, submits what is missing again, completes the stage
// and prepares the next. The last one puts the output in its place. No process has to live
// meanwhile but the jobs themselves.
//
// What is true is in files: a range of tasks is done when its report is in its place, which
// follows the fsync of what it wrote. The same range may run twice at once, with the same bytes.
//
// All machines see the output's folder, the inputs and the gonbext command under the same paths.
package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

var internals = door.Get(oocore.Plan{})

// Options pass through to the batch system.
type Options struct {
	Partition string   `json:"partition,omitempty"`
	Account   string   `json:"account,omitempty"`
	Time      string   `json:"time,omitempty"`   // limit of each job, as the batch system writes it
	Engine    []string `json:"engine,omitempty"` // further options of its command
	// ElementTime is how much predicted work an element of an array has at least; 0 is 30 s, on Dask 1 s, or
	// less where workers would have few elements.
	ElementTime time.Duration `json:"elementTime,omitempty"`
	// Ask makes an interrupt ask, once: a second one within 4 s cancels the run, which goes on otherwise.
	Ask bool `json:"-"`
	// Detach returns as soon as all is submitted, with ErrDetached.
	Detach bool `json:"-"`
	// Tell, where it is set, is given a line of what is submitted, before it is, and of how far it is.
	Tell func(line string) `json:"-"`
}

// ErrDetached is returned by Save where a run was submitted and goes on by itself.
var ErrDetached = errors.New("the run goes on by itself")

// On makes Save leave its tasks to a batch system: "slurm", "gridengine", or a Dask scheduler as "dask://HOST:PORT". Memory is then the budget of one
// worker, Processes how many run at once, and Workers the cores of each. The output is a
// path that all machines see.
func On(name string, o Options) (oocore.Option, error) {
	b, err := find(name)
	if err == nil {
		err = b.check(&o)
	}
	if err != nil {
		return nil, err
	}
	return internals.Cluster(&client{batch: name, options: o}), nil
}

// client is the process that submits a run.
type client struct {
	batch   string
	options Options
	run     *run // what it has submitted
}

func (c *client) Executor(saved json.RawMessage) exec.Executor {
	if b, _ := find(c.batch); b.Session != nil {
		b.session().begin()
	}
	return &executor{batch: c.batch, options: c.options, saved: saved, step: -1, submitted: func(r *run) { c.run = r }}
}

func (c *client) Records() bool { return false }

func (c *client) Predict(h *record.Header, p *size.Plan) { predict(h, c.batch, &c.options, p) }

// Wait waits for the run.
func (c *client) Wait(ctx context.Context) error {
	if c.options.Detach {
		return c.run.detached()
	}
	err := c.run.wait(ctx, c.options.Tell)
	if !errors.Is(err, ErrDetached) || !c.options.Ask {
		return err
	}
	begun, again := time.Now(), make(chan os.Signal, 1)
	defer signal.Stop(again)
	time.AfterFunc(twice, func() { signal.Notify(again, os.Interrupt) })
	if c.options.Tell != nil {
		c.options.Tell(fmt.Sprintf("interrupted: the run goes on by itself; interrupt again within %v to cancel it", askTime))
	}
	select {
	case <-again:
		ctx = context.WithoutCancel(ctx)
		if _, gone := load(filepath.Dir(c.run.Plan)); errors.Is(gone, fs.ErrNotExist) {
			return c.run.wait(ctx, nil) // it has ended meanwhile
		}
		ended, failed := c.cancel(ctx, begun.Add(killTime))
		switch {
		case failed != nil:
			return errors.Join(failed, err) // it may go on
		case !ended:
			return fmt.Errorf("%s: the run is being cancelled: gonbext jobs has it until it is", c.run.Output)
		}
		return fmt.Errorf("%s: the run is cancelled: the same command again resumes it", c.run.Output)
	case <-time.After(askTime):
		return err
	}
}

// cancel cancels the run. A command does it, which outlives this process: where it takes longer
// than to the end given, ended is false.
func (c *client) cancel(ctx context.Context, end time.Time) (ended bool, err error) {
	command, err := osexec.LookPath("gonbext")
	if err != nil {
		return true, c.run.cancel(ctx)
	}
	var said bytes.Buffer
	cmd := osexec.Command(command, "jobs", "cancel", c.run.Output, "--on", c.run.On)
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return true, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			err = fmt.Errorf("gonbext jobs cancel %s: %s", c.run.Output, strings.TrimSpace(said.String()))
		}
		return true, err
	case <-time.After(time.Until(end)):
		return false, nil
	}
}

// askTime is how long an interrupt asks. GoNB kills a cell five seconds after one. One interrupt
// reaches a cell twice, from Jupyter and from GoNB.
const (
	askTime  = 4 * time.Second
	killTime = 4500 * time.Millisecond
	twice    = 300 * time.Millisecond
)

func (r *run) detached() error {
	return fmt.Errorf("%w: gonbext jobs attach %s waits for it, and jobs cancel ends it", ErrDetached, r.Output)
}

// wait waits until the run's output is in its place. Where ctx ends, the run goes on.
func (r *run) wait(ctx context.Context, tell func(string)) error {
	staging, told, held, ended := filepath.Dir(r.Plan), "", "", 0
	began, asked, spoke := time.Now(), time.Now(), time.Time{}
	for {
		now, err := load(staging)
		if err == nil && (now.ID != r.ID || now.On != r.On) {
			return fmt.Errorf("%s: another run has taken this one's place", r.Output)
		}
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(filepath.Join(r.folder(), endedFile)); errors.Is(err, fs.ErrNotExist) {
				r.forgetNote()
				return nil // the last job removes the folder
			}
			if err := r.failure(); err != nil {
				return err
			}
			return fmt.Errorf("%s: the run was cancelled, or a full disk kept it from saying why it ended: the same command again resumes it", r.Output)
		}
		if err != nil {
			return err
		}
		s, err := now.counts()
		if err == nil && time.Since(asked) > askEvery {
			asked = time.Now()
			var active map[string]string
			active, err = now.active(ctx, now.jobs()...)
			if ended++; len(active) > 0 {
				ended = 0
			}
			held = now.batch().held(active)
			if stuck := now.batch().stuck(active); stuck != nil && err == nil {
				return fmt.Errorf("%s: %w: gonbext jobs cancel %s, then the command again", r.Output, stuck, r.Output)
			}
		}
		if ctx.Err() != nil {
			return r.detached()
		}
		if err != nil {
			return err
		}
		if ended > 1 {
			if logs, _ := filepath.Glob(filepath.Join(r.folder(), "*.log")); len(logs) == 0 {
				return fmt.Errorf("%s: all jobs have ended, and none has written to %s: put the output on storage that all machines of the cluster see, then the same command again", r.Output, r.folder())
			}
			return fmt.Errorf("%s: all jobs have ended, and %d of %d tasks are done: the same command again resumes there, and gonbext jobs logs says why", r.Output, s.done, s.of)
		}
		line := fmt.Sprintf("%d of %d tasks, stage %d of %d%s", s.done, s.of, s.stage+1, len(now.Stages), held)
		if line != told && tell != nil && time.Since(spoke) > pause {
			told, spoke = line, time.Now()
			tell(line)
		}
		select {
		case <-ctx.Done():
			return r.detached()
		case <-time.After(pauseSince(began)):
		}
	}
}

// pauseSince is how long to wait before the next look at files, when looking began: a small part of the time that is
// waited for, so that short runs end soon and long ones ask a file server little.
func pauseSince(began time.Time) time.Duration {
	return min(max(time.Since(began)/64, 10*time.Millisecond), pause)
}

// pause is how long a process waits at most between two looks at files.
const pause = time.Second

// askEvery is after how long the batch system is asked, too.
var askEvery = 10 * time.Second
