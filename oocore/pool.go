package oocore

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/run"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/types"
	"github.com/gonbext/gonbext/oocore/units"
)

// Pool is a budget of the process that runs share, as those of a service's requests do. It covers what the
// program itself holds, once, and the runs in it: Memory is what one run may take of it. Runs that do not fit
// together wait in the order in which they came, and the end of their context ends the wait. On Linux a run gives
// way to shorter ones and to the program: after a tenth of a second its threads have a lower priority. A Pool is
// safe for concurrent use. Runs outside of it, and in another pool, are in addition to its limit.
type Pool struct {
	pool run.Pool
	err  error
}

// NewPool returns a pool of a size: "1GiB". In returns an *OptionError for a pool whose size is malformed.
func NewPool(size string) *Pool {
	limit, err := units.ParseSize(size)
	return &Pool{run.Pool{Limit: limit}, err}
}

// In makes a run share a pool. Without Memory the run has all that the pool has for runs. One that can never fit is a
// *MemoryError, which without Memory names a size of the pool; one that has to wait does, or with NoWait is a *BusyError.
func In(pool *Pool) Option {
	return option(func(s *settings) error {
		switch {
		case pool == nil || pool.pool.Limit == 0 && pool.err == nil:
			return errors.New("the pool has no size: make it with NewPool")
		case pool.err != nil:
			return fmt.Errorf("pool: %w", pool.err)
		}
		s.Pool = &pool.pool
		return nil
	})
}

// NoWait makes a run that would wait for others, in a Pool or outside of pools, a *BusyError at once.
func NoWait() Option {
	return set(func(s *settings) { s.NoWait = true })
}

// BusyError is returned with NoWait for a run that would have to wait for others. Nothing has been read.
type BusyError = types.BusyError

// LeaveRuntime makes later runs of the process change neither Go's memory limit, GOMAXPROCS nor priorities, for
// programs that set them: package oocore says what a run changes otherwise.
func LeaveRuntime() { machine.LeaveRuntime() }
