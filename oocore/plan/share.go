package plan

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/record"
)

// WorkerOverhead is the memory that a worker process takes beside its buffers: Go's
// runtime and heap, and the program.
const WorkerOverhead = 24 << 20

// share sizes a plan for worker processes and the process that coordinates them. Each
// worker has an equal share of what the coordinator leaves of the budget.
func (p *Plan) share(o Options) (*Sized, error) {
	if o.Device.Memory > 0 {
		return nil, errors.New("worker processes compute on the CPU: leave out the device, or the processes")
	}
	if len(p.Others) > 0 {
		return nil, errors.New("several outputs are computed in one process: leave out the processes")
	}
	n := int64(o.Processes)
	own := p.coordinatorBytes()
	each := p.WorkerOptions(max(o.Budget-o.Overhead-own.Host(), 0)/n, max(o.Workers/o.Processes, 1))
	all := func(need int64) int64 { return (o.Overhead + own.Host() + n*need + 1<<20 - 1) >> 20 << 20 }
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
		st.Slots, st.Predicted = st.Slots*o.Processes, p.mergeBytes(st.Stage)
		add(&st.Predicted, p.rowBytes(st.Stage), 1)
		add(&st.Predicted, one, o.Processes)
	}
	return &s, nil
}

// WorkerOptions are the resources of a worker process with a budget.
func (p *Plan) WorkerOptions(budget int64, workers int) Options {
	return Options{Budget: budget, Overhead: WorkerOverhead + p.dataBytes(), Workers: workers, Attached: true}
}

// coordinatorBytes are the buffers of the process that coordinates workers: what it
// merges with, and a result that it collects.
func (p *Plan) coordinatorBytes() (most record.Bytes) {
	for i := range p.Stages {
		b := p.mergeBytes(&p.Stages[i])
		add(&b, p.rowBytes(&p.Stages[i]), 1)
		if b.Host() > most.Host() {
			most = b
		}
	}
	if out := &p.Arrays[p.Output]; out.Place == InCollect {
		most[record.Output] += out.Bytes()
	}
	return most
}

// rowBytes is the buffer through which a coordinator reads the partial results of one
// task.
func (p *Plan) rowBytes(s *Stage) (b record.Bytes) {
	if p.Merges(s) {
		for i := range s.Folds {
			b[record.Scratch] += arena.Reserved(int64(s.Folder(i).Size()) * int64(p.KeptChunk(s)))
		}
	}
	return b
}

// dataBytes are the elements that lie in the plan itself, of which each process has a
// copy.
func (p *Plan) dataBytes() (n int64) {
	for i := range p.Arrays {
		n += int64(len(p.Arrays[i].Data))
	}
	return n
}
