package oocore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/statecache"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// State is what an iterative algorithm of an array keeps across programs: a state of the
// same algorithm, options and inputs, in the user's run log.
type State struct {
	input *plan.Plan
	s     *settings
	what  []string // names the algorithm, its options, and what changes bits
	print plan.Fingerprint
}

// StateOf returns where the state of an algorithm of x is kept. what and parameters name
// the algorithm and all on which its result depends; JSON must be able to hold them.
func StateOf(ctx context.Context, what string, x *Array, parameters any, opts ...Option) (*State, error) {
	root, err := x.expression()
	if err != nil {
		return nil, err
	}
	t := &State{}
	if t.s, err = applyOptions(opts); err != nil {
		return nil, err
	}
	named, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	device := ""
	if t.s.device != nil {
		device = t.s.device.Spec().Name
	}
	t.what = []string{what, string(named), device, kernel.Vectors(), kernel.Multiplier()}
	if t.input, err = plan.New(root, plan.Target{}); err != nil {
		return nil, err
	}
	t.print, err = t.fingerprint(ctx)
	return t, err
}

func (t *State) fingerprint(ctx context.Context) (plan.Fingerprint, error) {
	if t.s.planned {
		return plan.Fingerprint{}, nil
	}
	inputs, err := versions(ctx, t.input)
	if err != nil {
		return plan.Fingerprint{}, err
	}
	return t.input.Fingerprint(t.s.version, inputs), nil
}

func (t *State) key() string {
	b, err := json.Marshal([]any{t.print, t.what})
	if err != nil {
		panic("oocore: a fingerprint cannot be written: " + err.Error()) // it is text
	}
	return string(b)
}

// Load reads the state that an earlier program kept. It reports whether there is one; under
// Fresh, and for Go functions without a Version, there is none.
func (t *State) Load(state any) bool {
	return !t.s.fresh && t.print != plan.Fingerprint{} && statecache.Get(t.key(), state)
}

// Keep makes a state durable, unless an input has changed since StateOf. That it may fail
// is no error of the algorithm: the next program computes.
func (t *State) Keep(ctx context.Context, state any) {
	if t.s.dry != nil || t.print == (plan.Fingerprint{}) {
		return
	}
	if now, err := t.fingerprint(ctx); err == nil && now == t.print {
		_ = statecache.Put(t.key(), state)
	}
}

// Skipped leaves the record of an algorithm whose result an earlier program kept.
func (t *State) Skipped(title string, series ...record.Series) {
	if t.s.dry != nil || t.s.parent != nil {
		return
	}
	dir, err := record.Dir()
	if err != nil {
		return // no run fails for want of a record
	}
	h := record.Header{Title: title, Cell: t.s.cell, Budget: t.s.budget, Series: slices.Clone(series)}
	if w, err := record.Create(dir, h); err == nil {
		_ = w.End(record.End{Status: record.Skipped})
	}
}
