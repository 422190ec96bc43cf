// Package cards says what a plan would mean on GPUs that one does not have.
package cards

import (
	"errors"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

// Rows plans for the device that was asked for, and for each card of the table.
// planFor plans with these options in addition to its own. The device that was asked for
// comes first.
func Rows(asked device.Spec, planFor func(...oocore.Option) (*host.Plan, error)) []record.WhatIf {
	asked.OnHost = false // a modelled card takes the host's memory, and the card would not
	specs := []device.Spec{asked}
	for _, c := range cuda.Cards() {
		if "model:"+c.Name != asked.Name {
			specs = append(specs, c.Spec())
		}
	}
	var rows []record.WhatIf
	for _, spec := range specs {
		rows = append(rows, row(spec, planFor))
	}
	return rows
}

// modelled is a card that plans are made for.
type modelled struct {
	device.CPU
	spec device.Spec
}

func (d modelled) Spec() device.Spec { return d.spec }

func row(spec device.Spec, planFor func(...oocore.Option) (*host.Plan, error)) record.WhatIf {
	row := record.WhatIf{Device: spec.Name, Memory: spec.Memory}
	p, err := planFor(oocore.On(modelled{spec: spec}))
	if err != nil {
		row.Note = err.Error()
		if short, ok := errors.AsType[*oocore.MemoryError](err); ok {
			row.Need = short.Need
		}
		return row
	}
	h := p.Header()
	row.Fits, row.Passes, row.Peak, row.Budget, row.Need = true, h.Passes(), p.Peak.Host(), p.Budget, p.Need
	row.Chunks = p.Stages[len(p.Stages)-1].Grid.Chunks
	longest := 0.0
	for i := range p.Stages {
		s := &p.Stages[i]
		on := p.Placed(i)
		row.Moved += on.Read + on.Written
		row.Tasks += s.Tasks()
		if v := p.OnDevice[i]; v != nil {
			row.Link += v.Up + v.Down
			row.OnDevice++
		}
		if s.Lacks != "" && row.Note == "" {
			row.Note = s.Name + ": it " + s.Lacks
		}
		seconds, limit := p.Estimate(i)
		row.Seconds += seconds
		if seconds > longest {
			longest, row.Limit = seconds, limit
		}
	}
	return row
}
