package oocore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// save makes the outputs, and returns the arrays that they hold.
func (r *run) save(ctx context.Context) (all []*Array, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	defer func() {
		err = ended(ctx, err)
		if err != nil && !r.reported {
			r.rejected(r.plan.Title)
		}
	}()
	paths := r.storedPaths()
	foreseen, err := r.perform(ctx, paths)
	if err != nil || foreseen != nil {
		return foreseen, err
	}
	ctx = context.WithoutCancel(ctx) // the outputs are in their places: an interrupt is too late
	for _, path := range paths {
		info, err := r.info(ctx, path)
		if err != nil {
			return nil, err
		}
		a, err := r.stored(info)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// storedPaths are the paths of the arrays in which the outputs are then.
func (r *run) storedPaths() (paths []string) {
	for k, i := range slices.Collect(r.plan.Outputs()) {
		paths = append(paths, store.Stored(r.plan.Arrays[i].Path, store.Meta{Shape: r.storedShape(k, i), DType: r.roots[k].DType}))
	}
	return paths
}

// perform makes the outputs, where that has not been done. Under a plan only it returns the
// arrays that there would be.
func (r *run) perform(ctx context.Context, paths []string) (foreseen []*Array, err error) {
	if err := r.clobbers(); err != nil {
		return nil, err
	}
	if r.planned || r.dry != nil {
		if r.dry == nil {
			if err := r.recordOnly(ctx, record.Planned); err != nil {
				return nil, err
			}
		}
		return r.foreseenArrays(paths)
	}
	found := make(chan error, 1)
	go func() { found <- r.findFolder(ctx) }()
	defer r.closeInputs()
	inputs, err := versions(ctx, r.plan.Plan, nil, r.keepInput)
	if err = cmp.Or(<-found, err); err != nil {
		return nil, err
	}
	if r.read, err = r.readVersions(ctx); err != nil {
		return nil, err
	}
	version := r.version
	if version != "" && len(r.read) > 0 {
		version += "\n" + fmt.Sprint(r.read)
	}
	print := r.plan.Fingerprint(version, inputs)
	done, why := !r.fresh && r.grow == nil, "" // what was appended is appended again
	for i := range r.plan.Wholes() {
		if done {
			done, why = r.committed(ctx, i, print)
		}
	}
	if done {
		_ = checkpoint.Discard(r.plan.Plan, print) // which costs room only
		return nil, r.recordOnly(ctx, record.Skipped)
	}
	clear(r.infos)
	if r.cluster != nil {
		return nil, r.submit(ctx, print, inputs, why)
	}
	return nil, r.make(ctx, print, inputs, why)
}

// clobbers returns an error for an output that is there and is not to be replaced.
func (r *run) clobbers() error {
	for i := range r.plan.Wholes() {
		path, a := r.plan.WholePath(i), &r.plan.Arrays[i]
		if a.Collection > 0 && r.plan.Collections[a.Collection-1].Add {
			path, _ = store.MemberPath(path, a.Member)
		}
		if r.noClobber && exists(path) {
			return fmt.Errorf("%s: %w, and is not to be replaced", path, fs.ErrExist)
		}
	}
	return nil
}

// exists reports whether something is at the path of an output: of a member of a file, that member.
func exists(path string) bool {
	place, err := store.Place(path)
	if err == nil && !blob.Remote(place) && !strings.Contains(path, "#") {
		_, err = os.Lstat(place)
		return err == nil
	}
	_, err = store.Describe(path)
	return err == nil
}

// keepInput keeps an input open that lies in an object store, so that its header is not asked for again.
func (r *run) keepInput(path string, a store.Array) {
	if r.inputs == nil {
		r.inputs = map[string]store.Array{}
	}
	if was := r.inputs[path]; was != nil {
		_ = was.Close() // it was only read
	}
	r.inputs[path] = a
}

// openInput opens an input, or returns the one that is open.
func (r *run) openInput(ctx context.Context, path string) (store.Array, error) {
	if a := r.inputs[path]; a != nil {
		delete(r.inputs, path)
		return a, nil
	}
	return store.Reopen(ctx, path)
}

// closeInputs closes those that no stage has read.
func (r *run) closeInputs() {
	for _, a := range r.inputs {
		_ = a.Close() // it was only read
	}
	clear(r.inputs)
}

// storedShape returns the shape of the array in whose file the output of a root is then: of
// all of it where the output is a region, or is appended.
func (r *run) storedShape(root, output int) []int {
	if whole := r.plan.Arrays[output].Whole; whole != nil {
		return whole
	}
	return r.roots[root].Shape
}

// foreseenArrays are those that the files would hold.
func (r *run) foreseenArrays(paths []string) (all []*Array, err error) {
	for k, i := range slices.Collect(r.plan.Outputs()) {
		layout := &r.plan.Arrays[i].Layout
		a, err := r.stored(store.Info{Path: paths[k], Shape: r.storedShape(k, i), DType: r.roots[k].DType, Chunks: layout.Chunks(), Work: layout.Work})
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// make computes the outputs, or what an earlier run left of them to do.
func (r *run) make(ctx context.Context, print plan.Fingerprint, before map[int]store.Version, why string) (err error) {
	if r.checkpoint, err = checkpoint.New(r.plan.Plan, print, r.fresh); err != nil {
		return err
	}
	if r.checkpoint.Reason == "" && !r.checkpoint.Resumes() && !r.fresh {
		r.checkpoint.Reason = why
	}
	var remembered []int // outputs
	var places []string  // of them
	grown := false
	env := exec.Env{
		Check: func(ctx context.Context) error {
			after, err := versions(ctx, r.plan.Plan, before, nil)
			for i, v := range before {
				if err == nil && !after[i].Equal(v) {
					err = fmt.Errorf("%s was changed while it was read: save again", r.plan.Arrays[i].Path)
				}
			}
			now, failed := r.readVersions(ctx)
			if err == nil {
				err = failed
			}
			for i, v := range r.read {
				if err == nil && now[i] != v {
					err = fmt.Errorf("%s, which Reads names, was changed while it was read: save again", r.reads[i])
				}
			}
			if err == nil {
				err = r.clobbers() // no other run puts anything there any more: the staging folder is this run's
			}
			return err
		},
		Committed: func(ctx context.Context, output int, earlier bool) {
			r.written = append(r.written, r.plan.Arrays[output].Path)
			if r.plan.Folder != "" { // what fails here is a note of a run that has ended, which nobody heeds
				_ = store.ForgetFolder(ctx, r.plan.WholePath(r.plan.Output), r.plan.Folder)
			}
			if earlier && r.sideReductions != nil {
				r.sideReductions.values = nil
			}
			if r.grow != nil {
				grown = true
				return
			}
			for i := range r.plan.WholesOf(output) {
				if place := r.remember(ctx, i, print); place != "" {
					remembered = append(remembered, i)
					places = append(places, place)
				}
			}
		},
	}
	if r.sideReductions != nil {
		env.SideReductions = r.sideReductions.places()
	}
	if r.cluster != nil {
		env.Executor, err = r.elsewhere(print, before)
	} else if r.checkpoint.Elsewhere() {
		err = fmt.Errorf("%s is being computed on a cluster: wait for it, or end that with gonbext jobs cancel", r.plan.WholePath(r.plan.Output))
	}
	if err != nil {
		return errors.Join(err, r.checkpoint.Close(true))
	}
	old := map[int]store.Version{} // of outputs; none where there is no output yet
	if r.cluster != nil {
		for i := range r.plan.Outputs() {
			old[i], _ = r.outputVersion(ctx, i)
		}
	}
	if err = r.execute(ctx, env, nil); err == nil {
		return nil
	}
	if r.cluster != nil && errors.Is(err, exec.ErrLeft) {
		return r.awaitCluster(ctx, old)
	}
	if grown {
		return fmt.Errorf("%s has grown and is complete: appending again would add the same elements twice: %w", r.plan.Arrays[r.plan.Output].Path, err)
	}
	for k, i := range remembered {
		// The staging folder could not be cleaned: the next run does that, as part of computing.
		resultcache.Drop(places[k], r.regionKey(i))
	}
	return err
}

// stored is the array of a file, made at the line that saved it.
func (r *run) stored(info store.Info) (*Array, error) {
	n, err := graph.Open(r.site, info, "")
	if err != nil {
		return nil, err
	}
	return made(n, nil), nil
}

func (r *run) collect(ctx context.Context, allocate func(n int) []byte) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if r.dry != nil {
		allocate(grid.Size(r.roots[0].Shape))
		return nil
	}
	if r.planned {
		return errors.Join(ErrPlanned, r.recordOnly(ctx, record.Planned))
	}
	return ended(ctx, r.execute(ctx, exec.Env{}, allocate))
}

// ended returns the error of a run such that it is ctx's too, beside the cause that ctx was
// ended for.
func ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return &endedError{err, ctx.Err()}
}

// endedError reads as the cause for which a context was ended.
type endedError struct {
	error
	by error // context.Canceled or context.DeadlineExceeded
}

func (e *endedError) Unwrap() []error { return []error{e.error, e.by} }

// execute runs the plan in an environment, to which it adds what the settings say. allocate makes room for what
// Collect returns; nil for a run that saves.
func (r *run) execute(ctx context.Context, env exec.Env, allocate func(n int) []byte) error {
	slog.DebugContext(ctx, "gonbext: run", "title", r.plan.Title, "output", r.plan.Arrays[r.plan.Output].Path,
		"budget", r.plan.Budget, "predicted", r.plan.Peak.Host(), "stages", len(r.plan.Stages), "chunks", r.plan.Tasks())
	peak := r.plan.Peak.Host()
	if r.plan.Device.OnHost {
		peak += r.plan.DevicePeak
	}
	if r.cluster != nil { // whose workers have memory of their own
		peak = r.plan.Arena
	}
	// What Collect returns lies in Go's heap, and so does what codecs take.
	share := budget.Share{Bytes: peak + r.processOverhead() + r.files, Heap: r.plan.Heap(), Overhead: r.overhead, Budget: r.budget, Loop: r.loop, NoWait: r.noWait}
	if allocate != nil {
		share.Heap += int64(grid.Size(r.roots[0].Shape) * r.roots[0].DType.Size())
	}
	if r.pool != nil {
		share.Bytes, share.Heap, share.Overhead = share.Bytes+r.overhead, share.Heap+r.overhead, r.process
	}
	release, err := r.shared().Take(ctx, share)
	if err != nil {
		if busy, ok := errors.AsType[*budget.BusyError](err); ok {
			err = &BusyError{Op: r.plan.Title, Bytes: busy.Bytes, Taken: busy.Taken, Active: busy.Active, Limit: busy.Budget}
		}
		if held, ok := errors.AsType[*budget.LoopsError](err); ok {
			err = r.besideLoops(r.plan.Title, r.plan.Need, held.Loops)
		}
		if c := r.checkpoint; c != nil {
			err = errors.Join(err, c.Close(c.Resumable()))
		}
		r.ran(ctx, "", &record.End{Status: record.Cancelled})
		return err
	}
	defer release()
	if allocate != nil {
		env.Into = allocate(grid.Size(r.roots[0].Shape))
	}
	env.Open = func(path string) (store.Array, error) { return r.openInput(ctx, path) }
	env.Checkpoint, env.GivesWay = r.checkpoint, r.pool != nil
	if r.cluster == nil || r.cluster.Records() {
		env.Record = r.record()
	}
	switch {
	case r.cluster != nil:
	case r.workers != nil:
		env.Executor = r.workers
	case r.device != nil:
		on := exec.OnDevice{Device: r.device}
		if r.parent != nil {
			if end, ok := r.parent.kept.Use(); ok {
				defer end()
				on.Kept = &r.parent.kept
			}
		}
		env.Executor = on
	}
	var watched func()
	env.Progress, watched = r.watch(r.plan)
	end, err := exec.Run(ctx, r.plan, env)
	watched()
	if errors.Is(err, exec.ErrLeft) { // it goes on
		return err
	}
	r.ran(ctx, env.Record.Run(), &end)
	return err
}
