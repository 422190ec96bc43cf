package oocore

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/store"
)

// dryRun is an algorithm whose runs are planned and not made.
type dryRun struct {
	budget  int64        // that the algorithm is to think it has
	count   int          // of elements, at the most, where it follows from values
	counted bool         // it was asked for
	naming  bool         // the budget is too small, and one that will do is looked for
	most    *MemoryError // of the run that needs the most; nil where there was none
}

// size notes what a plan needs, and sizes it for whatever that is.
func (d *dryRun) size(r *run, logical *plan.Plan, o plan.Options) (*plan.Sized, error) {
	o.Budget = 0
	_, err := r.sizeFiles(logical, o)
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

// Fits plans all runs of an algorithm before the first is made. f is the algorithm: each Save
// and Collect under the options that f is given is planned only, Save returns an array that
// cannot be read, and Collect returns zeros. f may be called several times, for different
// budgets.
//
// Where the budget is too small for one of the runs, the error is a *MemoryError whose Need is
// enough for all of them. Otherwise Fits returns the options for the runs themselves. Within
// another algorithm, whose plan has these runs too, it plans nothing.
func (internals) Fits(opts []Option, f func(opts []Option) error) ([]Option, error) {
	s, err := applyOptions(opts)
	if err != nil {
		return nil, err
	}
	if s.dry != nil || s.foreseen > 0 {
		return opts, nil
	}
	limits := machine.Read()
	opts = slices.Clip(opts)
	for tried := false; ; tried = true {
		limit, process := s.budget, int64(0)
		switch {
		case limit > 0:
		case s.pool != nil:
			process = budget.Overhead(s.pool.limit)
			limit = s.pool.limit - process
		default:
			limit, _ = limits.DefaultBudget()
		}
		foreseen := s.growth(limit)
		least, short, err := leastBudget(opts, f, limits, limit, foreseen)
		switch {
		case err != nil:
			return nil, err
		case short == nil:
			return append(opts, set(func(s *settings) { s.foreseen, s.least = foreseen, least })), nil
		case tried:
			s.name(short, process)
			return nil, short
		}
		// What the program has dropped counts as held until it is collected.
		debug.FreeOSMemory()
	}
}

// counts are the numbers of elements that an algorithm is planned with where they follow from
// values. Fewer do not always need less: where they are a constant, or a short list, plans have
// other stages.
var counts = []int{math.MaxInt, 16 << 10, 256, 1}

// leastBudget returns what f needs where limit is enough for it, otherwise an error with the
// budget that is. A larger budget may change what f does, and so what it needs: f is planned
// again with the budget that was found until that is enough.
func leastBudget(opts []Option, f func(opts []Option) error, limits machine.Limits, limit, foreseen int64) (need int64, short *MemoryError, err error) {
	for at := limit; ; at = short.Need {
		d := &dryRun{budget: at, naming: short != nil}
		for _, d.count = range counts {
			err := f(append(opts, set(func(s *settings) { s.dry, s.foreseen, s.planned = d, foreseen, false })))
			if small, ok := errors.AsType[*MemoryError](err); ok {
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
		short = &MemoryError{Op: d.most.Op, Need: d.most.Need, Limit: limit}
		if limits.Check(short.Need) != nil { // no budget of this machine is enough
			return need, short, nil
		}
	}
}

// someFile is where a result may be saved of which nobody has said where. What a rejection names will do in memory too, where
// that is where temporary files lie.
func (s *settings) someFile(name string) string {
	if _, inMemory := store.InMemory(""); inMemory && s.dry != nil && s.dry.naming {
		return filepath.Join(os.TempDir(), name+".zarr") // in many files, which take more
	}
	return name + ".npy"
}

// DryRun reports whether runs under the options are planned and not made: see Fits.
func (internals) DryRun(opts []Option) bool {
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
	if s.pool != nil {
		return runOverhead + s.held
	}
	if s.foreseen == 0 {
		return budget.Overhead(s.budget)
	}
	return max(budget.Overhead(s.budget), s.foreseen+s.held)
}

// growth is the overhead that an algorithm of several runs is planned with.
func (s *settings) growth(limit int64) int64 {
	if s.pool != nil {
		return runOverhead
	}
	return budget.Foreseen(limit)
}
