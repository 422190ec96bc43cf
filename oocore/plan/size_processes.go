package plan

import (
	"errors"

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
	each := p.WorkerOptions(max(o.Budget-o.Overhead-own.Host(), 0)/n, max(o.Workers/o.Processes, 1))
	all := func(need int64) int64 { return wholeMiB(o.Overhead + own.Host() + n*need) }
	w, err := p.Size(each)
	if short, ok := errors.AsType[*MemoryError](err); ok {
		return nil, &MemoryError{Op: short.Op, Need: all(short.Need), Limit: o.Budget}
	}
	if err != nil {
		return nil, err
	}
	s := *w
	s.Budget, s.Arena, s.Need, s.Workers, s.Each = o.Budget, own.Host(), all(w.Need), o.Processes*each.Workers, each
	s.Peak = own
	add(&s.Peak, w.Peak, o.Processes)
	for i := range s.Stages {
		st := &s.Stages[i]
		one := st.Predicted
		st.Slots, st.Buffers = st.Slots*o.Processes, p.coordinate(st.Stage)
		st.predict()
		add(&st.Predicted, one, o.Processes)
	}
	return &s, nil
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
