package oocore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/internal/output"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/receipt"
	"github.com/gonbext/gonbext/oocore/internal/run"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// The options of hosts: see package host.

func (internals) Cell(id string) Option {
	return set(func(s *settings) { s.Cell, s.Hosted = id, true })
}

func (internals) Shown(what string) Option {
	return set(func(s *settings) { s.Shown = what })
}

func (internals) PlanOnly(alternatives []record.WhatIf) Option {
	return set(func(s *settings) { s.PlanOnly, s.Alternatives = true, alternatives })
}

func (internals) Nominal() Option {
	return set(func(s *settings) { s.PlanOnly, s.Nominal = true, true })
}

func (internals) Target(path string) Option {
	return set(func(s *settings) { s.target = &path })
}

func (internals) Inspect(f func(*size.Plan) error) Option {
	return set(func(s *settings) { s.Inspect = f })
}

func (internals) NoClobber() Option {
	return set(func(s *settings) { s.NoClobber = true })
}

func (internals) SetDefaults(opts []Option) {
	defaults.Lock()
	defer defaults.Unlock()
	defaults.opts = slices.Clone(opts)
	if s, err := settingsOf(opts); err == nil {
		meter.SetLimit(s.Budget) // arrays are opened before the run whose option it would be
	}
}

// Warn gives f each warning of a plan about what its expression makes of its inputs.
func (internals) Warn(f func(string)) Option {
	return set(func(s *settings) { s.Warn = f })
}

// Warnings returns the warnings of computing an array to return it.
func (internals) Warnings(a *Array) []string {
	root, err := a.expression()
	if err != nil {
		return nil
	}
	all, _ := (&output.Settings{}).Warnings([]compile.Output{{Root: root}}) // which writes into no array
	return all
}

// Receipt says what versions tell of a stored array and its receipt; "" of what is not stored.
func (internals) Receipt(ctx context.Context, a *Array) string {
	root, err := a.expression()
	if err != nil || root.Kind != graph.Source {
		return ""
	}
	state, _ := receipt.State(ctx, root.Stored.Info.Path) // an array that cannot be opened says so when it is read
	return state
}

// Attributes returns the attributes that an array would be saved with; nil where it has none.
func (internals) Attributes(a *Array) json.RawMessage {
	root, err := a.expression()
	if err != nil {
		return nil
	}
	d, _ := (&output.Settings{}).Details(root, "")
	return d.Attributes
}

// Dates returns how an array counts dates: see host.Dates.
func (internals) Dates(a *Array) (unit, since float64, ok bool) {
	e, err := cf.EncodingOf(store.Details{Attributes: internals{}.Attributes(a)})
	if e == nil || err != nil || e.Calendar.Counts() != cf.Gregorian {
		return 0, 0, false
	}
	unit, since = e.Seconds()
	return unit, since, true
}

// Flags returns the names that the integers of an array stand for.
func (internals) Flags(a *Array) map[int64]string {
	return cf.Flags(store.Details{Attributes: internals{}.Attributes(a)})
}

// Holding says how many bytes the program holds during a run, in addition to what it held before, or when its algorithm was
// planned by Fits.
func (internals) Holding(bytes int64) Option {
	return set(func(s *settings) { s.Held = bytes })
}

// Cluster makes Save leave its tasks to a cluster.
func (internals) Cluster(c door.Cluster) Option {
	return set(func(s *settings) { s.Cluster = c })
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
	change, err := s.Fits(func(change func(*run.Options)) error { return f(with(opts, change)) })
	if err != nil || change == nil {
		return opts, err
	}
	return with(opts, change), nil
}

// with are options and a change of them.
func with(opts []Option, change func(*run.Options)) []Option {
	return append(slices.Clip(opts), set(func(s *settings) { change(&s.Options) }))
}

// DryRun reports whether runs under the options are planned and not made: see Fits.
func (internals) DryRun(opts []Option) bool {
	s, err := applyOptions(opts)
	return err == nil && s.Dry != nil
}

// RunGroup makes the runs of an algorithm one in the run log and in reports, under a title:
// their passes, their memory one after the other, and the figures that the algorithm notes,
// such as its error after each iteration. f gives its options to all of its runs, which follow
// each other.
func (internals) RunGroup(title string, opts []Option, f func(opts []Option, note func(series string, value float64)) error) error {
	s, err := applyOptions(opts)
	if err != nil {
		return err
	}
	return s.InGroup(title, func(change func(*run.Options), note func(string, float64)) error { return f(with(opts, change), note) })
}

// State returns the stored state of an algorithm of x. name and parameters say which algorithm
// it is, and all that its result depends on; parameters are a value for JSON.
func (internals) State(ctx context.Context, name string, x *Array, parameters any, opts []Option) (door.State, error) {
	root, err := x.expression()
	if err != nil {
		return nil, err
	}
	s, err := applyOptions(opts)
	if err != nil {
		return nil, err
	}
	return s.State(ctx, name, root, parameters)
}

// Resume continues a run whose tasks Save has left to a cluster, in a process of the cluster:
// file has the plan, and saved is what the executor was given.
func (internals) Resume(ctx context.Context, file string, saved json.RawMessage, c door.Cluster) error {
	return run.Resume(ctx, file, saved, c)
}

// Command returns the path of the gonbext command, which worker processes run.
func (internals) Command() (string, error) { return run.Command() }
