package exec

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/memstore"
)

// attachArrays opens what a plan reads, in a worker process. What stages write for each
// other, and the first output, are in the staging folder; each other output has its own.
// attach opens them stage by stage.
func attachArrays(p *plan.Sized, env *Env, a *arena.Arena, staging *store.StagingDir) (_ *arrays, err error) {
	n := len(p.Arrays)
	s := &arrays{plan: p, env: env, arena: a, spill: staging, shared: true,
		readers: make([]store.Array, n), writers: make([]store.Writer, n), memory: make([]*arena.Buffer, n),
		staging: make([]*store.StagingDir, n)}
	for i := range p.Arrays {
		switch d := &p.Arrays[i]; d.Place {
		case plan.InFile:
			s.readers[i], err = openStored(d, env)
		case plan.InData:
			if int64(len(d.Data)) != d.Bytes() {
				err = fmt.Errorf("the plan's %s of shape %s has %d bytes of data", d.DType, grid.Format(d.Shape), len(d.Data))
			}
			s.readers[i] = memstore.New(d.Shape, d.DType, d.Data)
		case plan.InResult:
			if i != p.Output {
				s.staging[i], err = store.AttachStagingDir("", d.Path)
			}
		}
		if err != nil {
			return nil, errors.Join(err, s.detach())
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
			s.writers[i], err = store.CreateBlocks(s.spill, checkpoint.ArrayFile(i), spilled(d))
		}
		if err != nil {
			return err
		}
	}
	for k := range st.Programs {
		for l := range st.Programs[k].Arrays() {
			if i := l.Array; s.plan.Place(i) == plan.InSpill && s.readers[i] == nil {
				if s.readers[i], err = store.OpenBlocks(s.spill, checkpoint.ArrayFile(i), spilled(&s.plan.Arrays[i])); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// leave closes what attach opened.
func (s *arrays) leave() error {
	var errs []error
	for i := range s.plan.Arrays {
		if w := s.writers[i]; w != nil {
			errs = append(errs, w.Suspend())
			s.writers[i] = nil
		}
		if s.readers[i] != nil && s.plan.Place(i) == plan.InSpill {
			errs = append(errs, s.readers[i].Close())
			s.readers[i] = nil
		}
	}
	return errors.Join(errs...)
}

// detach closes everything.
func (s *arrays) detach() error {
	errs := []error{s.leave()}
	for i, r := range s.readers {
		if r != nil {
			errs = append(errs, r.Close())
			s.readers[i] = nil
		}
	}
	return errors.Join(errs...)
}
