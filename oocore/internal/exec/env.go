package exec

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Env is what a run needs in addition to its plan.
type Env struct {
	Executor       Executor               // runs the tasks; nil for Slots. The plan is sized for it
	Record         *record.Writer         // nil for none
	Into           []byte                 // receives the result of a plan without an output path
	SideReductions [][]byte               // receive the results of the plan's side reductions
	Checkpoint     *checkpoint.Checkpoint // nil where the run cannot be resumed; Run closes it
	GivesWay       bool                   // long stages leave processors to the other work of the process first
	// Earlier is what tasks of the plan's first stage have folded in an earlier run, whose input is as it was; nil for none.
	Earlier map[int][]byte
	// Check, where it is set, is called when all is computed, before the output is put
	// in its place. After an error the output is as before, and no checkpoint is left.
	Check func(context.Context) error
	// Committed, where it is set, is called when an output is in its place, by its index in
	// the plan's Arrays, while no other run can replace it. earlier says that an earlier run
	// has computed all outputs, and this one nothing.
	Committed func(ctx context.Context, output int, earlier bool)
	// Progress, where it is set, is called by one goroutine at a time while the run lasts,
	// and once at its end. It must return at once.
	Progress func(Progress)
	// Open and Create replace store.Open and store.Create where they are set.
	Open   func(path string) (store.Array, error)
	Create func(path string, m store.Meta) (store.Writer, error)
}

func (e *Env) open(path string) (store.Array, error) {
	if e.Open != nil {
		return e.Open(path)
	}
	return store.Open(path)
}

func (e *Env) create(path string, m store.Meta) (store.Writer, error) {
	if e.Create != nil {
		return e.Create(path, m)
	}
	return store.Create(path, m)
}

// takes checks that there is a buffer for each side reduction.
func (e *Env) takes(p *size.Plan) error {
	for i := range p.Stages {
		s := &p.Stages[i]
		if s.Kind != plan.MapStage {
			continue
		}
		for k, fold := range s.Folds {
			prog := &s.Programs[0]
			if n := fold.Kind.Result(prog.Type(prog.Out[s.FoldOut(k)])).Size(); k >= len(e.SideReductions) || len(e.SideReductions[k]) != n {
				return fmt.Errorf("the plan has %d side reductions: there is no buffer of %d bytes for number %d", len(s.Folds), n, k)
			}
		}
	}
	return nil
}
