package run

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// portable is the plan for a receipt, encoded, as it is in any folder of this machine; nil where it cannot leave this process.
func (j *Job) portable() []byte {
	p := *j.Plan.Plan
	p.Arrays = slices.Clone(p.Arrays)
	for i := range p.Arrays {
		if a := &p.Arrays[i]; a.Place == plan.InFile || a.Place == plan.InResult {
			path, err := storage.Absolute(a.Path)
			if err != nil {
				return nil
			}
			a.Path = path
		}
	}
	encoded, err := p.Encode()
	if err != nil {
		return nil
	}
	return encoded
}
