package run

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/receipt"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// updated notes what tasks read, by units of the inputs, digests of what they write, and
// what they fold: the output's receipt. Where the output is that of an earlier run, and only inputs have changed since,
// it takes over what those tasks have made that read none of what has changed.
func updated(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		c := j.env.Checkpoint
		if !c.Enabled() || !j.Traceable() {
			return next(ctx, j)
		}
		now, err := j.readVersions(ctx)
		if err == nil {
			err = c.Follow(now.parts, j.Plan.WriteForms(), j.keepsFolded())
		}
		if err != nil {
			return Result{}, err
		}
		j.receipt = func(ctx context.Context, e *resultcache.Entry) func(io.Writer) error {
			if info, err := j.info(ctx, e.Path); err == nil {
				e.Details = receipt.Details(info)
			}
			e.Title, e.Inputs, e.Plan, e.Growing = j.Plan.Title, now.inputs, j.portable(), j.Plan.Growing(j.functions)
			e.Stage = j.last()
			if s := &j.Plan.Stages[e.Stage]; s.Kind == plan.MapStage {
				e.Grid = s.Grid
			} else if sum, ok := receipt.Whole(ctx, e.Path); ok {
				e.Grid, e.Folded = grid.Whole(j.Plan.Arrays[j.Plan.Output].Shape), sum
			}
			return func(w io.Writer) error { return errors.Join(now.write(w), c.Traces(w)) }
		}
		if j.repair != nil && c.Tasks() == 0 {
			if err := j.repair(ctx); err != nil {
				return Result{}, err
			}
		}
		if j.earlier != nil && c.Tasks() == 0 {
			changed, err := j.update(ctx, now)
			if err != nil {
				return Result{}, err
			}
			j.describe = append(j.describe, func(h *record.Header) { h.Changed = changed })
		}
		return next(ctx, j)
	}
}

// Traceable reports a job whose output is one file that a stage writes in this process, and that it does not read.
func (j *Job) Traceable() bool {
	p := j.Plan
	out, last := &p.Arrays[p.Output], j.last()
	if last < 0 || len(p.Others) > 0 || j.env.Executor != nil || out.Place != plan.InResult || out.Collection > 0 || out.Region != nil || !out.Store.Files {
		return false
	}
	if s := &p.Stages[last]; s.Kind == plan.MatMulStage || s.Kind == plan.MapStage && len(s.Folds) > 0 || s.Factors != nil {
		return false
	}
	to, err := storage.Place(out.Path)
	for i := range p.Arrays {
		if err == nil && p.Arrays[i].Place == plan.InFile {
			var from string
			if from, err = storage.Place(p.Arrays[i].Path); strings.HasPrefix(from+"/", to+"/") {
				return false
			}
		}
	}
	return err == nil
}

// last is the stage that writes the output; -1 for none.
func (j *Job) last() int {
	return slices.IndexFunc(j.Plan.Stages, func(s size.Stage) bool { return slices.Contains(s.Outputs, j.Plan.Output) })
}

// mostFolded bounds the accumulators of all tasks that a receipt keeps: they are in memory while it is made.
const mostFolded = 1 << 20

// keepsFolded reports a reduction of whose tasks the accumulators are few.
func (j *Job) keepsFolded() bool {
	s := &j.Plan.Stages[0]
	if s.Kind != plan.ReduceStage {
		return false
	}
	each := 0
	for i := range s.Folds {
		each += s.Folder(i).Size() * s.Accumulators()
	}
	return each <= mostFolded/max(s.Tasks(), 1)
}

// update takes over what the earlier run's tasks have made that depends on nothing which has changed, and says what
// has; "" where nothing is taken over.
func (j *Job) update(ctx context.Context, now *unitVersions) (string, error) {
	again := j.again(now)
	if again == nil {
		return "", nil
	}
	c, last := j.env.Checkpoint, j.last()
	if again.adopts {
		switch err := j.adopt(ctx, again.kept(last)); {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err != nil: // such as a full disk: all is computed
			return "", nil
		}
	}
	j.env.Earlier = map[int][]byte{}
	for stage := range j.Plan.Stages {
		kept := again.kept(stage)
		of := func(each func(checkpoint.Trace) bool) error {
			return j.earlierTasks(now, stage, func(t checkpoint.Trace) bool {
				recalled := stage == 0 && again.recalled.Has(t.Task)
				if recalled {
					j.env.Earlier[t.Task] = t.Folded
				}
				return !recalled && !kept.Has(t.Task) || each(t)
			})
		}
		var err error
		switch {
		case stage == last && again.adopts:
			err = c.Adopt(stage, kept, of)
		default:
			c.LeaveOut(stage, kept, j.made(stage, kept))
			err = c.Recall(stage, of)
		}
		if err != nil {
			return "", err
		}
	}
	return again.what, nil
}

// earlierTasks gives the traces of the earlier run's tasks of a stage that make what tasks of this run do, by the numbers
// of these.
func (j *Job) earlierTasks(now *unitVersions, stage int, each func(checkpoint.Trace) bool) error {
	s := &j.Plan.Stages[stage]
	number := func(task int) int { return task }
	if was := j.lengthBefore(now); was >= 0 && stage == 0 {
		before, tasks := s.Before(was), make([]int, s.Tasks()) // by chunk
		for task := range tasks {
			chunk, _ := slots.ChunkOf(s, task)
			tasks[chunk] = task
		}
		number = func(task int) int {
			if task >= before.Tasks() {
				return -1
			}
			chunk, box := slots.ChunkOf(before, task)
			if chunk >= len(tasks) || !slices.Equal(box.Shape, s.Grid.Box(chunk).Shape) {
				return -1
			}
			return tasks[chunk]
		}
	}
	n := s.Tasks()
	return receipt.EachTrace(j.earlier, func(t checkpoint.Trace) bool {
		if t.Stage != stage {
			return true
		}
		t.Task = number(t.Task)
		return t.Task < 0 || t.Task >= n || each(t)
	})
}

// lengthBefore is the length of the first axis that inputs had which have grown, or have shrunk, since; -1 where none has.
func (j *Job) lengthBefore(now *unitVersions) int {
	for i, was := range j.earlier.Inputs {
		if !slices.Equal(was.Shape, now.inputs[i].Shape) {
			return was.Shape[0]
		}
	}
	return -1
}

// adopt puts what tasks have made in the staging folder.
func (j *Job) adopt(ctx context.Context, kept checkpoint.Tasks) error {
	staging, err := j.env.Checkpoint.StagingDir()
	if err != nil {
		return err
	}
	d := &j.Plan.Arrays[j.Plan.Output]
	w, err := store.Create(d.Path, exec.OutputMeta(d, staging))
	if err != nil {
		return err
	}
	a, ok := w.(storage.Adopter)
	if !ok {
		return j.copyParts(ctx, w, kept)
	}
	g := j.Plan.Stages[j.last()].Grid
	err = a.Adopt(ctx, func(unit grid.Box) storage.Adoption {
		makers := checkpoint.Chunks(g, grid.Meet(unit, grid.Entire(g.Shape)).Region())
		switch n := makers.Len() - makers.Without(kept).Len(); n {
		case 0:
			return storage.AdoptNothing
		case makers.Len():
			return storage.AdoptFile
		}
		return storage.AdoptCopy
	})
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Suspend()
}
