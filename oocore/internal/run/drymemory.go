package run

import (
	"errors"
	"math"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/types"
)

// dryMemory is as much as a plan needs, which it notes.
type dryMemory struct{ *Options }

func (m *dryMemory) check(string, []compile.Output) error { return nil }

func (m *dryMemory) fit(j *Job, p *plan.Plan) error {
	o := m.resources()
	o.Overhead = m.Foreseen + m.Held + p.OpenBytes()
	_, _, err := m.sizeFiles(p, o)
	if short, ok := errors.AsType[*types.MemoryError](err); ok {
		m.Dry.note(short)
	}
	o.Budget = math.MaxInt64 / 16
	if j.Plan, err = size.New(p, o); err == nil {
		j.Plan.Budget = m.Dry.budget
	}
	return err
}

// SomeFile is where a result may be saved of which nobody has said where. What a rejection names will do in memory too, where
// that is where temporary files lie.
func (o *Options) SomeFile(name string) string {
	if _, inMemory := storage.InMemory(""); inMemory && o.Dry != nil && o.Dry.naming {
		return filepath.Join(os.TempDir(), name+".zarr") // in many files, which take more
	}
	return name + ".npy"
}
