package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/types"
)

// clusterMemory is that of the workers of a cluster, each of which has the budget.
type clusterMemory struct{ measured }

// clusterWorkers is how many workers of a cluster run at once where no option says it.
const clusterWorkers = 8

func (m *clusterMemory) check(op string, outputs []compile.Output) error {
	switch {
	case m.Budget == 0:
		return &types.OptionError{Err: errors.New("on a cluster Memory is the budget of a worker: say what one may take, such as 2GiB")}
	case m.Pool != nil:
		return &types.OptionError{Err: errors.New("a run on a cluster takes memory of its workers, which no pool of this process has: leave In out")}
	case m.Device != nil:
		return &types.OptionError{Err: errors.New("workers of a cluster compute on the CPU: leave the device out")}
	case m.SideReductions != nil || outputs[0].Target.Grow || m.Group != nil || m.Dry != nil:
		return fmt.Errorf("%s cannot run on a cluster: run it on this machine", op)
	}
	for _, out := range outputs {
		if out.Target.Path == "" {
			return errors.New("what a cluster computes goes to storage that all of its machines see: save it to a path")
		}
	}
	return checkInputs(outputs)
}

func (m *clusterMemory) fit(j *Job, p *plan.Plan) (err error) {
	if _, err := p.Encode(); err != nil {
		return err
	}
	err = m.size(p, func() (err error) {
		j.Plan, err = size.New(p, m.workers(m.overhead))
		return err
	})
	if small, ok := errors.AsType[*types.MemoryError](err); ok {
		m.name(small, 0)
	}
	if err == nil {
		m.reserve(j)
	}
	return err
}

// workers are the resources of the workers, for a run whose process takes overhead.
func (o *Options) workers(overhead int64) size.Options {
	n := o.Processes
	if n == 0 {
		n = clusterWorkers
	}
	return size.Options{Overhead: overhead, Workers: n * max(o.Workers, 1), Processes: n, EachBudget: o.Budget}
}

// reserve says what this process takes for a run whose workers have memory of their own.
func (m *clusterMemory) reserve(j *Job) {
	j.pool, j.overhead = m.shared(), m.overhead
	j.share = budget.Share{Bytes: j.Plan.Arena, Heap: j.Plan.Heap(), Overhead: m.overhead, Budget: j.Plan.Budget, Loop: m.Loop, NoWait: m.NoWait}
	j.predict = func(h *record.Header) { m.Cluster.Predict(h, j.Plan) }
}

// Resume continues a run whose tasks Save has left to a cluster, in a process of the cluster:
// file has the plan, and text is what the executor was given.
func Resume(ctx context.Context, file string, text json.RawMessage, c door.Cluster) error {
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	p, err := exec.ReadPlan(file)
	if err != nil {
		return err
	}
	o := &Options{Cluster: c, Cell: s.Cell, Hosted: s.Recorded, Budget: s.Memory, Processes: s.Workers, Workers: s.Cores}
	m := &clusterMemory{measured{Options: o, overhead: budget.Overhead(s.Memory) + p.OpenBytes()}}
	j := &Job{limits: machine.Read(), print: s.Fingerprint, inputs: s.Inputs, elsewhere: true}
	if j.Plan, err = size.New(p, o.workers(m.overhead)); err != nil {
		return err
	}
	m.reserve(j)
	j.forgetFolder()
	_, err = o.continued()(ctx, j)
	return err
}
