// Package hook lets packages of this module use what package oocore does not export: the
// options of its hosts, and what algorithms of several runs are made of.
//
// Package oocore imports this one, and therefore gives it functions over its own types of
// arrays and options when it is initialized.
package hook

import (
	"context"

	"github.com/gonbext/gonbext/oocore/op"
	"github.com/gonbext/gonbext/oocore/record"
)

// Internals are what package oocore does not export, over its arrays and options.
type Internals[Array, Option any] struct {
	// The options of hosts: see package host.
	Cell        func(id string) Option
	PlanOnly    func(alternatives []record.WhatIf) Option
	Nominal     func() Option
	Target      func(path string) Option
	SetDefaults func(opts []Option)

	// Fits plans all runs of an algorithm before the first is made. f is the algorithm: each
	// Save and Collect under the options that f is given is planned only, Save returns an
	// array that cannot be read, and Collect returns zeros. f may be called several times,
	// for different budgets.
	//
	// Where the budget is too small for one of the runs, the error is a *MemoryError whose
	// Need is enough for all of them. Otherwise Fits returns the options for the runs
	// themselves. Within another algorithm, whose plan has these runs too, it plans nothing.
	Fits func(opts []Option, f func(opts []Option) error) ([]Option, error)
	// Holding says how many bytes the program holds during a run, in addition to what it
	// held when its algorithm was planned by Fits.
	Holding func(bytes int64) Option
	// DryRun reports whether runs under the options are planned and not made: see Fits.
	DryRun func(opts []Option) bool
	// RunGroup makes the runs of an algorithm one in the run log and in reports, under a
	// title: their passes, their memory one after the other, and the figures that the
	// algorithm notes, such as its error after each iteration. f gives its options to all
	// of its runs, which follow each other.
	RunGroup func(title string, opts []Option, f func(opts []Option, note func(series string, value float64)) error) error
	// State returns the stored state of an algorithm of x. name and parameters say which
	// algorithm it is, and all that its result depends on; parameters are a value for JSON.
	State func(ctx context.Context, name string, x Array, parameters any, opts []Option) (State, error)
	// SetDecomposer sets what decompositions in expressions call.
	SetDecomposer func(Decomposer[Array, Option])
}

// State is the state of an iterative algorithm in the user's run log, where a later program
// with the same algorithm, options and inputs finds it.
type State interface {
	// Load reads the state that an earlier program stored, and reports whether there is one.
	// Under Fresh, and for Go functions without a Version, there is none.
	Load(state any) bool
	// Store makes a state durable, unless an input has changed since the State was made. A
	// failure is no error of the algorithm: the next program computes.
	Store(ctx context.Context, state any)
	// Skipped writes the record of an algorithm whose result an earlier program stored.
	Skipped(title string, series ...record.Series)
}

// Decomposed are the parts of a decomposition in an expression. What an algorithm does
// not have is nil.
type Decomposed[Array any] struct {
	Whole, Core, Weights, Errors Array
	Factors                      []Array
}

// Decomposer runs decompositions for expressions. Where it is planned, nothing is to be
// computed: the parts have their shapes, and Errors, whose length nobody knows, is nil.
type Decomposer[Array, Option any] func(ctx context.Context, x Array, d op.Decomposition, planned bool, opts []Option) (*Decomposed[Array], error)

var internals any

// Set is called by package oocore.
func Set[Array, Option any](i Internals[Array, Option]) { internals = i }

// Get returns the internals of package oocore, with its *Array and its Option as types.
func Get[Array, Option any]() Internals[Array, Option] { return internals.(Internals[Array, Option]) }
