package oocore

import (
	"cmp"
	"errors"
	"runtime/debug"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/store"
)

// run is one Save or Collect.
type run struct {
	*settings
	site       graph.Site
	roots      []*graph.Node // of the plan's outputs
	plan       *plan.Sized
	checkpoint *checkpoint.Checkpoint // nil where nothing can be resumed
	limits     machine.Limits
	workers    *exec.Processes // nil where the tasks run in this process
	read       []string        // versions of files that Go functions read
	overhead   int64
	process    int64                  // overhead of the process: in a pool it is none of the run's
	budget     int64                  // of the process: the plan's own is less where loops over batches hold some
	files      int64                  // bytes of it that lie in files in memory
	reported   bool                   // how it ended
	written    []string               // paths of outputs that are whole
	inputs     map[string]store.Array // that are open, by their paths
	infos      map[string]store.Info  // of outputs in object stores whose version was read, by their places
}

// prepare plans a run that makes outputs.
func (s *settings) prepare(site graph.Site, op string, outputs ...plan.Output) (*run, error) {
	r := &run{settings: s, site: site, limits: machine.Read(), overhead: s.overhead()}
	failure := &Error{Op: op, Site: site}
	failed := func(err error) (*run, error) {
		failure.Err = err
		return nil, failure
	}
	if err := checkInputs(outputs); err != nil && s.dry == nil {
		return failed(err)
	}
	if s.cluster == nil && s.dry == nil && s.budget != 0 && !s.nominal {
		if err := r.limits.Check(s.budget); err != nil {
			return failed(err)
		}
	}
	for _, out := range outputs {
		r.roots = append(r.roots, out.Root)
		failure.Shapes, failure.Types = append(failure.Shapes, out.Root.Shape), append(failure.Types, out.Root.DType)
	}
	if s.shardSize != 0 && outputs[0].Target.Collection == nil {
		return failed(errors.New("ShardSize is of a checkpoint, which Collection.Save writes"))
	}
	if s.cluster != nil {
		if err := s.checkCluster(op, outputs); err != nil {
			return failed(err)
		}
	}
	logical, err := plan.NewAll(outputs...)
	if err != nil {
		return failed(err)
	}
	if err := r.fit(logical, r.resources()); err != nil {
		return failed(err)
	}
	if s.processes > 0 && s.cluster == nil {
		if r.workers, err = workerProcesses(logical, s.processes); err != nil {
			return failed(err)
		}
		if s.parent != nil {
			r.workers = s.parent.share(r.workers)
		}
	}
	return r, nil
}

// resources are what the run may use.
func (r *run) resources() plan.Options {
	o := plan.Options{Budget: r.settings.budget, Workers: r.settings.workers, Processes: r.processes}
	switch {
	case r.cluster != nil:
		o = r.clusterOptions(r.overhead)
	case r.dry != nil:
		o.Budget = r.dry.budget
	case o.Budget == 0:
		o.Budget, _ = r.limits.DefaultBudget()
	}
	o.Workers = cmp.Or(o.Workers, machine.Cores())
	if r.device != nil {
		o.Device = r.device.Spec()
		if r.parent != nil && r.dry == nil {
			o.Kept = r.parent.kept.Plan()
		}
	}
	return o
}

// fit sizes the plan for what the run may use. Where that is too little, it gives up first what
// other runs have kept, then what the program has dropped.
func (r *run) fit(p *plan.Plan, o plan.Options) (err error) {
	r.overhead += p.OpenBytes()
	o.Overhead = r.overhead
	if r.dry != nil {
		r.plan, err = r.dry.size(p, o)
		return err
	}
	size, loops := r.size, budget.Loops{}
	r.budget = o.Budget
	if r.pool != nil {
		if err := r.fitPool(p.Title, &o); err != nil {
			return err
		}
	}
	if r.cluster != nil {
		if _, err := p.Encode(); err != nil {
			return err
		}
		size = (*plan.Plan).Size
	} else if loops = r.shared().Active(); loops.N > 0 && !r.nominal {
		r.budget = min(r.budget, loops.Budget)
		o.Budget = min(o.Budget, r.budget-r.process-loops.Bytes)
	}
	r.plan, err = size(p, o)
	if isSmall(err) && len(o.Kept) > 0 && o.Device.OnHost {
		if end, ok := r.parent.kept.Use(); ok { // it is in the budget too
			err = r.parent.kept.Drop()
			end()
		}
		if o.Kept = nil; err == nil {
			r.plan, err = size(p, o)
		}
	}
	if isSmall(err) && budget.HasGarbage(r.overhead) {
		freeGarbage(r.overhead)
		r.overhead = r.settings.overhead() + p.OpenBytes()
		o.Overhead = r.overhead
		r.plan, err = size(p, o)
	}
	if small, ok := errors.AsType[*MemoryError](err); ok {
		if r.pool == nil {
			budget.Named(small.Need)
		}
		if budget.HasGarbage(r.overhead) {
			small.Held = r.overhead
		}
		if loops.N > 0 {
			return r.besideLoops(small.Op, small.Need, loops)
		}
	}
	if err == nil && r.cluster != nil {
		r.budget = r.plan.Budget
	}
	return err
}

// freeGarbage collects what the program has dropped, which counts as held until then.
func freeGarbage(overhead int64) {
	if budget.HasGarbage(overhead) {
		debug.FreeOSMemory()
	}
}

// isSmall reports the error of a budget that is too small.
func isSmall(err error) bool {
	_, small := errors.AsType[*MemoryError](err)
	return small
}

// size sizes a plan. The run of a loop takes half of the budget where that will do, and leaves the
// rest to runs in the loop.
func (r *run) size(p *plan.Plan, o plan.Options) (*plan.Sized, error) {
	if r.loop != "" {
		half := o
		half.Budget = o.Overhead + max(o.Budget-o.Overhead, 0)/2
		if sized, err := r.sizeFiles(p, half); err == nil {
			return sized, nil
		}
	}
	return r.sizeFiles(p, o)
}

// sizeFiles sizes a plan for the part of a budget that is left beside files in memory, as in a
// tmpfs: outputs there, and what is spilled there.
func (r *run) sizeFiles(p *plan.Plan, o plan.Options) (*plan.Sized, error) {
	var outputs, all int64 // all: of what may be spilled in memory
	var path string
	var array, spilled bool
	var spills int64
	for k := range p.Arrays {
		if place := p.Arrays[k].Place; place == plan.InTemp || place == plan.InCollect && o.Processes > 0 {
			spills += exec.SpillBytes(&p.Arrays[k])
		}
	}
	for i := range p.Outputs() {
		at := p.StagingPath(i)
		if at == "" && spills == 0 { // nothing of it is in a file
			continue
		}
		if i == p.Output || at != path {
			path = at
			array, spilled = store.InMemory(path)
		}
		if array {
			outputs += p.Arrays[i].Bytes()
		}
		if i == p.Output && spilled {
			all = spills
		}
	}
	budget := o.Budget
	for r.files = outputs; ; {
		o.Budget = budget - r.files
		sized, err := p.Size(o)
		if small, ok := errors.AsType[*MemoryError](err); ok && outputs+all > 0 {
			return nil, &MemoryError{Op: small.Op, Need: wholeMiB(small.Need + outputs + all), Limit: budget, Held: outputs + all, Holder: "files in memory (tmpfs)"}
		}
		if err != nil {
			return nil, err
		}
		files := outputs
		for k := range p.Arrays {
			if all > 0 && sized.Place(k) == plan.InSpill {
				files += exec.SpillBytes(&p.Arrays[k])
			}
		}
		if files <= r.files { // the less the arena has, the more is spilled
			sized.Budget = budget
			return sized, nil
		}
		r.files = files
	}
}

// wholeMiB rounds bytes up.
func wholeMiB(n int64) int64 { return (n + 1<<20 - 1) >> 20 << 20 }

// besideLoops is the error of a run that needs a budget by itself, and has what loops leave.
// Each of these takes about half of what it finds, and the program's own memory grows meanwhile.
func (r *run) besideLoops(op string, need int64, loops budget.Loops) error {
	foreseen := max(r.overhead, budget.Foreseen(r.budget))
	need = foreseen + max(need-r.overhead+loops.Bytes, (need-r.overhead)<<loops.N)
	return &MemoryError{Op: op, Need: wholeMiB(need), Limit: r.budget, Held: loops.Bytes, Holder: loops.Name}
}
