package checkpoint

import "github.com/gonbext/gonbext/oocore/internal/plan"

// Sample is Temporary for a run that does some tasks only of a stage: it takes the others as done.
func Sample(p *plan.Plan, stage int, tasks Tasks) *Checkpoint {
	c := Temporary(p)
	c.state.add(stage, Tasks{{0, p.Stages[stage].Tasks()}}.Without(tasks)...)
	return c
}
