package run

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/units"
)

// again is what a run computes that takes over what an earlier one has made.
type again struct {
	tasks    []int              // of each stage
	run      []checkpoint.Tasks // of each stage, those that are computed
	recalled checkpoint.Tasks   // of run, those of the first stage whose accumulators are known
	adopts   bool               // what tasks of the last stage have made is taken over, else they are all computed
	what     string             // has changed, and follows
}

// kept are the tasks of a stage that are not computed: of the last one since what they have made is there, of others since no
// other task reads it.
func (a *again) kept(stage int) checkpoint.Tasks {
	return checkpoint.All(a.tasks[stage]).Without(a.run[stage])
}

// again compares what was read with what is there. It is nil where all is to be computed: also where the receipt was removed
// meanwhile, or is damaged.
//
// What has changed affects the tasks that have read it, and what these make the tasks of later stages. Those of the last stage
// are computed again, and of the stages before it those whose results they read, which no run keeps.
func (j *Job) again(now *unitVersions) *again {
	versions, err := j.earlier.Rest()
	if err != nil {
		return nil
	}
	changed, err := now.changed(versions, j.earlier.Inputs)
	if err = errors.Join(err, versions.Close()); err != nil {
		return nil
	}
	last, stages := j.last(), j.Plan.Stages
	s := &stages[last]
	renumbered := j.lengthBefore(now) >= 0 && last > 0 // tasks of later stages have other numbers
	a := &again{adopts: s.Kind == plan.MapStage && s.Grid.Offset == nil && j.Plan.Arrays[j.Plan.Output].Layout.Unit != nil && !renumbered}
	if last != len(stages)-1 || slices.ContainsFunc(stages, func(s size.Stage) bool { return s.Factors != nil || s.Kind == plan.MapStage && len(s.Folds) > 0 }) {
		return nil
	}
	what := maps.Clone(changed)
	affected := make([]checkpoint.Tasks, len(stages))
	for i := range stages {
		a.tasks = append(a.tasks, stages[i].Tasks())
		if affected[i], err = j.affected(now, i, changed); err != nil {
			return nil
		}
		for _, out := range stages[i].Outputs {
			changed[out] = j.made(i, affected[i])
		}
	}
	a.run = make([]checkpoint.Tasks, len(stages))
	wanted := map[int]checkpoint.Tasks{} // units of temporary arrays
	for i := last; i >= 0; i-- {
		switch a.run[i] = affected[i]; {
		case renumbered || i == last && !a.adopts:
			a.run[i] = checkpoint.All(a.tasks[i])
		case i < last:
			a.run[i] = j.makers(i, wanted)
		}
		if err := j.want(now, i, a.run[i], wanted); err != nil {
			return nil
		}
	}
	if j.keepsFolded() {
		a.recalled = a.run[0].Without(affected[0])
	}
	n, of := -a.recalled.Len(), 0
	for i := range stages {
		n, of = n+a.run[i].Len(), of+a.tasks[i]
	}
	if n == of {
		return nil
	}
	a.what = changes(what, now, of, n)
	return a
}

// parts are the grids of the parts of arrays that are compared: of stored ones their units, and of temporary ones what tasks make.
func (j *Job) parts(units map[int]grid.Grid) map[int]grid.Grid {
	all := maps.Clone(units)
	for i := range j.Plan.Stages {
		s := &j.Plan.Stages[i]
		for _, out := range s.Outputs {
			if a := &j.Plan.Arrays[out]; a.Place == plan.InTemp {
				all[out] = grid.Whole(a.Shape)
				if g := results(s); slices.Equal(g.Shape, a.Shape) {
					all[out] = g
				}
			}
		}
	}
	return all
}

// results is the grid of what tasks of a stage make, one or several of a reduction each part.
func results(s *size.Stage) (g grid.Grid) {
	switch {
	case s.Grid.Offset != nil:
	case s.Kind == plan.ReduceStage:
		for d, n := range s.Grid.Shape {
			if !s.Folds[0].Folds(d) {
				g.Shape, g.Chunks = append(g.Shape, n), append(g.Chunks, s.Grid.Chunks[d])
			}
		}
	default:
		g = s.Grid
	}
	return g
}

// perUnit is how many tasks of a stage, one after the other, make a part of its results; 0 if all of them make the only one.
func (j *Job) perUnit(stage int) int {
	s := &j.Plan.Stages[stage]
	for _, out := range s.Outputs {
		if !slices.Equal(results(s).Shape, j.Plan.Arrays[out].Shape) {
			return 0
		}
	}
	if s.Kind == plan.ReduceStage {
		return s.ChunksPerResult()
	}
	return 1
}

// made are the parts of a stage's results that tasks make, or have a share in.
func (j *Job) made(stage int, tasks checkpoint.Tasks) (units checkpoint.Tasks) {
	per := j.perUnit(stage)
	for _, r := range tasks {
		if per == 0 {
			return checkpoint.All(1)
		}
		first := r.First / per
		units.Add(first, (r.End-1)/per+1-first)
	}
	return units
}

// makers are the tasks of a stage that make parts of its results; of one whose results are merged in order, all or none.
func (j *Job) makers(stage int, wanted map[int]checkpoint.Tasks) (tasks checkpoint.Tasks) {
	s, per := &j.Plan.Stages[stage], j.perUnit(stage)
	for _, out := range s.Outputs {
		for _, r := range wanted[out] {
			if per == 0 || s.Merges() {
				return checkpoint.All(s.Tasks())
			}
			tasks.Add(r.First*per, r.Len()*per)
		}
	}
	return tasks
}

// affected are the tasks of a stage that have read units which have changed, or of which that is not known.
func (j *Job) affected(now *unitVersions, stage int, changed map[int]checkpoint.Tasks) (all checkpoint.Tasks, err error) {
	n := j.Plan.Stages[stage].Tasks()
	unaffected := make([]bool, n)
	err = j.eachReads(now, stage, func(task int, reads []checkpoint.Read) {
		unaffected[task] = !slices.ContainsFunc(reads, func(r checkpoint.Read) bool { return changed[r.Array].Meets(r.Units) })
	})
	for task := range n {
		if !unaffected[task] {
			all.Add(task, 1)
		}
	}
	return all, err
}

// want adds the parts of temporary arrays that tasks of a stage read.
func (j *Job) want(now *unitVersions, stage int, tasks checkpoint.Tasks, wanted map[int]checkpoint.Tasks) error {
	temporary := map[int]bool{}
	for l := range j.Plan.Stages[stage].Arrays() {
		if j.Plan.Arrays[l.Array].Place == plan.InTemp {
			temporary[l.Array] = true
		}
	}
	if tasks.Len() == 0 || len(temporary) == 0 {
		return nil
	}
	for _, p := range j.Plan.Stages[stage].Reading() {
		for l := range p.Gathered() {
			if temporary[l.Array] {
				wanted[l.Array] = checkpoint.All(now.parts[l.Array].Len())
			}
		}
	}
	known := checkpoint.Tasks{}
	err := j.eachReads(now, stage, func(task int, reads []checkpoint.Read) {
		if !tasks.Has(task) {
			return
		}
		known.Add(task, 1)
		for _, r := range reads {
			if temporary[r.Array] {
				w := wanted[r.Array]
				for _, u := range r.Units {
					w.Add(u.First, u.Len())
				}
				wanted[r.Array] = w
			}
		}
	})
	if known.Len() < tasks.Len() {
		for a := range temporary {
			wanted[a] = checkpoint.All(now.parts[a].Len())
		}
	}
	return err
}

// eachReads gives what tasks of a stage have read: of a reduction that keeps accumulators, those which are kept; of a product what
// its tiles are made of.
func (j *Job) eachReads(now *unitVersions, stage int, each func(task int, reads []checkpoint.Read)) error {
	s := &j.Plan.Stages[stage]
	if s.Kind == plan.MatMulStage {
		for task := range s.Tasks() {
			var reads []checkpoint.Read
			read := func(array int, units checkpoint.Tasks) {
				reads = append(reads, checkpoint.Read{Array: array, Units: units})
			}
			for side := range s.Programs {
				box := s.OperandBox(side, s.Grid.Box(task))
				for i := range s.Programs[side].Loads {
					l := &s.Programs[side].Loads[i]
					if g, ok := now.parts[l.Array]; ok && l.Kind == plan.LoadArray { // others are in the plan itself
						read(l.Array, checkpoint.Chunks(g, l.View.Region(box)))
					}
					for k := range l.Inputs { // of an operation, which may read around the box
						for in := range l.Inputs[k].Arrays() {
							read(in.Array, checkpoint.All(now.parts[in.Array].Len()))
						}
					}
				}
			}
			each(task, reads)
		}
		return nil
	}
	temporary := false
	for l := range s.Arrays() {
		temporary = temporary || j.Plan.Arrays[l.Array].Place == plan.InTemp
	}
	keeps := stage == 0 && j.keepsFolded()
	return j.earlierTasks(now, stage, func(t checkpoint.Trace) bool {
		seen := slices.ContainsFunc(t.Reads, func(r checkpoint.Read) bool { return j.Plan.Arrays[r.Array].Place == plan.InTemp })
		if (!keeps || len(t.Folded) > 0) && (seen || !temporary) {
			each(t.Task, t.Reads)
		}
		return true
	})
}

// changes says what has changed, and how many tasks follow from that.
func changes(changed map[int]checkpoint.Tasks, now *unitVersions, of, tasks int) string {
	n, chunks := 0, 0
	for a, g := range now.grids {
		n, chunks = n+changed[a].Len(), chunks+g.Len()
	}
	task := "tasks"
	if tasks == 1 {
		task = "task"
	}
	return fmt.Sprintf("%s of %s chunks changed, %s %s of %s", units.Count(int64(n)), units.Count(int64(chunks)),
		units.Count(int64(tasks)), task, units.Count(int64(of)))
}
