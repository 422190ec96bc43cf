package run

import (
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/types"
)

// memory is what a plan is fitted into.
type memory interface {
	// check rejects what can be rejected before anything is planned.
	check(op string, outputs []compile.Output) error
	// fit sizes a plan, and says in the job what it takes.
	fit(j *Job, p *plan.Plan) error
}

func (o *Options) memory(l machine.Limits) memory {
	switch {
	case o.Cluster != nil:
		return &clusterMemory{measured{Options: o, limits: l, overhead: o.overhead()}}
	case o.Dry != nil:
		return &dryMemory{o}
	}
	return &processMemory{measured: measured{Options: o, limits: l, overhead: o.overhead()}}
}

// Prepare plans a run that makes outputs, and rejects what can be rejected without reading. warnings are what a
// plan says of the outputs.
func (o *Options) Prepare(site graph.Site, op string, warnings func([]compile.Output) ([]string, error), outputs ...compile.Output) (*Job, error) {
	failure := &types.Error{Op: op, Site: site}
	failed := func(err error) (*Job, error) {
		failure.Err = err
		return nil, failure
	}
	j := &Job{Site: site, limits: machine.Read()}
	m := o.memory(j.limits)
	if err := m.check(op, outputs); err != nil {
		return failed(err)
	}
	for _, out := range outputs {
		j.Roots = append(j.Roots, out.Root)
		failure.Shapes, failure.Types = append(failure.Shapes, out.Root.Shape), append(failure.Types, out.Root.DType)
	}
	logical, err := compile.NewAll(outputs...)
	if err != nil {
		return failed(err)
	}
	if o.Dry == nil {
		if logical.Warnings, err = warnings(outputs); err != nil {
			return failed(err)
		}
		for _, w := range logical.Warnings {
			if o.Warn != nil {
				o.Warn(w)
			}
		}
	}
	if err := m.fit(j, logical); err != nil {
		return failed(err)
	}
	if o.Inspect != nil {
		if err := o.Inspect(j.Plan); err != nil {
			return failed(err)
		}
	}
	if o.Processes > 0 && o.Cluster == nil {
		workers, err := workerProcesses(logical, o.Processes)
		if err != nil {
			return failed(err)
		}
		j.env.Executor = workers
	} else if o.Device != nil {
		j.env.Executor = exec.OnDevice{Device: o.Device}
	}
	return j, nil
}
