package run

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// exclusive rejects outputs that exist: before the run, and before they are put in their places.
func exclusive(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		if err := j.absent(ctx); err != nil {
			return Result{}, err
		}
		j.onCheck(j.absent) // no other run puts anything there any more: the staging folder is this run's
		return next(ctx, j)
	}
}

// absent returns an error for an output that exists.
func (j *Job) absent(context.Context) error {
	for i := range j.Plan.Wholes() {
		path, a := j.Plan.WholePath(i), &j.Plan.Arrays[i]
		if a.Collection > 0 && j.Plan.Collections[a.Collection-1].Add {
			path, _ = storage.MemberPath(path, a.Member)
		}
		if exists(path) {
			return fmt.Errorf("%s: %w, and is not to be replaced", path, fs.ErrExist)
		}
	}
	return nil
}

// exists reports whether something is at the path of an output: of a member of a file, that member.
func exists(path string) bool {
	place, err := storage.Place(path)
	file, _, member := storage.Split(path)
	if of, _ := storage.Place(file); err == nil && blob.PlaceOf(place).Files && !(member && of == place) {
		_, err = os.Lstat(place)
		return err == nil
	}
	_, err = storage.Describe(path)
	return err == nil
}
