package oocore

import (
	"context"
	"encoding/json"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/store"
)

// committed reports whether the file of an output, an index into the plan's arrays, is as a run
// with the fingerprint committed it. Where another run has made it, or it was changed since, why
// says what is new.
func (r *run) committed(ctx context.Context, output int, print plan.Fingerprint) (done bool, why string) {
	place, err := r.place(output)
	if err != nil {
		return false, ""
	}
	e, ok := resultcache.Lookup(place, r.regionKey(output))
	if !ok {
		return false, ""
	}
	now, err := r.versionOf(ctx, output, place)
	if err != nil {
		return false, ""
	}
	if why = print.Difference(e.Fingerprint); why == "" && (now.Unknown || !e.Version.Equal(now)) {
		why = "what was saved there has been changed since"
	}
	return why == "", why
}

// remember notes what a run has committed, and returns its place. Where that fails the next run
// computes, and the place is empty.
func (r *run) remember(ctx context.Context, output int, print plan.Fingerprint) string {
	place, err := r.place(output)
	if err != nil || print == (plan.Fingerprint{}) {
		return ""
	}
	v, err := r.versionOf(ctx, output, place)
	if err != nil {
		return ""
	}
	_ = resultcache.Put(resultcache.Entry{Path: place, Region: r.regionKey(output), Fingerprint: print, Version: v})
	return place
}

// place is the path of what an output is in, an index into the plan's arrays: of its own, or of
// its collection.
func (r *run) place(output int) (string, error) {
	path := r.plan.WholePath(output)
	if !r.inNew(output) {
		path = r.plan.Arrays[output].Path
		a := &r.plan.Arrays[output]
		m := store.Meta{Shape: a.Shape, DType: a.DType}
		if a.Whole != nil {
			m.Shape = a.Whole
		}
		path = store.Stored(path, m)
	}
	return store.Absolute(path)
}

// inNew reports an output that is in a new collection.
func (r *run) inNew(output int) bool {
	c := r.plan.Arrays[output].Collection
	return c > 0 && !r.plan.Collections[c-1].Add
}

// versionOf is the version of what is at an output's place.
func (r *run) versionOf(ctx context.Context, output int, place string) (store.Version, error) {
	if r.inNew(output) {
		return store.VersionOfAll(ctx, place)
	}
	return store.VersionOf(ctx, place)
}

// regionKey is the region that an output, an index into the plan's arrays, is written to, as
// the result cache has it; "" for a whole array.
func (r *run) regionKey(output int) string {
	if b := r.plan.Arrays[output].Region; b != nil {
		return b.String()
	}
	return ""
}

// readVersions are those of the files that Reads names, with their paths.
func (r *run) readVersions(ctx context.Context) (all []string, err error) {
	for _, path := range r.reads {
		v, err := store.VersionOfFile(ctx, path)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		all = append(all, path+" "+string(text))
	}
	return all, nil
}

// versions are those of the stored arrays that a plan reads; before are those before it read them.
func versions(ctx context.Context, p *plan.Plan, before map[int]store.Version) (map[int]store.Version, error) {
	all := map[int]store.Version{}
	of := map[store.FileVersion]int{} // the first array of each file
	for i := range p.Arrays {
		a := &p.Arrays[i]
		if a.Place != plan.InFile {
			continue
		}
		first, ok := of[a.ID]
		if ok && store.OneFile(a.Path, p.Arrays[first].Path) {
			all[i] = all[first]
			continue
		}
		v, err := store.VersionAfter(ctx, a.Path, before[i])
		if err != nil {
			return nil, err
		}
		all[i], of[a.ID] = v, i
	}
	return all, nil
}
