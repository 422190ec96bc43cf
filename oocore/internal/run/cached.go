package run

import (
	"context"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/record"
)

// cached makes nothing where a run of the same has put the outputs in their places, and nothing has changed since.
func cached(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		done, why := true, ""
		for i := range j.Plan.Wholes() {
			if done {
				done, why = j.committed(ctx, i)
			}
		}
		if !done {
			j.reason = why
			clear(j.infos)
			return next(ctx, j)
		}
		_ = checkpoint.Discard(j.Plan.Plan, j.print) // which costs room only
		end := record.End{Status: record.Skipped}
		for i := range j.Plan.Stages {
			end.Skipped += int64(j.Plan.Stages[i].Tasks())
		}
		return Result{End: &end}, nil
	}
}

// remembered notes what the run puts in its place, for the next run of the same.
func remembered(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		noted := map[int]string{} // places of outputs
		j.onCommitted(func(ctx context.Context, output int, _ bool) {
			for i := range j.Plan.WholesOf(output) {
				if place := j.remember(ctx, i); place != "" {
					noted[i] = place
				}
			}
		})
		r, err := next(ctx, j)
		if err != nil { // the staging folder could not be removed: the next run does that, as part of computing
			for i, place := range noted {
				resultcache.Drop(place, j.region(i))
			}
		}
		return r, err
	}
}

// committed reports whether the file of an output, an index into the plan's arrays, is as a run of
// the same committed it. Where another run has made it, or it was changed since, why says what is new.
func (j *Job) committed(ctx context.Context, output int) (done bool, why string) {
	place, err := j.place(output)
	if err != nil {
		return false, ""
	}
	e, ok := resultcache.Lookup(place, j.region(output))
	if !ok {
		return false, ""
	}
	now, err := j.versionOf(ctx, output, place)
	if err != nil {
		return false, ""
	}
	same := !now.Unknown && e.Version.Equal(now)
	if why = j.print.Difference(e.Fingerprint); why == "" && !same {
		why = "what was saved there has been changed since"
	}
	if same && (j.print.OtherInputs(e.Fingerprint) || why != "" && e.Growing != "" && e.Growing == j.Plan.Growing(j.functions)) {
		j.earlier = &e
	}
	return why == "", why
}

// remember notes what a run has committed, and returns its place. Where that fails the next run
// computes, and the place is empty.
func (j *Job) remember(ctx context.Context, output int) string {
	place, err := j.place(output)
	if err != nil || j.print == (plan.Fingerprint{}) {
		return ""
	}
	v, err := j.versionOf(ctx, output, place)
	if err != nil {
		return ""
	}
	e := resultcache.Entry{Path: place, Region: j.region(output), Fingerprint: j.print, Version: v}
	var rest func(io.Writer) error
	if j.receipt != nil {
		rest = j.receipt(ctx, &e)
	}
	_ = resultcache.Put(e, rest)
	return place
}

// region is the region that an output, an index into the plan's arrays, is written to, as
// the result cache has it; "" for a whole array.
func (j *Job) region(output int) string {
	if b := j.Plan.Arrays[output].Region; b != nil {
		return b.String()
	}
	return ""
}
