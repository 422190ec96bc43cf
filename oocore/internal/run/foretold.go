package run

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
)

// foretold says in a plan what a run would compute of an output that is there, where that has a receipt: what was read then is
// compared with what is there now.
func foretold(version string) Layer {
	return func(next Runner) Runner {
		return func(ctx context.Context, j *Job) (Result, error) {
			r, err := next(ctx, j)
			if err == nil && r.Header != nil && j.Traceable() && !slices.ContainsFunc(j.Plan.Arrays, elsewhere) {
				r.Header.Changed, err = j.foretell(ctx, version)
			}
			return r, err
		}
	}
}

// elsewhere reports an input that is on no disk of this machine, which plans do not ask for its versions.
func elsewhere(a plan.Array) bool { return a.Place == plan.InFile && !a.Store.Files }

func (j *Job) foretell(ctx context.Context, version string) (changed string, err error) {
	place, err := j.place(j.Plan.Output)
	if err != nil {
		return "", err
	}
	if e, ok := resultcache.Lookup(place, ""); !ok || e.Title == "" {
		return "", nil
	}
	if j.inputs, err = versions(ctx, j.Plan.Plan, nil, nil); err != nil {
		return "", err
	}
	j.functions, j.print = version, j.Plan.Fingerprint(version, j.inputs)
	done, _ := j.committed(ctx, j.Plan.Output)
	if done || j.earlier == nil {
		return "", nil
	}
	now, err := j.readVersions(ctx)
	if err != nil {
		return "", err
	}
	if again := j.again(now); again != nil {
		changed = again.what
	}
	return changed, nil
}
