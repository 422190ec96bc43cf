package run

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/plan/bill"
	"github.com/gonbext/gonbext/oocore/record"
)

// planned makes nothing: the result is what the outputs would be.
func planned(alternatives []record.WhatIf) Layer {
	return func(Runner) Runner {
		return func(_ context.Context, j *Job) (Result, error) {
			h := j.Plan.PlanHeader()
			h.PlanOnly, h.WhatIf = true, alternatives
			h.Traffic, h.About = bill.Of(j.Plan)
			return Result{End: &record.End{Status: record.Planned}, Header: &h, Foreseen: j.storedInfos()}, nil
		}
	}
}
