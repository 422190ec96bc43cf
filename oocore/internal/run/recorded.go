package run

import (
	"context"
	"encoding/json"

	"github.com/gonbext/gonbext/oocore/internal/rates"
	"github.com/gonbext/gonbext/oocore/record"
)

// record keeps a record of what next does. Where the run log cannot be written there is none: the result is
// computed all the same.
func (o *Options) record(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		j.begin = func() *record.Writer {
			h := j.Plan.Header()
			for _, add := range j.describe {
				add(&h)
			}
			return o.create(j, h)
		}
		r, err := next(ctx, j)
		if err != nil || r.recorded || r.End == nil {
			return r, err
		}
		h := j.Plan.Header()
		if r.Header != nil {
			h = *r.Header
		}
		w := o.create(j, h)
		r.Run = w.Run()
		return r, w.End(*r.End)
	}
}

func (o *Options) create(j *Job, h record.Header) *record.Writer {
	dir, err := record.Dir()
	if err != nil {
		return nil
	}
	h.Cell, h.Shown = o.Cell, o.Shown
	rates.Predict(&h, j.limits)
	if j.predict != nil {
		j.predict(&h)
	}
	h.Machine, _ = json.Marshal(j.limits)
	create := record.Create
	if j.create != nil {
		create = j.create
	}
	w, err := create(dir, h)
	if err != nil {
		return nil
	}
	return w
}
