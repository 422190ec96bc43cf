package exec

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// arrayTable is what the three share: each array's reader, writer and memory, by its index in
// the plan.
type arrayTable struct {
	*slots.Shared
	env        *Env
	checkpoint *checkpoint.Checkpoint // nil in a worker process
	shared     bool                   // worker processes run the tasks
	detached   bool                   // and may outlive this one
	spill      *storage.StagingDir    // nil until there is a need for one
	memory     []*arena.Buffer        // of arrays that are materialised in the arena
	ends       [][]int                // arrays by the last stage that needs them
	lost       bool                   // what earlier tasks of the present stage have written is not there any more
}

// keeps reports whether what was written and not committed stays: for the next run, or for the
// process that coordinates this one.
func (s *arrayTable) keeps() bool { return s.checkpoint == nil || s.checkpoint.Resumable() }

// resumes reports whether a stage may find what earlier tasks have written: those of a run that is
// detached are not noted before its process has taken their reports.
func (s *arrayTable) resumes(stage int) bool {
	return s.checkpoint.Done(stage).Len() > 0 || s.detached && s.checkpoint.Resumes()
}

// lose forgets what is noted of a stage, of which something that tasks have written is not there any more.
func (s *arrayTable) lose(stage int) error {
	st := &s.Plan.Stages[stage]
	s.lost = st.Kind != plan.ReduceStage || !st.Merges() // of these the coordinator writes the results
	return s.checkpoint.Forget(stage)
}

// closeArray closes what an array has open, and gives back its memory.
func (s *arrayTable) closeArray(i int) error {
	err := s.endWriter(&s.Writers[i])
	if s.Readers[i] != nil {
		err = errors.Join(err, s.Readers[i].Close())
		s.Readers[i] = nil
	}
	s.memory[i].Free()
	s.memory[i] = nil
	return err
}

// endWriter ends the writer of what was not committed.
func (s *arrayTable) endWriter(w *store.Writer) (err error) {
	switch {
	case *w == nil:
	case s.keeps():
		err = (*w).Suspend()
	default:
		err = (*w).Abort()
	}
	*w = nil
	return err
}

// createSpill creates the file of a temporary array, or resumes one.
func (s *arrayTable) createSpill(i int, resume bool) (store.Writer, error) {
	m := s.Plan.Arrays[i].SpillMeta()
	m.Resume = resume
	return storage.CreateBlocks(s.spill, checkpoint.ArrayFile(i), m)
}

// openSpill opens the file of a temporary array that is whole.
func (s *arrayTable) openSpill(i int) (store.Array, error) {
	return storage.OpenBlocks(s.spill, checkpoint.ArrayFile(i), s.Plan.Arrays[i].SpillMeta())
}

// makeSpill makes the folder of temporary arrays, where there is none.
func (s *arrayTable) makeSpill() (err error) {
	s.spill, err = s.checkpoint.StagingDir()
	return err
}

// SpillBytes is the size of the file of a temporary array.
func SpillBytes(d *plan.Array) int64 { return storage.BlocksBytes(d.SpillMeta()) }
