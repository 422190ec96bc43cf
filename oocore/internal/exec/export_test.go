package exec

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

// WritePlanFile writes an encoded plan as a coordinator does.
func WritePlanFile(t testing.TB, path string, encoded []byte) string {
	t.Helper()
	if err := writePlan(path, encoded); err != nil {
		t.Fatal(err)
	}
	return path
}

// StageBytes opens the stages of a plan one after the other, runs none of their tasks, and
// returns what each reserves by the arena's count, besides the arrays in memory.
func StageBytes(ctx context.Context, p *size.Plan, env Env) (all []record.Bytes, err error) {
	r := newRun(p, &env, env.Record.Task)
	r.checkpoint = checkpoint.Temporary(p.Plan)
	if r.arrays, err = openArrays(p, &env, r.checkpoint, r.arena); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.arrays.close(), r.checkpoint.Close(false), r.arena.Close()) }()
	for i := range p.Stages {
		if err := r.arrays.begin(ctx, i); err != nil {
			return nil, err
		}
		b, err := r.opened(ctx, i)
		if err == nil {
			err = r.arrays.end(ctx, i, false)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// opened returns what a stage reserves while it is open.
func (r *run) opened(ctx context.Context, stage int) (b record.Bytes, err error) {
	before := r.arena.Now()
	m, err := newMerger(r, stage)
	if err != nil {
		return b, err
	}
	if m != nil {
		defer func() { err = errors.Join(err, m.free()) }()
	}
	if r.plan.Stages[stage].Tasks() > 0 {
		runner, err := slots{r}.Stage(ctx, stage)
		if err != nil {
			return b, err
		}
		defer func() { err = errors.Join(err, runner.Close()) }()
	}
	b = r.arena.Now()
	for c := range b {
		b[c] -= before[c]
	}
	return b, nil
}

// SaveStatesAfter sets how long a box is filled before its state is saved.
func SaveStatesAfter(t testing.TB, d time.Duration) {
	before := stateWorth
	stateWorth = d
	t.Cleanup(func() { stateWorth = before })
}

// SavedSteps returns the steps that a snapshot has, by task.
func SavedSteps(t testing.TB, meta []byte) map[int]int {
	t.Helper()
	var states []savedState
	if err := json.Unmarshal(meta, &states); err != nil {
		t.Fatal(err)
	}
	steps := map[int]int{}
	for _, s := range states {
		steps[s.Task] = s.Steps
	}
	return steps
}

// AcrossProcesses returns what an error is in the process that it is sent to.
func AcrossProcesses(t testing.TB, err error) error {
	t.Helper()
	b, failed := json.Marshal(remote(err))
	if failed != nil {
		t.Fatal(failed)
	}
	var r remoteError
	if failed := json.Unmarshal(b, &r); failed != nil {
		t.Fatal(failed)
	}
	return r.err
}

// WaitForWorkers sets how long workers may take to end, and how many seconds they may be silent.
func WaitForWorkers(t testing.TB, toEnd time.Duration, quiet int) {
	before, was := patience, silence
	patience, silence = toEnd, quiet
	t.Cleanup(func() { patience, silence = before, was })
}
