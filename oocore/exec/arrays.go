package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/memstore"
)

// arrays are what a plan's stages read and write, while it runs.
type arrays struct {
	plan       *plan.Sized
	env        *Env
	arena      *arena.Arena
	readers    []store.Array
	writers    []store.Writer
	memory     []*arena.Buffer        // of arrays that are materialised in the arena
	copies     []store.Writer         // in the staging folder, of arrays that a stage fills in the arena
	uncopied   bool                   // the disk has no room for those of the present stage
	dropped    []int                  // that this run needs no more, and whose files another would
	lastUse    []int                  // the last stage that needs each
	shared     bool                   // worker processes run the tasks
	spill      *store.StagingDir      // nil until there is a need for one
	checkpoint *checkpoint.Checkpoint // nil in a worker process
	staging    []*store.StagingDir    // of the outputs after the first, which has the checkpoint's
	placed     bool                   // by an earlier run: one of the outputs, for which it had computed all of them
}

func newArrays(p *plan.Sized, env *Env, a *arena.Arena) *arrays {
	n := len(p.Arrays)
	return &arrays{plan: p, env: env, arena: a, readers: make([]store.Array, n), writers: make([]store.Writer, n),
		memory: make([]*arena.Buffer, n), copies: make([]store.Writer, n), staging: make([]*store.StagingDir, n)}
}

// openArrays opens what the plan reads and creates what it returns. Nothing is
// left open or created where it fails.
func openArrays(p *plan.Sized, env *Env, c *checkpoint.Checkpoint, a *arena.Arena) (_ *arrays, err error) {
	s := newArrays(p, env, a)
	s.checkpoint, s.lastUse, s.shared = c, p.LastUses(), p.Each.Workers > 0
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if env.Checkpoint != nil {
		if s.spill, err = c.StagingDir(); err != nil {
			return s, err
		}
	}
	for i := range p.Arrays {
		if err := s.openInput(i); err != nil {
			return s, err
		}
		d := &p.Arrays[i]
		if d.Place != plan.InCollect {
			continue
		}
		if int64(len(env.Into)) != d.Bytes() {
			return s, fmt.Errorf("the result has %d bytes and the place for it %d", d.Bytes(), len(env.Into))
		}
		if s.memory[i], err = p.ArrayBuffer(i).Alloc(a, 0); err != nil {
			return s, err
		}
		if !s.shared {
			s.writers[i] = memstore.Into(d.Shape, d.DType, env.Into)
		}
	}
	return s, s.createOutputs()
}

// openInput opens an array that no stage fills.
func (s *arrays) openInput(i int) (err error) {
	switch d := &s.plan.Arrays[i]; d.Place {
	case plan.InFile:
		s.readers[i], err = openStored(d, s.env)
	case plan.InData:
		if int64(len(d.Data)) != d.Bytes() {
			return fmt.Errorf("the plan's %s of shape %s has %d bytes of data", d.DType, grid.Format(d.Shape), len(d.Data))
		}
		s.readers[i] = memstore.New(d.Shape, d.DType, d.Data)
	}
	return err
}

// createOutputs begins the outputs that are files. Where one of them has nothing left of
// what an earlier run wrote, such as when that ended while it put its outputs in place, the
// run starts over.
func (s *arrays) createOutputs() error {
	complete, err := s.tryOutputs()
	if err != nil || complete {
		return err
	}
	for i := range s.plan.Outputs() {
		if w := s.writers[i]; w != nil {
			s.writers[i] = nil
			if err := w.Abort(); err != nil {
				return err
			}
		}
	}
	s.placed = false
	if err := s.checkpoint.StartOver("what it had written is not there any more"); err != nil {
		return err
	}
	_, err = s.tryOutputs()
	return err
}

// tryOutputs begins the outputs, or resumes all of them. It stops at the first that
// cannot be resumed, and reports it.
func (s *arrays) tryOutputs() (complete bool, err error) {
	for i := range s.plan.Outputs() {
		d := &s.plan.Arrays[i]
		if d.Place != plan.InResult {
			continue
		}
		if i != s.plan.Output {
			if err := s.stage(i); err != nil {
				return false, err
			}
		}
		m := s.meta(i)
		m.Resume = s.checkpoint.Resumes()
		if s.writers[i], err = s.env.create(d.Path, m); err != nil {
			return false, err
		}
		if m.Resume && !store.Resumed(s.writers[i]) {
			return false, nil
		}
		s.placed = s.placed || store.Placed(s.writers[i])
		if s.shared {
			store.Share(s.writers[i])
		}
	}
	return true, nil
}

// stage takes the staging folder of an output after the first. It is empty unless the output
// is resumed.
func (s *arrays) stage(i int) (err error) {
	if s.staging[i] == nil {
		if s.staging[i], err = store.NewStagingDir(s.plan.Arrays[i].Path); err != nil {
			return err
		}
	}
	return s.checkpoint.Claim(s.staging[i])
}

// unstage releases the staging folder of an output after the first, with its contents where a
// run may resume from them, else empty.
func (s *arrays) unstage(i int, kept bool) error {
	ws := s.staging[i]
	s.staging[i] = nil
	switch {
	case ws == nil:
		return nil
	case kept:
		return ws.Close()
	}
	return ws.Remove()
}

// meta is what an output is to be.
func (s *arrays) meta(i int) store.Meta {
	d := &s.plan.Arrays[i]
	m := store.Meta{Shape: d.Shape, DType: d.DType, Chunks: d.Chunks, Shards: d.Shards, Codec: d.Layout.Codec, Region: d.Region, Grow: d.Grow,
		Details: d.Details, StagingDir: s.spill}
	if i != s.plan.Output {
		m.StagingDir = s.staging[i]
	}
	if d.Region != nil {
		m.Shape = d.Whole
	}
	return m
}

// openStored opens an input and makes sure that it is still the file that was
// planned for.
func openStored(d *plan.Array, env *Env) (store.Array, error) {
	a, err := env.open(d.Path)
	if err != nil {
		return nil, err
	}
	info := a.Info()
	if !info.ID.Equal(d.ID) || info.DType != d.DType || grid.Size(info.Shape) != grid.Size(d.Shape) {
		return nil, errors.Join(fmt.Errorf("%s has changed since the run was planned: plan it again", d.Path), a.Close())
	}
	if slices.Equal(info.Shape, d.Shape) {
		return a, nil
	}
	r, ok := a.(store.Reshaper)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s cannot be read in the shape %s", d.Path, grid.Format(d.Shape)), a.Close())
	}
	reshaped, err := r.Reshape(d.Shape)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return reshaped, nil
}

// commit puts the outputs in their places, as the last thing that can fail: all else is
// closed before.
func (s *arrays) commit(ctx context.Context) error {
	out := s.plan.Output
	if s.plan.Arrays[out].Place == plan.InCollect && s.shared {
		if err := s.collect(ctx); err != nil {
			return err
		}
	}
	outputs := slices.Collect(s.plan.Outputs())
	var errs []error
	for i := range s.plan.Arrays {
		if !slices.Contains(outputs, i) {
			errs = append(errs, s.release(i))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(s.plan.Others) > 0 { // what takes time, and can fail, comes before the first is in its place
		for _, i := range outputs {
			if err := s.writers[i].Sync(ctx); err != nil {
				return err
			}
		}
	}
	for _, i := range outputs {
		if err := s.writers[i].Commit(ctx); err != nil {
			return errors.Join(append(errs, err)...)
		}
		ctx = context.WithoutCancel(ctx) // an interrupt would leave some outputs new and others old
		s.writers[i] = nil
		if s.env.Committed != nil {
			s.env.Committed(ctx, i, s.placed)
		}
	}
	// At once, and only now: what is left of a run that is killed from here on would be there
	// for no one, and before it tells the next run that the outputs are computed.
	for i := range s.plan.Outputs() {
		errs = append(errs, s.unstage(i, false))
	}
	errs = append(errs, s.checkpoint.Close(false))
	return errors.Join(errs...)
}

// collect reads the result that worker processes have written to a file.
func (s *arrays) collect(ctx context.Context) error {
	out := s.plan.Output
	d := &s.plan.Arrays[out]
	if err := s.writers[out].Commit(ctx); err != nil {
		return err
	}
	stored, err := s.openSpill(out)
	if err != nil {
		return err
	}
	s.writers[out] = memstore.Into(d.Shape, d.DType, s.env.Into)
	return errors.Join(stored.Read(ctx, s.env.Into, grid.Entire(d.Shape).Region()), stored.Close())
}

// keeps reports whether what was written and not committed stays: for the next run, or for the
// process that coordinates this one.
func (s *arrays) keeps() bool { return s.checkpoint == nil || s.checkpoint.Resumable() }

// release closes what an array has open, and gives back its memory.
func (s *arrays) release(i int) error {
	var errs []error
	for _, w := range []*store.Writer{&s.writers[i], &s.copies[i]} {
		switch {
		case *w == nil:
			continue
		case s.keeps():
			errs = append(errs, (*w).Suspend())
		default:
			errs = append(errs, (*w).Abort())
		}
		*w = nil
	}
	if s.readers[i] != nil {
		errs = append(errs, s.readers[i].Close())
		s.readers[i] = nil
	}
	s.memory[i].Free()
	s.memory[i] = nil
	return errors.Join(errs...)
}

// close releases everything. What was not committed is as if it had never been begun,
// but for what another run can resume from.
func (s *arrays) close() error {
	var errs []error
	for i := range s.plan.Arrays {
		errs = append(errs, s.release(i), s.unstage(i, s.keeps()))
	}
	return errors.Join(errs...)
}

// stored reports an array whose traffic counts as reading and writing.
func (s *arrays) stored(i int) bool {
	switch s.plan.Place(i) {
	case plan.InFile, plan.InSpill, plan.InResult:
		return true
	}
	return false
}
