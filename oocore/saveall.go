package oocore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/output"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
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
	return r.save(ctx, "save")
}

// PlanAll returns what SaveAll would do. It reads nothing.
func PlanAll(outputs []Output, opts ...Option) (*Plan, error) {
	r, err := prepareAll(graph.Caller(), outputs, opts)
	if err != nil {
		return nil, err
	}
	return shown(r.Plan), nil
}

func prepareAll(site graph.Site, outputs []Output, opts []Option) (_ *request, err error) {
	failed := func(err error) (*request, error) {
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
			s.Rejected(strings.Join(titles, ", "))
		}
	}()
	if len(outputs) == 0 {
		return failed(errors.New("there are no outputs: give one or more"))
	}
	var all []compile.Output
	for _, out := range outputs {
		p, err := out.plan(site, opts)
		if err != nil {
			return failed(err)
		}
		all = append(all, p)
	}
	if err := output.Together(all); err != nil {
		return failed(err)
	}
	return s.prepare(site, "save", all...)
}

// plan is the output as plans have it.
func (o *Output) plan(site graph.Site, opts []Option) (out compile.Output, err error) {
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
	return s.OfRun() || s.ShardSize != 0 || s.target != nil
}
