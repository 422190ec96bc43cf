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

// arrayTable is what the three share: each array's reader, writer and memory, by its index in
// the plan.
type arrayTable struct {
	*slots.Shared
	env        *Env
	checkpoint *checkpoint.Checkpoint // nil in a worker process
	shared     bool                   // worker processes run the tasks
	detached   bool                   // and may outlive this one
	spill      *storage.StagingDir    // nil until there is a need for one
	memory     []*arena.Buffer        // of arrays that are materialised in the arena
	ends       [][]int                // arrays by the last stage that needs them
	lost       bool                   // what earlier tasks of the present stage have written is not there any more
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

// keeps reports whether what was written and not committed stays: for the next run, or for the
// process that coordinates this one.
func (s *arrayTable) keeps() bool { return s.checkpoint == nil || s.checkpoint.Resumable() }

// resumes reports whether a stage may find what earlier tasks have written: those of a run that is
// detached are not noted before its process has taken their reports.
func (s *arrayTable) resumes(stage int) bool {
	return s.checkpoint.Done(stage).Len() > 0 || s.detached && s.checkpoint.Resumes()
}

// lose forgets what is noted of a stage, of which something that tasks have written is not there any more.
func (s *arrayTable) lose(stage int) error {
	st := &s.Plan.Stages[stage]
	s.lost = st.Kind != plan.ReduceStage || !st.Merges() // of these the coordinator writes the results
	return s.checkpoint.Forget(stage)
}

// closeArray closes what an array has open, and gives back its memory.
func (s *arrayTable) closeArray(i int) error {
	err := s.endWriter(&s.Writers[i])
	if s.Readers[i] != nil {
		err = errors.Join(err, s.Readers[i].Close())
		s.Readers[i] = nil
	}
	s.memory[i].Free()
	s.memory[i] = nil
	return err
}

// endWriter ends the writer of what was not committed.
func (s *arrayTable) endWriter(w *store.Writer) (err error) {
	switch {
	case *w == nil:
	case s.keeps():
		err = (*w).Suspend()
	default:
		err = (*w).Abort()
	}
	*w = nil
	return err
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

// createSpill creates the file of a temporary array, or resumes one.
func (s *arrayTable) createSpill(i int, resume bool) (store.Writer, error) {
	m := s.Plan.Arrays[i].SpillMeta()
	m.Resume = resume
	return storage.CreateBlocks(s.spill, checkpoint.ArrayFile(i), m)
}

// openSpill opens the file of a temporary array that is whole.
func (s *arrayTable) openSpill(i int) (store.Array, error) {
	return storage.OpenBlocks(s.spill, checkpoint.ArrayFile(i), s.Plan.Arrays[i].SpillMeta())
}

// makeSpill makes the folder of temporary arrays, where there is none.
func (s *arrayTable) makeSpill() (err error) {
	s.spill, err = s.checkpoint.StagingDir()
	return err
}

// SpillBytes is the size of the file of a temporary array.
func SpillBytes(d *plan.Array) int64 { return storage.BlocksBytes(d.SpillMeta()) }

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
