package run

import "context"

// runner is what runs a job that saves, or that returns what it computes. Layers are added from the
// innermost outwards: what a layer does before it calls the next comes after all that is below it here.
func (o *Options) runner(j *Job, saves bool) Runner {
	r := o.executed(saves)
	r = when(saves && o.Cluster != nil, r, submitted)
	r = when(saves, r, unchanged)
	r = when(saves && j.appends(), r, appended)
	r = when(saves && !j.appends(), r, remembered)
	r = when(saves && !j.appends() && !o.Fresh, r, cached)
	r = when(saves, r, versioned(o.Version, o.Reads))
	r = when(o.PlanOnly, r, planned(o.Alternatives))
	r = when(o.PlanOnly && saves && !o.Fresh && o.Cluster == nil && o.Reads == nil, r, foretold(o.Version))
	r = when(o.Dry != nil, r, dry)
	r = when(saves && o.NoClobber, r, exclusive)
	r = when(o.recorded(), r, o.record)
	r = when(o.Dry == nil, r, o.reported)
	return cancellable(r)
}

// continued is what continues in another process a run that was left to a cluster.
func (o *Options) continued() Runner {
	r := remembered(unchanged(o.executed(true)))
	r = when(o.recorded(), r, o.record)
	return o.reported(r)
}

// executed is what executes a plan in its share of memory.
func (o *Options) executed(saves bool) Runner {
	r := when(o.Progress != nil, compute, o.Progress.watched)
	r = shared(r)
	r = when(o.Group != nil, r, o.Group.grouped)
	r = when(o.SideReductions != nil, r, o.SideReductions.beside)
	r = when(saves && o.Cluster != nil, r, leaving(o.Cluster, o.saved))
	r = when(saves && o.Cluster == nil, r, updated)
	return when(saves, r, resumable(o.Fresh))
}

// when is a Runner with a layer, or without.
func when(asked bool, r Runner, layer Layer) Runner {
	if asked {
		return layer(r)
	}
	return r
}

// Save makes the outputs, where that has not been done.
func (o *Options) Save(ctx context.Context, j *Job) (Result, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	return o.runner(j, true)(ctx, j)
}

// Collect computes the output of a job that has no path into memory, for which allocate makes room when it is
// needed. Under a plan only the result is one that is planned, and there is no memory.
func (o *Options) Collect(ctx context.Context, j *Job, allocate func(n int) []byte) (Result, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	j.allocate = allocate
	return o.runner(j, false)(ctx, j)
}
