package run

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Stored are the arrays in which the outputs are now. It returns also when ctx has ended: the outputs are in
// their places, and an interrupt is too late.
func (j *Job) Stored(ctx context.Context) (all []store.Info, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx = context.WithoutCancel(ctx)
	for _, foreseen := range j.storedInfos() {
		info, err := j.info(ctx, foreseen.Path)
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

// place is the path of what an output is in, an index into the plan's arrays: of its own, or of
// its collection.
func (j *Job) place(output int) (string, error) {
	path := j.Plan.WholePath(output)
	if !j.inNew(output) {
		path, _ = j.stored(output)
	}
	return storage.Absolute(path)
}

// inNew reports an output that is in a new collection.
func (j *Job) inNew(output int) bool {
	c := j.Plan.Arrays[output].Collection
	return c > 0 && !j.Plan.Collections[c-1].Add
}

// versionOf is the version of what is at an output's place. The Info of the array is kept
// for info.
func (j *Job) versionOf(ctx context.Context, output int, place string) (storage.Version, error) {
	if j.inNew(output) {
		return storage.VersionOfAll(ctx, place)
	}
	a, v, err := storage.OpenVersion(ctx, place)
	if err != nil {
		return v, err
	}
	if j.infos == nil {
		j.infos = map[string]store.Info{}
	}
	j.infos[place] = a.Info()
	return v, a.Close()
}

// info is that of an array that the run has put in its place, or found there. In an object store it is what
// its version was read with, which saves a request.
func (j *Job) info(ctx context.Context, path string) (store.Info, error) {
	if info := j.infos[path]; info.Path == path {
		return info, nil
	}
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return store.Info{}, err
	}
	return a.Info(), a.Close()
}
