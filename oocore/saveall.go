package oocore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/plan"
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
func PlanAll(outputs []Output, opts ...Option) (*plan.Sized, error) {
	r, err := prepareAll(graph.Caller(), outputs, opts)
	if err != nil {
		return nil, err
	}
	return r.plan, nil
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
			var titles, paths []string
			for _, out := range outputs {
				titles, paths = append(titles, out.Array.title()), append(paths, out.Path)
			}
			s.rejected(strings.Join(titles, ", "), paths...)
		}
	}()
	if len(outputs) == 0 {
		return failed(errors.New("there are no outputs: give one or more"))
	}
	var all []plan.Output
	places := map[string]string{}
	for _, out := range outputs {
		p, err := out.plan(site, opts)
		if err != nil {
			return failed(err)
		}
		place, err := store.Place(out.Path)
		if err != nil {
			return failed(err)
		}
		for other, earlier := range places {
			if place == other || strings.HasPrefix(place, other+"/") || strings.HasPrefix(other, place+"/") {
				return failed(fmt.Errorf("%s and %s are in one file or folder: save one after the other", earlier, out.Path))
			}
		}
		places[place] = out.Path
		all = append(all, p)
	}
	for _, out := range outputs {
		for k := range all {
			if input := overwritten(all[k].Root, out.Path); input != "" {
				return failed(fmt.Errorf("%s is also an input (%s): save to another file", out.Path, input))
			}
		}
	}
	return s.prepare(site, "save", all...)
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
	return s.budget != 0 || s.device != nil || s.workers != 0 || s.processes != 0 || s.fresh || s.version != "" ||
		s.planned || s.target != nil || s.cell != "" || s.parent != nil || s.dry != nil || s.sideReductions != nil || s.progress != nil || s.report != nil
}
