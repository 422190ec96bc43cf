package run

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// saved is what a process of a cluster needs, besides the plan, to continue a run.
type saved struct {
	Fingerprint plan.Fingerprint        `json:"fingerprint"`
	Inputs      map[int]storage.Version `json:"inputs"`
	Cell        string                  `json:"cell,omitempty"`
	Recorded    bool                    `json:"recorded,omitempty"`
	Memory      int64                   `json:"memory"` // of a worker
	Workers     int                     `json:"workers"`
	Cores       int                     `json:"cores"` // of a worker
}

// saved is what Resume needs to continue a run under the options.
func (o *Options) saved(j *Job) ([]byte, error) {
	w := o.workers(0)
	return json.Marshal(saved{j.print, maps.Clone(j.inputs), o.Cell, o.recorded(), o.Budget, w.Processes, w.Workers / w.Processes})
}

// submitted notes where a run on a cluster has its staging folders, so that runs of other processes find them. In
// object stores that is the present folder, which all machines share, unless such a run has noted another.
func submitted(next Runner) Runner {
	return func(ctx context.Context, j *Job) (_ Result, err error) {
		if j.folder != nil {
			return Result{}, j.folder
		}
		if j.Plan.Folder == "" {
			if j.Plan.Folder, err = os.Getwd(); err != nil {
				return Result{}, err
			}
		}
		if err := storage.NoteFolder(ctx, j.output(), j.Plan.Folder); err != nil {
			return Result{}, err
		}
		j.elsewhere = true
		r, err := next(ctx, j)
		if err != nil {
			ctx = context.WithoutCancel(ctx)
			if left, failed := storage.NotedFolder(ctx, j.output()); left == "" && failed == nil { // nothing was submitted
				err = errors.Join(err, storage.ForgetFolder(ctx, j.output(), j.Plan.Folder))
			}
		}
		return r, err
	}
}

// leaving leaves the tasks to a cluster, and waits for it where the run then continues there.
func leaving(c door.Cluster, saved func(*Job) ([]byte, error)) Layer {
	return func(next Runner) Runner {
		return func(ctx context.Context, j *Job) (Result, error) {
			if j.print == (plan.Fingerprint{}) {
				return Result{}, errors.New("a run on a cluster needs inputs whose version can be known")
			}
			text, err := saved(j)
			if err != nil {
				return Result{}, err
			}
			j.env.Executor = c.Executor(text)
			if !c.Records() {
				j.begin = nil
			}
			before := map[int]storage.Version{} // of outputs; none where there is no output yet
			for i := range j.Plan.Outputs() {
				before[i], _ = j.outputVersion(ctx, i)
			}
			r, err := next(ctx, j)
			if errors.Is(err, exec.ErrLeft) {
				err = j.await(ctx, c, before)
			}
			return r, err
		}
	}
}

// await waits for a run that continues on a cluster, and checks that it has put its outputs in their places.
func (j *Job) await(ctx context.Context, c door.Cluster, before map[int]storage.Version) error {
	if err := c.Wait(ctx); err != nil {
		return err
	}
	for i := range j.Plan.Outputs() {
		now, err := j.outputVersion(ctx, i)
		if err := door.CheckWritten(j.Plan.WholePath(i), before[i], now, err); err != nil {
			return err
		}
	}
	return nil
}

// outputVersion returns the version of an output that is in its place.
func (j *Job) outputVersion(ctx context.Context, output int) (v storage.Version, err error) {
	place, err := j.place(output)
	if err == nil {
		v, err = j.versionOf(ctx, output, place)
		delete(j.infos, place) // a run may put another array there
	}
	return v, err
}
