package run

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/record"
)

// state is a door.State in the user's run log.
type state struct {
	input *plan.Plan
	o     *Options
	of    []string // the algorithm, its parameters, and what changes bits
	print plan.Fingerprint
}

// State returns the stored state of an algorithm of an expression. name and parameters say which algorithm
// it is, and all that its result depends on; parameters are a value for JSON.
func (o *Options) State(ctx context.Context, name string, root *graph.Node, parameters any) (door.State, error) {
	encoded, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	device := ""
	if o.Device != nil {
		device = o.Device.Spec().Name
	}
	t := &state{o: o, of: []string{name, string(encoded), device, kernel.Vectors(), kernel.Multiplier()}}
	if t.input, err = compile.New(root, compile.Target{}); err != nil {
		return nil, err
	}
	if t.print, err = t.fingerprint(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *state) fingerprint(ctx context.Context) (plan.Fingerprint, error) {
	if t.o.PlanOnly {
		return plan.Fingerprint{}, nil
	}
	inputs, err := versions(ctx, t.input, nil, nil)
	if err != nil {
		return plan.Fingerprint{}, err
	}
	return t.input.Fingerprint(t.o.Version, inputs), nil
}

func (t *state) key() string {
	b, err := json.Marshal([]any{t.print, t.of})
	if err != nil {
		panic("run: a fingerprint cannot be written: " + err.Error()) // it is text
	}
	return string(b)
}

func (t *state) Load(v any) bool {
	return !t.o.Fresh && t.print != plan.Fingerprint{} && resultcache.GetState(t.key(), v)
}

func (t *state) Store(ctx context.Context, v any) {
	if t.o.Dry != nil || t.print == (plan.Fingerprint{}) {
		return
	}
	if now, err := t.fingerprint(ctx); err == nil && now == t.print {
		_ = resultcache.PutState(t.key(), v)
	}
}

func (t *state) Skipped(title string, series ...record.Series) {
	if t.o.Dry != nil || t.o.Group != nil || t.o.Shown != "" {
		return
	}
	dir, err := t.o.Log()
	if err != nil {
		return // no run fails for want of a record
	}
	h := record.Header{Title: title, Cell: t.o.Cell, Budget: t.o.Budget, Series: slices.Clone(series)}
	if w, err := record.Create(dir, h); err == nil {
		_ = w.End(record.End{Status: record.Skipped})
	}
}
