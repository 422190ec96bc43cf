package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Temporary arrays are in the arena or in a file of the staging folder. While a stage
// fills one in the arena, the checkpoint copies what is done to the same file, so that
// the next run resumes there whichever of the two it has room for.

// temporaries are the arrays that a stage fills for later ones.
type temporaries struct {
	*arrayTable
	copies   []store.Writer // in the staging folder, of arrays that a stage fills in the arena
	uncopied bool           // the disk has no room for those of the present stage
	dropped  []int          // that this run needs no more, and whose files another would
	lastUse  []int          // the last stage that needs each
}

// begin makes room for the temporary arrays that a stage fills, and takes what an earlier
// run left of them.
func (s *temporaries) begin(ctx context.Context, stage int) (err error) {
	s.uncopied = false
	for _, i := range s.Plan.Stages[stage].Outputs {
		switch s.Plan.Place(i) {
		case size.InArena:
			err = s.inArena(stage, i)
			if err == nil && s.checkpoint.Done(stage).Len() > 0 {
				err = s.resumeInArena(ctx, stage, i)
			} else if err == nil && s.checkpoint.Enabled() {
				s.uncopied = s.uncopied || !disk.HasRoom(s.spill.Path, s.Plan.Arrays[i].Bytes())
			}
		case size.InSpill:
			if err = s.makeSpill(); err == nil {
				s.Writers[i], err = s.resumeSpill(stage, i)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// resumeSpill creates the file of a temporary array, or resumes the one that an
// earlier run left.
func (s *temporaries) resumeSpill(stage, i int) (store.Writer, error) {
	resume := s.resumes(stage)
	w, err := s.createSpill(i, resume)
	if err == nil && resume && !storage.Resumed(w) {
		err = s.lose(stage)
	}
	return w, err
}

// resumeInArena reads what an earlier run left of a temporary array into the arena.
func (s *temporaries) resumeInArena(ctx context.Context, stage, i int) (err error) {
	if s.copies[i], err = s.resumeSpill(stage, i); err != nil || !storage.Resumed(s.copies[i]) {
		return err
	}
	d := &s.Plan.Arrays[i]
	stored, err := storage.OpenUnfinishedBlocks(s.spill, checkpoint.ArrayFile(i), d.SpillMeta())
	if err != nil {
		return err
	}
	return errors.Join(stored.Read(ctx, s.memory[i].Bytes(), grid.Entire(d.Shape).Region()), stored.Close())
}

// inArena allocates an array that is materialised in memory.
func (s *temporaries) inArena(stage, i int) (err error) {
	d := &s.Plan.Arrays[i]
	if s.memory[i], err = s.Plan.ArrayBuffer(i).Alloc(s.Arena, stage); err != nil {
		return err
	}
	s.Writers[i] = memstore.Into(d.Shape, d.DType, s.memory[i].Bytes())
	return nil
}

// restore takes what an earlier run's stage left, as far as later stages need it.
func (s *temporaries) restore(ctx context.Context, stage int) (err error) {
	for _, i := range s.Plan.Stages[stage].Outputs {
		d := &s.Plan.Arrays[i]
		if d.Place != plan.InTemp || !s.checkpoint.Needed()[i] {
			continue
		}
		stored, err := s.openSpill(i)
		if err != nil {
			return err
		}
		if s.Plan.Place(i) == size.InSpill {
			s.Readers[i] = stored
			continue
		}
		if err = s.inArena(stage, i); err == nil {
			err = stored.Read(ctx, s.memory[i].Bytes(), grid.Entire(d.Shape).Region())
			s.Writers[i], s.Readers[i] = nil, s.inMemory(i)
		}
		if err = errors.Join(err, stored.Close()); err != nil {
			return err
		}
	}
	return nil
}

// sync makes durable what the tasks of done, and those before, have written.
func (s *temporaries) sync(ctx context.Context, stage int, done Tasks) error {
	for _, i := range s.Plan.Stages[stage].Outputs {
		w := s.Writers[i]
		if s.Plan.Place(i) == size.InArena {
			if err := s.copyDone(ctx, stage, i, done); err != nil {
				return err
			}
			w = s.copies[i]
		}
		if w != nil {
			if err := w.Sync(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyDone writes what tasks have put into an array in memory to the staging folder.
func (s *temporaries) copyDone(ctx context.Context, stage, i int, done Tasks) (err error) {
	if done.Len() == 0 {
		return nil
	}
	d := &s.Plan.Arrays[i]
	if s.copies[i] == nil {
		if s.copies[i], err = s.createSpill(i, false); err != nil {
			return err
		}
	}
	size, from := d.DType.Size(), s.inMemory(i)
	buffer := make([]byte, checkpoint.CopyBytes)
	for task := range done.All() {
		box, whole := s.result(stage, task)
		if !whole {
			continue
		}
		if st := &s.Plan.Stages[stage]; st.Factors != nil {
			box = st.LevelBox(st.Level(i), box)
		}
		for tile := range box.Split(grid.Auto(box.Shape, size, checkpoint.CopyBytes)) {
			part := buffer[:tile.Size()*size]
			if err := from.Read(ctx, part, tile.Region()); err != nil {
				return err
			}
			if err := s.copies[i].Write(ctx, part, tile); err != nil {
				return err
			}
		}
	}
	return nil
}

// result is the box of a stage's results that a task makes whole, if it does.
func (s *temporaries) result(stage, task int) (grid.Box, bool) {
	st := &s.Plan.Stages[stage]
	if st.Kind != plan.ReduceStage {
		return st.Grid.Box(task), true
	}
	_, chunk := slots.ChunkOf(st, task)
	parts := st.ChunksPerResult()
	return slots.ResultOf(st, chunk), task%parts == parts-1
}

// inMemory returns an array that is materialised in memory, for reading.
func (s *temporaries) inMemory(i int) store.Array {
	d := &s.Plan.Arrays[i]
	return memstore.New(d.Shape, d.DType, s.memory[i].Bytes())
}

// fillsMemory reports a stage with results in memory.
func (s *temporaries) fillsMemory(stage int) bool {
	return slices.ContainsFunc(s.Plan.Stages[stage].Outputs, func(i int) bool { return s.Plan.Place(i) == size.InArena })
}

// saves reports whether the end of a stage is noted in the checkpoint: where the staging folder has a
// part of its arrays in memory, where costly says that they take long to compute, or where that frees
// more of the disk.
func (s *temporaries) saves(stage int, costly bool) bool {
	return s.checkpoint.Enabled() && len(s.checkpoint.LeftOut(stage)) == 0 && !s.uncopied && stage < len(s.Plan.Stages)-1 && (costly || !s.fillsMemory(stage) || s.checkpoint.Done(stage).Len() > 0 || s.frees(stage))
}

// end makes the temporary arrays that a stage filled readable, and frees those that no later stage
// needs. Where the stage is saved, the staging folder gets a copy of arrays in memory.
func (s *temporaries) end(ctx context.Context, stage int, saved bool) (err error) {
	for _, i := range s.Plan.Stages[stage].Outputs {
		d := &s.Plan.Arrays[i]
		if d.Place != plan.InTemp { // which is committed when all are whole, but for a member
			if saved && s.Writers[i] != nil {
				if err := s.Writers[i].Sync(ctx); err != nil {
					return err
				}
			}
			continue
		}
		if err := s.Writers[i].Commit(ctx); err != nil {
			return err
		}
		s.Writers[i] = nil
		switch s.Plan.Place(i) {
		case size.InArena:
			s.Readers[i] = s.inMemory(i)
			if saved {
				err = s.save(ctx, stage, i)
			}
		case size.InSpill:
			s.Readers[i], err = s.openSpill(i)
		}
		if err != nil {
			return err
		}
	}
	if saved {
		return s.checkpoint.FinishStages(stage)
	}
	return nil
}

// worthFreeing is how many times larger than a stage's results files are that these are saved
// to remove.
const worthFreeing = 4

// frees reports whether another run would need files that are much larger than the stage's
// results only where these are not saved.
func (s *temporaries) frees(stage int) bool {
	var files []int // that no later stage reads
	for i := range s.Plan.Arrays {
		if s.Plan.Place(i) == size.InSpill && s.lastUse[i] <= stage && (s.Readers[i] != nil || slices.Contains(s.dropped, i)) {
			files = append(files, i)
		}
	}
	if len(files) == 0 {
		return false
	}
	unsaved, saved := s.checkpoint.Needed(), s.checkpoint.Needed(stage)
	var freed, results int64
	for _, i := range files {
		if unsaved[i] && !saved[i] {
			freed += s.Plan.Arrays[i].Bytes()
		}
	}
	for _, i := range s.Plan.Stages[stage].Outputs {
		results += s.Plan.Arrays[i].Bytes()
	}
	return freed > worthFreeing*results
}

// dropUsed drops the temporary arrays that no stage after this one needs. The file of one
// stays as long as another run would need it: until what was computed of it is durable.
func (s *temporaries) dropUsed(stage int) error {
	used := slices.DeleteFunc(slices.Clone(s.ends[stage]), func(i int) bool {
		place := s.Plan.Place(i)
		return place != size.InArena && place != size.InSpill || s.Readers[i] == nil
	})
	if len(used)+len(s.dropped) == 0 {
		return nil
	}
	var needed map[int]bool
	if s.checkpoint.Enabled() {
		needed = s.checkpoint.Needed()
	}
	var errs []error
	s.dropped = slices.DeleteFunc(s.dropped, func(i int) bool {
		if !needed[i] {
			errs = append(errs, s.removeFile(i))
		}
		return !needed[i]
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, i := range used {
		if err := s.drop(i, needed[i] && !s.uncopied); err != nil {
			return err
		}
	}
	return nil
}

// save makes the copy of an array that is in memory whole.
func (s *temporaries) save(ctx context.Context, stage, i int) (err error) {
	d := &s.Plan.Arrays[i]
	w := s.copies[i]
	if w == nil {
		if w, err = s.createSpill(i, false); err != nil {
			return err
		}
	}
	s.copies[i] = nil
	if n := s.Plan.Stages[stage].Tasks(); n == 0 || s.checkpoint.Done(stage).Len() < n {
		if err := w.Write(ctx, s.memory[i].Bytes(), grid.Entire(d.Shape)); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Commit(ctx)
}

// drop gives back a temporary array, or closes one that is stored. Its file stays where it is
// needed.
func (s *temporaries) drop(i int, needed bool) error {
	err := s.release(i)
	switch {
	case needed:
		s.dropped = append(s.dropped, i)
	case s.Plan.Place(i) == size.InSpill || s.checkpoint.Enabled():
		err = errors.Join(err, s.removeFile(i))
	}
	return err
}

// removeFile removes a temporary array from the staging folder.
func (s *temporaries) removeFile(i int) error {
	return disk.Remove(s.spill.Join(checkpoint.ArrayFile(i)))
}

// release closes what a temporary array has open, and gives back its memory.
func (s *temporaries) release(i int) error {
	return errors.Join(s.endWriter(&s.copies[i]), s.closeArray(i))
}
