package oocore

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/units"
)

// Pool is a budget of the process that runs share, as those of a service's requests do. It covers what the
// program itself holds, once, and the runs in it: Memory is what one run may take of it. Runs that do not fit
// together wait in the order in which they came, and the end of their context ends the wait. On Linux a run gives
// way to shorter ones and to the program: after a tenth of a second its threads have a lower priority. A Pool is
// safe for concurrent use. Runs outside of it, and in another pool, are in addition to its limit.
type Pool struct {
	limit int64
	err   error
	runs  budget.Pool
}

// NewPool returns a pool of a size: "1GiB". In returns an *OptionError for a pool whose size is malformed.
func NewPool(size string) *Pool {
	limit, err := units.ParseSize(size)
	return &Pool{limit: limit, err: err}
}

// In makes a run share a pool. Without Memory the run has all that the pool has for runs. One that can never fit is a
// *MemoryError, which without Memory names a size of the pool; one that has to wait does, or with NoWait is a *BusyError.
func In(pool *Pool) Option {
	return option(func(s *settings) error {
		switch {
		case pool == nil || pool.limit == 0 && pool.err == nil:
			return errors.New("the pool has no size: make it with NewPool")
		case pool.err != nil:
			return fmt.Errorf("pool: %w", pool.err)
		}
		s.pool = pool
		return nil
	})
}

// NoWait makes a run that would wait for others, in a Pool or outside of pools, a *BusyError at once.
func NoWait() Option {
	return set(func(s *settings) { s.noWait = true })
}

// BusyError is returned with NoWait for a run that would have to wait for others. Nothing has been read.
type BusyError struct {
	Op     string
	Bytes  int64 // that the run takes
	Taken  int64 // by the runs that are active
	Active int   // runs
	Limit  int64 // of the pool, or the least budget of the runs
}

// Error says what the run would take, and what is taken.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%s would take %s while other runs (%d) take %s of %s: try again later, or leave out NoWait to wait", e.Op, units.Bytes(e.Bytes), e.Active, units.Bytes(e.Taken), units.Bytes(e.Limit))
}

// LeaveRuntime makes later runs of the process change neither Go's memory limit, GOMAXPROCS nor priorities, for
// programs that set them: package oocore says what a run changes otherwise.
func LeaveRuntime() { machine.LeaveRuntime() }

// runOverhead is what a run in a pool takes besides its buffers: its share of Go's heap.
const runOverhead = 1 << 20

// shared returns the pool in which the run waits for others.
func (s *settings) shared() *budget.Pool {
	if s.pool == nil {
		return &budget.Process
	}
	return &s.pool.runs
}

// wholePool reports whether a run has all that its pool has for runs.
func (s *settings) wholePool() bool { return s.pool != nil && s.budget == 0 }

// name notes the budget that a rejection names. Of a run that has all of a pool it is the pool's, in which the process takes bytes too.
func (s *settings) name(small *MemoryError, process int64) {
	if s.wholePool() {
		small.Op, small.Need, small.Limit = "the pool of "+small.Op, plan.WholeMiB(small.Need+process), s.pool.limit
	}
	if s.pool == nil || s.budget == 0 {
		budget.Named(small.Need)
	}
}

// fitPool leaves to a run in a pool its share, and rejects a share that could never fit.
func (r *run) fitPool(op string, o *plan.Options) error {
	limit := r.pool.limit
	if err := r.limits.Check(limit); err != nil {
		return err
	}
	r.budget = limit
	for tried := false; ; tried = true {
		r.process = budget.Overhead(limit)
		if r.wholePool() {
			o.Budget = limit - r.process
			return nil
		}
		need := r.process + max(o.Budget, r.overhead)
		if need <= limit {
			return nil
		}
		if tried {
			need = plan.WholeMiB(need)
			budget.Named(need)
			return &MemoryError{Op: "the pool of " + op, Need: need, Limit: limit, Held: r.process}
		}
		freeGarbage(r.process)
	}
}
