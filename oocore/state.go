package oocore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/hook"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/record"
)

// state is a hook.State in the user's run log.
type state struct {
	input *plan.Plan
	s     *settings
	of    []string // the algorithm, its parameters, and what changes bits
	print plan.Fingerprint
}

// State returns the stored state of an algorithm of x. name and parameters say which algorithm
// it is, and all that its result depends on; parameters are a value for JSON.
func (internals) State(ctx context.Context, name string, x *Array, parameters any, opts []Option) (hook.State, error) {
	root, err := x.expression()
	if err != nil {
		return nil, err
	}
	t := &state{}
	if t.s, err = applyOptions(opts); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	device := ""
	if t.s.device != nil {
		device = t.s.device.Spec().Name
	}
	t.of = []string{name, string(encoded), device, kernel.Vectors(), kernel.Multiplier()}
	if t.input, err = plan.New(root, plan.Target{}); err != nil {
		return nil, err
	}
	if t.print, err = t.fingerprint(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *state) fingerprint(ctx context.Context) (plan.Fingerprint, error) {
	if t.s.planned {
		return plan.Fingerprint{}, nil
	}
	inputs, err := versions(ctx, t.input, nil, nil)
	if err != nil {
		return plan.Fingerprint{}, err
	}
	return t.input.Fingerprint(t.s.version, inputs), nil
}

func (t *state) key() string {
	b, err := json.Marshal([]any{t.print, t.of})
	if err != nil {
		panic("oocore: a fingerprint cannot be written: " + err.Error()) // it is text
	}
	return string(b)
}

func (t *state) Load(v any) bool {
	return !t.s.fresh && t.print != plan.Fingerprint{} && resultcache.GetState(t.key(), v)
}

func (t *state) Store(ctx context.Context, v any) {
	if t.s.dry != nil || t.print == (plan.Fingerprint{}) {
		return
	}
	if now, err := t.fingerprint(ctx); err == nil && now == t.print {
		_ = resultcache.PutState(t.key(), v)
	}
}

func (t *state) Skipped(title string, series ...record.Series) {
	if t.s.dry != nil || t.s.parent != nil {
		return
	}
	dir, err := t.s.runLog()
	if err != nil {
		return // no run fails for want of a record
	}
	h := record.Header{Title: title, Cell: t.s.cell, Budget: t.s.budget, Series: slices.Clone(series)}
	if w, err := record.Create(dir, h); err == nil {
		_ = w.End(record.End{Status: record.Skipped})
	}
}
