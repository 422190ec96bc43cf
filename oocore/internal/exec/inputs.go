package exec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// inputs are the arrays that no stage fills.
type inputs struct{ *arrayTable }

// openInputs opens the arrays that a stage reads and that no stage fills.
func (s *inputs) openInputs(stage int) error {
	for l := range s.Plan.Stages[stage].Arrays() {
		if s.Readers[l.Array] == nil {
			if err := s.openInput(l.Array); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeInputs closes the inputs that no stage after this one needs.
func (s *inputs) closeInputs(stage int) error {
	var errs []error
	for _, i := range s.ends[stage] {
		if place := s.Plan.Place(i); place == plan.InFile || place == plan.InData {
			errs = append(errs, s.closeArray(i))
		}
	}
	return errors.Join(errs...)
}

// openInput opens an array that no stage fills.
func (s *inputs) openInput(i int) (err error) {
	switch d := &s.Plan.Arrays[i]; d.Place {
	case plan.InFile:
		s.Readers[i], err = openStored(d, s.env)
	case plan.InData:
		if int64(len(d.Data)) != d.Bytes() {
			return fmt.Errorf("the plan's %s of shape %s has %d bytes of data", d.DType, grid.Format(d.Shape), len(d.Data))
		}
		s.Readers[i] = memstore.New(d.Shape, d.DType, d.Data)
	}
	return err
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
	r, ok := a.(storage.Reshaper)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s cannot be read in the shape %s", d.Path, grid.Format(d.Shape)), a.Close())
	}
	reshaped, err := r.Reshape(d.Shape)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return reshaped, nil
}
