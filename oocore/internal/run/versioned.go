package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// versioned asks stores for the versions of what the run reads, from which its fingerprint follows, and for
// the folder where a run on a cluster has the staging folders. Inputs in object stores that were opened for
// that are read as they are then: their headers are not asked for again.
func versioned(version string, reads []string) Layer {
	return func(next Runner) Runner {
		return func(ctx context.Context, j *Job) (_ Result, err error) {
			noted := make(chan error, 1)
			go func() {
				var err error
				j.Plan.Folder, err = storage.NotedFolder(ctx, j.output())
				noted <- err
			}()
			opened := map[string]store.Array{}
			defer func() {
				for _, a := range opened { // that no stage has read
					_ = a.Close() // it was only read
				}
			}()
			j.inputs, err = versions(ctx, j.Plan.Plan, nil, func(path string, a store.Array) {
				if was := opened[path]; was != nil {
					_ = was.Close() // it was only read
				}
				opened[path] = a
			})
			if j.folder = <-noted; err == nil && j.folder != nil && !errors.Is(j.folder, fs.ErrPermission) {
				err = j.folder // with the error of a permission a store may say that there is no such object
			}
			if err != nil {
				return Result{}, err
			}
			j.forgetFolder()
			j.env.Open = func(path string) (store.Array, error) {
				if a := opened[path]; a != nil {
					delete(opened, path)
					return a, nil
				}
				return storage.Reopen(ctx, path)
			}
			if j.reads = reads; len(reads) > 0 {
				if j.read, err = versionsOfFiles(ctx, reads); err != nil {
					return Result{}, err
				}
			}
			of := version
			if of != "" && len(j.read) > 0 {
				of += "\n" + fmt.Sprint(j.read)
			}
			j.functions, j.print = of, j.Plan.Fingerprint(of, j.inputs)
			return next(ctx, j)
		}
	}
}

// forgetFolder removes the note of a folder when an output is in its place.
func (j *Job) forgetFolder() {
	j.onCommitted(func(ctx context.Context, _ int, _ bool) {
		if j.Plan.Folder != "" { // what fails here is a note of a run that has ended, which nobody heeds
			_ = storage.ForgetFolder(ctx, j.output(), j.Plan.Folder)
		}
	})
}

// unchanged returns an error, before outputs are put in their places, where an input was changed while it was read.
func unchanged(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		j.onCheck(func(ctx context.Context) error {
			after, err := versions(ctx, j.Plan.Plan, j.inputs, nil)
			for i, v := range j.inputs {
				if err == nil && !after[i].Equal(v) {
					err = fmt.Errorf("%s was changed while it was read: save again", j.Plan.Arrays[i].Path)
				}
			}
			now, failed := versionsOfFiles(ctx, j.reads)
			err = cmp.Or(err, failed)
			for i, v := range j.read {
				if err == nil && now[i] != v {
					err = fmt.Errorf("%s, which Reads names, was changed while it was read: save again", j.reads[i])
				}
			}
			return err
		})
		return next(ctx, j)
	}
}

// versionsOfFiles are those of the files that Reads names, with their paths.
func versionsOfFiles(ctx context.Context, paths []string) (all []string, err error) {
	for _, path := range paths {
		v, err := storage.VersionOfFile(ctx, path)
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
func versions(ctx context.Context, p *plan.Plan, before map[int]storage.Version, keep func(path string, a store.Array)) (map[int]storage.Version, error) {
	same := map[int]int{}             // the first array of each one's file
	of := map[store.FileVersion]int{} // the first array of each file
	each, opened := make([]storage.Version, len(p.Arrays)), make([]store.Array, len(p.Arrays))
	read := func(i int, keeps bool) (err error) {
		if keeps {
			opened[i], each[i], err = storage.OpenVersion(ctx, p.Arrays[i].Path)
		} else {
			each[i], err = storage.VersionAfter(ctx, p.Arrays[i].Path, before[i])
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
		if first, ok := of[a.ID]; ok && storage.OneFile(a.Path, p.Arrays[first].Path) {
			same[i] = first
			continue
		}
		same[i], of[a.ID] = i, i
		if !a.Store.Files {
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
	all := map[int]storage.Version{}
	for i, first := range same {
		all[i] = each[first]
	}
	return all, nil
}
