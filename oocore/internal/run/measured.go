package run

import (
	"cmp"
	"errors"
	"runtime/debug"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/types"
)

// measured is the memory that the process takes in addition to the buffers of a run.
type measured struct {
	*Options
	limits   machine.Limits
	overhead int64 // of the run
	process  int64 // in a pool, what the process takes in addition to the runs in it
}

// overhead returns what the process takes without the buffers of a run.
func (o *Options) overhead() int64 {
	switch {
	case o.Nominal:
		return budget.Nominal + o.Held
	case o.Pool != nil:
		return runOverhead + o.Held
	case o.Foreseen == 0:
		return budget.Overhead(o.Budget) + o.Held
	}
	return max(budget.Overhead(o.Budget), o.Foreseen+o.Held)
}

// size calls what sizes a plan, and again where that finds too little memory and the program has dropped some, which
// counts as held until it is collected.
func (m *measured) size(p *plan.Plan, size func() error) error {
	m.overhead += p.OpenBytes()
	err := size()
	if held := max(m.overhead, m.process); isSmall(err) && budget.HasGarbage(held) {
		freeGarbage(held)
		m.overhead = m.Options.overhead() + p.OpenBytes()
		if m.wholePool() {
			m.process = budget.Overhead(m.Pool.Limit)
		}
		err = size()
	}
	if small, ok := errors.AsType[*types.MemoryError](err); ok && small.Holder == "" {
		if held := max(m.overhead, m.process); budget.HasGarbage(held) {
			small.Held = held
		}
	}
	return err
}

// wholePool reports whether a run has all that its pool has for runs.
func (o *Options) wholePool() bool { return o.Pool != nil && o.Budget == 0 }

// name notes the budget that a rejection names. Of a run that has all of a pool it is the pool's, in which the process takes bytes too.
func (o *Options) name(small *types.MemoryError, process int64) {
	if o.wholePool() {
		small.Op, small.Need, small.Limit = "the pool of "+small.Op, size.WholeMiB(small.Need+process), o.Pool.Limit
	}
	if o.Pool == nil || o.Budget == 0 {
		budget.Named(small.Need)
	}
}

// freeGarbage collects what the program has dropped.
func freeGarbage(overhead int64) {
	if budget.HasGarbage(overhead) {
		debug.FreeOSMemory()
	}
}

// isSmall reports the error of a budget that is too small.
func isSmall(err error) bool {
	_, small := errors.AsType[*types.MemoryError](err)
	return small
}

// resources are what computes, without its memory.
func (o *Options) resources() size.Options {
	r := size.Options{Workers: cmp.Or(o.Workers, machine.Cores()), Processes: o.Processes}
	if o.Device != nil {
		r.Device = o.Device.Spec()
	}
	return r
}

// runOverhead is what a run in a pool takes besides its buffers: its share of Go's heap.
const runOverhead = 1 << 20
