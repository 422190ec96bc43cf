// Package exec runs plans within their budget.
//
// A stage has a fixed number of slots. A slot is a goroutine with buffers of its
// own, all allocated before the first task: it takes a task, reads a tile,
// computes it, and writes a piece when it is full. Since there are more slots
// than workers, some read and write while others compute; since their number is
// fixed, memory is too. What is allocated is what the plan predicted, to the byte.
package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Env is what a run needs beside its plan.
type Env struct {
	Device Device         // nil for the CPU
	Record *record.Writer // nil for none
	Into   []byte         // receives the result of a plan without an output path
	// Open and Create replace store.Open and store.Create where they are set.
	Open   func(path string) (store.Array, error)
	Create func(path string, m store.Meta) (store.Writer, error)
}

func (e *Env) open(path string) (store.Array, error) {
	if e.Open != nil {
		return e.Open(path)
	}
	return store.Open(path)
}

func (e *Env) create(path string, m store.Meta) (store.Writer, error) {
	if e.Create != nil {
		return e.Create(path, m)
	}
	return store.Create(path, m)
}

// spillDir is where temporary arrays go: beside the output, whose disk was chosen
// for size, else the system's place for temporary files.
func (e *Env) spillDir(p *plan.Plan) string {
	if path := p.Arrays[p.Output].Path; path != "" {
		return filepath.Dir(path)
	}
	return os.TempDir()
}

// Run does what the plan says. When it returns an error nothing of the output
// exists and nothing is left behind. A cancelled context ends it within a tile.
func Run(ctx context.Context, p *plan.Plan, env Env) (end record.End, err error) {
	if env.Device == nil {
		env.Device = CPU{}
	}
	if p.Device.Memory > 0 && env.Device.Name() != p.Device.Name {
		return end, fmt.Errorf("the plan is for %s, and the device is %s", p.Device.Name, env.Device.Name())
	}
	r := &run{plan: p, env: &env, arena: arena.New(p.Arena), start: time.Now(), cpu: make(chan struct{}, p.Workers)}
	env.Device.Peak()
	r.sampler = newSampler(r)
	r.sampler.start()
	err = r.all(ctx)
	r.sampler.stop()
	if leak := r.arena.Close(); leak != nil && err == nil {
		err = leak
	}
	end = r.end(ctx, err)
	_ = env.Record.End(end) // no run fails for want of a record
	return end, err
}

// run is one execution of a plan.
type run struct {
	plan    *plan.Plan
	env     *Env
	arena   *arena.Arena
	arrays  *arrays
	sampler *sampler
	start   time.Time
	cpu     chan struct{} // a token for each task that may compute at once
	counts  counts
}

func (r *run) all(ctx context.Context) (err error) {
	r.arrays, err = openArrays(r.plan, r.env, r.arena)
	if err != nil {
		return err
	}
	defer func() {
		if failed := r.arrays.close(); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	for i := range r.plan.Stages {
		if err := r.stage(ctx, i); err != nil {
			return err
		}
	}
	return r.arrays.commit(ctx)
}

func (r *run) stage(ctx context.Context, i int) error {
	s := &r.plan.Stages[i]
	if err := r.arrays.begin(i); err != nil {
		return err
	}
	var err error
	switch s.Kind {
	case plan.MapStage:
		err = r.mapStage(ctx, i)
	case plan.ReduceStage:
		err = r.reduceStage(ctx, i)
	case plan.MatMulStage:
		err = r.matmulStage(ctx, i)
	case plan.FuncStage:
		err = r.funcStage(ctx, i)
	default:
		err = fmt.Errorf("the plan has a stage of kind %q, which this version does not know", s.Kind)
	}
	if err != nil {
		return err
	}
	return r.arrays.end(ctx, i)
}

func (r *run) end(ctx context.Context, err error) record.End {
	e := record.End{Status: record.Done, Duration: time.Since(r.start), DevicePeak: r.env.Device.Peak(),
		OOMEvents: int(r.counts.oom.Load()), ProcessPeak: r.sampler.processPeak,
		Computed: r.counts.tasks.Load(), Read: r.counts.read.Load(), Written: r.counts.written.Load()}
	e.Peak, e.PeakBy = r.arena.Peak()
	if err != nil {
		e.Status, e.Error = record.Failed, err.Error()
		if cancelled(ctx, err) {
			e.Status = record.Cancelled
		}
	}
	return e
}

// funcOf is the Go function of a func stage.
func (r *run) funcOf(s *plan.Stage) (*graph.Func, error) {
	if s.Func >= len(r.plan.Funcs()) {
		return nil, fmt.Errorf("%s: %w", s.Name, plan.ErrNotPortable)
	}
	return r.plan.Funcs()[s.Func], nil
}
