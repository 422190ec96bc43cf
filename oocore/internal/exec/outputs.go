package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// outputs are the arrays that a run returns: files, or the one that is collected.
type outputs struct {
	*arrayTable
	members
	staging []*storage.StagingDir // of the outputs after the first, which has the checkpoint's; of a collection its first output's
	placed  bool                  // by an earlier run: one of the outputs, for which it had computed all of them
}

// openCollected allocates the result that is collected, where there is one.
func (s *outputs) openCollected() (err error) {
	i := s.Plan.Output
	d := &s.Plan.Arrays[i]
	if d.Place != plan.InCollect {
		return nil
	}
	if int64(len(s.env.Into)) != d.Bytes() {
		return fmt.Errorf("the result has %d bytes and the buffer for it %d", d.Bytes(), len(s.env.Into))
	}
	if s.memory[i], err = s.Plan.ArrayBuffer(i).Alloc(s.Arena, 0); err == nil && !s.shared {
		s.Writers[i] = memstore.Into(d.Shape, d.DType, s.env.Into)
	}
	return err
}

// createOutputs begins the outputs that are files. Where one of them has nothing left of
// what an earlier run wrote, such as when that ended while it put its outputs in place, the
// run starts over.
func (s *outputs) createOutputs() error {
	if err := s.openCollected(); err != nil {
		return err
	}
	complete, err := s.tryOutputs()
	if err != nil || complete {
		return err
	}
	for i := range s.Plan.Outputs() {
		if w := s.Writers[i]; w != nil {
			s.Writers[i] = nil
			if err := w.Abort(); err != nil {
				return err
			}
		}
	}
	if err := s.endCollections(false); err != nil {
		return err
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
func (s *outputs) tryOutputs() (complete bool, err error) {
	for i := range s.Plan.Outputs() {
		d := &s.Plan.Arrays[i]
		if d.Place != plan.InResult || s.set(i) != nil {
			continue
		}
		if i != s.Plan.Output {
			if err := s.claimStaging(i); err != nil {
				return false, err
			}
		}
		if d.Collection > 0 {
			if err := s.createCollection(i, s.stagingOf(i), s.checkpoint.Resumes()); err != nil {
				return false, err
			}
			if s.checkpoint.Resumes() && !s.set(i).Resumed() {
				return false, nil
			}
			s.placed = s.placed || s.set(i).Placed()
			continue
		}
		m := s.meta(i)
		m.Resume = s.checkpoint.Resumes()
		if s.Writers[i], err = s.env.create(d.Path, m); err != nil {
			return false, err
		}
		if m.Resume && !storage.Resumed(s.Writers[i]) {
			return false, nil
		}
		s.placed = s.placed || storage.Placed(s.Writers[i])
		if s.shared {
			storage.Share(s.Writers[i])
		}
	}
	return true, nil
}

// claimStaging takes the staging folder of an output after the first. It is empty unless the output
// is resumed.
func (s *outputs) claimStaging(i int) (err error) {
	if s.staging[i] == nil {
		if s.staging[i], err = storage.NewStagingDir(s.Plan.StagingPath(i)); err != nil {
			return err
		}
	}
	return s.checkpoint.Claim(s.staging[i])
}

// releaseStaging releases the staging folder of an output after the first, with its contents where a
// run may resume from them, else empty.
func (s *outputs) releaseStaging(i int, kept bool) error {
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

// stagingOf is the staging folder of an output that has one.
func (s *outputs) stagingOf(output int) *storage.StagingDir {
	if output == s.Plan.Output {
		return s.spill
	}
	return s.staging[output]
}

// meta is what an output is to be.
func (s *outputs) meta(i int) store.Meta { return OutputMeta(&s.Plan.Arrays[i], s.stagingOf(i)) }

// OutputMeta is what an output is to be, in its staging folder.
func OutputMeta(d *plan.Array, staging *storage.StagingDir) store.Meta {
	m := store.Meta{Shape: d.Shape, DType: d.DType, Chunks: d.Chunks, Shards: d.Shards, Codec: d.Layout.Codec, Region: d.Region, Grow: d.Grow,
		Details: d.Details, StagingDir: staging}
	if d.Region != nil {
		m.Shape = d.Whole
	}
	return m
}

// collect reads a collected result that worker processes have written to a file.
func (s *outputs) collect(ctx context.Context) error {
	out := s.Plan.Output
	d := &s.Plan.Arrays[out]
	if d.Place != plan.InCollect || !s.shared {
		return nil
	}
	if err := s.Writers[out].Commit(ctx); err != nil {
		return err
	}
	stored, err := s.openSpill(out)
	if err != nil {
		return err
	}
	s.Writers[out] = memstore.Into(d.Shape, d.DType, s.env.Into)
	return errors.Join(stored.Read(ctx, s.env.Into, grid.Entire(d.Shape).Region()), stored.Close())
}

// commitOutputs puts all outputs in their places.
func (s *outputs) commitOutputs(ctx context.Context) error {
	whole := func(i int) interface {
		Sync(context.Context) error
		Commit(context.Context) error
	} {
		if set := s.set(i); set != nil {
			return set
		}
		return s.Writers[i]
	}
	if len(s.Plan.Others) > 0 { // what takes time, and can fail, comes before the first is in its place
		for i := range s.Plan.Staged() {
			if err := whole(i).Sync(ctx); err != nil {
				return err
			}
		}
	}
	for i := range s.Plan.Staged() {
		if err := whole(i).Commit(ctx); err != nil {
			return err
		}
		ctx = context.WithoutCancel(ctx) // an interrupt would leave some outputs new and others old
		s.Writers[i] = nil
		if c := s.Plan.Arrays[i].Collection; c > 0 {
			s.sets[c-1] = nil
		}
		if s.env.Committed != nil {
			s.env.Committed(ctx, i, s.placed)
		}
	}
	var errs []error
	// At once, and only now: what is left of a run that is killed from here on would be there
	// for no one, and before it tells the next run that the outputs are computed.
	for i := range s.Plan.Staged() {
		errs = append(errs, s.releaseStaging(i, false))
	}
	errs = append(errs, s.checkpoint.Close(false))
	return errors.Join(errs...)
}
