package run

import (
	"errors"
	"math"
	"runtime/debug"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/types"
)

// Algorithm makes several runs, with options that set adds to their own.
type Algorithm func(set func(*Options)) error

// Fits plans all runs of an algorithm before the first is made: see package oocore's Fits. set adds to the options of
// the runs themselves; it is nil within another algorithm, whose plan has these runs too.
func (o *Options) Fits(f Algorithm) (set func(*Options), err error) {
	if o.Dry != nil || o.Foreseen > 0 {
		return nil, nil
	}
	limits := machine.Read()
	for tried := false; ; tried = true {
		limit, process := o.Budget, int64(0)
		switch {
		case limit > 0:
		case o.Pool != nil:
			process = budget.Overhead(o.Pool.Limit)
			limit = o.Pool.Limit - process
		default:
			limit, _ = limits.DefaultBudget()
		}
		foreseen := o.growth(limit)
		least, short, err := leastBudget(f, limits, limit, foreseen)
		switch {
		case err != nil:
			return nil, err
		case short == nil:
			return func(o *Options) { o.Foreseen, o.Least = foreseen, least }, nil
		case tried:
			o.name(short, process)
			return nil, short
		}
		// What the program has dropped counts as held until it is collected.
		debug.FreeOSMemory()
	}
}

// growth is the overhead that an algorithm of several runs is planned with.
func (o *Options) growth(limit int64) int64 {
	if o.Pool != nil {
		return runOverhead
	}
	return budget.Foreseen(limit)
}

// counts are the numbers of elements that an algorithm is planned with where they follow from
// values. Fewer do not always need less: where they are a constant, or a short list, plans have
// other stages.
var counts = []int{math.MaxInt, 16 << 10, 256, 1}

// leastBudget returns what f needs where limit is enough for it, otherwise an error with the
// budget that is. A larger budget may change what f does, and so what it needs: f is planned
// again with the budget that was found until that is enough.
func leastBudget(f Algorithm, limits machine.Limits, limit, foreseen int64) (need int64, short *types.MemoryError, err error) {
	for at := limit; ; at = short.Need {
		d := &Dry{budget: at, naming: short != nil}
		for _, d.count = range counts {
			err := f(func(o *Options) { o.Dry, o.Foreseen, o.PlanOnly = d, foreseen, false })
			if small, ok := errors.AsType[*types.MemoryError](err); ok {
				d.note(small)
			} else if err != nil {
				return 0, nil, err
			}
			if !d.counted {
				break
			}
		}
		if d.most == nil {
			return 0, short, nil
		}
		if need = d.most.Need; need <= at {
			return need, short, nil
		}
		short = &types.MemoryError{Op: d.most.Op, Need: d.most.Need, Limit: limit}
		if limits.Check(short.Need) != nil { // no budget of this machine is enough
			return need, short, nil
		}
	}
}
