package exec

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

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
	if r.arrays, err = openArrays(r.Shared, &env, r.checkpoint); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.arrays.close(), r.checkpoint.Close(false), r.Arena.Close()) }()
	for i := range p.Stages {
		if err := r.arrays.begin(ctx, i); err != nil {
			return nil, err
		}
		b, err := r.opened(i)
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
func (r *run) opened(stage int) (b record.Bytes, err error) {
	before := r.Arena.Now()
	m, err := newMerger(r, stage)
	if err != nil {
		return b, err
	}
	if m != nil {
		defer func() { err = errors.Join(err, m.free()) }()
	}
	if r.Plan.Stages[stage].Tasks() > 0 {
		runner, err := inSlots(r.Shared, stage)
		if err != nil {
			return b, err
		}
		defer func() { err = errors.Join(err, runner.Close()) }()
	}
	b = r.Arena.Now()
	for c := range b {
		b[c] -= before[c]
	}
	return b, nil
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
