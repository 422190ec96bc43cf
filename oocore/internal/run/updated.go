package run

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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
	"github.com/gonbext/gonbext/oocore/units"
)

// updated notes what tasks read, by units of the inputs, digests of what they write, and
// what they fold: the output's receipt. Where the output is that of an earlier run, and only inputs have changed since,
// it takes over what those tasks have made that read none of what has changed.
func updated(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		c := j.env.Checkpoint
		if !c.Enabled() || !j.traceable() {
			return next(ctx, j)
		}
		now, err := j.readVersions(ctx)
		if err == nil {
			err = c.Follow(now.grids, j.Plan.WriteForms(), j.keepsFolded())
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
		if j.earlier != nil && c.Tasks() == 0 && j.updatable() {
			changed, err := j.update(ctx, now)
			if err != nil {
				return Result{}, err
			}
			j.describe = append(j.describe, func(h *record.Header) { h.Changed = changed })
		}
		return next(ctx, j)
	}
}

// traceable reports a job whose output is one file that a stage writes in this process, and that it does not read.
func (j *Job) traceable() bool {
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

// updatable reports a job that can take over what tasks of its first stage have made: of one map, or of a reduction, if that alone
// reads what is stored.
func (j *Job) updatable() bool {
	first := &j.Plan.Stages[0]
	if first.Kind == plan.MapStage { // whose chunks are files that can be taken over
		return len(j.Plan.Stages) == 1 && j.Plan.Arrays[j.Plan.Output].Layout.Unit != nil
	}
	for i := range j.Plan.Stages[1:] {
		for l := range j.Plan.Stages[i+1].Arrays() {
			if j.Plan.Arrays[l.Array].Place == plan.InFile {
				return false
			}
		}
	}
	return j.keepsFolded()
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

// unitVersions are the versions of the inputs of a run and, where they have such, of their units.
type unitVersions struct {
	inputs []resultcache.Input
	grids  map[int]grid.Grid // of units, by array: one, the whole, where there are no versions of others
	of     map[int][]uint64  // by array: those of all units and then that of everything else, and as many digests where they are known
}

// mostUnits bounds the units of an input, whose versions are in memory.
const mostUnits = 1 << 20

// readVersions lists the inputs on this machine that have versions of their units. That these are of what is read
// follows from the versions of the whole, which are asked for before and after.
func (j *Job) readVersions(ctx context.Context) (*unitVersions, error) {
	v := &unitVersions{grids: map[int]grid.Grid{}, of: map[int][]uint64{}}
	for i := range j.Plan.Arrays {
		a := &j.Plan.Arrays[i]
		if a.Place != plan.InFile {
			continue
		}
		path, err := storage.Absolute(a.Path)
		if err != nil {
			return nil, err
		}
		in := resultcache.Input{Array: i, Path: path, Version: j.inputs[i], Shape: a.Shape}
		v.grids[i] = grid.Whole(a.Shape)
		if a.Store.Files && a.Chunks != nil {
			if err := v.list(ctx, a.Path, &in); err != nil {
				return nil, err
			}
		}
		v.inputs = append(v.inputs, in)
	}
	return v, nil
}

// list takes in the versions of an input's units, if it has such.
func (v *unitVersions) list(ctx context.Context, path string, in *resultcache.Input) error {
	stored, err := storage.Reopen(ctx, path)
	if err != nil {
		return err
	}
	if a, ok := stored.(storage.Versioned); ok && a.Units().Len() <= mostUnits {
		in.Units = a.Units().Len()
		all := make([]uint64, in.Units+1)
		err = a.Versions(ctx, func(unit int, version uint64) {
			if unit < 0 {
				unit = in.Units
			}
			all[unit] = version
		})
		digests := receipt.Digests(in.Path, in.Version, a.Units())
		in.Digests = digests != nil
		v.grids[in.Array], v.of[in.Array] = a.Units(), append(all, digests...)
	}
	return errors.Join(err, stored.Close())
}

// write writes the versions of all units, in the order of inputs.
func (v *unitVersions) write(w io.Writer) error {
	for i := range v.inputs {
		if err := binary.Write(w, binary.LittleEndian, v.of[v.inputs[i].Array]); err != nil {
			return err
		}
	}
	return nil
}

// errAll is that all of an input has changed, or that what it was cannot be compared.
var errAll = errors.New("all of an input has changed")

// changed reads what write has written of earlier inputs, and returns the units that are new or have other versions now, by
// array.
func (v *unitVersions) changed(from io.Reader, earlier []resultcache.Input) (map[int]checkpoint.Tasks, error) {
	if len(earlier) != len(v.inputs) {
		return nil, errAll
	}
	changed := map[int]checkpoint.Tasks{}
	for i, was := range earlier {
		now := v.inputs[i]
		if was.Array != now.Array || was.Path != now.Path || (was.Units == 0) != (now.Units == 0) {
			return nil, errAll
		}
		if was.Units == 0 {
			if !was.Version.Equal(now.Version) {
				changed[now.Array] = checkpoint.Tasks{{First: 0, End: 1}}
			}
			continue
		}
		before, after := make([]uint64, was.Numbers()), v.of[now.Array]
		if err := binary.Read(from, binary.LittleEndian, before); err != nil {
			return nil, err
		}
		same := func(was, now int) bool {
			return before[was] == after[now]
		}
		if was.Digests && now.Digests {
			old, of := before[was.Units+1:], after[now.Units+1:]
			same = func(was, now int) bool { return before[was] == after[now] || old[was] == of[now] }
		}
		if !same(was.Units, now.Units) {
			return nil, errAll
		}
		var units checkpoint.Tasks
		for u := range now.Units {
			if u >= was.Units || !same(u, u) {
				units.Add(u, 1)
			}
		}
		changed[now.Array] = units
	}
	return changed, nil
}

// update takes over what the earlier run's tasks have made that read nothing which has changed, and says what
// has; "" where nothing is taken over.
func (j *Job) update(ctx context.Context, now *unitVersions) (string, error) {
	kept, changed := j.unaffected(now)
	if len(kept) == 0 {
		return "", nil
	}
	of := func(each func(checkpoint.Trace) bool) error {
		return j.earlierTasks(now, func(t checkpoint.Trace) bool { return !kept.Has(t.Task) || each(t) })
	}
	if j.Plan.Stages[0].Kind == plan.ReduceStage {
		j.env.Earlier = map[int][]byte{}
		err := of(func(t checkpoint.Trace) bool {
			j.env.Earlier[t.Task] = t.Folded
			return true
		})
		return changed, errors.Join(err, j.env.Checkpoint.Recall(0, of))
	}
	switch err := j.adopt(ctx, kept); {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil: // such as a full disk: all is computed
		return "", nil
	}
	return changed, j.env.Checkpoint.Adopt(0, kept, of)
}

// unaffected are the tasks whose results can be taken over, and says what has changed; none, and "", where all is to be
// computed: also where the receipt was removed meanwhile, or is damaged.
func (j *Job) unaffected(now *unitVersions) (kept checkpoint.Tasks, what string) {
	versions, err := j.earlier.Rest()
	if err != nil {
		return nil, ""
	}
	changed, err := now.changed(versions, j.earlier.Inputs)
	if err = errors.Join(err, versions.Close()); err != nil {
		return nil, ""
	}
	const known, affected = 1, 2 // 0: it has no trace
	n := j.Plan.Stages[0].Tasks()
	of, folds := make([]uint8, n), j.Plan.Stages[0].Kind == plan.ReduceStage
	err = j.earlierTasks(now, func(t checkpoint.Trace) bool {
		if folds && len(t.Folded) == 0 {
			return true
		}
		of[t.Task] = known
		for _, r := range t.Reads {
			if changed[r.Array].Meets(r.Units) {
				of[t.Task] = affected
			}
		}
		return true
	})
	for task, is := range of {
		if is == known {
			kept.Add(task, 1)
		}
	}
	if err != nil || len(kept) == 0 {
		return nil, ""
	}
	return kept, changes(changed, now, n, kept.Len())
}

// earlierTasks gives the traces of the earlier run's tasks of the first stage that make what tasks of this run do,
// by the numbers of these.
func (j *Job) earlierTasks(now *unitVersions, each func(checkpoint.Trace) bool) error {
	s := &j.Plan.Stages[0]
	number := func(task int) int { return task }
	if was := j.lengthBefore(now); was >= 0 {
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
		if t.Stage != 0 {
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
		return errors.Join(errors.ErrUnsupported, w.Abort())
	}
	g := j.Plan.Stages[0].Grid
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

// changes says what has changed, and what follows.
func changes(changed map[int]checkpoint.Tasks, now *unitVersions, tasks, kept int) string {
	n, of := 0, 0
	for a, g := range now.grids {
		n, of = n+changed[a].Len(), of+g.Len()
	}
	task := "tasks"
	if tasks-kept == 1 {
		task = "task"
	}
	return fmt.Sprintf("%s of %s chunks changed, %s %s of %s", units.Count(int64(n)), units.Count(int64(of)),
		units.Count(int64(tasks-kept)), task, units.Count(int64(tasks)))
}
