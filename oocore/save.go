package oocore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/quantize"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/rates"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// MemoryError is a budget that is too small, found before anything is read. One
// of Need bytes works.
type MemoryError = types.MemoryError

// Save computes the array into a file or a store and returns the array that it
// holds: x.npy, x.bin, x.zarr, x.npz#name, x.safetensors#name; npy and bin also in
// Fortran's order and big-endian, as x.npy?order=F&dtype=>f4. It takes no more
// memory than its budget. The output appears when it is whole; an error, or the end
// of ctx, leaves what was there before.
//
// Where the same expression of the same inputs was saved to the same place and
// nothing has changed since, nothing is computed. Where that was begun and not
// finished, in whatever way it ended, only what is missing is. The run's record says
// so.
func (a *Array) Save(ctx context.Context, path string, opts ...Option) (*Array, error) {
	site := graph.Caller()
	if path == "" {
		return nil, &Error{Op: "save", Site: site, Err: errors.New("the path is empty: name a file such as x.npy, or bring the values to memory with Collect")}
	}
	r, err := a.prepare(site, path, opts)
	if err != nil {
		return nil, err
	}
	out, err := r.save(ctx)
	if err != nil {
		return nil, &Error{Op: "save", Site: site, Err: err}
	}
	return out[0], nil
}

// Collect computes the array into the program's memory, in C order. What it
// returns is part of the budget. T must be the type of the elements.
func Collect[T Element](ctx context.Context, a *Array, opts ...Option) ([]T, error) {
	site := graph.Caller()
	r, err := a.prepare(site, "", opts)
	if err != nil {
		return nil, err
	}
	if t := dtype.Of[T](); t != r.roots[0].DType {
		return nil, &Error{Op: "collect", Shapes: [][]int{r.roots[0].Shape}, Types: []dtype.Type{r.roots[0].DType}, Site: site,
			Err: fmt.Errorf("the array's elements are %s, not %s: AsType brings them there", r.roots[0].DType, t)}
	}
	var out []T
	err = r.collect(ctx, func(n int) []byte {
		out = make([]T, n)
		return dtype.Bytes(out)
	})
	if err != nil {
		return nil, &Error{Op: "collect", Site: site, Err: err}
	}
	return out, nil
}

// CollectAll computes several arrays of one type into the program's memory, in one run: what they share is
// computed once, and reductions of one array along the same axes share a pass. What it returns is part of the
// budget. All else is as Collect has it.
func CollectAll[T Element](ctx context.Context, arrays []*Array, opts ...Option) ([][]T, error) {
	if len(arrays) == 0 {
		return nil, nil
	}
	joined := build("collect", func(site graph.Site, in []*graph.Node) (_ *graph.Node, err error) {
		for i, n := range in {
			if err := takes[T](site, "collect", n); err != nil {
				return nil, err
			}
			if in[i], err = graph.Reshape(site, n, grid.Size(n.Shape)); err != nil {
				return nil, err
			}
		}
		return shape.Concatenate(site, 0, in...)
	}, anys(arrays)...)
	all, err := Collect[T](ctx, joined, opts...)
	if err != nil {
		return nil, err
	}
	parts := make([][]T, len(arrays))
	for i, a := range arrays {
		n := min(a.Size(), len(all)) // under a plan only there are none
		parts[i], all = all[:n:n], all[n:]
	}
	return parts, nil
}

// Item computes an array of one element, such as the result of a reduction of all axes. T
// must be the type of the element.
func Item[T Element](ctx context.Context, a *Array, opts ...Option) (v T, err error) {
	if n, err := a.expression(); err == nil && grid.Size(n.Shape) != 1 {
		return v, &Error{Op: "item", Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: graph.Caller(),
			Err: errors.New("the array has not one element: Collect gives all of them")}
	}
	all, err := Collect[T](ctx, a, opts...)
	if err != nil {
		return v, err
	}
	if len(all) == 1 { // under a plan only there is none
		v = all[0]
	}
	return v, nil
}

// materialise is the array with its elements in the program's memory.
func (a *Array) materialise(ctx context.Context, opts []Option) (*Array, error) {
	site := graph.Caller()
	r, err := a.prepare(site, "", append(opts[:len(opts):len(opts)], unstored))
	if err != nil {
		return nil, err
	}
	var data []byte
	if err := r.collect(ctx, func(n int) []byte {
		data = make([]byte, n*r.roots[0].DType.Size())
		return data
	}); err != nil {
		return nil, &Error{Op: "collect", Site: site, Err: err}
	}
	n, err := graph.FromBytes(site, data, r.roots[0].DType, r.roots[0].Shape...)
	if err != nil {
		return nil, err
	}
	return made(n, nil), nil
}

// run is one Save or Collect.
type run struct {
	*settings
	site       graph.Site
	roots      []*graph.Node // of the plan's outputs
	plan       *plan.Sized
	checkpoint *checkpoint.Checkpoint // nil where nothing can be resumed
	limits     machine.Limits
	workers    *exec.Processes // nil where the tasks run in this process
	read       []string        // versions of files that Go functions read
	overhead   int64
	budget     int64    // of the process: the plan's own is less where loops over batches hold some
	files      int64    // bytes of it that lie in files in memory
	reported   bool     // how it ended
	written    []string // paths of outputs that are whole
}

// prepare plans a run, and rejects what can be rejected without reading.
func (a *Array) prepare(site graph.Site, path string, opts []Option) (_ *run, err error) {
	op := "save"
	if path == "" {
		op = "collect"
	}
	root, err := a.expression()
	if err != nil {
		return nil, err
	}
	s, err := applyOptions(opts)
	if err != nil {
		return nil, &Error{Op: op, Site: site, Err: err}
	}
	if s.grow != nil {
		op = "append"
	}
	if path == "" {
		if err := s.unusable(); err != nil {
			return nil, &Error{Op: op, Site: site, Err: err}
		}
	}
	defer func() {
		if err != nil {
			s.rejected(root.String())
		}
	}()
	out, err := s.output(site, op, a, path)
	if err != nil {
		return nil, err
	}
	return s.prepare(site, op, out)
}

// output is an array with its place, as plans have it. An error is one of what can be
// rejected without planning.
func (s *settings) output(site graph.Site, op string, a *Array, path string) (out plan.Output, err error) {
	root, err := a.expression()
	if err != nil {
		return out, err
	}
	chunks := s.chunks
	if chunks == nil && s.region == "" && s.grow == nil && path != "" {
		chunks = a.chunks
	}
	failed := func(err error) (plan.Output, error) {
		return out, &Error{Op: op, Shapes: [][]int{root.Shape}, Types: []dtype.Type{root.DType}, Site: site, Err: err}
	}
	codec := s.codec
	if name, ok := store.Encoded(path, codec); ok {
		if root, codec, err = inQ8(site, root, name); err != nil {
			return out, err
		}
		chunks = nil
	}
	out = plan.Output{Root: root, Target: plan.Target{Path: path, Chunks: chunks, Shards: s.shards, Codec: codec}}
	if out.Target.Details, err = s.details(root, path); err != nil {
		return failed(err)
	}
	if s.sideReductions != nil {
		if out.Target.SideReductions, err = s.sideReductions.nodes(); err != nil {
			return out, err
		}
	}
	if s.region != "" {
		if out.Root, out.Target.Region, out.Target.Whole, err = intoRegion(root, path, s); err != nil {
			return failed(err)
		}
	}
	if s.grow != nil {
		if out.Target.Region, out.Target.Whole, err = growth(root, path, *s.grow, s); err != nil {
			return failed(err)
		}
		out.Target.Grow = true
	}
	return out, nil
}

// inQ8 are the bytes of an array in Q8_0 and the name of that codec, as llama.cpp's converter has
// matrices; vectors and what has no whole blocks become float32.
func inQ8(site graph.Site, x *graph.Node, name string) (*graph.Node, string, error) {
	if n := len(x.Shape); n < 2 || x.Shape[n-1]%quantize.Q8Floats != 0 || x.DType.Kind() != dtype.KindFloat {
		if x.DType.Kind() == dtype.KindFloat {
			x, err := graph.AsType(site, x, dtype.Float32)
			return x, "", err
		}
		return x, "", nil
	}
	x, err := quantize.ToQ8(site, x)
	return x, name, err
}

// prepare plans a run that makes outputs.
func (s *settings) prepare(site graph.Site, op string, outputs ...plan.Output) (*run, error) {
	r := &run{settings: s, site: site, limits: machine.Read(), overhead: s.overhead()}
	failure := &Error{Op: op, Site: site}
	if err := checkInputs(outputs); err != nil && s.dry == nil {
		failure.Err = err
		return nil, failure
	}
	for _, out := range outputs {
		r.roots = append(r.roots, out.Root)
		failure.Shapes, failure.Types = append(failure.Shapes, out.Root.Shape), append(failure.Types, out.Root.DType)
	}
	if s.shardSize != 0 && outputs[0].Target.Collection == nil {
		failure.Err = errors.New("ShardSize is of a checkpoint, which Collection.Save writes")
		return nil, failure
	}
	o := plan.Options{Budget: s.budget, Overhead: r.overhead, Workers: s.workers, Processes: s.processes}
	if s.cluster != nil {
		if err := s.checkCluster(op, outputs); err != nil {
			failure.Err = err
			return nil, failure
		}
		o = s.clusterOptions(r.overhead)
	} else if s.dry != nil {
		o.Budget = s.dry.budget
	} else if o.Budget == 0 {
		o.Budget, _ = r.limits.DefaultBudget()
	} else if err := r.limits.Check(o.Budget); err != nil && !s.nominal {
		return nil, &Error{Op: op, Site: site, Err: err}
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if s.device != nil {
		o.Device = s.device.Spec()
		if s.parent != nil && s.dry == nil {
			o.Kept = s.parent.kept.Plan()
		}
	}
	var loops budget.Loops
	logical, err := plan.NewAll(outputs...)
	if err == nil {
		r.overhead += logical.OpenBytes()
		o.Overhead = r.overhead
	}
	switch {
	case err != nil:
	case s.cluster != nil:
		if _, err = logical.Encode(); err == nil {
			r.plan, err = logical.Size(o)
		}
		if err == nil {
			r.budget = r.plan.Budget
		}
	case s.dry != nil:
		r.plan, err = s.dry.size(logical, o)
	default:
		r.budget = o.Budget
		if loops = budget.Active(); loops.N > 0 && !s.nominal {
			r.budget = min(r.budget, loops.Budget)
			o.Budget = r.budget - loops.Bytes
		}
		r.plan, err = r.size(logical, o)
	}
	if _, small := errors.AsType[*MemoryError](err); small && len(o.Kept) > 0 && o.Device.OnHost {
		if end, ok := s.parent.kept.Use(); ok { // it is in the budget too
			err = s.parent.kept.Drop()
			end()
		}
		if o.Kept = nil; err == nil {
			r.plan, err = r.size(logical, o)
		}
	}
	if _, small := errors.AsType[*MemoryError](err); small && s.dry == nil && budget.HasGarbage(r.overhead) {
		// What the program has dropped counts as held until it is collected.
		debug.FreeOSMemory()
		r.overhead = s.overhead() + logical.OpenBytes()
		o.Overhead = r.overhead
		r.plan, err = r.size(logical, o)
	}
	if err == nil && s.processes > 0 && s.cluster == nil {
		if r.workers, err = workerProcesses(logical, s.processes); err == nil && s.parent != nil {
			r.workers = s.parent.share(r.workers)
		}
	}
	if err != nil {
		if small, ok := errors.AsType[*MemoryError](err); ok && s.dry == nil {
			budget.Named(small.Need)
			if budget.HasGarbage(r.overhead) {
				small.Held = r.overhead
			}
		}
		if small, ok := errors.AsType[*MemoryError](err); ok && loops.N > 0 {
			err = r.besideLoops(small.Op, small.Need, loops)
		}
		failure.Err = err
		return nil, failure
	}
	return r, nil
}

// size sizes a plan. The run of a loop takes half of the budget where that will do, and leaves the
// rest to runs in the loop.
func (r *run) size(p *plan.Plan, o plan.Options) (*plan.Sized, error) {
	if r.loop != "" {
		half := o
		half.Budget = o.Overhead + max(o.Budget-o.Overhead, 0)/2
		if sized, err := r.sizeFiles(p, half); err == nil {
			return sized, nil
		}
	}
	return r.sizeFiles(p, o)
}

// sizeFiles sizes a plan for the part of a budget that is left beside files in memory, as in a
// tmpfs: outputs there, and what is spilled there.
func (r *run) sizeFiles(p *plan.Plan, o plan.Options) (*plan.Sized, error) {
	var outputs, all int64 // all: of what may be spilled in memory
	var path string
	var array, spilled bool
	for i := range p.Outputs() {
		if at := p.StagingPath(i); i == p.Output || at != path {
			path = at
			array, spilled = store.InMemory(path)
		}
		if array {
			outputs += p.Arrays[i].Bytes()
		}
		if i != p.Output || !spilled {
			continue
		}
		for k := range p.Arrays {
			if place := p.Arrays[k].Place; place == plan.InTemp || place == plan.InCollect && o.Processes > 0 {
				all += exec.SpillBytes(&p.Arrays[k])
			}
		}
	}
	budget := o.Budget
	for r.files = outputs; ; {
		o.Budget = budget - r.files
		sized, err := p.Size(o)
		if small, ok := errors.AsType[*MemoryError](err); ok && outputs+all > 0 {
			return nil, &MemoryError{Op: small.Op, Need: wholeMiB(small.Need + outputs + all), Limit: budget, Held: outputs + all, Holder: "files in memory (tmpfs)"}
		}
		if err != nil {
			return nil, err
		}
		files := outputs
		for k := range p.Arrays {
			if all > 0 && sized.Place(k) == plan.InSpill {
				files += exec.SpillBytes(&p.Arrays[k])
			}
		}
		if files <= r.files { // the less the arena has, the more is spilled
			sized.Budget = budget
			return sized, nil
		}
		r.files = files
	}
}

// wholeMiB rounds bytes up.
func wholeMiB(n int64) int64 { return (n + 1<<20 - 1) >> 20 << 20 }

// besideLoops is the error of a run that needs a budget by itself, and has what loops leave.
// Each of these takes about half of what it finds, and the program's own memory grows meanwhile.
func (r *run) besideLoops(op string, need int64, loops budget.Loops) error {
	foreseen := max(r.overhead, budget.Foreseen(r.budget))
	need = foreseen + max(need-r.overhead+loops.Bytes, (need-r.overhead)<<loops.N)
	return &MemoryError{Op: op, Need: wholeMiB(need), Limit: r.budget, Held: loops.Bytes, Holder: loops.Name}
}

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
		stored, err := store.OpenContext(ctx, path)
		if err != nil {
			return nil, err
		}
		info := stored.Info()
		if err := stored.Close(); err != nil {
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
	if r.planned || r.dry != nil {
		if r.dry == nil {
			if err := r.recordOnly(ctx, record.Planned); err != nil {
				return nil, err
			}
		}
		return r.foreseenArrays(paths)
	}
	if r.cluster != nil {
		if err := r.findFolder(ctx); err != nil {
			return nil, err
		}
	}
	inputs, err := versions(ctx, r.plan.Plan, nil)
	if err != nil {
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
	if r.cluster != nil {
		return nil, r.submit(ctx, print, inputs, why)
	}
	return nil, r.make(ctx, print, inputs, why)
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

// storedShape returns the shape of the array in whose file the output of a root is then: of
// all of it where the output is a region, or is appended.
func (r *run) storedShape(root, output int) []int {
	if whole := r.plan.Arrays[output].Whole; whole != nil {
		return whole
	}
	return r.roots[root].Shape
}

// regionKey is the region that an output, an index into the plan's arrays, is written to, as
// the result cache has it; "" for a whole array.
func (r *run) regionKey(output int) string {
	if b := r.plan.Arrays[output].Region; b != nil {
		return b.String()
	}
	return ""
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
			after, err := versions(ctx, r.plan.Plan, before)
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
			return err
		},
		Committed: func(ctx context.Context, output int, earlier bool) {
			r.written = append(r.written, r.plan.Arrays[output].Path)
			if r.cluster != nil { // what fails here is a note of a run that has ended, which nobody heeds
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
	if err = r.execute(ctx, env); err == nil {
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
	return ended(ctx, r.execute(ctx, exec.Env{Into: allocate(grid.Size(r.roots[0].Shape))}))
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

// execute runs the plan in an environment, to which it adds what the settings say.
func (r *run) execute(ctx context.Context, env exec.Env) error {
	slog.DebugContext(ctx, "gonbext: run", "title", r.plan.Title, "output", r.plan.Arrays[r.plan.Output].Path,
		"budget", r.plan.Budget, "predicted", r.plan.Peak.Host(), "stages", len(r.plan.Stages), "chunks", r.plan.Tasks())
	peak := r.plan.Peak.Host()
	if r.plan.Device.OnHost {
		peak += r.plan.DevicePeak
	}
	if r.cluster != nil { // whose workers have memory of their own
		peak = r.plan.Arena
	}
	release, err := budget.Take(ctx, peak+r.processOverhead()+r.files, r.overhead, r.budget, r.loop)
	if err != nil {
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
	// What Collect returns lies in Go's heap, and so does what codecs take.
	defer machine.LimitRuntime(r.overhead + int64(len(env.Into)) + r.plan.Heap())()
	env.Open = func(path string) (store.Array, error) { return store.Reopen(ctx, path) }
	env.Checkpoint = r.checkpoint
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

// recorded reports whether runs are to leave records.
func (s *settings) recorded() bool { return s.hosted || record.Asked() }

// runLog is where the records of runs go.
func (s *settings) runLog() (dir string, err error) {
	if !s.recorded() {
		return "", record.ErrOff
	}
	return record.Dir()
}

// record begins the run's record. It returns nil where nobody asks for one, or the run log cannot
// be written: the result is computed all the same.
func (r *run) record() *record.Writer {
	dir, err := r.runLog()
	if err != nil {
		return nil
	}
	h := r.plan.Header()
	h.Cell, h.PlanOnly, h.WhatIf = r.cell, r.planned, r.alternatives
	if r.checkpoint != nil && r.cluster == nil { // whose stages are runs of their own, and one to their user
		r.checkpoint.Describe(&h)
	}
	rates.Predict(&h, r.limits)
	h.Machine, _ = json.Marshal(r.limits)
	create := record.Create
	if r.parent != nil {
		create = r.parent.create
	}
	w, err := create(dir, h)
	if err != nil {
		return nil
	}
	return w
}

// recordOnly leaves the record of a run that computed nothing.
func (r *run) recordOnly(ctx context.Context, s record.Status) error {
	end := record.End{Status: s}
	for i := range r.plan.Stages {
		if s == record.Skipped {
			end.Skipped += int64(r.plan.Stages[i].Tasks())
		}
	}
	w := r.record()
	r.ran(ctx, w.Run(), &end)
	return w.End(end)
}
