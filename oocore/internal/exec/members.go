package exec

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// members are the outputs that are in collections. A stage opens those that it fills, so that as many
// files are open as one stage needs.
type members struct {
	*arrayTable
	sets    []storage.CollectionWriter
	numbers []int // of each array in its collection
	pending []int // stages that have filled members, and that are not noted yet
}

func newMembers(t *arrayTable) members {
	m := members{arrayTable: t, sets: make([]storage.CollectionWriter, len(t.Plan.Collections)), numbers: make([]int, len(t.Plan.Arrays))}
	counts := make([]int, len(m.sets)+1)
	for i := range t.Plan.Outputs() {
		c := t.Plan.Arrays[i].Collection
		m.numbers[i] = counts[c]
		counts[c]++
	}
	return m
}

// set is the collection that an output is in; nil where it is in none, or that has not begun.
func (s *members) set(output int) storage.CollectionWriter {
	if c := s.Plan.Arrays[output].Collection; c > 0 {
		return s.sets[c-1]
	}
	return nil
}

// createCollection begins the collection of which an output is the first, or resumes it.
func (s *members) createCollection(first int, staging *storage.StagingDir, resume bool) error {
	number := s.Plan.Arrays[first].Collection
	m := s.Plan.Collections[number-1]
	m.Resume, m.StagingDir = resume, staging
	for i := range s.Plan.Outputs() {
		if d := &s.Plan.Arrays[i]; d.Collection == number {
			m.Members = append(m.Members, storage.NewMember{Name: d.Member, Meta: store.Meta{Shape: d.Shape, DType: d.DType, Chunks: d.Chunks, Shards: d.Shards, Codec: d.Layout.Codec, Details: d.Details}})
		}
	}
	var err error
	s.sets[number-1], err = storage.CreateCollection(m)
	return err
}

// openMembers begins the members that a stage fills, or resumes them. What the checkpoint has of a
// stage whose results are lost is forgotten.
func (s *members) openMembers(stage int) (err error) {
	for _, i := range s.Plan.Stages[stage].Outputs {
		set := s.set(i)
		if set == nil {
			continue
		}
		begin, resume := set.Member, s.resumes(stage)
		if resume {
			begin = set.ResumeMember
		}
		if s.Writers[i], err = begin(s.numbers[i]); err != nil {
			return err
		}
		if s.shared {
			storage.Share(s.Writers[i])
		}
		if resume && !storage.Resumed(s.Writers[i]) {
			if err := s.lose(stage); err != nil {
				return err
			}
		}
	}
	return nil
}

// commitMembers commits the members that a stage fills, and reports whether it fills nothing else.
func (s *members) commitMembers(ctx context.Context, stage int) (all bool, err error) {
	all = true
	for _, i := range s.Plan.Stages[stage].Outputs {
		if s.set(i) == nil {
			all = false
			continue
		}
		if err := s.Writers[i].Commit(ctx); err != nil {
			return all, err
		}
		s.Writers[i] = nil
	}
	return all, nil
}

// endMembers ends a stage that fills members and nothing else, after commitMembers. There may be many
// of them, and small ones: they are made durable together.
func (s *members) endMembers(ctx context.Context, stage int, costly bool) error {
	s.pending = append(s.pending, stage)
	if !costly {
		return nil
	}
	return s.notePending(ctx)
}

// syncMembers makes the members durable that were committed.
func (s *members) syncMembers(ctx context.Context) error {
	for _, set := range s.sets {
		if err := set.Sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

// notePending makes members durable and notes their stages.
func (s *members) notePending(ctx context.Context) error {
	if len(s.pending) == 0 || !s.checkpoint.Enabled() {
		return nil
	}
	if err := s.syncMembers(ctx); err != nil {
		return err
	}
	all := s.pending
	s.pending = nil
	return s.checkpoint.FinishStages(all...)
}

// endCollections ends the writing of collections that were not committed.
func (s *members) endCollections(suspend bool) error {
	var errs []error
	for c, set := range s.sets {
		switch {
		case set == nil:
		case suspend:
			errs = append(errs, set.Suspend())
		default:
			errs = append(errs, set.Abort())
		}
		s.sets[c] = nil
	}
	return errors.Join(errs...)
}

// attachMember opens a member, in a worker process.
func (s *outputs) attachMember(i int) (store.Writer, error) {
	if s.set(i) == nil {
		for first := range s.Plan.Staged() {
			if s.Plan.Arrays[first].Collection == s.Plan.Arrays[i].Collection {
				if err := s.createCollection(first, s.stagingOf(first), true); err != nil {
					return nil, err
				}
			}
		}
	}
	return s.set(i).ResumeMember(s.numbers[i])
}
