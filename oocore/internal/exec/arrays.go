package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// arrays are what a plan's stages read and write, while it runs. Each is an input, an output or
// a temporary.
type arrays struct {
	*arrayTable
	inputs
	outputs
	temporaries
}

func newArrays(r *slots.Shared, env *Env) *arrays {
	p, n := r.Plan, len(r.Plan.Arrays)
	t := &arrayTable{Shared: r, env: env, memory: make([]*arena.Buffer, n), ends: make([][]int, len(p.Stages))}
	if len(p.Stages) > 0 {
		for a, stage := range p.LastUses() {
			t.ends[stage] = append(t.ends[stage], a)
		}
	}
	return &arrays{
		arrayTable:  t,
		inputs:      inputs{t},
		outputs:     outputs{arrayTable: t, members: newMembers(t), staging: make([]*storage.StagingDir, n)},
		temporaries: temporaries{arrayTable: t, copies: make([]store.Writer, n)},
	}
}

// openArrays opens what the plan reads and creates what it returns. Nothing is
// left open or created where it fails.
func openArrays(r *slots.Shared, env *Env, c *checkpoint.Checkpoint) (_ *arrays, err error) {
	s := newArrays(r, env)
	s.checkpoint, s.lastUse, s.shared = c, r.Plan.LastUses(), r.Plan.Each.Workers > 0
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if env.Checkpoint != nil {
		if s.spill, err = c.StagingDir(); err != nil {
			return s, err
		}
	}
	return s, s.createOutputs()
}

// begin opens what a stage reads, and makes room for what it fills.
func (s *arrays) begin(ctx context.Context, stage int) error {
	s.lost = false
	err := s.openInputs(stage)
	if err == nil {
		err = s.temporaries.begin(ctx, stage)
	}
	if err == nil {
		err = s.openMembers(stage)
	}
	return err
}

// end ends a stage. costly says that what it has not saved takes long to compute.
func (s *arrays) end(ctx context.Context, stage int, costly bool) error {
	all, err := s.commitMembers(ctx, stage)
	if err != nil {
		return err
	}
	if all {
		err = s.endMembers(ctx, stage, costly)
	} else {
		saved := s.saves(stage, costly)
		if saved {
			err = s.syncMembers(ctx)
		}
		if err == nil {
			err = s.temporaries.end(ctx, stage, saved)
		}
	}
	if err != nil {
		return err
	}
	return s.dropUsed(stage)
}

// dropUsed drops what no stage after this one needs.
func (s *arrays) dropUsed(stage int) error {
	return errors.Join(s.closeInputs(stage), s.temporaries.dropUsed(stage))
}

// commit puts the outputs in their places, as the last thing that can fail: all else is
// closed before.
func (s *arrays) commit(ctx context.Context) error {
	if err := s.collect(ctx); err != nil {
		return err
	}
	outputs := slices.Collect(s.Plan.Outputs())
	var errs []error
	for i := range s.Plan.Arrays {
		if !slices.Contains(outputs, i) {
			errs = append(errs, s.release(i))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return s.commitOutputs(ctx)
}

// close releases everything. What was not committed is as if it had never been begun,
// but for what another run can resume from.
func (s *arrays) close() error {
	var errs []error
	for i := range s.Plan.Arrays {
		errs = append(errs, s.release(i))
	}
	kept := s.keeps()
	errs = append(errs, s.endCollections(kept))
	for i := range s.staging {
		errs = append(errs, s.releaseStaging(i, kept))
	}
	return errors.Join(errs...)
}

// attachArrays opens what a plan reads, in a worker process. What stages write for each
// other, and the first output, are in the staging folder; each other output has its own.
// attach opens them stage by stage.
func attachArrays(r *slots.Shared, env *Env, staging *storage.StagingDir) (*arrays, error) {
	p, s := r.Plan, newArrays(r, env)
	s.spill, s.shared = staging, true
	for i := range p.Staged() {
		if p.Arrays[i].Place == plan.InResult && i != p.Output {
			var err error
			if s.staging[i], err = storage.AttachStagingDir("", p.StagingPath(i)); err == nil {
				err = s.staging[i].Register()
			}
			if err != nil {
				return nil, errors.Join(err, s.close())
			}
		}
	}
	return s, nil
}

// attach opens what a stage writes and reads.
func (s *arrays) attach(stage int) (err error) {
	if err := s.openInputs(stage); err != nil {
		return err
	}
	st := &s.Plan.Stages[stage]
	for _, i := range st.Outputs {
		d := &s.Plan.Arrays[i]
		if d.Collection > 0 {
			s.Writers[i], err = s.attachMember(i)
		} else if s.Plan.Place(i) == plan.InResult {
			s.Writers[i], err = s.env.create(d.Path, s.meta(i))
		} else {
			s.Writers[i], err = s.createSpill(i, false)
		}
		if err != nil {
			return err
		}
	}
	for l := range st.Arrays() {
		if i := l.Array; s.Plan.Place(i) == size.InSpill && s.Readers[i] == nil {
			if s.Readers[i], err = s.openSpill(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended reports that the run which a worker process is attached to has ended, or has begun anew.
func (s *arrays) ended() bool {
	return s.spill.Lost() || slices.ContainsFunc(s.staging, func(ws *storage.StagingDir) bool { return ws != nil && ws.Lost() })
}

// leave closes what attach opened.
func (s *arrays) leave() error {
	var errs []error
	for i := range s.Plan.Arrays {
		if s.Writers[i] != nil || s.Plan.Place(i) != size.InArena && s.Readers[i] != nil {
			errs = append(errs, s.release(i))
		}
	}
	return errors.Join(errs...)
}
