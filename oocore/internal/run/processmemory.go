package run

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/types"
)

// processMemory is that of this process, or of a pool of it.
type processMemory struct {
	measured
	budget int64 // of the process: the plan's own is less where loops over batches hold some
}

func (m *processMemory) check(_ string, outputs []compile.Output) error {
	if err := checkInputs(outputs); err != nil {
		return err
	}
	if m.Budget != 0 && !m.Nominal {
		return m.limits.Check(m.Budget)
	}
	return nil
}

// fit sizes the plan for what the run may use. Where that is too little, it gives up first what
// other runs of the group have kept, then what the program has dropped.
func (m *processMemory) fit(j *Job, p *plan.Plan) error {
	o := m.resources()
	if o.Budget = m.Budget; o.Budget == 0 {
		o.Budget, _ = m.limits.DefaultBudget()
	}
	if m.Device != nil && m.Group != nil {
		o.Kept = m.Group.kept.Plan()
	}
	m.budget = o.Budget
	if m.Pool != nil {
		if err := m.fitPool(p, &o); err != nil {
			return err
		}
	}
	loops := m.shared().Active()
	if loops.N > 0 && !m.Nominal {
		m.budget = min(m.budget, loops.Budget)
		o.Budget = min(o.Budget, m.budget-m.process-loops.Bytes)
	}
	var files int64
	all := o.Budget + m.process
	err := m.size(p, func() (err error) {
		o.Overhead, o.Budget = m.overhead, all-m.process
		j.Plan, files, err = m.sizeOne(p, o)
		if isSmall(err) && len(o.Kept) > 0 && o.Device.OnHost { // what is kept there is in the budget too
			o.Kept = nil
			if end, ok := m.Group.kept.Use(); ok {
				err = m.Group.kept.Drop()
				end()
			}
			if err == nil {
				j.Plan, files, err = m.sizeOne(p, o)
			}
		}
		return err
	})
	if small, ok := errors.AsType[*types.MemoryError](err); ok {
		need := small.Need
		if m.name(small, m.process); loops.N > 0 {
			return besideLoops(small.Op, need, m.overhead, m.budget, loops)
		}
	}
	if err != nil {
		return err
	}
	j.Plan.Need = max(j.Plan.Need, m.Least)
	m.reserve(j, files)
	return nil
}

// reserve says what the run takes, of which files in memory are a part.
func (m *processMemory) reserve(j *Job, files int64) {
	peak := j.Plan.Peak.Host()
	if j.Plan.Device.OnHost {
		peak += j.Plan.DevicePeak
	}
	j.pool, j.overhead, j.env.GivesWay = m.shared(), m.overhead, m.Pool != nil
	j.share = budget.Share{Bytes: peak + int64(m.Processes)*j.Plan.Each.Overhead + files, Heap: j.Plan.Heap(), Overhead: m.overhead,
		Budget: m.budget, Loop: m.Loop, NoWait: m.NoWait}
	if m.Pool != nil {
		j.share.Bytes, j.share.Heap, j.share.Overhead = j.share.Bytes+m.overhead, j.share.Heap+m.overhead, m.process
	}
}

// fitPool leaves to a run in a pool its share, and rejects a share that could never fit.
func (m *processMemory) fitPool(p *plan.Plan, o *size.Options) error {
	limit := m.Pool.Limit
	if err := m.limits.Check(limit); err != nil {
		return err
	}
	m.budget = limit
	for tried := false; ; tried = true {
		m.process = budget.Overhead(limit)
		if m.wholePool() {
			o.Budget = limit - m.process
			return nil
		}
		need := m.process + max(o.Budget, m.overhead+p.OpenBytes())
		if need <= limit {
			return nil
		}
		if tried {
			need = size.WholeMiB(need)
			budget.Named(need)
			return &types.MemoryError{Op: "the pool of " + p.Title, Need: need, Limit: limit, Held: m.process}
		}
		freeGarbage(m.process)
	}
}

// sizeOne sizes a plan. The run of a loop takes half of the budget where that will do, and leaves the
// rest to runs in the loop.
func (o *Options) sizeOne(p *plan.Plan, r size.Options) (*size.Plan, int64, error) {
	if o.Loop != "" {
		half := r
		half.Budget = r.Overhead + max(r.Budget-r.Overhead, 0)/2
		if sized, files, err := o.sizeFiles(p, half); err == nil {
			return sized, files, nil
		}
	}
	return o.sizeFiles(p, r)
}
