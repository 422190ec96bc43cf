package oocore

import (
	"cmp"
	"context"
	"encoding/json"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/blob"
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

// versionOf is the version of what is at an output's place. The Info of an array in an object store is kept
// for info.
func (r *run) versionOf(ctx context.Context, output int, place string) (store.Version, error) {
	if r.inNew(output) {
		return store.VersionOfAll(ctx, place)
	}
	a, v, err := store.OpenVersion(ctx, place)
	if err != nil {
		return v, err
	}
	if blob.Remote(place) {
		if r.infos == nil {
			r.infos = map[string]store.Info{}
		}
		r.infos[place] = a.Info()
	}
	return v, a.Close()
}

// info is that of an array that the run has put in its place, or found there. In an object store it is what
// its version was read with, which saves a request.
func (r *run) info(ctx context.Context, path string) (store.Info, error) {
	if info := r.infos[path]; info.Path == path {
		return info, nil
	}
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return store.Info{}, err
	}
	return a.Info(), a.Close()
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

// versionsAtOnce is how many objects are asked for their versions at the same time, and how many arrays stay open then.
const versionsAtOnce = 16

// versions are those of the stored arrays that a plan reads; before are those before it read them. Some that
// lie in object stores are given to keep, where there is one, which closes them; others are closed.
func versions(ctx context.Context, p *plan.Plan, before map[int]store.Version, keep func(path string, a store.Array)) (map[int]store.Version, error) {
	same := map[int]int{}             // the first array of each one's file
	of := map[store.FileVersion]int{} // the first array of each file
	each, opened := make([]store.Version, len(p.Arrays)), make([]store.Array, len(p.Arrays))
	read := func(i int, keeps bool) (err error) {
		if keeps {
			opened[i], each[i], err = store.OpenVersion(ctx, p.Arrays[i].Path)
		} else {
			each[i], err = store.VersionAfter(ctx, p.Arrays[i].Path, before[i])
		}
		return err
	}
	var remote errgroup.Group
	remote.SetLimit(versionsAtOnce)
	kept := 0
	var err error
	for i := range p.Arrays {
		a := &p.Arrays[i]
		if a.Place != plan.InFile {
			continue
		}
		if first, ok := of[a.ID]; ok && store.OneFile(a.Path, p.Arrays[first].Path) {
			same[i] = first
			continue
		}
		same[i], of[a.ID] = i, i
		if blob.Remote(a.Path) {
			keeps := keep != nil && kept < versionsAtOnce
			kept++
			remote.Go(func() error { return read(i, keeps) })
		} else if err = read(i, false); err != nil {
			break
		}
	}
	err = cmp.Or(err, remote.Wait())
	for i, a := range opened {
		if a != nil {
			keep(p.Arrays[i].Path, a)
		}
	}
	if err != nil {
		return nil, err
	}
	all := map[int]store.Version{}
	for i, first := range same {
		all[i] = each[first]
	}
	return all, nil
}
