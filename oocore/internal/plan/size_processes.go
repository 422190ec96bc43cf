package plan

import (
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/record"
)

// WorkerOverhead is the memory that a worker process takes besides its buffers: Go's
// runtime and heap, and the program.
const WorkerOverhead = 24 << 20

// share sizes a plan for worker processes and the process that coordinates them. Each
// worker has an equal share of what the coordinator leaves of the budget.
func (p *Plan) share(o Options) (*Sized, error) {
	if o.Device.Memory > 0 {
		return nil, errors.New("worker processes compute on the CPU: leave out the device, or the processes")
	}
	n := int64(o.Processes)
	own := p.coordinatorBytes()
	if o.EachBudget > 0 {
		return p.shareMachines(o, own)
	}
	each := p.WorkerOptions(max(o.Budget-o.Overhead-own.Host(), 0)/n, max(o.Workers/o.Processes, 1))
	all := func(need int64) int64 { return WholeMiB(o.Overhead + own.Host() + n*need) }
	w, err := p.Size(each)
	if short, ok := errors.AsType[*MemoryError](err); ok {
		return nil, &MemoryError{Op: short.Op, Need: all(short.Need), Limit: o.Budget}
	}
	if err != nil {
		return nil, err
	}
	return p.coordinated(w, o, each, own, all(w.Need)), nil
}

// shareMachines sizes a plan for worker processes on machines of their own, whose budget is what they are predicted
// to need.
func (p *Plan) shareMachines(o Options, own record.Bytes) (*Sized, error) {
	each := p.WorkerOptions(o.EachBudget, max(o.Workers/o.Processes, 1))
	w, err := p.Size(each)
	if short, ok := errors.AsType[*MemoryError](err); ok {
		return nil, &MemoryError{Op: "a worker: " + short.Op, Need: short.Need, Limit: o.EachBudget}
	}
	if err != nil {
		return nil, err
	}
	less := p.WorkerOptions(max(WholeMiB(each.Overhead+w.Peak.Host()), w.Need), each.Workers)
	if less.Budget < each.Budget {
		if smaller, err := p.Size(less); err == nil {
			w, each = smaller, less
		}
	}
	o.Budget = o.Overhead + own.Host() + int64(o.Processes)*each.Budget
	s := p.coordinated(w, o, each, own, w.Need)
	s.Worker, s.Most = w, o.EachBudget
	return s, nil
}

// coordinated makes the plan of the process that coordinates workers of a worker's plan.
func (p *Plan) coordinated(w *Sized, o, each Options, own record.Bytes, need int64) *Sized {
	s := *w
	s.Stages = slices.Clone(w.Stages)
	s.Budget, s.Arena, s.Need, s.Workers, s.Each = o.Budget, own.Host(), need, o.Processes*each.Workers, each
	s.Peak = own
	add(&s.Peak, w.Peak, o.Processes)
	for i := range s.Stages {
		st := &s.Stages[i]
		one := st.Predicted
		st.Slots, st.Buffers = st.Slots*o.Processes, p.coordinate(st.Stage)
		st.predict()
		add(&st.Predicted, one, o.Processes)
	}
	return &s
}

// WorkerOptions are the resources of a worker process with a budget.
func (p *Plan) WorkerOptions(budget int64, workers int) Options {
	return Options{Budget: budget, Overhead: WorkerOverhead + p.dataBytes() + p.OpenBytes(), Workers: workers, Attached: true}
}

// coordinatorBytes are the buffers of the process that coordinates workers: what it
// merges with, and a result that it collects.
func (p *Plan) coordinatorBytes() (most record.Bytes) {
	for i := range p.Stages {
		if b := p.coordinate(&p.Stages[i]); b.stage.sum.Host() > most.Host() {
			most = b.stage.sum
		}
	}
	if out := &p.Arrays[p.Output]; out.Place == InCollect {
		most[record.Output] += out.Bytes()
	}
	return most
}

// coordinate declares what coordinating the workers of a stage takes.
func (p *Plan) coordinate(s *Stage) (b Buffers) {
	b.stage.plan = p
	b.stage.spills = func(array int) bool { return p.Arrays[array].Place == InTemp }
	if s.Merges() {
		b.Merge, b.Row = b.stage.merge(s), b.stage.states(s)
	}
	return b
}

// OpenBytes are what stored inputs take of Go's heap while they are open.
func (p *Plan) OpenBytes() (n int64) {
	for i := range p.Arrays {
		n += p.Arrays[i].Work.Open
	}
	return n
}

// dataBytes are the elements that lie in the plan itself, of which each process has a
// copy.
func (p *Plan) dataBytes() (n int64) {
	for i := range p.Arrays {
		n += int64(len(p.Arrays[i].Data))
	}
	return n
}
