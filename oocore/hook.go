package oocore

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/hook"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// internals are what other packages of this module use and programs do not: those with
// internals = hook.Get(oocore.Plan{}).
type internals struct{}

type carrier = hook.Carrier[internals]

// The options of hosts: see package host.

func (internals) Cell(id string) Option {
	return set(func(s *settings) { s.cell, s.hosted = id, true })
}

func (internals) PlanOnly(alternatives []record.WhatIf) Option {
	return set(func(s *settings) { s.planned, s.alternatives = true, alternatives })
}

func (internals) Nominal() Option {
	return set(func(s *settings) { s.planned, s.nominal = true, true })
}

func (internals) Target(path string) Option {
	return set(func(s *settings) { s.target = &path })
}

func (internals) Inspect(f func(*plan.Sized) error) Option {
	return set(func(s *settings) { s.inspect = f })
}

func (internals) NoClobber() Option {
	return set(func(s *settings) { s.noClobber = true })
}

func (internals) SetDefaults(opts []Option) {
	defaults.Lock()
	defer defaults.Unlock()
	defaults.opts = slices.Clone(opts)
	if s, err := settingsOf(opts); err == nil {
		meter.SetLimit(s.budget) // arrays are opened before the run whose option it would be
	}
}

// Eval is EvalContext for an expression that has been parsed.
func (internals) Eval(ctx context.Context, e *expr.Text, names Names, opts []Option) *Array {
	return evaluate(ctx, e, names, opts)
}

// Warn gives f each warning of a plan about what its expression makes of its inputs.
func (internals) Warn(f func(string)) Option {
	return set(func(s *settings) { s.warn = f })
}

// Warnings returns the warnings of computing an array to return it.
func (internals) Warnings(a *Array) []string {
	root, err := a.expression()
	if err != nil {
		return nil
	}
	all, _ := packedWarnings([]plan.Output{{Root: root}}, nil) // which writes into no array
	return all
}

// Holding says how many bytes the program holds during a run, in addition to what it held when
// its algorithm was planned by Fits.
func (internals) Holding(bytes int64) Option {
	return set(func(s *settings) { s.held = bytes })
}

// Cluster makes Save leave its tasks to a cluster.
func (internals) Cluster(c hook.Cluster) Option {
	return set(func(s *settings) { s.cluster = c })
}

// SetDecomposer sets what decompositions in expressions call.
func (internals) SetDecomposer(f decompose) { decomposer.Store(&f) }
