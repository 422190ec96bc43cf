package oocore

import (
	"errors"
	"math"
	"runtime/debug"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/plan"
)

// dryRun is an algorithm whose runs are planned and not made.
type dryRun struct {
	budget int64        // that the algorithm is to think it has
	most   *MemoryError // of the run that needs the most; nil where there was none
}

// size notes what a plan needs, and sizes it for whatever that is.
func (d *dryRun) size(logical *plan.Plan, o plan.Options) (*plan.Sized, error) {
	o.Budget = 0
	_, err := logical.Size(o)
	if short, ok := errors.AsType[*MemoryError](err); ok {
		d.note(short)
	}
	o.Budget = math.MaxInt64 / 16
	s, err := logical.Size(o)
	if err == nil {
		s.Budget = d.budget
	}
	return s, err
}

func (d *dryRun) note(short *MemoryError) {
	if d.most == nil || short.Need > d.most.Need {
		d.most = short
	}
}

// fits is hook.Internals.Fits.
func fits(opts []Option, f func(opts []Option) error) ([]Option, error) {
	s, err := applyOptions(opts)
	if err != nil {
		return nil, err
	}
	if s.dry != nil || s.foreseen > 0 {
		return opts, nil
	}
	limits := machine.Read()
	limit := s.budget
	if limit == 0 {
		limit, _ = limits.DefaultBudget()
	}
	opts = slices.Clip(opts)
	foreseen := budget.Foreseen()
	short, err := leastBudget(opts, f, limits, limit, foreseen)
	if short != nil {
		// What the program has dropped counts as held until it is collected.
		debug.FreeOSMemory()
		foreseen = budget.Foreseen()
		short, err = leastBudget(opts, f, limits, limit, foreseen)
	}
	if err != nil {
		return nil, err
	}
	if short != nil {
		return nil, short
	}
	return append(opts, option(func(s *settings) error {
		s.foreseen = foreseen
		return nil
	})), nil
}

// leastBudget returns nil where limit is enough for f, otherwise an error with the budget
// that is. A larger budget may change what f does, and so what it needs: f is planned
// again with the budget that was found until that is enough.
func leastBudget(opts []Option, f func(opts []Option) error, limits machine.Limits, limit, foreseen int64) (short *MemoryError, err error) {
	for at := limit; ; at = short.Need {
		d := &dryRun{budget: at}
		err := f(append(opts, option(func(s *settings) error {
			s.dry, s.foreseen, s.planned = d, foreseen, false
			return nil
		})))
		if small, ok := errors.AsType[*MemoryError](err); ok {
			d.note(small)
		} else if err != nil {
			return nil, err
		}
		if d.most == nil || d.most.Need <= at {
			return short, nil
		}
		short = &MemoryError{Op: d.most.Op, Need: d.most.Need, Limit: limit}
		if limits.Check(short.Need) != nil { // no budget of this machine is enough
			return short, nil
		}
	}
}

// isDry is hook.Internals.DryRun.
func isDry(opts []Option) bool {
	s, err := applyOptions(opts)
	return err == nil && s.dry != nil
}

// overhead returns what the process takes without the buffers of a run.
func (s *settings) overhead() int64 {
	if s.nominal {
		return budget.Nominal + s.held
	}
	if s.dry != nil {
		return s.foreseen + s.held
	}
	if s.foreseen == 0 {
		return budget.Overhead()
	}
	return max(budget.Overhead(), s.foreseen+s.held)
}
