package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/memstore"
)

// arrays are what a plan's stages read and write, while it runs.
type arrays struct {
	plan    *plan.Plan
	env     *Env
	arena   *arena.Arena
	readers []store.Array
	writers []store.Writer
	memory  []*arena.Buffer   // of arrays kept in the arena
	lastUse []int             // the last stage that needs each
	spill   *store.ScratchDir // folder of temporary arrays, made when the first is
}

// openArrays opens what the plan reads and creates what it returns. Nothing is
// left open or created where it fails.
func openArrays(p *plan.Plan, env *Env, a *arena.Arena) (_ *arrays, err error) {
	n := len(p.Arrays)
	s := &arrays{plan: p, env: env, arena: a, lastUse: p.LastUses(),
		readers: make([]store.Array, n), writers: make([]store.Writer, n), memory: make([]*arena.Buffer, n)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
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
			s.writers[i], err = env.create(d.Path, store.Meta{Shape: d.Shape, DType: d.DType, Chunks: d.Chunks})
		case plan.InCollect:
			if int64(len(env.Into)) != d.Bytes() {
				return s, fmt.Errorf("the result has %d bytes and the place for it %d", d.Bytes(), len(env.Into))
			}
			if s.memory[i], err = a.Charge(arena.Tag{Chunk: -1, Class: record.Output}, d.Bytes()); err == nil {
				s.writers[i] = memstore.Into(d.Shape, d.DType, env.Into)
			}
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
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
		switch d.Place {
		case plan.InArena:
			if s.memory[i], err = s.arena.Alloc(arena.Tag{Stage: stage, Chunk: -1, Class: record.Scratch}, d.Bytes()); err == nil {
				s.writers[i] = memstore.Into(d.Shape, d.DType, s.memory[i].Data)
			}
		case plan.InSpill:
			if s.spill == nil {
				if s.spill, err = store.NewScratchDir(s.env.spillDir(s.plan)); err != nil {
					return fmt.Errorf("a folder for temporary arrays: %w", err)
				}
			}
			s.writers[i], err = store.Create(s.spillPath(i), spilled(d))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// spillPath is a raw file: npy has not every type.
func (s *arrays) spillPath(i int) string {
	return filepath.Join(s.spill.Path, fmt.Sprintf("%d.bin", i))
}

func spilled(d *plan.Array) store.Meta { return store.Meta{Shape: d.Shape, DType: d.DType} }

// end makes the temporary arrays that a stage filled readable, and gives back those
// that no later stage needs.
func (s *arrays) end(ctx context.Context, stage int) (err error) {
	for _, i := range s.plan.Stages[stage].Outputs {
		d := &s.plan.Arrays[i]
		if i == s.plan.Output {
			continue
		}
		if err := s.writers[i].Commit(ctx); err != nil {
			return err
		}
		s.writers[i] = nil
		switch d.Place {
		case plan.InArena:
			s.readers[i] = memstore.New(d.Shape, d.DType, s.memory[i].Data)
		case plan.InSpill:
			s.readers[i], err = store.Open(store.Stored(s.spillPath(i), spilled(d)))
		}
		if err != nil {
			return err
		}
	}
	for i := range s.plan.Arrays {
		place := s.plan.Arrays[i].Place
		if (place == plan.InArena || place == plan.InSpill) && s.readers[i] != nil && s.lastUse[i] <= stage {
			if err := s.drop(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit puts the output in its place, as the last thing that can fail: all else is
// closed before.
func (s *arrays) commit(ctx context.Context) error {
	out := s.plan.Output
	w := s.writers[out]
	s.writers[out] = nil
	if err := s.close(); err != nil {
		return errors.Join(err, w.Abort())
	}
	if err := w.Commit(ctx); err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}

func (s *arrays) drop(i int) error {
	var errs []error
	if s.writers[i] != nil {
		errs = append(errs, s.writers[i].Abort())
		s.writers[i] = nil
	}
	if s.readers[i] != nil {
		errs = append(errs, s.readers[i].Close())
		s.readers[i] = nil
	}
	s.memory[i].Free()
	s.memory[i] = nil
	if s.plan.Arrays[i].Place == plan.InSpill && s.spill != nil {
		if err := os.Remove(s.spillPath(i)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// close drops everything; what was not committed is as if it had never been begun.
func (s *arrays) close() error {
	var errs []error
	for i := range s.plan.Arrays {
		errs = append(errs, s.drop(i))
	}
	if s.spill != nil {
		errs = append(errs, s.spill.Remove())
		s.spill = nil
	}
	return errors.Join(errs...)
}

// stored reports an array whose traffic counts as reading and writing.
func (s *arrays) stored(i int) bool {
	switch s.plan.Arrays[i].Place {
	case plan.InFile, plan.InSpill, plan.InResult:
		return true
	}
	return false
}
