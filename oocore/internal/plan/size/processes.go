package size

import (
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/types"
)

// WorkerOverhead is the memory that a worker process takes besides its buffers: Go's
// runtime and heap, and the program.
const WorkerOverhead = 24 << 20

// share sizes a plan for worker processes and the process that coordinates them. Each
// worker has an equal share of what the coordinator leaves of the budget.
func share(p *plan.Plan, o Options) (*Plan, error) {
	if o.Device.Memory > 0 {
		return nil, errors.New("worker processes compute on the CPU: leave out the device, or the processes")
	}
	n := int64(o.Processes)
	own := coordinatorBytes(p)
	if o.EachBudget > 0 {
		return shareMachines(p, o, own)
	}
	each := WorkerOptions(p, max(o.Budget-o.Overhead-own.Host(), 0)/n, max(o.Workers/o.Processes, 1))
	all := func(need int64) int64 { return WholeMiB(o.Overhead + own.Host() + n*need) }
	w, err := New(p, each)
	if short, ok := errors.AsType[*types.MemoryError](err); ok {
		return nil, &types.MemoryError{Op: short.Op, Need: all(short.Need), Limit: o.Budget}
	}
	if err != nil {
		return nil, err
	}
	return coordinated(p, w, o, each, own, all(w.Need)), nil
}

// shareMachines sizes a plan for worker processes on machines of their own, whose budget is what they are predicted
// to need.
func shareMachines(p *plan.Plan, o Options, own record.Bytes) (*Plan, error) {
	each := WorkerOptions(p, o.EachBudget, max(o.Workers/o.Processes, 1))
	w, err := New(p, each)
	if short, ok := errors.AsType[*types.MemoryError](err); ok {
		return nil, &types.MemoryError{Op: "a worker: " + short.Op, Need: short.Need, Limit: o.EachBudget}
	}
	if err != nil {
		return nil, err
	}
	less := WorkerOptions(p, max(WholeMiB(each.Overhead+w.Peak.Host()), w.Need), each.Workers)
	if less.Budget < each.Budget {
		if smaller, err := New(p, less); err == nil {
			w, each = smaller, less
		}
	}
	o.Budget = o.Overhead + own.Host() + int64(o.Processes)*each.Budget
	s := coordinated(p, w, o, each, own, w.Need)
	s.Worker, s.Most = w, o.EachBudget
	return s, nil
}

// coordinated makes the plan of the process that coordinates workers of a worker's plan.
func coordinated(p *plan.Plan, w *Plan, o, each Options, own record.Bytes, need int64) *Plan {
	s := *w
	s.Stages = slices.Clone(w.Stages)
	s.Budget, s.Arena, s.Need, s.Workers, s.Each = o.Budget, own.Host(), need, o.Processes*each.Workers, each
	s.Peak = own
	add(&s.Peak, w.Peak, o.Processes)
	for i := range s.Stages {
		st := &s.Stages[i]
		one := st.Predicted
		st.Slots, st.Buffers = st.Slots*o.Processes, coordinate(p, st.Stage)
		st.predict()
		add(&st.Predicted, one, o.Processes)
	}
	return &s
}

// WorkerOptions are the resources of a worker process with a budget.
func WorkerOptions(p *plan.Plan, budget int64, workers int) Options {
	return Options{Budget: budget, Overhead: WorkerOverhead + dataBytes(p) + p.OpenBytes(), Workers: workers, Attached: true}
}

// coordinatorBytes are the buffers of the process that coordinates workers: what it
// merges with, and a result that it collects.
func coordinatorBytes(p *plan.Plan) (most record.Bytes) {
	for i := range p.Stages {
		if b := coordinate(p, &p.Stages[i]); b.stage.sum.Host() > most.Host() {
			most = b.stage.sum
		}
	}
	if out := &p.Arrays[p.Output]; out.Place == plan.InCollect {
		most[record.Output] += out.Bytes()
	}
	return most
}

// coordinate declares what coordinating the workers of a stage takes.
func coordinate(p *plan.Plan, s *plan.Stage) (b Buffers) {
	b.stage.plan = p
	b.stage.spills = func(array int) bool { return p.Arrays[array].Place == plan.InTemp }
	if s.Merges() {
		b.Merge, b.Row = b.stage.merge(s), b.stage.states(s)
	}
	return b
}

// dataBytes are the elements that lie in the plan itself, of which each process has a
// copy.
func dataBytes(p *plan.Plan) (n int64) {
	for i := range p.Arrays {
		n += int64(len(p.Arrays[i].Data))
	}
	return n
}
