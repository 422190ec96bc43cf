package oocore

import (
	"cmp"
	"errors"
	"os"
	"runtime/debug"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
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
	if s.dry == nil {
		if logical.Warnings, err = packedWarnings(outputs, s.unread); err != nil {
			return failed(err)
		}
		for _, w := range logical.Warnings {
			if s.warn != nil {
				s.warn(w)
			}
		}
	}
	if err := r.fit(logical, r.resources()); err != nil {
		return failed(err)
	}
	if s.inspect != nil {
		if err := s.inspect(r.plan); err != nil {
			return failed(err)
		}
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
		r.plan, err = r.dry.size(r, p, o)
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
	if held := max(r.overhead, r.process); isSmall(err) && budget.HasGarbage(held) {
		freeGarbage(held)
		r.overhead = r.settings.overhead() + p.OpenBytes()
		o.Overhead = r.overhead
		if r.wholePool() {
			process := budget.Overhead(r.pool.limit)
			o.Budget, r.process = o.Budget+r.process-process, process
		}
		r.plan, err = size(p, o)
	}
	if small, ok := errors.AsType[*MemoryError](err); ok {
		need := small.Need
		r.name(small, r.process)
		if loops.N > 0 {
			return r.besideLoops(small.Op, need, loops)
		}
		if held := max(r.overhead, r.process); small.Holder == "" && budget.HasGarbage(held) {
			small.Held = held
		}
	}
	if err != nil {
		return err
	}
	if r.cluster != nil {
		r.budget = r.plan.Budget
	}
	r.plan.Need = max(r.plan.Need, r.least)
	return nil
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
// tmpfs: see filesInMemory. What the plan needs has them too.
func (r *run) sizeFiles(p *plan.Plan, o plan.Options) (*plan.Sized, error) {
	files := r.filesInMemory(p)
	if r.files = 0; files == nil {
		return p.Size(o)
	}
	budget := o.Budget
	sized := func(budget int64) (s *plan.Sized, bytes int64, err error) {
		o.Budget = budget
		if s, err = p.Size(o); err == nil {
			bytes = files(s)
		}
		return s, bytes, err
	}
	_, _, err := sized(0)
	short, ok := errors.AsType[*MemoryError](err)
	if !ok {
		return nil, err
	}
	least, bytes, err := sized(short.Need)
	if err != nil {
		return nil, err
	}
	need := plan.WholeMiB(short.Need + bytes)
	if budget < need {
		return nil, &MemoryError{Op: short.Op, Need: need, Limit: budget, Held: bytes, Holder: "files in memory (tmpfs)"}
	}
	s := least
	for r.files = bytes; ; { // the less the arena has, the more is spilled
		more, all, err := sized(budget - r.files)
		if err != nil { // what more tasks at once spill leaves too little for them
			s, r.files = least, bytes
			break
		}
		if s = more; all <= r.files {
			break
		}
		r.files = all
	}
	s.Budget, s.Need = budget, need
	return s, nil
}

// recordBytes is what a task takes in the run's record, of which the overhead of any run has room for some.
const recordBytes, recordRoom = 320, 256 << 10

// filesInMemory returns what counts the bytes that a run of a sized plan has in files in memory, as in a tmpfs, where the
// kernel takes nothing of them back: outputs, what is spilled, and the record. It is nil where all files are on disks.
func (r *run) filesInMemory(p *plan.Plan) func(*plan.Sized) int64 {
	var bytes int64
	var path string
	var array, spills, spilled bool
	for i := range p.Outputs() {
		at := p.StagingPath(i)
		if i == p.Output || at != path {
			path = at
			array, spills = store.InMemory(path)
		}
		if array {
			bytes += fileBytes(&p.Arrays[i])
		}
		if i == p.Output {
			spilled = spills
		}
	}
	if n := int64(p.Tasks()) * recordBytes; n > recordRoom {
		if dir, err := r.runLog(); err == nil && disk.InMemory(dir) {
			bytes += n
		}
	}
	if bytes == 0 && !spilled {
		return nil
	}
	return func(s *plan.Sized) int64 {
		all := bytes
		for k := range p.Arrays {
			if spilled && s.Place(k) == plan.InSpill {
				all += exec.SpillBytes(&p.Arrays[k])
			}
		}
		return all
	}
}

// fileBytes is what an array takes in memory as files: whole pages, and what the kernel keeps of each file and folder. What
// cannot be compressed becomes a little longer.
func fileBytes(a *plan.Array) int64 {
	const inodes, head = 2 << 10, 128 // for a chunk: a file, and part of a folder; what its codec writes beside its elements
	unit := a.Layout.Unit
	if unit == nil {
		return a.Bytes()
	}
	units := int64(grid.Grid{Shape: a.Shape, Chunks: unit}.Len())
	each := int64(grid.Size(unit) * a.DType.Size())
	each += each/128 + head*int64(grid.Grid{Shape: unit, Chunks: a.Layout.Chunks()}.Len())
	page := int64(os.Getpagesize())
	return units * ((each+page-1)/page*page + inodes)
}

// besideLoops is the error of a run that needs a budget by itself, and has what loops leave.
// Each of these takes about half of what it finds, and the program's own memory grows meanwhile.
func (r *run) besideLoops(op string, need int64, loops budget.Loops) error {
	foreseen := max(r.overhead, budget.Foreseen(r.budget))
	need = foreseen + max(need-r.overhead+loops.Bytes, (need-r.overhead)<<loops.N)
	return &MemoryError{Op: op, Need: plan.WholeMiB(need), Limit: r.budget, Held: loops.Bytes, Holder: loops.Name}
}
