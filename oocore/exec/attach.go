package exec

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/store"
)

// attachArrays opens what a plan reads, in a worker process. What stages write for each
// other, and the first output, are in the staging folder; each other output has its own.
// attach opens them stage by stage.
func attachArrays(p *plan.Sized, env *Env, a *arena.Arena, staging *store.StagingDir) (*arrays, error) {
	s := newArrays(p, env, a)
	s.spill, s.shared = staging, true
	for i := range p.Arrays {
		err := s.openInput(i)
		if d := &p.Arrays[i]; d.Place == plan.InResult && i != p.Output {
			s.staging[i], err = store.AttachStagingDir("", d.Path)
		}
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// attach opens what a stage writes, and the temporary arrays that it reads.
func (s *arrays) attach(stage int) (err error) {
	st := &s.plan.Stages[stage]
	for _, i := range st.Outputs {
		d := &s.plan.Arrays[i]
		if s.plan.Place(i) == plan.InResult {
			s.writers[i], err = s.env.create(d.Path, s.meta(i))
		} else {
			s.writers[i], err = s.createSpill(i, false)
		}
		if err != nil {
			return err
		}
	}
	for l := range st.Arrays() {
		if i := l.Array; s.plan.Place(i) == plan.InSpill && s.readers[i] == nil {
			if s.readers[i], err = s.openSpill(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave closes what attach opened.
func (s *arrays) leave() error {
	var errs []error
	for i := range s.plan.Arrays {
		if s.writers[i] != nil || s.plan.Place(i) == plan.InSpill {
			errs = append(errs, s.release(i))
		}
	}
	return errors.Join(errs...)
}
