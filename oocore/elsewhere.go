package oocore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/hook"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/store"
)

// elsewhere is what a process of a cluster needs, besides the plan, to continue a run.
type elsewhere struct {
	Fingerprint plan.Fingerprint      `json:"fingerprint"`
	Inputs      map[int]store.Version `json:"inputs"`
	Cell        string                `json:"cell,omitempty"`
	Recorded    bool                  `json:"recorded,omitempty"`
	Memory      int64                 `json:"memory"` // of a worker
	Workers     int                   `json:"workers"`
	Cores       int                   `json:"cores"` // of a worker
}

// clusterWorkers is how many workers of a cluster run at once where no option says it.
const clusterWorkers = 8

// checkCluster rejects what cannot run on a cluster.
func (s *settings) checkCluster(op string, outputs []plan.Output) error {
	switch {
	case s.budget == 0:
		return &OptionError{errors.New("on a cluster Memory is the budget of a worker: say what one may take, such as 2GiB")}
	case s.pool != nil:
		return &OptionError{errors.New("a run on a cluster takes memory of its workers, which no pool of this process has: leave In out")}
	case s.device != nil:
		return &OptionError{errors.New("workers of a cluster compute on the CPU: leave the device out")}
	case s.sideReductions != nil || s.grow != nil || s.parent != nil || s.dry != nil:
		return fmt.Errorf("%s cannot run on a cluster: run it on this machine", op)
	}
	for _, out := range outputs {
		if out.Target.Path == "" {
			return errors.New("what a cluster computes goes to storage that all of its machines see: save it to a path")
		}
	}
	return nil
}

// clusterOptions are the resources of the workers.
func (s *settings) clusterOptions(overhead int64) plan.Options {
	n := s.processes
	if n == 0 {
		n = clusterWorkers
	}
	return plan.Options{Overhead: overhead, Workers: n * max(s.workers, 1), Processes: n, EachBudget: s.budget}
}

// processOverhead is what worker processes of this machine take besides their buffers.
func (r *run) processOverhead() int64 {
	if r.cluster != nil {
		return 0
	}
	return int64(r.processes) * r.plan.Each.Overhead
}

// elsewhere returns the executor of a run on a cluster.
func (r *run) elsewhere(print plan.Fingerprint, inputs map[int]store.Version) (exec.Executor, error) {
	if print == (plan.Fingerprint{}) {
		return nil, errors.New("a run on a cluster needs inputs whose version can be known")
	}
	o := r.clusterOptions(0)
	saved, err := json.Marshal(elsewhere{print, maps.Clone(inputs), r.cell, r.recorded(), r.settings.budget, o.Processes, o.Workers / o.Processes})
	if err != nil {
		return nil, err
	}
	return r.cluster.Executor(saved), nil
}

// findFolder says which folder has the staging folder of an output in an object store: that of a run on a cluster that has
// noted it there, else, on a cluster, the present one, which all machines share.
func (r *run) findFolder(ctx context.Context) (err error) {
	r.plan.Folder, err = store.NotedFolder(ctx, r.plan.WholePath(r.plan.Output))
	if r.cluster == nil {
		if errors.Is(err, fs.ErrPermission) { // as a store answers that has no such object, to who may not list it
			err = nil
		}
		return err
	}
	if err == nil && r.plan.Folder == "" {
		r.plan.Folder, err = os.Getwd()
	}
	return err
}

// submit makes the outputs on a cluster.
func (r *run) submit(ctx context.Context, print plan.Fingerprint, inputs map[int]store.Version, why string) error {
	output := r.plan.WholePath(r.plan.Output)
	if err := store.NoteFolder(ctx, output, r.plan.Folder); err != nil {
		return err
	}
	err := r.make(ctx, print, inputs, why)
	if err != nil {
		ctx = context.WithoutCancel(ctx)
		if left, failed := store.NotedFolder(ctx, output); left == "" && failed == nil { // nothing was submitted
			err = errors.Join(err, store.ForgetFolder(ctx, output, r.plan.Folder))
		}
	}
	return err
}

// outputVersion returns the version of an output that is in its place.
func (r *run) outputVersion(ctx context.Context, output int) (v store.Version, err error) {
	place, err := r.place(output)
	if err == nil {
		v, err = r.versionOf(ctx, output, place)
		delete(r.infos, place) // a run may put another array there
	}
	return v, err
}

// awaitCluster waits for a run that goes on elsewhere, and checks that it has put its outputs in their places,
// which had versions before.
func (r *run) awaitCluster(ctx context.Context, before map[int]store.Version) error {
	if err := r.cluster.Wait(ctx); err != nil {
		return err
	}
	for i := range r.plan.Outputs() {
		now, err := r.outputVersion(ctx, i)
		if err := hook.CheckWritten(r.plan.WholePath(i), before[i], now, err); err != nil {
			return err
		}
	}
	return nil
}

// Resume continues a run whose tasks Save has left to a cluster, in a process of the cluster:
// file has the plan, and saved is what the executor was given.
func (internals) Resume(ctx context.Context, file string, saved json.RawMessage, c hook.Cluster) error {
	var e elsewhere
	if err := json.Unmarshal(saved, &e); err != nil {
		return err
	}
	p, err := exec.ReadPlan(file)
	if err != nil {
		return err
	}
	r := &run{settings: &settings{cluster: c, cell: e.Cell, hosted: e.Recorded, budget: e.Memory, processes: e.Workers, workers: e.Cores},
		limits: machine.Read(), overhead: budget.Overhead(e.Memory) + p.OpenBytes()}
	if r.plan, err = p.Size(r.clusterOptions(r.overhead)); err != nil {
		return err
	}
	r.budget = r.plan.Budget
	return r.make(ctx, e.Fingerprint, e.Inputs, "")
}
