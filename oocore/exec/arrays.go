package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/gonbext/gonbext/oocore/arena"
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
	memory     []*arena.Buffer   // of arrays kept in the arena
	lastUse    []int             // the last stage that needs each
	shared     bool              // worker processes run the tasks
	spill      *store.StagingDir // of temporary arrays; the run's Checkpoint has one, else it is made when the first is
	checkpoint *Checkpoint
}

// openArrays opens what the plan reads and creates what it returns. Nothing is
// left open or created where it fails.
func openArrays(p *plan.Sized, env *Env, a *arena.Arena) (_ *arrays, err error) {
	n := len(p.Arrays)
	s := &arrays{plan: p, env: env, arena: a, checkpoint: env.Checkpoint, lastUse: p.LastUses(),
		readers: make([]store.Array, n), writers: make([]store.Writer, n), memory: make([]*arena.Buffer, n), shared: env.Processes != nil}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.checkpoint != nil {
		s.spill = s.checkpoint.staging
	}
	for i := range p.Arrays {
		d := &p.Arrays[i]
		switch d.Place {
		case plan.InFile:
			s.readers[i], err = openStored(d, env)
		case plan.InData:
			if int64(len(d.Data)) != d.Bytes() {
				return s, fmt.Errorf("the plan's %s of shape %s has %d bytes of data", d.DType, grid.Format(d.Shape), len(d.Data))
			}
			s.readers[i] = memstore.New(d.Shape, d.DType, d.Data)
		case plan.InResult:
			m := s.meta(d)
			m.Resume = s.checkpoint.Resumes()
			if s.writers[i], err = s.create(d.Path, m); err == nil && s.shared {
				store.Share(s.writers[i])
			}
		case plan.InCollect:
			if int64(len(env.Into)) != d.Bytes() {
				return s, fmt.Errorf("the result has %d bytes and the place for it %d", d.Bytes(), len(env.Into))
			}
			if s.memory[i], err = p.ArrayBuffer(i).Alloc(a, 0); err == nil && !s.shared {
				s.writers[i] = memstore.Into(d.Shape, d.DType, env.Into)
			}
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// meta is what the output is to be.
func (s *arrays) meta(d *plan.Array) store.Meta {
	m := store.Meta{Shape: d.Shape, DType: d.DType, Chunks: d.Chunks, Shards: d.Shards, Codec: d.Layout.Codec, Region: d.Region,
		Details: d.Details, StagingDir: s.spill}
	if d.Region != nil {
		m.Shape = d.Whole
	}
	return m
}

// create begins the output. Where nothing is left of what an earlier run wrote, such
// as when that ended while it put its output in place, the run starts over.
func (s *arrays) create(path string, m store.Meta) (store.Writer, error) {
	w, err := s.env.create(path, m)
	if err != nil || !m.Resume || store.Resumed(w) {
		return w, err
	}
	if err := w.Abort(); err != nil {
		return nil, err
	}
	if err := s.checkpoint.startOver("what it had written is not there any more"); err != nil {
		return nil, err
	}
	m.Resume = false
	return s.env.create(path, m)
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

// begin makes room for the temporary arrays that a stage fills.
func (s *arrays) begin(stage int) (err error) {
	for _, i := range s.plan.Stages[stage].Outputs {
		d := &s.plan.Arrays[i]
		switch s.plan.Place(i) {
		case plan.InArena:
			if err = s.inArena(stage, i); err == nil && s.checkpoint.Resumes() && s.checkpoint.state.Done[stage].Len() > 0 {
				err = s.checkpoint.forget(stage) // which filled a file
			}
		case plan.InSpill:
			if err = s.makeSpill(); err == nil {
				m := spilled(d)
				m.Resume = s.checkpoint.skipped(stage) > 0
				s.writers[i], err = store.CreateBlocks(s.spill, spillName(i), m)
				if err == nil && m.Resume && !store.Resumed(s.writers[i]) {
					err = s.checkpoint.forget(stage)
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inArena makes room for an array that is kept in memory.
func (s *arrays) inArena(stage, i int) (err error) {
	d := &s.plan.Arrays[i]
	if s.memory[i], err = s.plan.ArrayBuffer(i).Alloc(s.arena, stage); err != nil {
		return err
	}
	s.writers[i] = memstore.Into(d.Shape, d.DType, s.memory[i].Bytes())
	return nil
}

// arenaBuffer returns the memory of a temporary array that is kept in the arena.
func (s *arrays) arenaBuffer(i int) []byte {
	if s.plan.Place(i) != plan.InArena {
		return nil
	}
	return s.memory[i].Bytes()
}

func (s *arrays) makeSpill() (err error) {
	if s.spill == nil {
		if s.spill, err = store.TempStagingDir(); err != nil {
			return fmt.Errorf("a folder for temporary arrays: %w", err)
		}
	}
	return nil
}

func spillName(i int) string { return fmt.Sprintf("array-%d", i) }

// spilled is how a temporary array lies in its file.
func spilled(d *plan.Array) store.Meta {
	m := store.Meta{Shape: d.Shape, DType: d.DType, Chunks: d.Blocks}
	if m.Chunks == nil {
		m.Chunks = grid.Whole(d.Shape).Chunks
	}
	return m
}

// restore takes what an earlier run's stage left, as far as later stages need it.
func (s *arrays) restore(ctx context.Context, stage int) (err error) {
	for _, i := range s.plan.Stages[stage].Outputs {
		d := &s.plan.Arrays[i]
		if i == s.plan.Output || !s.needed(i) {
			continue
		}
		stored, err := store.OpenBlocks(s.spill, spillName(i), spilled(d))
		if err != nil {
			return err
		}
		if s.plan.Place(i) == plan.InSpill {
			s.readers[i] = stored
			continue
		}
		if err = s.inArena(stage, i); err == nil {
			err = stored.Read(ctx, s.memory[i].Bytes(), grid.Entire(d.Shape).Region())
			s.writers[i], s.readers[i] = nil, memstore.New(d.Shape, d.DType, s.memory[i].Bytes())
		}
		if err = errors.Join(err, stored.Close()); err != nil {
			return err
		}
	}
	return nil
}

// needed reports an array that a stage still to be run reads.
func (s *arrays) needed(array int) bool {
	for i := range s.plan.Stages {
		for _, prog := range s.plan.Stages[i].Programs {
			for l := range prog.Arrays() {
				if l.Array == array && !s.checkpoint.finished(i) {
					return true
				}
			}
		}
	}
	return false
}

// sync makes durable what a stage has written so far to files.
func (s *arrays) sync(ctx context.Context, stage int) error {
	for _, i := range s.plan.Stages[stage].Outputs {
		if w := s.writers[i]; w != nil {
			if err := w.Sync(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// inMemory reports a stage with results in memory.
func (s *arrays) inMemory(stage int) bool {
	return slices.ContainsFunc(s.plan.Stages[stage].Outputs, func(i int) bool { return s.plan.Place(i) == plan.InArena })
}

// end makes the temporary arrays that a stage filled readable, and gives back those
// that no later stage needs. saved says that those in memory are worth a file, from
// which a later run can take them.
func (s *arrays) end(ctx context.Context, stage int, saved bool) (err error) {
	for _, i := range s.plan.Stages[stage].Outputs {
		d := &s.plan.Arrays[i]
		if i == s.plan.Output {
			continue
		}
		if err := s.writers[i].Commit(ctx); err != nil {
			return err
		}
		s.writers[i] = nil
		switch s.plan.Place(i) {
		case plan.InArena:
			s.readers[i] = memstore.New(d.Shape, d.DType, s.memory[i].Bytes())
			if saved {
				err = s.save(ctx, i)
			}
		case plan.InSpill:
			s.readers[i], err = store.OpenBlocks(s.spill, spillName(i), spilled(d))
		}
		if err != nil {
			return err
		}
	}
	if saved {
		if err := s.checkpoint.stageDone(stage); err != nil {
			return err
		}
	}
	for i := range s.plan.Arrays {
		place := s.plan.Place(i)
		if (place == plan.InArena || place == plan.InSpill) && s.readers[i] != nil && s.lastUse[i] <= stage {
			if err := s.drop(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// save writes an array that is in memory to the staging folder.
func (s *arrays) save(ctx context.Context, i int) error {
	d := &s.plan.Arrays[i]
	w, err := store.CreateBlocks(s.spill, spillName(i), spilled(d))
	if err != nil {
		return err
	}
	if err := w.Write(ctx, s.memory[i].Bytes(), grid.Entire(d.Shape)); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit(ctx)
}

// commit puts the output in its place, as the last thing that can fail: all else is
// closed before.
func (s *arrays) commit(ctx context.Context) error {
	out := s.plan.Output
	if s.plan.Arrays[out].Place == plan.InCollect && s.shared {
		if err := s.collect(ctx); err != nil {
			return err
		}
	}
	w := s.writers[out]
	s.writers[out] = nil
	if err := s.close(); err != nil {
		return errors.Join(err, s.giveUp(w))
	}
	if err := w.Commit(ctx); err != nil {
		return errors.Join(err, s.giveUp(w))
	}
	if s.env.Committed != nil {
		s.env.Committed(ctx)
	}
	return s.checkpoint.close(false) // at once: what is left of a run that is killed now would be there for no one
}

// collect reads the result that worker processes have written to a file.
func (s *arrays) collect(ctx context.Context) error {
	out := s.plan.Output
	d := &s.plan.Arrays[out]
	if err := s.writers[out].Commit(ctx); err != nil {
		return err
	}
	stored, err := store.OpenBlocks(s.spill, spillName(out), spilled(d))
	if err != nil {
		return err
	}
	s.writers[out] = memstore.Into(d.Shape, d.DType, s.env.Into)
	return errors.Join(stored.Read(ctx, s.env.Into, grid.Entire(d.Shape).Region()), stored.Close())
}

// giveUp ends a writer that was not committed. What is durable stays for the next
// run, where it can go on from that.
func (s *arrays) giveUp(w store.Writer) error {
	if s.checkpoint.hasProgress() {
		return w.Suspend()
	}
	return w.Abort()
}

// drop gives back a temporary array, or closes one that is stored.
func (s *arrays) drop(i int) error {
	err := s.release(i)
	if s.plan.Place(i) == plan.InSpill || s.checkpoint != nil && s.plan.Place(i) == plan.InArena {
		if failed := os.Remove(s.spill.Join(spillName(i))); failed != nil && !errors.Is(failed, os.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// release closes what an array has open, and gives back its memory.
func (s *arrays) release(i int) error {
	var errs []error
	if s.writers[i] != nil {
		errs = append(errs, s.giveUp(s.writers[i]))
		s.writers[i] = nil
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
// but for what is worth keeping.
func (s *arrays) close() error {
	var errs []error
	for i := range s.plan.Arrays {
		errs = append(errs, s.release(i))
	}
	if s.spill != nil && s.checkpoint == nil {
		errs = append(errs, s.spill.Remove())
		s.spill = nil
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
