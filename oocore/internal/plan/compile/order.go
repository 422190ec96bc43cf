package compile

import (
	"cmp"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// order brings the stages that only one of several outputs needs together, before its own: what they
// leave for each other is then dropped before the next output begins, instead of all of it being kept,
// and on disk, while the stages of one depth are computed for all outputs. A stage that several
// outputs need goes with the first of them. For one output nothing changes.
func (c *compiler) order() error {
	type stage struct {
		plan.Stage
		output int // the first that needs it
	}
	stages, maker := make([]stage, len(c.plan.Stages)), map[int]int{}
	for i, s := range c.plan.Stages {
		stages[i] = stage{s, len(c.outputs)}
		for _, a := range s.Outputs {
			maker[a] = i
		}
	}
	for k, a := range c.outputs {
		if s := &stages[maker[a]]; k < s.output {
			s.output = k
		}
	}
	for _, s := range slices.Backward(stages) {
		for l := range s.Arrays() {
			if i, ok := maker[l.Array]; ok {
				stages[i].output = min(stages[i].output, s.output)
			}
		}
	}
	slices.SortStableFunc(stages, func(a, b stage) int { return cmp.Compare(a.output, b.output) })
	for i := range stages {
		c.plan.Stages[i] = stages[i].Stage
	}
	return nil
}
