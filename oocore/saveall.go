package oocore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/store"
)

// Output is an array and the file or store that it is saved to, for SaveAll. Options are
// those of this output alone: Chunks, Shards, Codec, DimNames, Attributes, FillValue, Region.
type Output struct {
	Array   *Array
	Path    string
	Options []Option
}

// SaveAll computes several arrays into files in one run, and returns the arrays that they
// hold. What the arrays share, such as a mean that one is and another subtracts, is computed
// once, and reductions of one array share a pass; the budget is that of the whole. Each
// output appears when all are computed, whole or not at all: an error before that leaves
// all as they were. Regions are written in place, as Save writes them. Options are those of
// the run, and hold for each output that has no other of its own.
//
// As with Save, nothing is computed where all outputs were saved before, and an unfinished
// run resumes where it stopped.
func SaveAll(ctx context.Context, outputs []Output, opts ...Option) ([]*Array, error) {
	site := graph.Caller()
	r, err := prepareAll(site, outputs, opts)
	if err != nil {
		return nil, err
	}
	all, err := r.save(ctx)
	if err != nil {
		return nil, &Error{Op: "save", Site: site, Err: err}
	}
	return all, nil
}

// PlanAll returns what SaveAll would do. It reads nothing.
func PlanAll(outputs []Output, opts ...Option) (*Plan, error) {
	r, err := prepareAll(graph.Caller(), outputs, opts)
	if err != nil {
		return nil, err
	}
	return shown(r.plan), nil
}

func prepareAll(site graph.Site, outputs []Output, opts []Option) (_ *run, err error) {
	failed := func(err error) (*run, error) {
		if inner, ok := errors.AsType[*Error](err); ok {
			return nil, inner
		}
		return nil, &Error{Op: "save", Site: site, Err: err}
	}
	s, err := applyOptions(opts)
	if err != nil {
		return failed(err)
	}
	defer func() {
		if err != nil {
			var titles []string
			for _, out := range outputs {
				titles = append(titles, out.Array.title())
			}
			s.rejected(strings.Join(titles, ", "))
		}
	}()
	if len(outputs) == 0 {
		return failed(errors.New("there are no outputs: give one or more"))
	}
	var all []plan.Output
	for _, out := range outputs {
		p, err := out.plan(site, opts)
		if err != nil {
			return failed(err)
		}
		all = append(all, p)
	}
	if err := together(all); err != nil {
		return failed(err)
	}
	return s.prepare(site, "save", all...)
}

// together makes those outputs that are in one file, or in one new group, a collection. Others
// that are in one another are rejected.
func together(all []plan.Output) error {
	places := map[string][]*plan.Target{}
	for i := range all {
		t := &all[i].Target
		path := t.Path
		if group, _, ok := store.Split(path); ok {
			path = group
		}
		place, err := store.Place(path)
		if err != nil {
			return err
		}
		places[place] = append(places[place], t)
	}
	oneFolder := func(a, b *plan.Target) error {
		return fmt.Errorf("%s and %s are in one file or folder: save one after the other", a.Path, b.Path)
	}
	for place, of := range places {
		for at := filepath.Dir(place); len(at) < len(place); place, at = at, filepath.Dir(at) {
			if above := places[at]; above != nil {
				return oneFolder(above[0], of[0])
			}
		}
		if len(of) == 1 {
			continue
		}
		var m store.CollectionMeta
		names := map[string]bool{}
		for _, t := range of {
			path, name, ok := store.Split(t.Path)
			if !ok || m.Path != "" && path != m.Path || names[name] {
				return oneFolder(of[0], t)
			}
			if t.Region != nil {
				return fmt.Errorf("%s: regions of arrays in one file are not written: write the whole array", t.Path)
			}
			m.Path, m.Add, names[name] = path, true, true
			t.Collection, t.Member = &m, name
		}
	}
	return nil
}

// plan is the output as plans have it.
func (o *Output) plan(site graph.Site, opts []Option) (out plan.Output, err error) {
	if o.Path == "" {
		return out, errors.New("an output has no path: name a file such as x.npy")
	}
	if _, err := o.Array.expression(); err != nil {
		return out, err
	}
	own, err := settingsOf(o.Options)
	if err != nil {
		return out, err
	}
	if own.ofRun() {
		return out, fmt.Errorf("%s: the options of one output say how it is stored: give those of the run to SaveAll", o.Path)
	}
	s, err := applyOptions(slices.Concat(opts, o.Options))
	if err != nil {
		return out, err
	}
	return s.output(site, "save", o.Array, o.Path)
}

// title is the array's expression; "" where it carries an error.
func (a *Array) title() string {
	n, err := a.expression()
	if err != nil {
		return ""
	}
	return n.String()
}

// ofRun reports options that say more than how an output is stored.
func (s *settings) ofRun() bool {
	return s.budget != 0 || s.pool != nil || s.noWait || s.device != nil || s.workers != 0 || s.processes != 0 || s.cluster != nil || s.shardSize != 0 || s.fresh || s.version != "" || s.reads != nil ||
		s.planned || s.target != nil || s.cell != "" || s.parent != nil || s.dry != nil || s.sideReductions != nil || s.progress != nil || s.report != nil
}
