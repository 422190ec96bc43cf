// Package host has the options of programs that run other people's expressions, such as
// the kernel of a notebook and a command line. Programs that compute for themselves need
// none of them.
package host

import (
	"context"
	"encoding/json"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/record"
)

var internals = door.Get(oocore.Plan{})

// SetDefaults gives options to all later runs of the process, before those of their own,
// in place of earlier defaults. A magic over a cell sets budget and device in this way for
// whatever the cell's body calls.
func SetDefaults(opts ...oocore.Option) { internals.SetDefaults(opts) }

// LimitOpening sets how many bytes the process may take while it opens arrays, before the runs that
// compute with them: longer headers are rejected. With 0 that is what the machine has, as it is at first.
func LimitOpening(bytes int64) { meter.SetLimit(bytes) }

// Counted calls f with a function that counts bytes which a host is about to hold of what it reads of files. It returns a
// *types.MemoryError where the process has no room for them; what is what they are for.
func Counted(what string, f func(take func(bytes int64) error) error) error {
	if f == nil {
		return nil
	}
	m := meter.Meter{What: what}
	defer m.Done()
	return f(m.Take)
}

// Cell names the notebook cell that runs begin in, "" for none, for their records. Runs without
// the option leave a record only where GONBEXT_RUNS asks for it.
func Cell(id string) oocore.Option { return internals.Cell(id) }

// Shown says that a run only shows something of its cell, and what: "Hist". Its memory is the cell's, and reports and lists
// leave it out.
func Shown(what string) oocore.Option { return internals.Shown(what) }

// PlanOnly makes Save plan and record the plan, and compute nothing. Save returns the array
// that the file would hold. Collect, which has no values to return, returns
// oocore.ErrPlanned. The record has the alternatives with the plan.
func PlanOnly(alternatives ...record.WhatIf) oocore.Option { return internals.PlanOnly(alternatives) }

// Nominal plans only, as PlanOnly does, and makes the same plan on every machine: for a
// program that holds nothing else, within a budget that this machine need not have. It is
// for plans that are compared. Budget and workers are to be given, since their defaults
// are the machine's; and what a matrix product packs into follows its processor.
func Nominal() oocore.Option { return internals.Nominal() }

// Warn gives f each warning of a run's plan, before the run begins: that the expression takes numbers
// as they are stored, which stand for others.
func Warn(f func(warning string)) oocore.Option { return internals.Warn(f) }

// Warnings returns what the plan of collecting an array would warn of.
func Warnings(a *oocore.Array) []string { return internals.Warnings(a) }

// Receipt says of a stored array "verified" where it is as the run left it which has its receipt, "changed since" or "no receipt": as
// versions of files tell, no elements are read. It is "" of what is not stored.
func Receipt(ctx context.Context, a *oocore.Array) string { return internals.Receipt(ctx, a) }

// Attributes returns the attributes of an array as a JSON object: what long_name, units and the like it would be saved
// with (see oocore.Attributes). It is nil where it has none.
func Attributes(a *oocore.Array) json.RawMessage { return internals.Attributes(a) }

// Dates returns the seconds of one of the units that an array of dates counts in, and the second since 1970-01-01 that it counts
// from; ok is false where its attributes say no dates, or those of a calendar other than standard and proleptic_gregorian.
func Dates(a *oocore.Array) (unit, since float64, ok bool) { return internals.Dates(a) }

// Flags returns the names that the integers of an array stand for, as its attributes flag_values and flag_meanings say; nil where they
// stand for none.
func Flags(a *oocore.Array) map[int64]string { return internals.Flags(a) }

// Target tells oocore.EvalContext where the expression will be saved, "" where it will be
// collected. A run that EvalContext makes at once is then rejected where the budget is too
// small for that, too.
func Target(path string) oocore.Option { return internals.Target(path) }

// Inspect has f look at the plan of each run, as it is sized, before the run reads anything. The run
// ends with f's error.
func Inspect(f func(*Plan) error) oocore.Option { return internals.Inspect(f) }

// NoClobber makes it an error if the output of a run exists, and replaces nothing. Of two runs that begin at
// the same time one fails so.
func NoClobber() oocore.Option { return internals.NoClobber() }
